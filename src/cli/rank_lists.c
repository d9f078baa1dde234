/* foretell rank --stdin: which of many networks, on which device. */
#include "cli/rank_lists.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/explore.h"
#include "report/units.h"

enum { AT_ONCE = 256, BLOCK = 1 << 20, MOST_TEXT = 64 << 20, SHOWN_BAD = 5 };

/* One network on one device. */
struct place {
    ft_brief brief;
    unsigned char state; /* ft_rank_state */
    unsigned char pareto;
};

struct network {
    char *name;
    char *why; /* it is none; NULL */
};

struct lists {
    ft__rank_question *q;
    ft_device **device;
    ft_pricer **pricer;
    struct network *network;
    struct place *place; /* network * n_devices + device */
    size_t n, cap, n_bad;
    char *text; /* what is read and not yet looked at */
    size_t len, cap_text;
    ft_listed list[AT_ONCE];
    size_t n_listed;
    size_t *order; /* of places, the best first */
    size_t n_placed;
    char unknown[256]; /* why nothing is known of a device, the first */
};

/* ---- devices ---- */

static const ft_predictor *family_of(const ft__rank_question *q)
{
    for (size_t i = 0; i < q->n_predictors && !q->o->method; i++) {
        ft_predictor_info info;

        ft_predictor_get_info(q->predictor[i], &info);
        if (info.n_datasets)
            return q->predictor[i];
    }
    return NULL;
}

/* By the family that is named, otherwise by the one that knows the first network best.
 */
static const ft_predictor *predictor_for(struct lists *s, const char *device)
{
    const ft_predictor *p = family_of(s->q);
    ft_graph *g = NULL;
    const char *path;

    for (size_t i = 0; i < s->n_listed && !g; i++)
        (void)ft_import_ops(&g, s->list[i].text, s->list[i].len, "list", NULL);
    if (!p && g && !s->q->o->method)
        p = ft__families_best(s->q->families, device, g, &path);
    ft_graph_free(g);
    return p;
}

/* When the first networks are there. */
static int open_devices(struct lists *s)
{
    ft__rank_question *q = s->q;
    ft_error err = {0};
    ft_status st = FT_OK;

    if (s->device)
        return FT__EXIT_GOOD;
    s->device = calloc(q->n_devices + 1, sizeof(*s->device));
    s->pricer = calloc(q->n_devices + 1, sizeof(*s->pricer));
    if (!s->device || !s->pricer)
        return ft__cli_done(q->c, false);
    for (size_t d = 0; d < q->n_devices && !st; d++) {
        ft_device_use on = {.setting = q->use.setting, .policy = q->use.policy};

        st = ft_device_load(&s->device[d], q->data_dir, q->device[d], &err);
        on.device = s->device[d];
        if (!st)
            st =
                ft_pricer_new(&s->pricer[d], predictor_for(s, q->device[d]), &on, &err);
    }
    return st ? ft__cli_fail(q->c, st, &err) : FT__EXIT_GOOD;
}

/* ---- what is asked for ---- */

/* All quantities of a network, as ft_rank() has them. */
static double quantity(const ft__rank_question *q, const ft_brief *b,
                       const char *device, ft_rank_by of)
{
    switch (of) {
    case FT_RANK_BY_TIME: return b->time_s;
    case FT_RANK_BY_ENERGY: return b->energy_j;
    case FT_RANK_BY_POWER: return b->power_w;
    case FT_RANK_BY_EDP: return b->energy_j * b->time_s;
    case FT_RANK_BY_MEMORY: return b->memory_bytes;
    case FT_RANK_BY_COST: return b->time_s * ft__rank_price(q, device);
    case FT_RANK_BY_CO2: return b->energy_j * q->co2_g_per_j;
    case FT_RANK_BY_COUNT: break;
    }
    return NAN;
}

static ft_rank_state judge(const struct lists *s, const ft_brief *b, size_t d)
{
    const ft__rank_question *q = s->q;
    const ft_rank_options *how = &q->r.how;

    if (b->memory_bytes > ft_device_get(s->device[d])->memory_bytes)
        return FT_RANK_TOO_LARGE;
    for (uint32_t i = 0; i < how->n_limits; i++) {
        double v = quantity(q, b, q->device[d], how->limit[i].of);

        if (isnan(v))
            return FT_RANK_UNKNOWN;
        if (v > how->limit[i].most)
            return FT_RANK_OVER_LIMIT;
    }
    return isnan(quantity(q, b, q->device[d], how->by)) ? FT_RANK_UNKNOWN
                                                        : FT_RANK_PLACED;
}

