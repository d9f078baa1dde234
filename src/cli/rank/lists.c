/* foretell rank --stdin: which of many networks, on which device. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rank/rank.h"
#include "foretell/explore.h"
#include "report/units.h"

enum { AT_ONCE = 256 }; /* networks that are priced together */

struct list_place {
    ft_brief brief;
    unsigned char state; /* ft_rank_state */
    unsigned char pareto;
};

struct list_network {
    char *name;
    char *why; /* it is none; NULL */
};

/* What the first networks of a device showed. */
struct list_device {
    bool asked;
    char predictor[FT__PATH_MAX]; /* by which all others are predicted; "": physics */
    double limit_bytes;
};

struct rank_lists {
    ft__rank_question *q;
    char setting[FT__SETTING_MAX];
    struct list_device *device;
    struct list_network *network;
    struct list_place *place; /* network * n_devices + device */
    size_t n, cap, n_bad;
    char *text; /* what is read and not yet looked at */
    size_t len, cap_text;
    ft_list list[AT_ONCE];
    size_t n_listed;
    size_t *order; /* of places, the best first */
    size_t n_placed;
    char unknown[256]; /* why nothing is known of a device, the first */
    ft_rank_by missed; /* what is not known of the last network that was judged */
};

enum { SHOWN_BAD = 5, BLOCK = 1 << 20, MOST_TEXT = 64 << 20 };

/* All quantities of a network, as ft_rank() has them. */
static double quantity_of(const ft__rank_question *q, const ft_brief *b, size_t d,
                          ft_rank_by of)
{
    switch (of) {
    case FT_RANK_BY_TIME: return b->time_s;
    case FT_RANK_BY_ENERGY: return b->energy_j;
    case FT_RANK_BY_POWER: return b->power_w;
    case FT_RANK_BY_EDP: return b->energy_j * b->time_s;
    case FT_RANK_BY_MEMORY: return b->memory_bytes;
    case FT_RANK_BY_COST: return b->time_s * q->price_per_s[d];
    case FT_RANK_BY_CO2: return b->energy_j * q->co2_g_per_j;
    case FT_RANK_BY_COUNT: break;
    }
    return NAN;
}

static ft_rank_state judge(struct rank_lists *s, const ft_brief *b, size_t d)
{
    const ft__rank_question *q = s->q;
    const ft_rank_options *how = &q->r.how;

    if (b->memory_bytes > s->device[d].limit_bytes)
        return FT_RANK_TOO_LARGE;
    for (uint32_t i = 0; i < how->n_limits; i++) {
        double v = quantity_of(q, b, d, how->limit[i].of);

        s->missed = how->limit[i].of;
        if (isnan(v))
            return FT_RANK_UNKNOWN;
        if (v > how->limit[i].most)
            return FT_RANK_OVER_LIMIT;
    }
    s->missed = how->by;
    return isnan(quantity_of(q, b, d, how->by)) ? FT_RANK_UNKNOWN : FT_RANK_PLACED;
}

