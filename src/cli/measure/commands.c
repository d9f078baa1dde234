/* foretell measure -- CMD ...: which commands, with which parameters. */
#include "cli/measure/commands.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "foretell/version.h"
#include "report/units.h"

const ft__option ft__commands_table[] = {
    {"runs", 'r', FT__OPT_COUNT, offsetof(ft__commands_options, runs), "N",
     "of commands: this many runs of each", NULL},
    FT__COUNT(ft__commands_options, least_runs, "min-runs", "N",
              "of commands: at least; 10 unless said otherwise"),
    FT__COUNT(ft__commands_options, most_runs, "max-runs", "N", "of commands: at most"),
    {"warmup", 'w', FT__OPT_COUNT, offsetof(ft__commands_options, warmup), "N",
     "of commands: runs before those that count", NULL},
    FT__SECONDS(ft__commands_options, timeout_s, "timeout", "TIME",
                "of commands: end a run that takes longer"),
    FT__TEXT(ft__commands_options, setup, "setup", "SHELL",
             "run before the first run of each command, untimed"),
    {"prepare", 'p', FT__OPT_TEXT, offsetof(ft__commands_options, prepare), "SHELL",
     "before every run", NULL},
    FT__TEXT(ft__commands_options, conclude, "conclude", "SHELL", "after every run"),
    FT__TEXT(ft__commands_options, cleanup, "cleanup", "SHELL",
             "after the last run of each command"),
    FT__INPUT(ft__commands_options, input, "stdin", "FILE",
              "what commands read; /dev/null unless said otherwise"),
    FT__FLAG(ft__commands_options, show_output, "show-output", "let commands write"),
    {"ignore-failure", 'i', FT__OPT_FLAG,
     offsetof(ft__commands_options, ignore_failure), NULL, "count runs that fail, too",
     NULL},
    FT__TEXTS(ft__commands_options, shells, "shell", "TEXT",
              "a command for the shell; may be repeated"),
    {"name", 'n', FT__OPT_TEXTS, offsetof(ft__commands_options, names), "NAME",
     "what to call the commands, in order", NULL},
    {"list", 'L', FT__OPT_TEXTS, offsetof(ft__commands_options, lists), "NAME=A,B,...",
     "{NAME} in commands becomes each of these; 1..8 counts", NULL},
    FT__TEXT(ft__commands_options, reference, "reference", "NAME",
             "compare with this command, not with the fastest"),
    FT__OUTPUT(ft__commands_options, markdown, "markdown", "FILE",
               "write the table of commands there, too"),
    {0},
};

const ft__option ft__power_table[] = {
    FT__TEXT(ft__commands_options, power, "power", "SOURCES",
             "where power is read; every source that works"),
    FT__FLAG(ft__commands_options, no_power, "no-power", "do not measure energy"),
    FT__SECONDS(ft__commands_options, power_time_s, "power-time", "TIME",
                "how long what is short is looped for its energy; by --power-error, 5s "
                "at most"),
    FT__TEXT(ft__commands_options, power_error, "power-error", "P%",
             "what updates at the ends of that loop may leave open; 2%"),
    {0},
};

double ft__power_error_of(const ft__commands_options *o)
{
    double share = 0;

    return !o->power_error                               ? 0
           : ft__share_from_text(&share, o->power_error) ? share
                                                         : (double)NAN;
}

enum { MAX_LISTS = 8, MAX_COMMANDS = 1000, MAX_NAME = 256 };

/* --list NAME=A,B,C: the values {NAME} goes through. */
struct value_list {
    char name[64];
    ft__texts values;
};

/* Everything that was put together for the commands lives until the end. */
struct command_set {
    ft_command *command;
    size_t n;
    struct value_list list[MAX_LISTS];
    size_t n_lists;
    void **owned;
    size_t n_owned;
    bool bad; /* out of memory */
};

static void *own(struct command_set *s, void *p)
{
    void **grown = p ? realloc(s->owned, (s->n_owned + 1) * sizeof(*grown)) : NULL;

    if (!grown) {
        free(p);
        s->bad = true;
        return NULL;
    }
    s->owned = grown;
    return s->owned[s->n_owned++] = p;
}

static void set_free(struct command_set *s)
{
    for (size_t i = 0; i < s->n_owned; i++)
        free(s->owned[i]);
    for (size_t i = 0; i < s->n_lists; i++)
        free(s->list[i].values.v);
    free(s->owned);
    free(s->command);
}

