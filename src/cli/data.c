/* foretell data: look into a store, move measurements between stores. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "foretell/store.h"
#include "report/units.h"

struct data_options {
    const char *out;
    bool readings;
    const char *device, *engine, *metric;
    ft__texts renames;
    bool same;
    const char *from;
};

static const ft__option options[] = {
    {"out", 'o', FT__OPT_OUTPUT, offsetof(struct data_options, out), "FILE",
     "export: write there instead of standard output", NULL},
    FT__FLAG(struct data_options, readings, "readings", "export: with every raw value"),
    FT__TEXT(struct data_options, device, "device", "NAME",
             "only measurements of this device"),
    FT__TEXT(struct data_options, engine, "engine", "NAME",
             "only measurements with this engine"),
    FT__TEXT(struct data_options, metric, "metric", "NAME",
             "only this metric: time, workspace, ..."),
    FT__TEXTS(struct data_options, renames, "rename", "OLD=NEW",
              "merge: what another store calls OLD is NEW here; may be repeated"),
    FT__FLAG(struct data_options, same, "same",
             "merge: devices of one name are one machine, whatever their facts"),
    FT__TEXT(struct data_options, from, "from", "FORM",
             "import: csv, as export writes it; tables of others: docs/data.md"),
    {0},
};

/* Keys of a group of measurements, which differ in their operations alone. */
enum { DEVICE, SETTING, ENGINE, VERSION, POLICY, METRIC, N_KEYS };
struct data_group {
    char *key[N_KEYS];
    uint64_t rows;
    int64_t first, last;
    bool repeated;    /* some key more than once, at times that are known */
    ft_repeats again; /* of those */
};

/* Parts of networks, as one source lists them for one phase. */
struct network_list {
    char *source, *phase;
    char *last; /* network seen */
    uint64_t networks, parts;
};

struct store_summary {
    struct data_group *group;
    size_t n;
    struct network_list *list;
    size_t n_lists;
    size_t before; /* group of the row before, and its spec and phase */
    char *spec;
    bool bad;
};

static void summary_free(struct store_summary *s)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < N_KEYS; j++)
            free(s->group[i].key[j]);
    free(s->group);
    free(s->spec);
    for (size_t i = 0; i < s->n_lists; i++) {
        free(s->list[i].source);
        free(s->list[i].phase);
        free(s->list[i].last);
    }
    free(s->list);
}

static struct network_list *list_of(struct store_summary *s, const ft_member *m)
{
    struct network_list *l;

    for (size_t i = 0; i < s->n_lists; i++)
        if (strcmp(s->list[i].source, m->source) == 0 &&
            strcmp(s->list[i].phase, m->phase) == 0)
            return &s->list[i];
    l = realloc(s->list, (s->n_lists + 1) * sizeof(*l));
    if (!l)
        return NULL;
    s->list = l;
    l += s->n_lists++;
    *l = (struct network_list){strdup(m->source), strdup(m->phase), strdup(""), 0, 0};
    return l->source && l->phase && l->last ? l : NULL;
}

/* The parts of a network lie together. */
static int add_member(void *user, const ft_member *m)
{
    struct store_summary *s = user;
    struct network_list *l = list_of(s, m);

    if (l && strcmp(l->last, m->whole) != 0) {
        free(l->last);
        l->last = strdup(m->whole);
        l->networks++;
    }
    s->bad = !l || !l->last;
    if (!s->bad)
        l->parts++;
    return s->bad;
}

static struct data_group *group_of(struct store_summary *s,
                                   const char *const key[N_KEYS])
{
    struct data_group *g;

    for (size_t i = s->n; i > 0; i--) {
        size_t j = 0;

        while (j < N_KEYS && strcmp(s->group[i - 1].key[j], key[j]) == 0)
            j++;
        if (j == N_KEYS)
            return &s->group[i - 1];
    }
    g = realloc(s->group, (s->n + 1) * sizeof(*g));
    if (!g)
        return NULL;
    s->group = g;
    g += s->n++;
    *g = (struct data_group){.first = INT64_MAX,
                             .again = {.median = NAN,
                                       .p90 = NAN,
                                       .calibrated_median = NAN,
                                       .calibrated_p90 = NAN,
                                       .covered = NAN,
                                       .scatter = NAN,
                                       .apart_s = NAN}};
    for (size_t j = 0; j < N_KEYS; j++) {
        g->key[j] = strdup(key[j]);
        if (!g->key[j])
            return NULL;
    }
    return g;
}