/* ---- reading ---- */

static bool room(struct lists *s)
{
    size_t more = 2 * s->cap + 1024;
    struct network *networks;
    struct place *places;

    if (s->n < s->cap)
        return true;
    networks = realloc(s->network, more * sizeof(*networks));
    s->network = networks ? networks : s->network;
    places = realloc(s->place, more * s->q->n_devices * sizeof(*places));
    s->place = places ? places : s->place;
    s->cap = networks && places ? more : s->cap;
    return networks && places;
}

/* Prices what is listed: networks n - n_listed to n. */
static int price(struct lists *s)
{
    const size_t first = s->n - s->n_listed;
    ft_error err = {0};
    int code = open_devices(s);

    for (size_t d = 0; d < s->q->n_devices && !code; d++) {
        if (ft_pricer_price(s->pricer[d], s->list, s->n_listed, &err))
            return ft__cli_fail(s->q->c, err.status, &err);
        for (size_t i = 0; i < s->n_listed; i++) {
            struct network *n = &s->network[first + i];
            struct place *p = &s->place[(first + i) * s->q->n_devices + d];

            *p = (struct place){.brief = s->list[i].brief, .state = FT_RANK_UNKNOWN};
            if (!s->list[i].status)
                p->state = (unsigned char)judge(s, &p->brief, d);
            else if (s->list[i].status == FT_ENOTFOUND && !*s->unknown)
                snprintf(s->unknown, sizeof(s->unknown), "%s", s->list[i].why);
            else if (s->list[i].status == FT_ENOTFOUND)
                continue;
            else if (!n->why && !(n->why = strdup(s->list[i].why)))
                return ft__cli_done(s->q->c, false);
        }
    }
    for (size_t i = first; i < s->n; i++)
        s->n_bad += s->network[i].why != NULL;
    s->n_listed = 0;
    return code;
}

/* The name behind "---", or the number. */
static char *name_of(const struct lists *s, const char *line, size_t len)
{
    char number[32];

    while (len && strchr("- \t", *line)) {
        line++;
        len--;
    }
    while (len && strchr(" \t\r", line[len - 1]))
        len--;
    snprintf(number, sizeof(number), "%zu", s->n + 1);
    return len ? strndup(line, len) : strdup(number);
}

static bool begins(const char *line, size_t len)
{
    return len >= 3 && memcmp(line, "---", 3) == 0;
}

/* Does it hold more than blanks and comments? */
static bool says_something(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '#')
            while (i < len && text[i] != '\n')
                i++;
        else if (!strchr(" \t\r\n", text[i]))
            return true;
    }
    return false;
}

/* The next network of the text; its length with the line that names it. 0: its end is
 * not there yet. */
static size_t whole_network(const struct lists *s, size_t at, bool last)
{
    size_t i = at;

    while (i < s->len) {
        const char *end = memchr(s->text + i, '\n', s->len - i);
        size_t next = end ? (size_t)(end - s->text) + 1 : s->len;

        if (i > at && begins(s->text + i, next - i))
            return i - at;
        if (!end && !last)
            return 0;
        i = next;
    }
    return last ? s->len - at : 0;
}

static int add_network(struct lists *s, const char *text, size_t len)
{
    const char *end = memchr(text, '\n', len);
    size_t head = end ? (size_t)(end - text) : len;
    bool named = begins(text, head);

    if (!named && !says_something(text, len))
        return FT__EXIT_GOOD;
    if (!room(s))
        return ft__cli_done(s->q->c, false);
    s->network[s->n] = (struct network){.name = name_of(s, text, named ? head : 0)};
    if (!s->network[s->n].name)
        return ft__cli_done(s->q->c, false);
    s->n++;
    if (named)
        head += end != NULL;
    else
        head = 0;
    s->list[s->n_listed++] = (ft_listed){.text = text + head, .len = len - head};
    return FT__EXIT_GOOD;
}

/* Networks whose end is there; the rest of the text stays. */
static int take_networks(struct lists *s, bool last)
{
    size_t at = 0, len;
    int code = FT__EXIT_GOOD;

    while (!code && at < s->len && (len = whole_network(s, at, last))) {
        code = add_network(s, s->text + at, len);
        at += len;
        if (!code && s->n_listed == AT_ONCE)
            code = price(s);
    }
    if (!code && s->n_listed)
        code = price(s);
    memmove(s->text, s->text + at, s->len - at);
    s->len -= at;
    return code;
}