/* ---- lists ---- */

static bool add_value(struct command_set *s, struct value_list *l, char *value)
{
    const char **grown = realloc(l->values.v, (l->values.n + 1) * sizeof(*grown));

    if (!value || !grown) {
        s->bad = true;
        return false;
    }
    l->values.v = grown;
    grown[l->values.n++] = value;
    return true;
}

/* "1..8", "1..9..2": 0, or the complaint's exit code; -1: no range. */
static int add_range(ft__cli *c, struct command_set *s, struct value_list *l,
                     const char *text)
{
    const char *range = text;
    long from, to, step = 1;
    uint64_t n;
    char *end;

    errno = 0;
    from = strtol(text, &end, 10);
    if (end == text || strncmp(end, "..", 2) != 0)
        return -1;
    text = end + 2;
    to = strtol(text, &end, 10);
    if (end == text)
        return -1;
    if (strncmp(end, "..", 2) == 0) {
        text = end + 2;
        step = strtol(text, &end, 10);
    }
    if (*end)
        return -1;
    if (step < 1 || from > to || errno)
        return ft__usage(c, "--list %s=%s: a range counts upwards, by whole numbers",
                         l->name, range);
    n = ((uint64_t)to - (uint64_t)from) / (uint64_t)step + 1;
    if (n == 0 || n > MAX_COMMANDS)
        return ft__usage(c, "--list %s=%s: more than %d values", l->name, range,
                         MAX_COMMANDS);
    for (uint64_t i = 0; i < n; i++) {
        char digits[32];

        snprintf(digits, sizeof(digits), "%ld",
                 (long)((uint64_t)from + i * (uint64_t)step));
        if (!add_value(s, l, own(s, strdup(digits))))
            break;
    }
    return 0;
}

static int read_list(ft__cli *c, struct command_set *s, const char *text)
{
    struct value_list *l = &s->list[s->n_lists];
    size_t len = strcspn(text, "=");
    int code;

    if (s->n_lists == MAX_LISTS)
        return ft__usage(c, "more than %d lists", MAX_LISTS);
    if (len == 0 || len >= sizeof(l->name) || !text[len] || !text[len + 1])
        return ft__usage(c, "--list wants NAME=A,B,... or NAME=1..8, not \"%s\"", text);
    memcpy(l->name, text, len);
    s->n_lists++;
    text += len + 1;
    code = add_range(c, s, l, text);
    if (code >= 0)
        return code;
    for (;;) {
        size_t n = strcspn(text, ",");

        if (!add_value(s, l, own(s, strndup(text, n))) || !text[n])
            return 0;
        text += n + 1;
    }
}

/* ---- commands ---- */

/* `word` with every {NAME} replaced by the value chosen; NULL: out of memory. */
static char *replaced(struct command_set *s, const char *word, const size_t *choice)
{
    size_t len = 0, cap = strlen(word) + 1;
    char *out = malloc(cap);

    while (out && *word) {
        const char *put = word;
        size_t n = 1, skip = 1;

        for (size_t i = 0; i < s->n_lists && *word == '{'; i++) {
            size_t name = strlen(s->list[i].name);

            if (strncmp(word + 1, s->list[i].name, name) == 0 &&
                word[name + 1] == '}') {
                put = s->list[i].values.v[choice[i]];
                n = strlen(put);
                skip = name + 2;
            }
        }
        if (len + n + 1 > cap) {
            char *grown = realloc(out, cap = 2 * (len + n + 1));

            if (!grown) {
                free(out);
                return NULL;
            }
            out = grown;
        }
        memcpy(out + len, put, n);
        len += n;
        word += skip;
    }
    if (out)
        out[len] = '\0';
    return out;
}

static void add_command(struct command_set *s, char **words, size_t n,
                        const size_t *choice, bool shell)
{
    const char **argv = own(s, calloc(n + 3, sizeof(*argv)));
    ft_command *grown = realloc(s->command, (s->n + 1) * sizeof(*grown));
    size_t at = 0;

    if (grown)
        s->command = grown;
    if (!argv || !grown) {
        s->bad = true;
        return;
    }
    if (shell) {
        argv[at++] = "/bin/sh";
        argv[at++] = "-c";
    }
    for (size_t i = 0; i < n; i++)
        argv[at++] = own(s, replaced(s, words[i], choice));
    s->command[s->n++] = (ft_command){.argv = argv, .name = shell ? argv[2] : NULL};
}

