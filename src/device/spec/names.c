/* The files of a folder of devices by name, and from what datasets and people call a
 * device
 * ("h100-sxm", "NVIDIA H100 80GB HBM3", "h100") to its file. */
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "device/spec/device.h"
#include "device/sysfs.h"

static const char suffix[] = ".yaml";

/* The length of a device file's name without the suffix; 0 for other files. */
static size_t stem(const char *file)
{
    size_t len = strlen(file), end = sizeof(suffix) - 1;

    return len > end && strcmp(file + len - end, suffix) == 0 ? len - end : 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

ft_status ft_device_names(char ***names, size_t *n, const char *data_dir, ft_error *err)
{
    char **files;
    size_t n_files;
    ft_status st = ft__sys_names(&files, &n_files, data_dir, "/devices");

    *names = NULL;
    *n = 0;
    if (st != FT_OK)
        return ft_fail(err, st, 0, "%s/devices", data_dir);
    for (size_t i = 0; i < n_files; i++) {
        size_t len = stem(files[i]);

        files[i][len] = '\0';
        if (len)
            files[(*n)++] = files[i];
        else
            free(files[i]);
    }
    if (*n == 0) {
        free(files);
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "there are no device files in %s/devices; is this foretell's "
                       "data folder?",
                       data_dir);
    }
    /* Not in the order of the files: "." comes after "-". */
    qsort(files, *n, sizeof(*files), by_name);
    *names = files;
    return FT_OK;
}

void ft_device_names_free(char **names, size_t n)
{
    ft__sys_names_free(names, n);
}

enum { MAX_KEY = 64 };

/* Letters and digits alone, in small letters: of "RTX 4090" and "rtx-4090" "rtx4090".
 */
static void key_of(char key[MAX_KEY], const char *s, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len && n + 1 < MAX_KEY; i++)
        if (isalnum((unsigned char)s[i]))
            key[n++] = (char)tolower((unsigned char)s[i]);
    key[n] = '\0';
}

static size_t word_length(const char *s)
{
    size_t n = 0;

    while (isalnum((unsigned char)s[n]))
        n++;
    return n;
}

static bool is_word(const char *s, const char *word)
{
    size_t n = strlen(word);

    return strncasecmp(s, word, n) == 0 && word_length(s) == n;
}