static int read_all(struct lists *s)
{
    int code = FT__EXIT_GOOD;

    while (!feof(stdin) && !code) {
        if (s->cap_text - s->len < BLOCK) {
            char *grown = s->cap_text < MOST_TEXT
                              ? realloc(s->text, 2 * s->cap_text + 2 * BLOCK)
                              : NULL;

            if (!grown)
                return ft__cli_exit(
                    s->q->c, FT__EXIT_INPUT,
                    "standard input: network %zu has more than 64 MiB of "
                    "text",
                    s->n + 1);
            s->text = grown;
            s->cap_text = 2 * s->cap_text + 2 * BLOCK;
        }
        s->len += fread(s->text + s->len, 1, BLOCK, stdin);
        if (ferror(stdin))
            return ft__cli_exit(s->q->c, FT__EXIT_INPUT, "standard input: %s",
                                strerror(errno));
        code = take_networks(s, feof(stdin) != 0);
    }
    return code;
}

/* ---- order ---- */

struct sorted {
    double value;
    size_t at;
};

static int upwards(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;

    if (x->value < y->value || x->value > y->value)
        return x->value < y->value ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static bool mark_pareto(struct lists *s)
{
    size_t all = s->n * s->q->n_devices;
    double *y = malloc((3 * all + 1) * sizeof(*y));
    unsigned char *on = calloc(all + 1, 1);
    bool powered = false, good;

    for (size_t i = 0; i < all && y; i++)
        powered = powered || !isnan(s->place[i].brief.energy_j);
    for (size_t i = 0; i < all && y; i++) {
        const struct place *p = &s->place[i];
        bool in = p->state == FT_RANK_PLACED;

        y[3 * i] = in ? p->brief.time_s : (double)NAN;
        y[3 * i + 1] = !in ? (double)NAN : powered ? p->brief.energy_j : 0;
        y[3 * i + 2] = in ? p->brief.memory_bytes : (double)NAN;
    }
    good = y && on && !ft_pareto(on, y, all, 3, NULL);
    for (size_t i = 0; i < all && good; i++)
        s->place[i].pareto = on[i];
    free(y);
    free(on);
    return good;
}

static int put_in_order(struct lists *s)
{
    const size_t all = s->n * s->q->n_devices;
    struct sorted *v = malloc((all + 1) * sizeof(*v));

    s->order = malloc((all + 1) * sizeof(*s->order));
    if (!v || !s->order || !mark_pareto(s)) {
        free(v);
        return ft__cli_done(s->q->c, false);
    }
    for (size_t i = 0; i < all; i++)
        if (s->place[i].state == FT_RANK_PLACED)
            v[s->n_placed++] = (struct sorted){
                quantity(s->q, &s->place[i].brief, s->q->device[i % s->q->n_devices],
                         s->q->r.how.by),
                i};
    qsort(v, s->n_placed, sizeof(*v), upwards);
    for (size_t i = 0; i < s->n_placed; i++)
        s->order[i] = v[i].at;
    free(v);
    return FT__EXIT_GOOD;
}

/* ---- printing ---- */

static ft__text text_of(ft_rank_by of, double v)
{
    switch (of) {
    case FT_RANK_BY_TIME: return ft__text_seconds(v);
    case FT_RANK_BY_ENERGY: return ft__text_joules(v);
    case FT_RANK_BY_POWER: return ft__text_watts(v);
    case FT_RANK_BY_MEMORY: return ft__text_bytes(v);
    default: return ft__text_plain(v);
    }
}

/* Quantities that always have a column. */
static const ft_rank_by always[] = {FT_RANK_BY_TIME, FT_RANK_BY_ENERGY,
                                    FT_RANK_BY_MEMORY};
enum { N_ALWAYS = 3 };

static bool has_column(ft_rank_by by)
{
    return by == FT_RANK_BY_TIME || by == FT_RANK_BY_ENERGY || by == FT_RANK_BY_MEMORY;
}

static void print_bad(const struct lists *s)
{
    size_t shown = 0;

    for (size_t i = 0; i < s->n && shown < SHOWN_BAD; i++)
        if (s->network[i].why) {
            ft__cli_exit(s->q->c, FT__EXIT_INPUT, "network %zu (%s) is skipped: %s",
                         i + 1, s->network[i].name, s->network[i].why);
            shown++;
        }
    if (s->n_bad > shown)
        ft__cli_exit(s->q->c, FT__EXIT_INPUT,
                     "and %zu more are skipped; --csv names them", s->n_bad - shown);
}

static bool print_table(const struct lists *s, uint64_t top)
{
    const ft__rank_question *q = s->q;
    const bool own = !has_column(q->r.how.by), several = q->n_devices > 1;
    const char *by = ft_rank_by_name(q->r.how.by);
    char columns[128];
    ft__table *t;
    bool printed;

    snprintf(columns, sizeof(columns), "#>|network<%s%s%s%s|time>|energy>|memory>|<",
             several ? "|device<" : "", own ? "|" : "", own ? by : "", own ? ">" : "");
    t = ft__table_new(columns);
    for (size_t k = 0; k < s->n_placed && k < top; k++) {
        const struct place *p = &s->place[s->order[k]];
        const char *device = q->device[s->order[k] % q->n_devices];

        ft__table_cell(t, "%zu", k + 1);
        ft__table_cell(t, "%s", s->network[s->order[k] / q->n_devices].name);
        if (several)
            ft__table_cell(t, "%s", device);
        if (own)
            ft__table_cell(
                t, "%s",
                text_of(q->r.how.by, quantity(q, &p->brief, device, q->r.how.by)).s);
        for (int i = 0; i < N_ALWAYS; i++)
            ft__table_cell(
                t, "%s",
                text_of(always[i], quantity(q, &p->brief, device, always[i])).s);
        ft__table_cell(t, "%s", p->pareto ? "*" : "");
    }
    printed = ft__table_print_take(t, stdout);
    if (printed && s->n_placed)
        puts("\n*: no other is at least as good in time, energy and memory and better "
             "in "
             "one");
    return printed;
}

static size_t count_state(const struct lists *s, ft_rank_state state)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n * s->q->n_devices; i++)
        n += s->place[i].state == state && !s->network[i / s->q->n_devices].why;
    return n;
}

