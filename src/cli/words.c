/* Values of options: text -> names, numbers with units, shares, lists. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

bool ft__word_next(char *word, size_t size, const char **list)
{
    const char *at = *list;
    size_t len;

    if (!at)
        return false;
    at += strspn(at, " ");
    len = strcspn(at, ",");
    *list = at[len] ? at + len + 1 : NULL;
    while (len && at[len - 1] == ' ')
        len--;
    snprintf(word, size, "%.*s", len < size ? (int)len : 0, at);
    return true;
}

/* The next name of "one, two"; NULL: there is none. */
static const char *next_name(const char *names, size_t *len)
{
    names += strspn(names, ", ");
    *len = strcspn(names, ",");
    return *len ? names : NULL;
}

int ft__index_of(const char *names, const char *word, size_t word_len)
{
    size_t len;

    for (int i = 0; (names = next_name(names, &len)); i++, names += len)
        if (len == word_len && memcmp(names, word, len) == 0)
            return i;
    return -1;
}

void ft__names_text(char *out, size_t size, ft_names names)
{
    const char *name;
    size_t len = 0;

    *out = '\0';
    for (uint32_t i = 0; (name = ft_name(names, i)) && len < size; i++)
        len += (size_t)snprintf(out + len, size - len, "%s%s", i ? ", " : "", name);
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Levenshtein's distance of words of at most 31 letters, else a large number. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t row[32];

    if (n > 31 || m > 31)
        return SIZE_MAX;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t above = row[j];

            row[j] =
                least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[m];
}

bool ft__suggest(char near[64], const char *word, const char *names)
{
    const size_t n = strlen(word);
    size_t nearest = n < 4 ? 2 : 3; /* not this far any more */
    size_t len;

    *near = '\0';
    for (; (names = next_name(names, &len)); names += len) {
        /* --batch-size: --batch */
        const bool begins =
            (n >= 3 && strncmp(word, names, n) == 0) ||
            (len >= 3 && n > len && word[len] == '-' && strncmp(word, names, len) == 0);
        const size_t d = begins ? 1 : distance(word, n, names, len);

        /* Of two errors, none is in the first letter. */
        if (d < nearest && (d < 2 || *word == *names)) {
            nearest = d;
            snprintf(near, 64, "%.*s", (int)len, names);
        }
    }
    return *near;
}

int ft__choice_parse(ft__cli *c, int *out, const char *option, const char *text,
                     const char *names)
{
    *out = text ? ft__index_of(names, text, strlen(text)) : 0;
    return *out >= 0 ? FT__EXIT_GOOD
                     : ft__usage(c, "--%s %s: it is one of %s", option, text, names);
}

int ft__name_parse(ft__cli *c, int *out, const char *option, const char *text,
                   ft_names names)
{
    char all[256];

    ft__names_text(all, sizeof(all), names);
    return ft__choice_parse(c, out, option, text, all);
}

int ft__names_parse(ft__cli *c, uint32_t *out, const char *option, const char *text,
                    ft_names names)
{
    char word[64];
    int code = FT__EXIT_GOOD, value;

    *out = 0;
    while (!code && text && *text && ft__word_next(word, sizeof(word), &text)) {
        code = ft__name_parse(c, &value, option, word, names);
        if (!code)
            *out |= 1u << value;
    }
    return code;
}

int ft__methods_parse(ft__cli *c, uint32_t *out, const char *text)
{
    const bool all = text && strcmp(text, "all") == 0;
    const char *why;
    int code = FT__EXIT_GOOD;

    *out = all ? (1u << FT_METHOD_COUNT) - 1 : 0;
    if (text && !all)
        code = ft__names_parse(c, out, "method", text, FT_NAMES_METHOD);
    for (uint32_t m = 0; m < FT_METHOD_COUNT && !code && !all; m++)
        if ((*out >> m & 1) && !ft_method_available((ft_method)m, &why))
            code = ft__cli_exit(c, FT__EXIT_MISSING, "--method %s: %s",
                                ft_name(FT_NAMES_METHOD, m), why);
    return code;
}

int ft__verb_parse(ft__cli *c, int *out, const char *word, const char *names)
{
    char near[64];
    bool any;

    *out = ft__index_of(names, word, strlen(word));
    if (*out >= 0)
        return FT__EXIT_GOOD;
    any = ft__suggest(near, word, names);
    return ft__usage(c, "\"%s\" is not one of %s%s%s%s", word, names,
                     any ? "; did you mean " : "", near, any ? "?" : "");
}

/* Not below 0. */
static bool number_with_unit(double *out, const char *text, const char *units)
{
    char *end;
    double v;

    if (!isdigit((unsigned char)*text) && *text != '.')
        return false;
    v = strtod(text, &end);
    end += *end == ' ';
    while (units) {
        size_t len = strcspn(units, "=");
        bool is = strlen(end) == len && memcmp(end, units, len) == 0;
        char *next;
        double factor = strtod(units + len + 1, &next);

        if (*next == '/')
            factor /= strtod(next + 1, &next);
        if (is)
            *out = v * factor;
        if (is)
            return true;
        units = *next ? next + 1 : NULL;
    }
    return false;
}

bool ft__number_from_text(double *out, const char *text, const char *units)
{
    double v;

    if (!number_with_unit(&v, text, units) || !(v > 0) || !(v < 1e15))
        return false;
    *out = v;
    return true;
}

ft__formatted ft__number_refused(const char *text, const char *units)
{
    ft__formatted f = {""};
    size_t n = 0;
    double v;

    if (number_with_unit(&v, text, units))
        snprintf(f.s, sizeof(f.s), "%s",
                 v > 0 ? "it is too large: at most 1e15 in the base unit"
                       : "it is 0, and has to be more");
    else if (isdigit((unsigned char)*text))
        for (const char *u = units; u; u = strchr(u + 1, ' ')) {
            const char *name = u + (*u == ' ');
            const int len = (int)strcspn(name, "=");

            if (len && n < sizeof(f.s))
                n += (size_t)snprintf(f.s + n, sizeof(f.s) - n, "%s%.*s",
                                      n ? ", " : "its units are ", len, name);
        }
    return f;
}

bool ft__seconds_from_text(double *out, const char *text)
{
    double v;

    if (!number_with_unit(&v, text, FT__SECONDS_UNITS) || !(v < 1e9))
        return false;
    *out = v;
    return true;
}

bool ft__hertz_from_text(double *hz, const char *text)
{
    return ft__number_from_text(hz, text, "=1e6 MHz=1e6 GHz=1e9 kHz=1e3 Hz=1");
}

bool ft__share_from_text(double *out, const char *text)
{
    char *end;

    errno = 0;
    *out = strtod(text, &end);
    if (end == text)
        return false;
    end += *end == ' ';
    if (*end == '%') {
        *out /= 100;
        end++;
    }
    return !*end && !errno && *out >= 0;
}

bool ft__counts_from_text(uint64_t *out, size_t *n, size_t most, const char *text)
{
    const char *at = text;

    for (*n = 0; *at && *n < most; ++*n) {
        char *end;

        errno = 0;
        out[*n] = strtoull(at, &end, 10);
        if (errno || *at < '1' || *at > '9' || (*end && (*end != ',' || !end[1])))
            return false;
        at = end + (*end == ',');
    }
    return *n && !*at;
}