/* Rows come ordered by key: repeats lie together. */
static bool note_repeat(struct store_summary *s, struct data_group *g,
                        const ft_row *row)
{
    size_t n = strlen(row->key.spec) + strlen(row->key.phase) + 2;
    char *spec = malloc(n);

    if (!spec)
        return false;
    snprintf(spec, n, "%s %s", row->key.spec, row->key.phase);
    if (s->spec && s->before == (size_t)(g - s->group) && strcmp(s->spec, spec) == 0 &&
        row->taken_at > 0)
        g->repeated = true;
    free(s->spec);
    s->spec = spec;
    s->before = (size_t)(g - s->group);
    return true;
}

static int add_row(void *user, const ft_row *row)
{
    const char *const key[N_KEYS] = {row->key.device,       row->key.setting,
                                     row->key.engine,       row->key.engine_version,
                                     row->key.dtype_policy, row->key.metric};
    struct store_summary *s = user;
    struct data_group *g = group_of(s, key);

    if (!g || !note_repeat(s, g, row)) {
        s->bad = true;
        return 1;
    }
    g->rows++;
    if (row->taken_at < g->first)
        g->first = row->taken_at;
    if (row->taken_at > g->last)
        g->last = row->taken_at;
    return 0;
}

static const char *day(char *buf, size_t size, int64_t at)
{
    time_t t = (time_t)at;
    struct tm tm;

    if (at == 0 || !gmtime_r(&t, &tm) || !strftime(buf, size, "%Y-%m-%d", &tm))
        return "-";
    return buf;
}

static bool repeats_text(const struct store_summary *s)
{
    ft__table *t =
        ft__table_new("measured again|device|metric|pairs>u|apart>s|differ by>%|p90>%|"
                      "calibrated>%|p90>%|stated 90 % hold>%");
    size_t pairs = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct data_group *g = &s->group[i];
        const ft_repeats *r = &g->again;
        char how[512];

        if (!r->pairs)
            continue;
        pairs += r->pairs;
        snprintf(how, sizeof(how), "%s %s%s%s", g->key[ENGINE], g->key[VERSION],
                 *g->key[SETTING] ? ", " : "", g->key[SETTING]);
        ft__table_row(t, how, g->key[DEVICE], g->key[METRIC], r->pairs, r->apart_s,
                      r->median, r->p90, r->calibrated_median, r->calibrated_p90,
                      r->covered);
    }
    if (pairs)
        puts(
            "\nreproducibility (median and 90 % quantile of |later / earlier - 1|):\n");
    return ft__table_print_take(t, pairs ? stdout : NULL);
}

static json_t *repeats_json(const ft_repeats *r)
{
    return ft__json("pairs:u calibrated_pairs:u median:g p90:g calibrated_median:g "
                    "calibrated_p90:g covered:g scatter:g apart_s:g",
                    r->pairs, r->calibrated, r->median, r->p90, r->calibrated_median,
                    r->calibrated_p90, r->covered, r->scatter, r->apart_s);
}

static bool lists_text(const struct store_summary *s)
{
    ft__table *t = ft__table_new("listed by|phase|networks>u|parts>u");

    for (size_t i = 0; i < s->n_lists; i++) {
        ft__table_row(t, s->list[i].source, s->list[i].phase, s->list[i].networks,
                      s->list[i].parts);
    }
    if (s->n_lists)
        puts("\nwhat networks consist of:\n");
    return ft__table_print_take(t, s->n_lists ? stdout : NULL);
}

static json_t *lists_json(const struct store_summary *s)
{
    json_t *all = json_array();

    for (size_t i = 0; i < s->n_lists; i++)
        ft__json_append_take(&all, ft__json("source:s phase:s networks:u parts:u",
                                            s->list[i].source, s->list[i].phase,
                                            s->list[i].networks, s->list[i].parts));
    return all;
}