static bool occurs(const struct value_list *l, char **words, size_t n)
{
    char mark[sizeof(l->name) + 3];

    snprintf(mark, sizeof(mark), "{%s}", l->name);
    for (size_t i = 0; i < n; i++)
        if (strstr(words[i], mark))
            return true;
    return false;
}

/* One command for each combination of the values that occur in it. */
static int add_all(ft__cli *c, struct command_set *s, char **words, size_t n,
                   bool shell)
{
    size_t choice[MAX_LISTS] = {0}, i;

    do {
        if (s->n == MAX_COMMANDS)
            return ft__usage(c, "more than %d commands", MAX_COMMANDS);
        add_command(s, words, n, choice, shell);
        for (i = 0; i < s->n_lists; i++) {
            if (occurs(&s->list[i], words, n) && ++choice[i] < s->list[i].values.n)
                break;
            choice[i] = 0;
        }
    } while (i < s->n_lists && !s->bad);
    return 0;
}

static int split_rest(ft__cli *c, struct command_set *s)
{
    int code = 0;

    for (size_t i = 0; i < c->n_rest && !code;) {
        size_t n = 0;

        while (i + n < c->n_rest && strcmp(c->rest[i + n], "--") != 0)
            n++;
        if (n == 0)
            return ft__usage(c, "there is no command between two --");
        code = add_all(c, s, c->rest + i, n, false);
        i += n + 1;
    }
    return code;
}

static int collect(ft__cli *c, struct command_set *s, const ft__commands_options *o)
{
    int code = 0;

    for (size_t i = 0; i < o->lists.n && !code; i++)
        code = read_list(c, s, o->lists.v[i]);
    if (!code)
        code = split_rest(c, s);
    for (size_t i = 0; i < o->shells.n && !code; i++)
        code = add_all(c, s, (char *[]){(char *)(uintptr_t)o->shells.v[i]}, 1, true);
    if (!code && s->bad)
        return ft__cli_exit(c, FT__EXIT_BUG, "out of memory");
    if (!code && o->names.n > s->n)
        return ft__usage(c, "%zu names for %zu commands", o->names.n, s->n);
    for (size_t i = 0; i < o->names.n && !code; i++)
        s->command[i].name = o->names.v[i];
    return code;
}

/* ---- what they took ---- */

static double ratio_of(const ft_command_result *r, const ft_command_result *reference,
                       double *error)
{
    double ratio = r->time.value / reference->time.value;

    *error = ratio * hypot(r->time.error / r->time.value,
                           reference->time.error / reference->time.value);
    return ratio;
}

/* The domain that commands are compared by: the first that is no part of another and
 * is known of all of them. NULL: there is none. */
static const char *common_domain(const ft_command_result *r, size_t n)
{
    for (uint32_t d = 0; d < r->n_domains; d++) {
        size_t known = 0;

        while (known < n && isfinite(r[known].energy[d].energy.value))
            known++;
        if (known == n && !*r->energy[d].part_of)
            return r->energy[d].domain;
    }
    return NULL;
}

/* NaN: of no domain. */
static double joules_of(const ft_command_result *r, const char *domain)
{
    for (uint32_t i = 0; domain && i < r->n_domains; i++)
        if (strcmp(r->energy[i].domain, domain) == 0)
            return r->energy[i].energy.value;
    return NAN;
}

/* ---- text ---- */

static void print_energy(const ft_command_result *r)
{
    if (*r->no_energy)
        printf("  energy        unavailable: %s\n", r->no_energy);
    for (uint32_t i = 0; i < r->n_domains; i++) {
        const ft_command_energy *e = &r->energy[i];

        if (!isfinite(e->energy.value)) {
            printf("  energy        %s: unavailable: %s\n", e->domain, e->reason);
            continue;
        }
        printf("  energy        %s +- %s   %s at %s",
               ft__text_joules(e->energy.value).s, ft__text_joules(e->energy.error).s,
               e->domain, ft__text_watts(e->power.value).s);
        if (isfinite(e->idle_w))
            printf(", idle %s", ft__text_watts(e->idle_w).s);
        putchar('\n');
    }
}