static bool print_text(const struct lists *s)
{
    printf("%zu network%s by %s", s->n - s->n_bad, s->n - s->n_bad == 1 ? "" : "s",
           ft_rank_by_name(s->q->r.how.by));
    for (size_t d = 0; d < s->q->n_devices; d++)
        printf("%s%s", d ? ", " : " on ", s->q->device[d]);
    printf(": %zu placed, %zu miss a limit, %zu do not fit, %zu are not known\n\n",
           s->n_placed, count_state(s, FT_RANK_OVER_LIMIT),
           count_state(s, FT_RANK_TOO_LARGE), count_state(s, FT_RANK_UNKNOWN));
    return print_table(s, s->q->o->top ? s->q->o->top : 20);
}

static const char *state_name(const struct lists *s, size_t i)
{
    static const char *const names[] = {
        [FT_RANK_PLACED] = "placed",
        [FT_RANK_TOO_LARGE] = "too large",
        [FT_RANK_OVER_LIMIT] = "over limit",
        [FT_RANK_UNKNOWN] = "unknown",
    };

    return s->network[i / s->q->n_devices].why ? "bad" : names[s->place[i].state];
}

/* In the order in which they came. */
static void print_csv(const struct lists *s)
{
    const size_t n_devices = s->q->n_devices;
    size_t *placed = calloc(s->n * n_devices + 1, sizeof(*placed));

    for (size_t k = 0; placed && k < s->n_placed; k++)
        placed[s->order[k]] = k + 1;
    puts("place,network,device,state,time_s,energy_j,power_w,memory_bytes,pareto,why");
    for (size_t i = 0; placed && i < s->n * n_devices; i++) {
        const struct place *p = &s->place[i];
        const struct network *n = &s->network[i / n_devices];
        char place[32] = "";

        if (placed[i])
            snprintf(place, sizeof(place), "%zu", placed[i]);
        ft__csv_row(stdout, "ssssggggus", place, n->name, s->q->device[i % n_devices],
                    state_name(s, i), p->brief.time_s, p->brief.energy_j,
                    p->brief.power_w, p->brief.memory_bytes, (uint64_t)p->pareto,
                    n->why ? n->why : "");
    }
    free(placed);
}