static bool summary_text(const struct store_summary *s, const char *path)
{
    ft__table *t = ft__table_new(
        "device|setting|engine|version|dtypes|metric|measurements>u|from|to");

    for (size_t i = 0; i < s->n; i++) {
        const struct data_group *g = &s->group[i];
        char from[32], to[32];

        ft__table_row(t, g->key[DEVICE], g->key[SETTING], g->key[ENGINE],
                      g->key[VERSION], g->key[POLICY], g->key[METRIC], g->rows,
                      day(from, sizeof(from), g->first), day(to, sizeof(to), g->last));
    }
    printf("store: %s\n\n", path);
    return ft__table_print_take(t, stdout) && lists_text(s) && repeats_text(s);
}

static bool summary_json(const struct store_summary *s, const char *path)
{
    json_t *all = json_array();

    for (size_t i = 0; i < s->n; i++) {
        const struct data_group *g = &s->group[i];

        ft__json_append_take(
            &all,
            ft__json(
                "device:s setting:s engine:s engine_version:s dtype_policy:s metric:s "
                "measurements:u first_taken_at:i last_taken_at:i repeats:o",
                g->key[DEVICE], g->key[SETTING], g->key[ENGINE], g->key[VERSION],
                g->key[POLICY], g->key[METRIC], g->rows, g->first, g->last,
                repeats_json(&g->again)));
    }
    return ft__json_print_take(
        ft__json("store:s groups:o members:o", path, all, lists_json(s)), stdout);
}

static ft_status summarize(struct store_summary *out, ft_store *store,
                           const ft_key *filter, ft_error *err)
{
    ft_status st = ft_store_each(store, filter, 0, add_row, out, err);

    return !st && out->bad ? ft_fail(err, FT_ENOMEM, 0, "summary") : st;
}

static ft_status find_repeats(struct data_group *g, ft_store *store, ft_error *err)
{
    ft_key filter = {.device = g->key[DEVICE],
                     .setting = g->key[SETTING],
                     .engine = g->key[ENGINE],
                     .engine_version = g->key[VERSION],
                     .dtype_policy = g->key[POLICY],
                     .metric = g->key[METRIC]};

    return ft_store_repeats(&g->again, store, &filter, err);
}

static ft_status show(ft__cli *c, ft_store *store, const ft_key *filter,
                      const char *path, bool *printed, ft_error *err)
{
    struct store_summary s = {0};
    ft_status st = summarize(&s, store, filter, err);

    if (!st)
        st = ft_store_each_member(store, NULL, NULL, add_member, &s, err);
    if (!st && s.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "summary");
    for (size_t i = 0; i < s.n && !st; i++)
        if (s.group[i].repeated)
            st = find_repeats(&s.group[i], store, err);
    if (!st)
        *printed = c->json ? summary_json(&s, path) : summary_text(&s, path);
    summary_free(&s);
    return st;
}

static ft_status show_facts(ft__cli *c, ft_store *store, const ft_key *filter,
                            bool *printed, ft_error *err)
{
    struct store_summary s = {0};
    json_t *all = json_array();
    ft__table *t = ft__table_new("device|fact|value>");
    ft_status st = summarize(&s, store, filter, err);

    for (size_t i = 0; i < s.n && !st; i++) {
        const char *device = s.group[i].key[DEVICE];
        char name[128];
        double v;

        snprintf(name, sizeof(name), "proportional_from_s:%s", s.group[i].key[ENGINE]);
        if (i && strcmp(s.group[i - 1].key[DEVICE], device) == 0 &&
            strcmp(s.group[i - 1].key[ENGINE], s.group[i].key[ENGINE]) == 0)
            continue;
        st = ft_store_fact(store, device, name, &v, err);
        if (st || isnan(v))
            continue;
        ft__table_cell(t, "%s", device);
        ft__table_cell(t, "%s", name);
        ft__table_cell(t, "%g", v);
        ft__json_append_take(&all,
                             ft__json("device:s name:s value:g", device, name, v));
    }
    *printed = ft__table_print_take(t, st || c->json ? NULL : stdout);
    if (c->json && !st)
        *printed = ft__json_print_take(all, stdout);
    else
        json_decref(all);
    summary_free(&s);
    return st;
}

/* What publishes tables that a program of tools/datasets converts. */
static const char converters[] = "neusight, justus, aic, deepbench, thesis, dvfs, timm";