/* Behind vendor and brand, which names of files leave out. */
static const char *product_of(const char *asked)
{
    static const char *const brands[] = {"NVIDIA", "AMD",    "Intel",   "GeForce",
                                         "Tesla",  "Radeon", "Instinct"};
    size_t i = 0;

    while (i < sizeof(brands) / sizeof(*brands))
        if (is_word(asked, brands[i])) {
            asked += strlen(brands[i]);
            asked += strcspn(asked, "0123456789abcdefghijklmnopqrstuvwxyz"
                                    "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
            i = 0;
        } else {
            i++;
        }
    return asked;
}

/* "sxm4" is the "sxm" of a name that leaves the number out. */
static bool is_same_word(const char *name, const char *asked, size_t n)
{
    size_t len = word_length(name);

    while (n > len && n > 2 && isdigit((unsigned char)asked[n - 1]) &&
           isalpha((unsigned char)name[len - 1]))
        n--;
    return n == len && strncasecmp(name, asked, n) == 0;
}

/* The length of "80GB", "80 GB" or "80GiB" at s, and its GiB; 0: there is no memory. */
static size_t memory_length(const char *s, double *gib)
{
    const size_t digits = strspn(s, "0123456789");
    const char *unit = s + digits + strspn(s + digits, " ");

    *gib = 0;
    if (!digits || (!is_word(unit, "gb") && !is_word(unit, "gib")))
        return 0;
    *gib = strtod(s, NULL);
    return (size_t)(unit - s) + word_length(unit);
}

/* The most of all its words; 0: none is of memory. */
static double gib_of(const char *s)
{
    double most = 0, gib;

    for (size_t n; *s; s += n + (s[n] != '\0')) {
        n = memory_length(s, &gib);
        n = n ? n : word_length(s);
        most = fmax(most, gib);
    }
    return most;
}

/* Whether each word of `asked` is one of the name's: "A100 80GB" of "a100-sxm-80gb";
 * one with a number, as it stands: "rtx9090" is no "rtx". */
static bool has_words(const char *name, const char *asked)
{
    bool has = true, numbered = false;

    for (size_t n; *asked && has; asked += n + (asked[n] != '\0')) {
        const char *at = name;

        n = word_length(asked);
        while (*at && !is_same_word(at, asked, n)) {
            at += word_length(at);
            at += *at != '\0';
        }
        has = *at || !n;
        numbered =
            numbered || (word_length(at) == n && strcspn(asked, "0123456789") < n);
    }
    return has && numbered;
}

/* Memory as names of files have it, or left out: has_memory() looks at that. */
static const char *words_of(char out[MAX_KEY], const char *asked, bool with_memory)
{
    size_t len = 0;
    double gib;

    for (size_t n; *asked; asked += n + (asked[n] != '\0')) {
        const size_t memory = memory_length(asked, &gib);
        const char *gap = len ? "-" : "";

        n = memory ? memory : word_length(asked);
        if (len + n + 2 >= MAX_KEY || (memory && !with_memory))
            continue;
        len +=
            (size_t)(memory ? snprintf(out + len, MAX_KEY - len, "%s%.0fgb", gap, gib)
                            : snprintf(out + len, MAX_KEY - len, "%s%.*s", gap, (int)n,
                                       asked));
    }
    out[len] = '\0';
    return out;
}

enum match { MATCH_NONE, MATCH_VARIANT, MATCH_NUMBER, MATCH_NAME };

/* "4090" is the number of "rtx-4090"; a variant has more words than what was asked for.
 */
static enum match match(const char *name, const char *asked)
{
    const size_t class = is_word(name, "rtx") || is_word(name, "gtx") ? 3
                         : is_word(name, "rx")                        ? 2
                                                                      : 0;
    char wanted[MAX_KEY], key[MAX_KEY], rest[MAX_KEY];
    const char *product = words_of(rest, product_of(asked), gib_of(name) > 0);
    const size_t len = strlen(name);

    key_of(wanted, product, strlen(product));
    key_of(key, name, len);
    if (strcmp(key, wanted) == 0)
        return MATCH_NAME;
    if (class && strcmp(key + class, wanted) == 0)
        return MATCH_NUMBER;
    if (!strpbrk(wanted, "0123456789"))
        return MATCH_NONE;
    for (size_t i = 1; i < len; i++)
        if (name[i] == '-') {
            key_of(key, name, i);
            if (strcmp(key, wanted) == 0)
                return MATCH_VARIANT;
        }
    return has_words(name, product) ? MATCH_VARIANT : MATCH_NONE;
}

/* Length of the longest text that stands in both. */
static size_t shared(const char *a, const char *b)
{
    size_t most = 0;

    for (const char *p = a; *p; p++)
        for (const char *q = b; *q; q++) {
            size_t n = 0;

            while (p[n] && p[n] == q[n])
                n++;
            most = n > most ? n : most;
        }
    return most;
}

/* What stands for any device: which one it is, its name does not say. */
static bool is_no_model(const char *asked)
{
    static const char *const names[] = {"cpu", "gpu", "cuda", "mps", "rocm", "xpu"};
    const size_t len = strcspn(asked, ":");

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strlen(names[i]) == len && !strncasecmp(asked, names[i], len))
            return true;
    return false;
}

/* How many digits "8xh100" or "8 x h100" begins with; 0: it is not of that form. */
static int digits_of_count(const char *asked)
{
    const size_t n = strspn(asked, "0123456789");
    const char *at = asked + n + strspn(asked + n, " ");

    return n < 4 && (*at == 'x' || *at == 'X') && at[1] ? (int)n : 0;
}