static bool print_json(const struct lists *s, uint64_t top)
{
    json_t *all = json_array(), *bad = json_array();

    for (size_t k = 0; k < s->n_placed && k < top; k++) {
        const struct place *p = &s->place[s->order[k]];

        ft__json_append_take(
            &all,
            json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:b}", "network",
                      ft__json_text(s->network[s->order[k] / s->q->n_devices].name),
                      "device", s->q->device[s->order[k] % s->q->n_devices], "time_s",
                      ft__json_real(p->brief.time_s), "energy_j",
                      ft__json_real(p->brief.energy_j), "power_w",
                      ft__json_real(p->brief.power_w), "memory_bytes",
                      ft__json_real(p->brief.memory_bytes), "pareto", (int)p->pareto));
    }
    for (size_t i = 0; i < s->n; i++)
        if (s->network[i].why)
            ft__json_append_take(
                &bad, json_pack("{s:o, s:o, s:o}", "number", ft__json_count(i + 1),
                                "network", ft__json_text(s->network[i].name), "why",
                                ft__json_text(s->network[i].why)));
    return ft__json_print_take(
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "by",
                  ft_rank_by_name(s->q->r.how.by), "networks", ft__json_count(s->n),
                  "placed", ft__json_count(s->n_placed), "over_limit",
                  ft__json_count(count_state(s, FT_RANK_OVER_LIMIT)), "skipped", bad,
                  "best", all),
        stdout);
}

/* What is wrong with the input goes before "no", and that before what is missing. */
static int verdict(const struct lists *s)
{
    if (s->n_bad)
        print_bad(s);
    if (*s->unknown)
        ft__cli_exit(s->q->c, FT__EXIT_MISSING, "%s", s->unknown);
    if (s->n_bad)
        return FT__EXIT_INPUT;
    if (s->n_placed)
        return FT__EXIT_GOOD;
    return count_state(s, FT_RANK_UNKNOWN) == s->n * s->q->n_devices ? FT__EXIT_MISSING
                                                                     : FT__EXIT_NO;
}

static int print(const struct lists *s)
{
    const uint64_t top = s->q->o->top ? s->q->o->top : 20;
    bool printed = true;

    if (s->q->c->csv)
        print_csv(s);
    else
        printed = s->q->c->json ? print_json(s, top) : print_text(s);
    return ft__cli_done(s->q->c, printed);
}

/* ---- all of it ---- */

static int check(const ft__rank_question *q)
{
    const char *not = q->o->batches   ? "batches"
                      : q->o->clocks  ? "clocks"
                      : q->o->correct ? "correct"
                      : q->step.given ? "mode"
                      : q->o->model.batch || q->o->model.dims.n ||
                              q->o->model.inputs.n || q->o->model.dtype
                          ? "batch, --dim, --input and --dtype"
                          : NULL;

    if (not )
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--stdin: lists of operations have their sizes in their "
                            "lines: --%s does not apply",
                            not );
    if (q->by != FT__BY_PHYSICS)
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--stdin: --method is physics, or left out");
    if (!q->o->devices)
        return ft__cli_exit(q->c, FT__EXIT_USAGE,
                            "--stdin wants --devices with names that foretell devices "
                            "lists");
    for (size_t i = 0; i < q->n_devices; i++)
        if (strcmp(q->device[i], "local") == 0)
            return ft__cli_exit(
                q->c, FT__EXIT_USAGE,
                "--stdin: networks are ranked by families of devices and "
                "data sheets; local has neither");
    return FT__EXIT_GOOD;
}

static void lists_free(struct lists *s)
{
    for (size_t d = 0; s->device && d < s->q->n_devices; d++) {
        ft_pricer_free(s->pricer ? s->pricer[d] : NULL);
        ft_device_free(s->device[d]);
    }
    for (size_t i = 0; i < s->n; i++) {
        free(s->network[i].name);
        free(s->network[i].why);
    }
    free(s->device);
    free(s->pricer);
    free(s->network);
    free(s->place);
    free(s->text);
    free(s->order);
    free(s);
}

int ft__rank_lists(ft__rank_question *q)
{
    struct lists *s = calloc(1, sizeof(*s));
    int code = s ? check(q) : ft__cli_done(q->c, false);

    if (!s)
        return code;
    s->q = q;
    if (!code)
        code = read_all(s);
    if (!code && s->n == 0)
        code = ft__cli_exit(q->c, FT__EXIT_INPUT, "standard input holds no network");
    if (!code)
        code = put_in_order(s);
    if (!code)
        code = print(s);
    if (!code)
        code = verdict(s);
    lists_free(s);
    return code;
}