/* `from` may be NULL. Complains itself; the exit code. */
static int check_from(ft__cli *c, const char *from)
{
    const char *list = converters;
    char name[64];

    if (!from || strcmp(from, "csv") == 0)
        return FT__EXIT_GOOD;
    while (ft__word_next(name, sizeof(name), &list))
        if (strcmp(name, from) == 0)
            return ft__cli_exit(c, FT__EXIT_USAGE,
                                "--from %s: such tables are converted first, by "
                                "tools/datasets/%s TABLE... -o measured.csv, and then "
                                "foretell data import measured.csv takes them "
                                "(docs/data.md)",
                                from, from);
    return ft__cli_exit(c, FT__EXIT_USAGE,
                        "--from %s: import reads csv, as export writes it; tables of "
                        "others are converted first, by tools/datasets/NAME: %s",
                        from, converters);
}

/* Each file whole or not at all; the first that fails ends it. */
/* *n_taken files of them went in. */
static ft_status import_files(ft__cli *c, ft_store *store, size_t *n_taken,
                              bool *printed, ft_error *err)
{
    json_t *all = json_array();
    ft_status st = FT_OK;

    for (size_t i = 1; i < c->args.n && !st; i++) {
        const char *path = c->args.v[i];
        uint64_t rows;

        st = ft_store_import_file(store, path, &rows, err);
        if (st)
            break;
        ++*n_taken;
        if (!c->json)
            printf("%s taken", ft__text_counted(rows, "measurement").s);
        if (!c->json)
            ft__put_line(stdout, " from ", path);
        ft__json_append_take(&all, ft__json("file:s measurements:u", path, rows));
    }
    if (c->json && !st)
        *printed = ft__json_print_take(ft__json("files:o", all), stdout);
    else
        json_decref(all);
    return st;
}

static bool report(const ft__cli *c, const ft_merge_report *r, const char *path)
{
    if (c->json)
        return ft__json_print_take(
            ft__json(
                "store:s measurements:u repeats:u present:u runs:u facts:u trials:u",
                path, r->measurements, r->repeats, r->present, r->runs, r->facts,
                r->trials),
            stdout);
    printf("%s taken (of them %s), %" PRIu64 " %s there; %s and %s taken\n",
           ft__text_counted(r->measurements, "measurement").s,
           ft__text_counted(r->repeats, "repeat").s, r->present,
           r->present == 1 ? "was" : "were", ft__text_counted(r->runs, "run").s,
           ft__text_counted(r->facts, "fact").s);
    if (r->trials)
        printf("%s of explorations taken\n", ft__text_counted(r->trials, "run").s);
    printf("store: %s\n", path);
    return true;
}

/* "OLD=NEW" in two; *text is the caller's to free, and the names point into it. */
static bool split(ft_rename *out, char **text, const char *arg)
{
    char *equals;

    *text = strdup(arg);
    equals = *text ? strchr(*text, '=') : NULL;
    if (!equals || equals == *text || !equals[1])
        return false;
    *equals = '\0';
    *out = (ft_rename){*text, equals + 1};
    return true;
}

/* The store is opened last: a source that cannot be read leaves none behind. */
static ft_status merge(ft_merge_report *r, const char *path, const ft__texts *from,
                       const ft_merge_options *how, ft_error *err)
{
    ft_store **store = calloc(from->n + 1, sizeof(*store)), *into = NULL;
    size_t n = 0;
    ft_status st = FT_OK;

    if (!store)
        return ft_fail(err, FT_ENOMEM, 0, "merging");
    while (n < from->n && !st) {
        st = ft_store_open_any(&store[n], from->v[n], FT_STORE_MERGE, err);
        n += !st;
    }
    if (!st)
        st = ft_store_open(&into, path, FT_STORE_WRITE, err);
    if (!st)
        st = ft_store_merge(r, into, store, n, how, err);
    ft_store_close(into);
    for (size_t i = 0; i < n; i++)
        ft_store_close(store[i]);
    free(store);
    return st;
}

/* Bring the stores and CSV files in `from` into the one at `path`; renames are
 * "OLD=NEW". Complains itself; the exit code. */
