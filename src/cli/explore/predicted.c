/* Every point of a design, predicted: points that differ in clocks and cap alone are
 * asked about together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/explore/explore.h"

enum { MAX_REASONS = UINT16_MAX, REASON = 256 };

/* Rows with the same values in some of their columns have one number. */
struct numbers {
    uint32_t *of;    /* row -> number */
    uint32_t *first; /* number -> its first row */
    size_t n;
};

/* All points of a design, or of a shard of it. */
struct predicted_design {
    const ft_exploration *x;
    size_t first;  /* point of the design */
    double *point; /* n rows */
    size_t n, n_params, n_objectives, n_workloads;
    double *value;       /* [(workload * n + point) * n_objectives + objective] */
    unsigned char *fits; /* of workload * n + point: the device's memory is enough */
    uint16_t *why;       /* likewise: 0, or behind which reason it has no time */
    char (*reason)[REASON];
    size_t n_reasons;
    uint16_t *method; /* likewise: behind which reason stands what answered */
    unsigned char *learned;
    double seconds;
};

struct sweep {
    ft__cli *c;
    struct predicted_design *out;
    ft__point_queries *asker;
    struct numbers group, operating;
    uint32_t *start, *member; /* rows of group g: member[start[g]] to start[g + 1] */
    size_t largest;           /* group */
    const char **setting;     /* of every operating point */
    const char **asked;       /* of the members of a group */
    ft__point_prediction *forecast;
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what sets the operating point ---- */

/* Is word i the value of this option, or both in one? */
static bool is_value_of(const ft_exploration *x, size_t i, const char *option)
{
    const char *const *word = ft_exploration_get(x)->word;
    size_t len = strlen(option);

    return (i > 0 && strcmp(word[i - 1], option) == 0) ||
           (strncmp(word[i], option, len) == 0 && word[i][len] == '=');
}

static bool is_operating_word(const ft_exploration *x, size_t i)
{
    static const char *const options[] = {"--clock", "--memory-clock", "--power-cap"};
    bool is = false;

    for (size_t d = 0; d < sizeof(options) / sizeof(*options); d++)
        is = is || is_value_of(x, i, options[d]);
    return is;
}

/* Is parameter k in the clock, the memory clock or the power cap? */
static bool sets_operating_point(const ft_exploration *x, size_t k)
{
    bool any = false;

    for (size_t i = 0; i < ft_exploration_get(x)->n_words; i++)
        any = any || (ft_exploration_word_has(x, i, k) && is_operating_word(x, i));
    return any;
}

/* Is parameter k only ever the clock, the memory clock or the power cap? */
static bool sets_only_operating_point(const ft_exploration *x, size_t k)
{
    bool only = sets_operating_point(x, k);

    for (size_t i = 0; i < ft_exploration_get(x)->n_words; i++)
        only = only && (!ft_exploration_word_has(x, i, k) || is_operating_word(x, i));
    return only;
}

/* ---- numbering ---- */

static uint64_t hash_row(const double *row, const bool *counts, size_t n)
{
    uint64_t h = 0x9e3779b97f4a7c15u;

    for (size_t k = 0; k < n; k++) {
        uint64_t bits = 0;

        if (!counts[k])
            continue;
        if (!isnan(row[k]))
            memcpy(&bits, &row[k], sizeof(bits));
        else
            bits = ~(uint64_t)0;
        h = (h ^ bits) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

static bool same_row(const double *a, const double *b, const bool *counts, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (counts[k] && !(a[k] == b[k] || (isnan(a[k]) && isnan(b[k]))))
            return false;
    return true;
}

/* False: out of memory. */
static bool number_rows(struct numbers *out, const struct predicted_design *s,
                        const bool *counts)
{
    size_t size = 64;
    uint32_t *slot;

    while (size < 2 * s->n)
        size *= 2;
    slot = malloc(size * sizeof(*slot));
    out->of = malloc((s->n + 1) * sizeof(*out->of));
    out->first = malloc((s->n + 1) * sizeof(*out->first));
    if (slot && out->of && out->first)
        memset(slot, 0xff, size * sizeof(*slot));
    for (size_t i = 0; slot && out->of && out->first && i < s->n; i++) {
        const double *row = s->point + i * s->n_params;
        size_t at = hash_row(row, counts, s->n_params) & (size - 1);

        while (slot[at] != UINT32_MAX &&
               !same_row(row, s->point + out->first[slot[at]] * s->n_params, counts,
                         s->n_params))
            at = (at + 1) & (size - 1);
        if (slot[at] == UINT32_MAX) {
            slot[at] = (uint32_t)out->n;
            out->first[out->n++] = (uint32_t)i;
        }
        out->of[i] = slot[at];
    }
    free(slot);
    return slot && out->of && out->first;
}

static bool find_groups(struct sweep *s)
{
    struct predicted_design *o = s->out;
    bool *counts = calloc(o->n_params, sizeof(*counts)), good = counts;

    for (size_t k = 0; k < o->n_params && good; k++)
        counts[k] = sets_operating_point(o->x, k);
    good = good && number_rows(&s->operating, o, counts);
    for (size_t k = 0; k < o->n_params && good; k++)
        counts[k] = !sets_only_operating_point(o->x, k);
    good = good && number_rows(&s->group, o, counts);
    free(counts);
    return good;
}

static bool list_members(struct sweep *s)
{
    size_t n = s->out->n;

    s->start = calloc(s->group.n + 2, sizeof(*s->start));
    s->member = malloc((n + 1) * sizeof(*s->member));
    if (!s->start || !s->member)
        return false;
    for (size_t i = 0; i < n; i++)
        s->start[s->group.of[i] + 2]++;
    for (size_t g = 0; g < s->group.n; g++) {
        if (s->start[g + 2] > s->largest)
            s->largest = s->start[g + 2];
        s->start[g + 2] += s->start[g + 1];
    }
    for (size_t i = 0; i < n; i++)
        s->member[s->start[s->group.of[i] + 1]++] = (uint32_t)i;
    return true;
}

static void design_free(struct predicted_design *s)
{
    free(s->point);
    free(s->value);
    free(s->fits);
    free(s->why);
    free(s->method);
    free(s->learned);
    free(s->reason);
    *s = (struct predicted_design){0};
}

static bool make(struct sweep *s)
{
    struct predicted_design *o = s->out;
    size_t all = o->n * o->n_workloads;

    if (!find_groups(s) || !list_members(s))
        return false;
    o->value = malloc((all * o->n_objectives + 1) * sizeof(*o->value));
    o->fits = malloc(all + 1);
    o->why = calloc(all + 1, sizeof(*o->why));
    o->method = calloc(all + 1, sizeof(*o->method));
    o->learned = calloc(all + 1, 1);
    s->setting = calloc(s->operating.n + 1, sizeof(*s->setting));
    s->asked = calloc(s->largest + 1, sizeof(*s->asked));
    s->forecast = malloc((s->largest + 1) * sizeof(*s->forecast));
    s->asker = ft__point_queries_new(s->c, o->x);
    return o->value && o->fits && o->why && o->method && o->learned && s->setting &&
           s->asked && s->forecast && s->asker;
}

static void sweep_free(struct sweep *s)
{
    ft__point_queries_free(s->asker);
    free(s->group.of);
    free(s->group.first);
    free(s->operating.of);
    free(s->operating.first);
    free(s->start);
    free(s->member);
    free(s->setting);
    free(s->asked);
    free(s->forecast);
}

/* ---- asking ---- */

/* The number of a text, of which the last is that of all others; 0: no memory. */
static uint16_t note_text(struct predicted_design *o, const char *why)
{
    char(*grown)[REASON];

    for (size_t i = 0; i < o->n_reasons; i++)
        if (strncmp(o->reason[i], why, REASON - 1) == 0)
            return (uint16_t)(i + 1);
    if (o->n_reasons == MAX_REASONS)
        return MAX_REASONS;
    if (o->n_reasons + 1 == MAX_REASONS)
        why = "other";
    grown = realloc(o->reason, (o->n_reasons + 1) * sizeof(*grown));
    if (!grown)
        return 0;
    o->reason = grown;
    snprintf(o->reason[o->n_reasons], REASON, "%s", why);
    return (uint16_t)++o->n_reasons;
}

/* NaN: not known. */
static double value_of(const ft__point_prediction *f, const ft_objective *o)
{
    const double items = o->per_item ? f->items : 1;

    switch (o->what) {
    case FT_MEASURED_TIME: return f->brief.time_s / items;
    case FT_MEASURED_ENERGY: return f->brief.energy_j / items;
    case FT_MEASURED_POWER: return f->brief.power_w;
    case FT_MEASURED_MEMORY: return f->brief.memory_bytes;
    case FT_MEASURED_COST: return f->brief.time_s / items * f->price_per_s;
    default: return NAN;
    }
}

static void take(struct predicted_design *o, uint32_t workload, size_t i,
                 const ft__point_prediction *f, uint16_t why)
{
    const ft_objective *objective = ft_exploration_get(o->x)->objective;
    size_t row = workload * o->n + i, m = ft_exploration_get(o->x)->n_objectives;

    for (size_t k = 0; k < m; k++)
        o->value[row * m + k] = value_of(f, &objective[k]);
    o->fits[row] = !(f->brief.memory_bytes > f->limit_bytes);
    o->why[row] = isnan(f->brief.time_s) ? why : 0;
}

static int ask_group(struct sweep *s, uint32_t workload, size_t g)
{
    const size_t first = s->start[g], n = s->start[g + 1] - first;
    char why[REASON];
    uint16_t reason, method;
    int code;

    for (size_t i = 0; i < n; i++)
        s->asked[i] = s->setting[s->operating.of[s->member[first + i]]];
    code = ft__point_queries_ask(s->asker, s->forecast, why, sizeof(why), workload,
                                 s->out->point + s->group.first[g] * s->out->n_params,
                                 s->asked, n);
    if (code)
        return code;
    reason = *why ? note_text(s->out, why) : 0;
    method = note_text(s->out, s->forecast[0].method);
    for (size_t i = 0; i < n; i++) {
        const size_t row = workload * s->out->n + s->member[first + i];

        take(s->out, workload, s->member[first + i], &s->forecast[i], reason);
        s->out->method[row] = method;
        s->out->learned[row] = s->forecast[0].learned;
    }
    return FT__EXIT_GOOD;
}

static int ask_workload(struct sweep *s, uint32_t workload)
{
    int code = FT__EXIT_GOOD;

    for (size_t d = 0; d < s->operating.n && !code; d++)
        code = ft__point_queries_setting(s->asker, &s->setting[d], workload,
                                         s->out->point +
                                             s->operating.first[d] * s->out->n_params);
    for (size_t g = 0; g < s->group.n && !code; g++)
        code = ask_group(s, workload, g);
    return code;
}

/* Those points alone. */
static void keep_shard(struct predicted_design *s, const ft__shard *shard)
{
    const size_t end = s->n * shard->i / shard->n;

    s->first = s->n * (shard->i - 1) / shard->n;
    s->n = end - s->first;
    memmove(s->point, s->point + s->first * s->n_params,
            s->n * s->n_params * sizeof(*s->point));
}

/* shard NULL: all of it. Complains itself. */
static int design_predict(ft__cli *c, struct predicted_design *out,
                          const ft_exploration *x, const ft_design_options *design,
                          const ft__shard *shard)
{
    const ft_exploration_facts *facts = ft_exploration_get(x);
    const double begun = now_s();
    struct sweep s = {.c = c, .out = out};
    ft_status st;
    int code = FT__EXIT_GOOD;

    *out = (struct predicted_design){.x = x,
                                     .n_params = facts->n_params,
                                     .n_objectives = facts->n_objectives,
                                     .n_workloads = facts->n_workloads};
    st = ft_design_make(&out->point, &out->n, facts->space, design, &c->err);
    if (st)
        return ft__cli_check_asked(c, st);
    if (shard)
        keep_shard(out, shard);
    if (!make(&s))
        code = ft__cli_done(c, false);
    for (uint32_t w = 0; w < out->n_workloads && !code; w++)
        code = ask_workload(&s, w);
    sweep_free(&s);
    out->seconds = now_s() - begun;
    if (code)
        design_free(out);
    return code;
}

/* ---- its fronts ---- */

static const double *values_of(const struct predicted_design *s, uint32_t w, size_t i)
{
    return s->value + (w * s->n + i) * s->n_objectives;
}

static bool keeps_limits(const struct predicted_design *s, const ft_objective *o,
                         uint32_t w, size_t i)
{
    const double *v = values_of(s, w, i);

    for (size_t k = 0; k < s->n_objectives; k++)
        if (!isnan(o[k].limit) &&
            !(o[k].maximize ? v[k] >= o[k].limit : v[k] <= o[k].limit))
            return false;
    return s->fits[w * s->n + i] && !s->why[w * s->n + i];
}

static bool known_anywhere(const struct predicted_design *s, uint32_t w, size_t k)
{
    for (size_t i = 0; i < s->n; i++)
        if (!isnan(values_of(s, w, i)[k]))
            return true;
    return false;
}

/* Rows to be small in everything that is known of any; NaN: out of question. */
static double *rows_of(const struct predicted_design *s, uint32_t w, size_t *n_columns)
{
    double *y = malloc((s->n * s->n_objectives + 1) * sizeof(*y));
    size_t *column = calloc(s->n_objectives + 1, sizeof(*column));
    const ft_objective *o = ft_exploration_get(s->x)->objective;

    *n_columns = 0;
    for (size_t k = 0; k < s->n_objectives && column; k++)
        if (known_anywhere(s, w, k))
            column[(*n_columns)++] = k;
    for (size_t i = 0; i < s->n && y && column; i++) {
        const double *v = values_of(s, w, i);
        bool open = keeps_limits(s, o, w, i);

        for (size_t j = 0; j < *n_columns; j++)
            y[i * *n_columns + j] = !open                   ? (double)NAN
                                    : o[column[j]].maximize ? -v[column[j]]
                                                            : v[column[j]];
    }
    if (!column) {
        free(y);
        y = NULL;
    }
    free(column);
    return y;
}

static ft_status find_front(unsigned char *on, const struct predicted_design *s,
                            uint32_t w, ft_error *err)
{
    size_t n_columns;
    double *y = rows_of(s, w, &n_columns);
    ft_status st = FT_OK;

    if (!y)
        return ft_fail(err, FT_ENOMEM, 0, "%zu points", s->n);
    memset(on, 0, s->n);
    if (n_columns)
        st = ft_pareto(on, y, s->n, n_columns, err);
    free(y);
    return st;
}

/* ---- which points are analysed ---- */

/* Why a point is looked at closely; how many are drawn. */
enum { KEPT = 1, DRAWN = 2, LOOKED_AT = 2000 };

static void mark_extremes(unsigned char *in, const struct predicted_design *s,
                          uint32_t w)
{
    for (size_t k = 0; k < s->n_objectives; k++) {
        size_t least = s->n, most = s->n;

        for (size_t i = 0; i < s->n; i++) {
            double v = values_of(s, w, i)[k];

            if (isnan(v))
                continue;
            least = least == s->n || v < values_of(s, w, least)[k] ? i : least;
            most = most == s->n || v > values_of(s, w, most)[k] ? i : most;
        }
        if (least < s->n)
            in[least] |= KEPT, in[most] |= KEPT;
    }
}

/* Where each workload is best: others are compared with it there. */
static void mark_best(unsigned char *in, const struct predicted_design *s)
{
    const ft_objective *o = ft_exploration_get(s->x)->objective;

    for (uint32_t w = 0; w < s->n_workloads; w++)
        for (size_t k = 0; k < s->n_objectives; k++) {
            const double sign = o[k].maximize ? -1 : 1;
            double least = INFINITY;
            size_t best = s->n;

            for (size_t i = 0; i < s->n; i++) {
                const double v = sign * values_of(s, w, i)[k];

                if (v < least && keeps_limits(s, o, w, i)) {
                    least = v;
                    best = i;
                }
            }
            if (best < s->n)
                in[best] |= KEPT;
        }
}

/* Sebastiano Vigna's splitmix64. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* `most` of all points, each with the same chance. */
static void mark_drawn(unsigned char *in, const struct predicted_design *s, size_t most,
                       uint64_t seed)
{
    size_t need = most < s->n ? most : s->n;

    for (size_t i = 0; i < s->n; i++)
        if ((double)(draw(&seed) >> 11) * 0x1p-53 * (double)(s->n - i) < (double)need) {
            in[i] |= DRAWN;
            need--;
        }
}

/* Of workload * n + point: why it has no values; "": it has. */
static const char *why_not(const struct predicted_design *s, size_t row)
{
    return s->why[row]     ? s->reason[s->why[row] - 1]
           : !s->fits[row] ? "does not fit the device's memory"
                           : "";
}

static ft_status add_trial(ft_trials *t, size_t *cap, const struct predicted_design *s,
                           uint32_t w, size_t i, ft_error *err)
{
    const size_t row = w * s->n + i, p = s->n_params, m = s->n_objectives;
    ft_trial *v = t->v;
    double *point = malloc((p + 2 * m) * sizeof(*point));
    const char *why = why_not(s, row);
    char *failure = NULL;

    if (t->n == *cap) {
        v = realloc(v, (2 * *cap + 64) * sizeof(*v));
        t->v = v ? v : t->v;
        *cap = v ? 2 * *cap + 64 : *cap;
    }
    if (*why)
        failure = strdup(why);
    if (!v || !point || (*why && !failure)) {
        free(point);
        free(failure);
        return ft_fail(err, FT_ENOMEM, 0, "%zu points", t->n);
    }
    memcpy(point, s->point + i * p, p * sizeof(*point));
    memcpy(point + p, values_of(s, w, i), m * sizeof(*point));
    for (size_t k = 0; k < m; k++)
        point[p + m + k] = NAN;
    t->v[t->n++] = (ft_trial){.workload = w,
                              .point = point,
                              .value = point + p,
                              .error = point + p + m,
                              .failure = failure};
    return FT_OK;
}

static ft_status add_marked(ft_trials *out, size_t *cap, unsigned char **drawn,
                            const unsigned char *in, const struct predicted_design *s,
                            uint32_t w, ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < s->n && !st; i++) {
        size_t before = *cap;
        unsigned char *grown;

        if (!in[i])
            continue;
        st = add_trial(out, cap, s, w, i, err);
        grown = st || *cap == before ? *drawn : realloc(*drawn, *cap);
        if (!st && !grown)
            st = ft_fail(err, FT_ENOMEM, 0, "%zu points", s->n);
        *drawn = grown ? grown : *drawn;
        if (!st)
            grown[out->n - 1] = (in[i] & DRAWN) != 0;
    }
    return st;
}

/* Every point on the front of its workload, the best and the worst of every objective,
 * and `most` of each workload drawn at random, of which (*drawn)[i] says whether trial
 * i is one; the caller frees it. FT_ENOMEM. */
static ft_status design_trials(ft_trials *out, unsigned char **drawn,
                               const struct predicted_design *s, size_t most,
                               uint64_t seed, ft_error *err)
{
    unsigned char *in = malloc(s->n + 1);
    size_t cap = 0;
    ft_status st = in ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu points", s->n);

    *drawn = NULL;
    *out = (ft_trials){.params = s->n_params,
                       .objectives = s->n_objectives,
                       .workloads = s->n_workloads};
    for (uint32_t w = 0; w < s->n_workloads && !st; w++) {
        st = find_front(in, s, w, err);
        if (st)
            break;
        mark_extremes(in, s, w);
        mark_best(in, s);
        mark_drawn(in, s, most, seed);
        st = add_marked(out, &cap, drawn, in, s, w, err);
    }
    free(in);
    if (st) {
        ft_trials_free(out);
        free(*drawn);
        *drawn = NULL;
    }
    return st;
}

/* ---- what cannot be compared ---- */

/* What answered; "" where nothing did. */
static const char *method_of(const struct predicted_design *s, size_t row)
{
    return s->why[row] || !s->method[row] ? "" : s->reason[s->method[row] - 1];
}

/* Of workload w; index: their places in the design. */
static void list_rows(ft__rows *r, size_t *index, const struct predicted_design *s,
                      uint32_t w)
{
    r->n = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (*why_not(s, w * s->n + i))
            continue;
        index[r->n] = i;
        r->point[r->n] = s->point + i * s->n_params;
        r->value[r->n++] = values_of(s, w, i);
    }
}

/* "learned (nvidia.ftp), learned (nvidia-fp32.ftp)", of the points that were learned,
 * or of the others. */
static void print_methods(FILE *fp, const struct predicted_design *s, uint32_t w,
                          bool learned)
{
    enum { SHOWN = 8 };
    uint16_t shown[SHOWN] = {0};
    size_t n = 0, k;

    for (size_t i = 0; i < s->n && n < SHOWN; i++) {
        const size_t row = w * s->n + i;

        if (s->learned[row] != learned || !*method_of(s, row))
            continue;
        for (k = 0; k < n && shown[k] != s->method[row]; k++)
            ;
        if (k < n)
            continue;
        shown[n++] = s->method[row];
        fprintf(fp, "%s%s", k ? ", " : "", method_of(s, row));
    }
}

/* False: out of memory. */
static bool warn(ft__explored *e, const struct predicted_design *s, uint32_t w,
                 const char *which, size_t n, size_t of)
{
    char *text = NULL;
    size_t size;
    FILE *fp = open_memstream(&text, &size);

    if (!fp)
        return false;
    fprintf(fp, "%s%s%zu of %zu points are answered from the data sheet alone (",
            e->workload[w], *e->workload[w] ? ": " : "", n, of);
    print_methods(fp, s, w, false);
    fprintf(fp, "): %s; the others are ", which);
    print_methods(fp, s, w, true);
    fputs(". Differences between the two are differences of method, too; --method "
          "physics "
          "in predict answers all alike",
          fp);
    if (fclose(fp)) {
        free(text);
        return false;
    }
    e->warning[e->n_warnings++] = text;
    return true;
}

/* Are some points learned and others not? Then which. */
static bool check_methods(ft__explored *e, const struct predicted_design *s, uint32_t w,
                          const ft__rows *r, const size_t *index)
{
    unsigned char *in = malloc(r->n + 1);
    char *which = NULL;
    bool good = in != NULL;
    size_t n = 0;

    for (size_t i = 0; i < r->n && in; i++) {
        in[i] = !s->learned[w * s->n + index[i]];
        n += in[i];
    }
    if (in && n && n < r->n) {
        which = ft__points_describe(e->x, r, in);
        good = which && warn(e, s, w, which, n, r->n);
    }
    free(which);
    free(in);
    return good;
}

static bool find_incomparable(ft__explored *e, const struct predicted_design *s)
{
    ft__rows r = {.point = malloc((s->n + 1) * sizeof(*r.point)),
                  .value = malloc((s->n + 1) * sizeof(*r.value))};
    size_t *index = malloc((s->n + 1) * sizeof(*index));
    bool good;

    e->warning = calloc(e->n_workloads + 1, sizeof(*e->warning));
    good = r.point && r.value && index && e->warning;
    for (uint32_t w = 0; w < e->n_workloads && good; w++) {
        list_rows(&r, index, s, w);
        good = ft__explored_find_unknown(e, w, &r) && check_methods(e, s, w, &r, index);
    }
    free(r.point);
    free(r.value);
    free(index);
    return good;
}

/* ---- what is asked for ---- */

static void print_line(const struct predicted_design *s, uint32_t w, size_t i)
{
    const ft_exploration_facts *f = ft_exploration_get(s->x);

    ft__record_csv_text(stdout, f->workload[w], ',');
    ft__point_csv(f, s->point + i * s->n_params);
    for (size_t k = 0; k < s->n_objectives; k++)
        ft__number_csv(values_of(s, w, i)[k], ',');
    ft__record_csv_text(stdout, method_of(s, w * s->n + i), ',');
    ft__record_csv_text(stdout, why_not(s, w * s->n + i), '\n');
}

void ft__predicted_header(FILE *fp, const ft_exploration *x)
{
    const ft_exploration_facts *f = ft_exploration_get(x);

    fputs("workload,", fp);
    for (size_t k = 0; k < f->n_params; k++)
        fprintf(fp, "%s,", f->param[k].name);
    for (size_t k = 0; k < f->n_objectives; k++)
        fprintf(fp, "%s,", f->objective[k].name);
    fputs("answered_by,failure\n", fp);
}

/* A line a point and workload. */
static void print_csv(const struct predicted_design *s)
{
    ft__predicted_header(stdout, s->x);
    for (uint32_t w = 0; w < s->n_workloads; w++)
        for (size_t i = 0; i < s->n; i++)
            print_line(s, w, i);
}

/* Those on the front of their workload, the point's number in the design before them.
 */
static ft_status print_front(const struct predicted_design *s, ft_error *err)
{
    unsigned char *on = malloc(s->n + 1);
    ft_status st = on ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu points", s->n);

    fputs("point,", stdout);
    ft__predicted_header(stdout, s->x);
    for (uint32_t w = 0; w < s->n_workloads && !st; w++) {
        st = find_front(on, s, w, err);
        for (size_t i = 0; i < s->n && !st; i++)
            if (on[i]) {
                printf("%zu,", s->first + i + 1);
                print_line(s, w, i);
            }
    }
    free(on);
    return st;
}

int ft__predict_front(ft__cli *c, const ft_exploration *x,
                      const ft_design_options *design, const ft__shard *shard)
{
    struct predicted_design s;
    ft_status st;
    int code = design_predict(c, &s, x, design, shard);

    if (code)
        return code;
    st = print_front(&s, &c->err);
    design_free(&s);
    return st ? ft__cli_check(c, st) : ft__cli_done(c, true);
}

int ft__predict_csv(ft__cli *c, const ft_exploration *x,
                    const ft_design_options *design)
{
    struct predicted_design s;
    int code = design_predict(c, &s, x, design, NULL);

    if (code)
        return code;
    print_csv(&s);
    design_free(&s);
    return ft__cli_done(c, true);
}

int ft__explored_predict(ft__cli *c, ft__explored *e, const ft_exploration *x,
                         const ft_design_options *design)
{
    struct predicted_design s;
    ft_trials t;
    unsigned char *drawn;
    ft_status st;
    int code = design_predict(c, &s, x, design, NULL);

    if (code)
        return code;
    st = design_trials(&t, &drawn, &s, LOOKED_AT, design->seed, &c->err);
    code =
        st ? ft__cli_check(c, st) : ft__explored_take(c, e, x, &t, drawn, design->seed);
    if (!code) {
        e->predicted = s.n * s.n_workloads;
        e->seconds = s.seconds;
        if (!find_incomparable(e, &s)) {
            ft__explored_free(e);
            code = ft__cli_done(c, false);
        }
    }
    design_free(&s);
    return code;
}