/* Chips that people ask for and no file here describes; with a number behind some. */
static bool is_undescribed(const char *asked)
{
    static const char *const words[] = {"Apple", "M1", "M2",  "M3",
                                        "M4",    "M5", "NPU", "Google"};
    static const char *const numbered[] = {"TPU", "Gaudi",    "Trn",
                                           "Inf", "Trainium", "Inferentia"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (is_word(asked, words[i]))
            return true;
    for (size_t i = 0; i < sizeof(numbered) / sizeof(*numbered); i++) {
        size_t n = strlen(numbered[i]);

        if (strncasecmp(asked, numbered[i], n) == 0 &&
            strcspn(asked + n, "vV -0123456789") == 0)
            return true;
    }
    return false;
}

enum { MAX_NAMED = 8 };

/* The names that have most in common with the one asked for, and at least half of it.
 */
static size_t similar_names(ft__buf *list, char **names, size_t n, const char *asked)
{
    char key[MAX_KEY], wanted[MAX_KEY];
    size_t named = 0, least;

    key_of(wanted, product_of(asked), strlen(product_of(asked)));
    least = (strlen(wanted) + 1) / 2;
    least = least < 3 ? 3 : least;
    for (size_t alike = MAX_KEY; alike-- > least;)
        for (size_t i = 0; i < n && named < MAX_NAMED; i++) {
            key_of(key, names[i], strlen(names[i]));
            if (shared(key, wanted) == alike)
                ft__buf_fmt(list, "%s%s", named++ ? ", " : "", names[i]);
        }
    return named;
}

static ft_status not_found(const char *data_dir, const char *name, ft_error *err)
{
    char **names;
    size_t n, named;
    ft__buf list = {0};
    ft_status st = ft_device_names(&names, &n, data_dir, err);

    if (st != FT_OK)
        return st;
    named = similar_names(&list, names, n, name);
    ft_device_names_free(names, n);
    if (list.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "%s", name);
    else if (digits_of_count(name))
        st = ft_fail(
            err, FT_ENOTFOUND, 0,
            "no device \"%s\": one device is named; --tp %.*s divides a "
            "language model among several, foretell place splits other networks",
            name, digits_of_count(name), name);
    else if (is_no_model(name))
        st = ft_fail(err, FT_ENOTFOUND, 0,
                     "no device \"%s\": which one is said by its model, such as a100; "
                     "foretell devices lists all %zu; this machine is local",
                     name, n);
    else if (is_undescribed(name))
        st = ft_fail(
            err, FT_ENOTFOUND, 0,
            "no device \"%s\": chips of its kind are not described yet; foretell "
            "devices lists those that are",
            name);
    else if (named)
        st = ft_fail(err, FT_ENOTFOUND, 0,
                     "no device \"%s\"; there are %s; foretell devices lists all %zu",
                     name, list.s, n);
    else
        st = ft_fail(err, FT_ENOTFOUND, 0,
                     "no device \"%s\", and none with a name like it; foretell devices "
                     "lists the %zu there are",
                     name, n);
    ft__buf_free(&list);
    return st;
}

/* A name is the name of a file, and nothing that leads elsewhere. */
static bool is_name(const char *s)
{
    return *s && *s != '.' && !s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789._-")];
}

/* Where the file of a device would be; false: there can be none of this name. */
static bool device_path(char path[PATH_MAX], const char *data_dir, const char *name)
{
    return is_name(name) && snprintf(path, PATH_MAX, "%s/devices/%s%s", data_dir, name,
                                     suffix) < PATH_MAX;
}

ft_status ft_device_load(ft_device **out, const char *data_dir, const char *name,
                         ft_error *err)
{
    char path[PATH_MAX], *bytes;
    size_t len;
    ft_status st;

    *out = NULL;
    if (!device_path(path, data_dir, name) || access(path, F_OK))
        return err ? not_found(data_dir, name, err) : FT_ENOTFOUND;
    st = ft__file_read(&bytes, &len, path, FT__MAX_TEXT_FILE, err);
    if (st == FT_OK)
        st = ft__device_parse(out, name, bytes, len, path, err);
    free(bytes);
    return st;
}

static char plain(char c)
{
    return c == ' ' || c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool alike(const char *a, const char *b)
{
    while (*a && plain(*a) == plain(*b)) {
        a++;
        b++;
    }
    return !*a && !*b;
}

static bool is_called(const ft_device_facts *f, const char *title)
{
    bool found = alike(f->title, title);

    for (size_t i = 0; i < f->n_aliases && !found; i++)
        found = alike(f->aliases[i], title);
    return found;
}

/* Does a title stand in a file, as what a line says? Parsing takes hundreds of times as
 * long as this, and next to no file has it. */
static bool mentions(const char *text, const char *title)
{
    const char first = plain(*title);

    for (char before = ' '; *text; before = *text++) {
        size_t n = 0;

        if (plain(*text) != first || isalnum((unsigned char)before))
            continue;
        while (title[n] && plain(text[n]) == plain(title[n]))
            n++;
        if (!title[n] && strchr("\n\r#'\",]}", text[n + strspn(text + n, " \t")]))
            return true;
    }
    return false;
}

static ft_status describes(bool *found, const char *data_dir, const char *name,
                           const char *title, ft_error *err)
{
    char path[PATH_MAX], *text;
    size_t len;
    ft_device *d = NULL;
    ft_status st;

    *found = alike(name, title);
    if (*found)
        return FT_OK;
    if (!device_path(path, data_dir, name))
        return ft_fail(err, FT_EFORMAT, 0, "%s is no name of a device", name);
    st = ft__file_read(&text, &len, path, FT__MAX_TEXT_FILE, err);
    if (!st && mentions(text, title))
        st = ft__device_parse(&d, name, text, len, path, err);
    *found = d && is_called(ft_device_get(d), title);
    ft_device_free(d);
    free(text);
    return st;
}

/* Whether the file `name` describes it; a second one that does is an error. */
static ft_status try_file(char *out, size_t size, const char *data_dir,
                          const char *name, const char *title, ft_error *err)
{
    bool found;
    ft_status st = describes(&found, data_dir, name, title, err);

    if (st)
        return st;
    if (found && *out)
        return ft_fail(err, FT_EFORMAT, 0,
                       "\"%s\" may be %s or %s: take the alias out of one of "
                       "%s/devices/%s.yaml and %s.yaml",
                       title, out, name, data_dir, out, name);
    if (found && (size_t)snprintf(out, size, "%s", name) >= size)
        return ft_fail(err, FT_EINVAL, 0, "the name of device %s is too long", name);
    return FT_OK;
}

ft_status ft__device_find(char *out, size_t size, const char *data_dir,
                          const char *title, ft_error *err)
{
    char **names;
    size_t n;
    ft_status st = ft_device_names(&names, &n, data_dir, err);

    *out = '\0';
    if (st)
        return st;
    for (size_t i = 0; i < n && !st; i++)
        st = try_file(out, size, data_dir, names[i], title, err);
    ft_device_names_free(names, n);
    if (st || *out)
        return st;
    return ft_fail(err, FT_ENOTFOUND, 0, "no device file knows \"%s\"", title);
}

/* Of variants of one product the one that people mean when they name none: the one
 * that does most, then the one that moves most, then the largest. */
static bool before(const ft_device_facts *a, const ft_device_facts *b)
{
    if (a->peak_fp32 != b->peak_fp32)
        return a->peak_fp32 > b->peak_fp32;
    if (a->bandwidth_bytes_per_s != b->bandwidth_bytes_per_s)
        return a->bandwidth_bytes_per_s > b->bandwidth_bytes_per_s;
    return a->memory_bytes > b->memory_bytes;
}

/* Moves those that match best to the front, in their order. Their number; *how: how
 * well. */
static size_t closest(enum match *how, char **names, size_t n, const char *asked)
{
    size_t found = 0;

    *how = MATCH_NONE;
    for (size_t i = 0; i < n; i++) {
        const enum match m = match(names[i], asked);
        char *name = names[i];

        if (m > *how)
            found = 0;
        if (m == MATCH_NONE || m < *how)
            continue;
        *how = m;
        names[i] = names[found];
        names[found++] = name;
    }
    return found;
}

/* Says which one was taken of several that match as well. */
static void say_variant(char *note, size_t size, const char *asked, const char *taken,
                        char **names, size_t n)
{
    char list[400] = "";

    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(list);

        snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", names[i]);
    }
    if (n > 1)
        snprintf(note, size, "%s is %s (there are %s)", asked, taken, list);
}

/* Whether it has the memory that was asked for, if any; what error correction and
 * drivers take off is at most 12 % ("24GB": A10G 22.2 GiB). */
static bool has_memory(const ft_device_facts *d, const char *asked)
{
    const double gib = gib_of(asked);

    return !(gib > 0) || !(d->memory_bytes > 0) ||
           fabs(d->memory_bytes / (1 << 30) / gib - 1) < 0.12;
}

static ft_status find_variant(char *name, size_t size, char *note, size_t note_size,
                              const char *data_dir, ft_error *err)
{
    ft_device *best = NULL;
    char **names;
    size_t n, found;
    enum match how;
    ft_status st = ft_device_names(&names, &n, data_dir, err);

    if (st)
        return st;
    found = closest(&how, names, n, name);
    for (size_t i = 0; i < found && !st; i++) {
        ft_device *d;

        st = ft_device_load(&d, data_dir, names[i], err);
        if (!d || !has_memory(ft_device_get(d), name) ||
            (best && !before(ft_device_get(d), ft_device_get(best)))) {
            ft_device_free(d);
            continue;
        }
        ft_device_free(best);
        best = d;
    }
    if (!st && best) {
        say_variant(note, note_size, name, ft_device_get(best)->name, names, found);
        snprintf(name, size, "%s", ft_device_get(best)->name);
    }
    ft_device_free(best);
    ft_device_names_free(names, n);
    return st;
}

ft_status ft_device_resolve(char *name, size_t size, char *note, size_t note_size,
                            const char *data_dir, ft_error *err)
{
    char found[128], path[PATH_MAX], **names;
    size_t n, n_like;
    enum match how;

    *note = '\0';
    if (strcmp(name, "local") == 0 ||
        (device_path(path, data_dir, name) && access(path, F_OK) == 0))
        return FT_OK;
    if (!ft__device_find(found, sizeof(found), data_dir, name, NULL)) {
        ft_status st = ft_device_names(&names, &n, data_dir, err);

        if (st)
            return st;
        n_like = closest(&how, names, n, name);
        if (how == MATCH_VARIANT)
            say_variant(note, note_size, name, found, names, n_like);
        ft_device_names_free(names, n);
        snprintf(name, size, "%s", found);
        return FT_OK;
    }
    return find_variant(name, size, note, note_size, data_dir, err);
}
