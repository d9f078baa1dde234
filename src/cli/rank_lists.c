/* foretell rank --stdin: which of many networks, on which device. */
#include "cli/rank_lists.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/explore.h"
#include "report/units.h"

enum { BLOCK = 1 << 20, MOST_TEXT = 64 << 20 };

/* ---- what is asked for ---- */

/* All quantities of a network, as ft_rank() has them. */
double ft__lists_quantity(const ft__rank_question *q, const ft_brief *b,
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

static ft_rank_state judge(const ft__lists *s, const ft_brief *b, size_t d)
{
    const ft__rank_question *q = s->q;
    const ft_rank_options *how = &q->r.how;

    if (b->memory_bytes > s->device[d].limit_bytes)
        return FT_RANK_TOO_LARGE;
    for (uint32_t i = 0; i < how->n_limits; i++) {
        double v = ft__lists_quantity(q, b, q->device[d], how->limit[i].of);

        if (isnan(v))
            return FT_RANK_UNKNOWN;
        if (v > how->limit[i].most)
            return FT_RANK_OVER_LIMIT;
    }
    return isnan(ft__lists_quantity(q, b, q->device[d], how->by)) ? FT_RANK_UNKNOWN
                                                                  : FT_RANK_PLACED;
}

/* ---- reading ---- */

static bool room(ft__lists *s)
{
    size_t more = 2 * s->cap + 1024;
    ft__list_network *networks;
    ft__list_place *places;

    if (s->n < s->cap)
        return true;
    networks = realloc(s->network, more * sizeof(*networks));
    s->network = networks ? networks : s->network;
    places = realloc(s->place, more * s->q->n_devices * sizeof(*places));
    s->place = places ? places : s->place;
    s->cap = networks && places ? more : s->cap;
    return networks && places;
}

/* By the family that is named, otherwise by the one that knows the first networks best.
 */
static ft_status ask(ft_answer **out, ft__lists *s, size_t d, ft_error *err)
{
    const ft__rank_options *o = s->q->o;
    ft__list_device *device = &s->device[d];
    ft_query query = ft__rank_query(s->q);
    ft_status st;

    query.lists = s->list;
    query.n_lists = s->n_listed;
    query.device = s->q->device[d];
    query.setting = s->setting;
    query.engine = o->engine;
    query.engine_version = o->asked.engine_version;
    query.loaded = ft__rank_family(s->q);
    if (!query.loaded && *device->predictor)
        query.predictor = device->predictor;
    else if (!query.loaded && (device->asked || o->method))
        query.method = "physics";
    st = ft_query_ask(out, s->q->data, &query, err);
    if (st || device->asked)
        return st;
    device->asked = true;
    device->limit_bytes = (*out)->limit_bytes;
    snprintf(device->predictor, sizeof(device->predictor), "%s", (*out)->predictor);
    return FT_OK;
}

static int take(ft__lists *s, size_t d, const ft_answer *a)
{
    const size_t first = s->n - s->n_listed;

    for (size_t i = 0; i < s->n_listed; i++) {
        ft__list_network *n = &s->network[first + i];
        ft__list_place *p = &s->place[(first + i) * s->q->n_devices + d];
        const ft_brief *b = &a->each[i];

        *p = (ft__list_place){.brief = *b, .state = FT_RANK_UNKNOWN};
        p->brief.why = "";
        if (!b->status)
            p->state = (unsigned char)judge(s, b, d);
        else if (b->status == FT_ENOTFOUND && !*s->unknown)
            snprintf(s->unknown, sizeof(s->unknown), "%s", b->why);
        else if (b->status == FT_ENOTFOUND)
            continue;
        else if (!n->why && !(n->why = strdup(b->why)))
            return ft__cli_done(s->q->c, false);
    }
    return FT__EXIT_GOOD;
}

/* Asks about what is listed: networks n - n_listed to n. */
static int price(ft__lists *s)
{
    int code = FT__EXIT_GOOD;

    for (size_t d = 0; d < s->q->n_devices && !code; d++) {
        ft_error err = {0};
        ft_answer *a;

        if (ask(&a, s, d, &err))
            return ft__cli_fail(s->q->c, err.status, &err);
        code = take(s, d, a);
        ft_answer_free(a);
    }
    for (size_t i = s->n - s->n_listed; i < s->n; i++)
        s->n_bad += s->network[i].why != NULL;
    s->n_listed = 0;
    return code;
}

/* The name behind "---", or the number. */
static char *name_of(const ft__lists *s, const char *line, size_t len)
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
static size_t whole_network(const ft__lists *s, size_t at, bool last)
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

static int add_network(ft__lists *s, const char *text, size_t len)
{
    const char *end = memchr(text, '\n', len);
    size_t head = end ? (size_t)(end - text) : len;
    bool named = begins(text, head);

    if (!named && !says_something(text, len))
        return FT__EXIT_GOOD;
    if (!room(s))
        return ft__cli_done(s->q->c, false);
    s->network[s->n] = (ft__list_network){.name = name_of(s, text, named ? head : 0)};
    if (!s->network[s->n].name)
        return ft__cli_done(s->q->c, false);
    s->n++;
    if (named)
        head += end != NULL;
    else
        head = 0;
    s->list[s->n_listed++] = (ft_list){.text = text + head, .len = len - head};
    return FT__EXIT_GOOD;
}

/* Networks whose end is there; the rest of the text stays. */
static int take_networks(ft__lists *s, bool last)
{
    size_t at = 0, len;
    int code = FT__EXIT_GOOD;

    while (!code && at < s->len && (len = whole_network(s, at, last))) {
        code = add_network(s, s->text + at, len);
        at += len;
        if (!code && s->n_listed == FT__LISTS_AT_ONCE)
            code = price(s);
    }
    if (!code && s->n_listed)
        code = price(s);
    memmove(s->text, s->text + at, s->len - at);
    s->len -= at;
    return code;
}

static int read_all(ft__lists *s)
{
    int code = FT__EXIT_GOOD;

    while (!feof(stdin) && !code) {
        if (s->cap_text - s->len < BLOCK) {
            char *grown;

            if (s->cap_text >= MOST_TEXT)
                return ft__cli_exit(
                    s->q->c, FT__EXIT_INPUT,
                    "standard input: network %zu has more than 64 MiB of "
                    "text",
                    s->n + 1);
            grown = realloc(s->text, 2 * s->cap_text + 2 * BLOCK);
            if (!grown)
                return ft__cli_done(s->q->c, false);
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

static bool mark_pareto(ft__lists *s)
{
    size_t all = s->n * s->q->n_devices;
    double *y = malloc((3 * all + 1) * sizeof(*y));
    unsigned char *on = calloc(all + 1, 1);
    bool powered = false, good;

    for (size_t i = 0; i < all && y; i++)
        powered = powered || !isnan(s->place[i].brief.energy_j);
    for (size_t i = 0; i < all && y; i++) {
        const ft__list_place *p = &s->place[i];
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

static int put_in_order(ft__lists *s)
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
                ft__lists_quantity(s->q, &s->place[i].brief,
                                   s->q->device[i % s->q->n_devices], s->q->r.how.by),
                i};
    qsort(v, s->n_placed, sizeof(*v), upwards);
    for (size_t i = 0; i < s->n_placed; i++)
        s->order[i] = v[i].at;
    free(v);
    return FT__EXIT_GOOD;
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
    if (q->o->method && strcmp(q->o->method, "physics") != 0)
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

static void lists_free(ft__lists *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->network[i].name);
        free(s->network[i].why);
    }
    free(s->device);
    free(s->network);
    free(s->place);
    free(s->text);
    free(s->order);
    free(s);
}

int ft__rank_lists(ft__rank_question *q)
{
    ft__lists *s = calloc(1, sizeof(*s));
    int code = s ? check(q) : ft__cli_done(q->c, false);

    if (!s)
        return code;
    s->q = q;
    s->device = calloc(q->n_devices + 1, sizeof(*s->device));
    if (!code && !s->device)
        code = ft__cli_done(q->c, false);
    if (!code)
        code = ft__use_setting(q->c, s->setting, &q->use, q->o->asked.setting);
    if (!code)
        code = read_all(s);
    if (!code && s->n == 0)
        code = ft__cli_exit(q->c, FT__EXIT_INPUT, "standard input holds no network");
    if (!code)
        code = put_in_order(s);
    if (!code)
        code = ft__lists_print(s);
    if (!code)
        code = ft__lists_verdict(s);
    lists_free(s);
    return code;
}