static bool room(struct rank_lists *s)
{
    size_t more = 2 * s->cap + 1024;
    struct list_network *networks;
    struct list_place *places;

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
static ft_status ask(ft_answer **out, struct rank_lists *s, size_t d, ft_error *err)
{
    const ft__rank_options *o = s->q->o;
    struct list_device *device = &s->device[d];
    ft_query query = s->q->query;
    ft_status st;

    query.lists = s->list;
    query.n_lists = s->n_listed;
    query.device = s->q->device[d];
    query.setting = s->setting;
    query.engine = o->engine;
    query.engine_version = o->asked.engine_version;
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

static int take(struct rank_lists *s, size_t d, const ft_answer *a)
{
    const size_t first = s->n - s->n_listed;

    for (size_t i = 0; i < s->n_listed; i++) {
        struct list_network *n = &s->network[first + i];
        struct list_place *p = &s->place[(first + i) * s->q->n_devices + d];
        const ft_brief *b = &a->each[i];

        *p = (struct list_place){.brief = *b, .state = FT_RANK_UNKNOWN};
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
static int price(struct rank_lists *s)
{
    int code = FT__EXIT_GOOD;

    for (size_t d = 0; d < s->q->n_devices && !code; d++) {
        ft_answer *a;

        if (ask(&a, s, d, &s->q->c->err))
            return ft__cli_check(s->q->c, s->q->c->err.status);
        code = take(s, d, a);
        ft_answer_free(a);
    }
    for (size_t i = s->n - s->n_listed; i < s->n; i++)
        s->n_bad += s->network[i].why != NULL;
    s->n_listed = 0;
    return code;
}

/* The name behind "---", or the number. */
static char *name_of(const struct rank_lists *s, const char *line, size_t len)
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
static size_t whole_network(const struct rank_lists *s, size_t at, bool last)
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

static int add_network(struct rank_lists *s, const char *text, size_t len)
{
    const char *end = memchr(text, '\n', len);
    size_t head = end ? (size_t)(end - text) : len;
    bool named = begins(text, head);

    if (!named && !says_something(text, len))
        return FT__EXIT_GOOD;
    if (!room(s))
        return ft__cli_done(s->q->c, false);
    s->network[s->n] =
        (struct list_network){.name = name_of(s, text, named ? head : 0)};
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
static int take_networks(struct rank_lists *s, bool last)
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

static int read_all(struct rank_lists *s)
{
    int code = FT__EXIT_GOOD;

    while (!feof(stdin) && !code) {
        if (s->cap_text - s->len < BLOCK) {
            char *grown;

            if (s->cap_text >= MOST_TEXT)
                return ft__cli_exit(
                    s->q->c, FT__EXIT_INPUT,
                    "standard input: network %zu has more than 64 MiB of text",
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

static bool mark_pareto(struct rank_lists *s)
{
    size_t all = s->n * s->q->n_devices;
    double *y = malloc((3 * all + 1) * sizeof(*y));
    unsigned char *on = calloc(all + 1, 1);
    bool powered = false, good;

    for (size_t i = 0; i < all && y; i++)
        powered = powered || !isnan(s->place[i].brief.energy_j);
    for (size_t i = 0; i < all && y; i++) {
        const struct list_place *p = &s->place[i];
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

static int put_in_order(struct rank_lists *s)
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
            v[s->n_placed++] =
                (struct sorted){quantity_of(s->q, &s->place[i].brief,
                                            i % s->q->n_devices, s->q->r.how.by),
                                i};
    qsort(v, s->n_placed, sizeof(*v), upwards);
    for (size_t i = 0; i < s->n_placed; i++)
        s->order[i] = v[i].at;
    free(v);
    return FT__EXIT_GOOD;
}

/* What has a column of its own where the order is by it. */
static bool has_column(ft_rank_by by)
{
    return by != FT_RANK_BY_TIME && by != FT_RANK_BY_ENERGY && by != FT_RANK_BY_MEMORY;
}

static void print_bad(const struct rank_lists *s)
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

static bool print_table(const struct rank_lists *s, uint64_t top)
{
    const ft__rank_question *q = s->q;
    const ft_rank_by by = q->r.how.by;
    char columns[128];
    ft__table *t;
    bool printed;

    snprintf(columns, sizeof(columns),
             "#>u|network<|?device<|?%s>%s|time>s|energy>J|memory>B|<",
             ft_name(FT_NAMES_RANK_BY, by), by == FT_RANK_BY_POWER ? "W" : "~");
    t = ft__table_new(columns, q->n_devices > 1, has_column(by));
    for (size_t k = 0; k < s->n_placed && k < top; k++) {
        const struct list_place *p = &s->place[s->order[k]];
        const size_t d = s->order[k] % q->n_devices;

        ft__table_row(t, k + 1, s->network[s->order[k] / q->n_devices].name,
                      q->device[d], quantity_of(q, &p->brief, d, by), p->brief.time_s,
                      p->brief.energy_j, p->brief.memory_bytes, p->pareto ? "*" : "");
    }
    printed = ft__table_print_take(t, stdout);
    if (printed)
        puts("\n*: Pareto-optimal in time, energy and memory");
    return printed;
}

static size_t count_state(const struct rank_lists *s, ft_rank_state state)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n * s->q->n_devices; i++)
        n += s->place[i].state == state && !s->network[i / s->q->n_devices].why;
    return n;
}

static bool print_text(const struct rank_lists *s)
{
    if (s->n_bad == s->n) /* what is wrong with them follows */
        return true;
    printf("%s by %s", ft__text_counted(s->n - s->n_bad, "network").s,
           ft_name(FT_NAMES_RANK_BY, s->q->r.how.by));
    for (size_t d = 0; d < s->q->n_devices; d++)
        printf("%s%s", d ? ", " : " on ", s->q->device[d]);
    printf(": %zu placed, %zu over a limit, %zu too large, %zu not known\n",
           s->n_placed, count_state(s, FT_RANK_OVER_LIMIT),
           count_state(s, FT_RANK_TOO_LARGE), count_state(s, FT_RANK_UNKNOWN));
    if (!s->n_placed)
        return true;
    putchar('\n');
    return print_table(s, s->q->o->top ? s->q->o->top : 20);
}

static const char *state_name(const struct rank_lists *s, size_t i)
{
    static const char *const names[] = {
        [FT_RANK_PLACED] = "placed",
        [FT_RANK_TOO_LARGE] = "too large",
        [FT_RANK_OVER_LIMIT] = "over limit",
        [FT_RANK_UNKNOWN] = "unknown",
    };

    return s->network[i / s->q->n_devices].why ? "bad" : names[s->place[i].state];
}

static void print_csv(const struct rank_lists *s)
{
    static const char fields[] = "place:s network:s device:s state:s time_s:g "
                                 "energy_j:g power_w:g memory_bytes:g pareto:b why:s";
    const size_t n_devices = s->q->n_devices;
    size_t *placed = calloc(s->n * n_devices + 1, sizeof(*placed));

    for (size_t k = 0; placed && k < s->n_placed; k++)
        placed[s->order[k]] = k + 1;
    ft__csv_head(stdout, fields);
    for (size_t i = 0; placed && i < s->n * n_devices; i++) {
        const struct list_place *p = &s->place[i];
        const struct list_network *n = &s->network[i / n_devices];
        char place[32] = "";

        if (placed[i])
            snprintf(place, sizeof(place), "%zu", placed[i]);
        ft__csv_row(stdout, fields, place, n->name, s->q->device[i % n_devices],
                    state_name(s, i), p->brief.time_s, p->brief.energy_j,
                    p->brief.power_w, p->brief.memory_bytes, p->pareto, n->why);
    }
    free(placed);
}

static json_t *lists_json(const struct rank_lists *s, uint64_t top)
{
    json_t *all = json_array(), *bad = json_array();

    for (size_t k = 0; k < s->n_placed && k < top; k++) {
        const struct list_place *p = &s->place[s->order[k]];

        ft__json_append_take(
            &all, ft__json("network:s device:s time_s:g energy_j:g power_w:g "
                           "memory_bytes:g pareto:b",
                           s->network[s->order[k] / s->q->n_devices].name,
                           s->q->device[s->order[k] % s->q->n_devices], p->brief.time_s,
                           p->brief.energy_j, p->brief.power_w, p->brief.memory_bytes,
                           p->pareto));
    }
    for (size_t i = 0; i < s->n; i++)
        if (s->network[i].why)
            ft__json_append_take(&bad, ft__json("number:u network:s why:s", i + 1,
                                                s->network[i].name, s->network[i].why));
    return ft__json("by:s networks:u placed:u over_limit:u skipped:o best:o",
                    ft_name(FT_NAMES_RANK_BY, s->q->r.how.by), s->n, s->n_placed,
                    count_state(s, FT_RANK_OVER_LIMIT), bad, all);
}

/* What is wrong with the input goes before "no", and that before what is missing. */
static int verdict(const struct rank_lists *s)
{
    const bool none_known = count_state(s, FT_RANK_UNKNOWN) == s->n * s->q->n_devices;

    if (s->n_bad)
        print_bad(s);
    if (*s->unknown)
        ft__cli_exit(s->q->c, FT__EXIT_MISSING, "%s", s->unknown);
    else if (none_known)
        ft__cli_exit(s->q->c, FT__EXIT_MISSING, "%s is not known on any of the devices",
                     ft_name(FT_NAMES_RANK_BY, s->missed));
    return s->n_bad      ? FT__EXIT_INPUT
           : s->n_placed ? FT__EXIT_GOOD
           : none_known  ? FT__EXIT_MISSING
                         : FT__EXIT_NO;
}

static int print(const struct rank_lists *s)
{
    const uint64_t top = s->q->o->top ? s->q->o->top : 20;
    bool printed = true;
    int code;

    if (s->q->c->csv)
        print_csv(s);
    else
        printed = s->q->c->json ? ft__cli_json_take(s->q->c, lists_json(s, top))
                                : print_text(s);
    code = ft__cli_done(s->q->c, printed);
    return !code && s->q->o->html
               ? ft__record_save_take(s->q->c, s->q->o->html, lists_json(s, top))
               : code;
}

static int check(const ft__rank_question *q)
{
    const char *not = q->o->batches         ? "batches"
                      : q->o->clocks        ? "clocks"
                      : q->o->correct       ? "correct"
                      : q->o->channels_last ? "channels-last"
                      : q->step.given       ? "mode"
                      : q->o->model.batch || q->o->model.dims.n ||
                              q->o->model.inputs.n || q->o->model.dtype
                          ? "batch, --dim, --input and --dtype"
                          : NULL;

    if (not )
        return ft__usage(q->c,
                         "--stdin: lists of operations have their sizes in their "
                         "lines: --%s does not apply",
                         not );
    if (q->o->method && strcmp(q->o->method, "physics") != 0)
        return ft__usage(q->c, "--stdin: --method is physics, or left out");
    if (!q->o->devices)
        return ft__usage(
            q->c, "--stdin wants --devices with names that foretell devices lists");
    for (size_t i = 0; i < q->n_devices; i++)
        if (strcmp(q->device[i], "local") == 0)
            return ft__usage(q->c, "--stdin: networks are ranked by families of "
                                   "devices and data sheets; local has neither");
    return FT__EXIT_GOOD;
}

static void lists_free(struct rank_lists *s)
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
    struct rank_lists *s;
    int code = check(q);

    if (code)
        return code;
    s = calloc(1, sizeof(*s));
    if (!s)
        return ft__cli_done(q->c, false);
    s->q = q;
    s->device = calloc(q->n_devices + 1, sizeof(*s->device));
    if (!s->device)
        code = ft__cli_done(q->c, false);
    if (!code)
        code = ft__operating_setting(q->c, s->setting, &q->use, q->o->asked.setting);
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