static void print_one(const ft_command_result *r, size_t i)
{
    printf("%zu: ", i + 1);
    ft__put_clean(stdout, r->name);
    printf("\n  mean          %s +- %s (std)   user %s, system %s\n",
           ft__text_seconds(r->time.mean).s, ft__text_seconds(r->time.std).s,
           ft__text_seconds(r->user.mean).s, ft__text_seconds(r->system.mean).s);
    printf("  median        %s, 95 %% below %s, range %s .. %s, %zu runs\n",
           ft__text_seconds(r->time.value).s, ft__text_seconds(r->p95_s).s,
           ft__text_seconds(r->min_s).s, ft__text_seconds(r->max_s).s, r->n_runs);
    printf("  peak memory   %s\n", ft__text_bytes(r->memory.value).s);
    print_energy(r);
}

static double mean_load(const ft_command_result *r)
{
    double sum = 0;

    for (size_t i = 0; i < r->n_runs; i++)
        sum += r->run[i].conditions.foreign_load;
    return sum / (double)r->n_runs;
}

static void print_warnings(const ft_command_result *r)
{
    double load = mean_load(r);

    if (r->n_failed)
        printf("  note: %zu of %zu runs ended with something else than 0\n",
               r->n_failed, r->n_runs);
    if (r->n_runs > 3 && r->run[0].wall_s > r->time.value + 5 * r->time.mad &&
        r->run[0].wall_s > 1.5 * r->time.value)
        printf(
            "  note: the first run took %.1f times the median: with --warmup 3 caches "
            "are warm,\n        with --prepare each run can begin without them\n",
            r->run[0].wall_s / r->time.value);
    if (r->n_outliers)
        printf("  note: %zu of %zu runs lie far from the others; they are in all "
               "figures\n",
               r->n_outliers, r->n_runs);
    if (load > 0.1)
        printf("  note: other programs kept %.2g CPUs busy meanwhile\n", load);
}

static void print_comparison(const ft_command_result *r, size_t n, size_t reference,
                             bool fixed)
{
    const char *domain = common_domain(r, n);
    double own = joules_of(&r[reference], domain);

    printf("\n");
    ft__put_clean(stdout, r[reference].name);
    puts(fixed ? ", beside it:" : " is the fastest; the others take");
    for (size_t i = 0; i < n; i++) {
        double error, ratio = ratio_of(&r[i], &r[reference], &error);

        if (i == reference)
            continue;
        printf("  %.2f +- %.2f times its time", ratio, error);
        if (own > 0)
            printf(", %.2f times its energy", joules_of(&r[i], domain) / own);
        printf(", %.2f times its memory: ",
               r[i].memory.value / r[reference].memory.value);
        ft__put_clean(stdout, r[i].name);
        puts(fabs(ratio - 1) < 2 * error ? "   (cannot be distinguished)" : "");
    }
}

static bool print_text(const ft_command_result *r, size_t n, size_t reference,
                       bool fixed_reference)
{
    for (size_t i = 0; i < n; i++) {
        print_one(&r[i], i);
        print_warnings(&r[i]);
    }
    if (n > 1)
        print_comparison(r, n, reference, fixed_reference);
    return true;
}

/* ---- Markdown ---- */

/* One unit for a column, so that its numbers can be compared at a glance. */
static double unit_for(double least_s, const char **name)
{
    *name = least_s < 1e-3 ? "us" : least_s < 1 ? "ms" : "s";
    return least_s < 1e-3 ? 1e6 : least_s < 1 ? 1e3 : 1;
}

static bool write_markdown(FILE *fp, const ft_command_result *r, size_t n,
                           size_t reference)
{
    const char *unit, *domain = common_domain(r, n);
    double scale = unit_for(r[reference].time.mean, &unit);

    fprintf(
        fp,
        "| command | mean [%s] | median [%s] | min [%s] | max [%s] | peak memory "
        "[MiB] | energy [J] | relative |\n|:---|---:|---:|---:|---:|---:|---:|---:|\n",
        unit, unit, unit, unit);
    for (size_t i = 0; i < n; i++) {
        double joules = joules_of(&r[i], domain), error;
        double ratio = ratio_of(&r[i], &r[reference], &error);

        fputs("| `", fp);
        for (const char *s = r[i].name; *s; s++)
            fprintf(fp, *s == '|' ? "\\%c" : "%c", (unsigned char)*s < ' ' ? ' ' : *s);
        fprintf(fp, "` | %.1f +- %.1f | %.1f | %.1f | %.1f | %.1f |",
                r[i].time.mean * scale, r[i].time.std * scale, r[i].time.value * scale,
                r[i].min_s * scale, r[i].max_s * scale, r[i].memory.value / 1048576);
        fprintf(fp, isfinite(joules) ? " %.3g |" : " |", joules);
        fprintf(fp, i == reference ? " 1 |\n" : " %.2f +- %.2f |\n", ratio, error);
    }
    return !ferror(fp);
}