static int merge_stores(ft__cli *c, const char *path, const ft__texts *from,
                        const ft__texts *renames, bool same)
{
    ft_rename *rename = calloc(renames->n + 1, sizeof(*rename));
    char **text = calloc(renames->n + 1, sizeof(*text));
    ft_merge_options how = {rename, renames->n, same};
    ft_merge_report r = {0};
    char shown[FT__PATH_MAX];
    int code = rename && text ? FT__EXIT_GOOD : ft__cli_done(c, false);
    ft_status st = FT_OK;

    for (size_t i = 0; i < renames->n && !code; i++)
        if (!split(&rename[i], &text[i], renames->v[i]))
            code = ft__usage(c, "--rename wants OLD=NEW, not \"%s\"", renames->v[i]);
    if (!code) {
        st = merge(&r, path, from, &how, &c->err);
        ft__path_store_shown(c, shown);
        code = st ? ft__cli_check(c, st) : ft__cli_done(c, report(c, &r, shown));
    }
    for (size_t i = 0; text && i < renames->n; i++)
        free(text[i]);
    free(text);
    free(rename);
    return code;
}

enum verb { SHOW, EXPORT, IMPORT, MERGE, FACTS };

static int verb_of(ft__cli *c, enum verb *out)
{
    int verb, code = ft__verb_parse(c, &verb, c->args.n ? c->args.v[0] : "show",
                                    "show, export, import, merge, facts");

    if (code)
        return code;
    *out = (enum verb)verb;
    if (*out == MERGE && c->args.n < 2)
        return ft__usage(c, "merge wants the stores or CSV files to take from");
    if (*out == IMPORT && c->args.n < 2)
        return ft__usage(c, "import wants the files to take from");
    if (*out != MERGE && *out != IMPORT && c->args.n > 1)
        return ft__usage(c, "one argument too many: \"%s\"", c->args.v[c->args.n - 1]);
    return FT__EXIT_GOOD;
}

static int run(ft__cli *c, const void *user)
{
    const struct data_options *o = user;
    ft_key filter = {.device = o->device, .engine = o->engine, .metric = o->metric};
    char path[FT__PATH_MAX], shown[FT__PATH_MAX];
    ft_store *store = NULL;
    bool printed = true, is_new;
    size_t n_taken = 0;
    enum verb verb;
    ft_status st;
    int code = verb_of(c, &verb);

    if (code)
        return code;
    ft__path_store(c, path);
    code = verb == IMPORT ? check_from(c, o->from) : FT__EXIT_GOOD;
    if (code)
        return code;
    code = verb == IMPORT || verb == MERGE ? ft__home_needed(c, c->store)
                                           : ft__store_needed(c, path, o->engine, 0);
    if (code)
        return code;
    if (verb == MERGE) {
        ft__texts from = {c->args.v + 1, c->args.n - 1};

        return merge_stores(c, path, &from, &o->renames, o->same);
    }
    is_new = !ft_store_shown(NULL, 0, path) && !ft__path_exists(path);
    ft__path_store_shown(c, shown);
    st = ft_store_open(&store, path, verb == IMPORT ? FT_STORE_WRITE : FT_STORE_READ,
                       &c->err);
    if (!st)
        switch (verb) {
        case SHOW: st = show(c, store, &filter, shown, &printed, &c->err); break;
        case EXPORT:
            st = ft_store_export_csv(store, o->out ? o->out : "/dev/stdout", &filter,
                                     o->readings, &c->err);
            break;
        case IMPORT: st = import_files(c, store, &n_taken, &printed, &c->err); break;
        case MERGE: break;
        case FACTS: st = show_facts(c, store, &filter, &printed, &c->err); break;
        }
    ft_store_close(store);
    if (st && is_new && !n_taken)
        remove(path); /* an import that failed leaves no empty store */
    return st ? ft__cli_check(c, st) : ft__cli_done(c, printed);
}

const ft__command ft__data_command = {
    .name = "data",
    .arguments = "[show|export|import FILE...|merge FROM...|facts]",
    .summary = "show, export and import the measurements in the store",
    .more = "show: how many measurements of what; export: all of them as CSV; import: "
            "take\n"
            "what export wrote, here or on another machine, plain or packed by gzip, "
            "or what a\n"
            "converter made of a published table (docs/data.md); merge: take "
            "everything from\n"
            "other stores or CSV files, all or nothing, as often as you like; facts: "
            "single\n"
            "numbers about devices.",
    .examples = "  foretell data show\n"
                "  foretell data export --readings -o measurements.csv\n"
                "  foretell data import measurements.csv --db shared.db\n"
                "  foretell data import data/measurements/*.csv.gz --db measured.db\n"
                "  foretell data merge laptop.db server.db --db shared.db\n",
    .most_args = SIZE_MAX,
    .options_size = sizeof(struct data_options),
    .options = options,
    .run = run,
};