/* ---- JSON and CSV ---- */

static json_t *run_json(const ft_command_run *x)
{
    return ft__json(
        "start_s:g wall_s:g user_s:g system_s:g peak_bytes:u read_bytes:u "
        "written_bytes:u page_faults:u switches:u exit_code:d signal:d timed_out:b "
        "outlier:b foreign_load:g clock_hz:g temperature_max_k:g",
        x->start_s, x->wall_s, x->user_s, x->system_s, x->peak_bytes, x->read_bytes,
        x->written_bytes, x->page_faults, x->switches, x->exit_code, x->signal,
        x->timed_out != 0, x->outlier != 0, x->conditions.foreign_load,
        x->conditions.clock_hz, x->conditions.temperature_max_k);
}

static json_t *joules_json(const ft_command_energy *e, size_t n_runs)
{
    json_t *all = json_array();

    for (size_t k = 0; e->joules && k < n_runs; k++)
        ft__json_append_take(&all, ft__json_real(e->joules[k]));
    return all;
}

static json_t *energy_json(const ft_command_result *r)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < r->n_domains; i++) {
        const ft_command_energy *e = &r->energy[i];

        ft__json_append_take(
            &all, ft__json("domain:s part_of:z value:g error:g unit:s power_w:g "
                           "power_error_w:g idle_w:g runs:u joules:o why:z",
                           e->domain, e->part_of, e->energy.value, e->energy.error, "J",
                           e->power.value, e->power.error, e->idle_w, e->runs,
                           joules_json(e, r->n_runs), e->reason));
    }
    return all;
}

static json_t *result_json(const ft_command_result *r,
                           const ft_command_result *reference)
{
    json_t *runs = json_array();
    double error, ratio = ratio_of(r, reference, &error);

    for (size_t i = 0; i < r->n_runs; i++)
        ft__json_append_take(&runs, run_json(&r->run[i]));
    return ft__json(
        "command:s time:o user_s:g system_s:g memory:o energy:o energy_why:z ratio:g "
        "ratio_error:g outliers:u runs:o",
        r->name,
        ft__json("mean:g std:g median:g error:g min:g max:g p95:g unit:s", r->time.mean,
                 r->time.std, r->time.value, r->time.error, r->min_s, r->max_s,
                 r->p95_s, "s"),
        r->user.mean, r->system.mean,
        ft__json("peak:g mean:g unit:s", r->memory.value, r->memory.mean, "B"),
        energy_json(r), r->no_energy, ratio, error, r->n_outliers, runs);
}

static json_t *machine_json(void)
{
    struct utsname u = {0};
    ft_device *d = NULL;
    json_t *m;

    (void)uname(&u);
    if (ft_device_local(&d, "", NULL))
        return NULL;
    m = ft__json("device:s title:s cores:g memory_bytes:g system:s release:s",
                 ft_device_get(d)->fingerprint, ft_device_get(d)->title,
                 ft_device_get(d)->cores, ft_device_get(d)->memory_bytes, u.sysname,
                 u.release);
    ft_device_free(d);
    return m;
}

static json_t *results_json(const ft__cli *c, const ft_command_result *r, size_t n,
                            size_t reference)
{
    json_t *all = json_array();

    for (size_t i = 0; i < n; i++)
        ft__json_append_take(&all, result_json(&r[i], &r[reference]));
    return ft__json("machine:o foretell:s line:s reference:s results:o", machine_json(),
                    ft_version(), c->line, r[reference].name, all);
}

static const char run_fields[] = "command:s start_s:g wall_s:g user_s:g system_s:g "
                                 "peak_bytes:u exit_code:d outlier:d";

static bool print_csv(const ft_command_result *r, size_t n)
{
    ft__csv_head(stdout, run_fields);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < r[i].n_runs; k++) {
            const ft_command_run *x = &r[i].run[k];
            /* As a shell would say it. */
            int code = x->signal ? 128 + x->signal : x->exit_code;

            ft__csv_row(stdout, run_fields, r[i].name, x->start_s, x->wall_s, x->user_s,
                        x->system_s, x->peak_bytes, code, x->outlier);
        }
    return true;
}

/* In the form that the global options ask for. */
static bool print_results(const ft__cli *c, const ft_command_result *r, size_t n,
                          size_t reference, bool fixed_reference)
{
    return c->json  ? ft__json_print_take(results_json(c, r, n, reference), stdout)
           : c->csv ? print_csv(r, n)
                    : print_text(r, n, reference, fixed_reference);
}

/* ---- running ---- */

static size_t fastest(const ft_command_result *r, size_t n)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        if (r[i].time.value < r[best].time.value)
            best = i;
    return best;
}

/* n: there is none of that name. */
static size_t find(const ft_command_result *r, size_t n, const char *name)
{
    size_t i = 0;

    while (i < n && strcmp(r[i].name, name) != 0)
        i++;
    return i;
}

static int show(ft__cli *c, const ft__commands_options *o, const ft_command_result *r,
                size_t n, const char *html)
{
    size_t reference = o->reference ? find(r, n, o->reference) : fastest(r, n);
    int code;

    if (o->markdown) {
        ft__text_file file;
        bool good =
            ft__text_file_open(&file) && write_markdown(file.fp, r, n, reference);

        code = ft__text_file_save(&file, c, o->markdown, good);
        if (code)
            return code;
    }
    code = ft__cli_done(c, print_results(c, r, n, reference, o->reference != NULL));
    return !code && html
               ? ft__record_save_take(c, html, results_json(c, r, n, reference))
               : code;
}

static int named(ft__cli *c, const struct command_set *s, const char *name)
{
    for (size_t i = 0; name && i < s->n; i++)
        if (s->command[i].name && strcmp(s->command[i].name, name) == 0)
            return 0;
    return name ? ft__usage(c, "--reference %s: no command has that --name", name) : 0;
}

static int measure(ft__cli *c, const ft__commands_options *o,
                   const struct command_set *s, double time_s, const char *html)
{
    ft_command_options how = {.warmup = (uint32_t)o->warmup,
                              .min_runs = (uint32_t)(o->runs ? o->runs : o->least_runs),
                              .max_runs = (uint32_t)(o->runs ? o->runs : o->most_runs),
                              .time_s = time_s,
                              .timeout_s = o->timeout_s,
                              .setup = o->setup,
                              .prepare = o->prepare,
                              .conclude = o->conclude,
                              .cleanup = o->cleanup,
                              .input = o->input,
                              .show_output = o->show_output,
                              .ignore_failure = o->ignore_failure,
                              .power_time_s = o->power_time_s,
                              .power_error = ft__power_error_of(o),
                              .log = &c->log};
    ft_meter *meter = NULL;
    ft_command_result *r = NULL;
    ft_error no_energy = {0};
    ft_status st;
    int code;

    if (o->no_power) {
        how.no_energy = "--no-power was given";
    } else {
        ft_meter_options power = {.sources = o->power};

        if (ft_meter_open(&meter, &power, &no_energy)) {
            if (o->power)
                return ft__cli_fail(c, no_energy.status, &no_energy);
            how.no_energy = no_energy.msg;
        }
        how.meter = meter;
    }
    st = ft_measure_commands(&r, s->command, s->n, &how, &c->err);
    /* A command that fails is an answer. */
    code = st == FT_EBACKEND ? ft__cli_exit(c, FT__EXIT_NO, "%s", c->err.msg)
           : st              ? ft__cli_check(c, st)
                             : show(c, o, r, s->n, html);
    ft_command_results_free(r, s->n);
    ft_meter_close(meter);
    return code;
}

int ft__measure_commands(ft__cli *c, const ft__commands_options *o, double time_s,
                         const char *html)
{
    struct command_set s = {0};
    int code = c->args.n ? ft__usage(c, "a model (%s) and commands exclude each other",
                                     c->args.v[0])
                         : collect(c, &s, o);

    if (!code)
        code = named(c, &s, o->reference);
    if (!code)
        code = measure(c, o, &s, time_s, html);
    set_free(&s);
    return code;
}
