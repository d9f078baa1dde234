/* Every point of a design, predicted: points that differ in clocks and cap alone are
 * asked about together. */
#include "cli/explore/explore.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REASONS = UINT16_MAX };

/* Rows with the same values in some of their columns have one number. */
struct numbers {
    uint32_t *of;    /* row -> number */
    uint32_t *first; /* number -> its first row */
    size_t n;
};

struct sweep {
    ft__cli *c;
    ft__predicted_design *out;
    ft__point_queries *asker;
    struct numbers group, operating;
    uint32_t *start, *member; /* rows of group g: member[start[g]] to start[g + 1] */
    size_t largest;           /* group */
    const char **setting;     /* of every operating point */
    const char **asked;       /* of the members of a group */
    ft__point_prediction *forecast;
};

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

/* Does word i contain {name} of parameter k? "{{" is a brace. */
static bool contains(const ft_exploration *x, size_t i, size_t k)
{
    const ft_exploration_facts *f = ft_exploration_get(x);
    const size_t len = strlen(f->param[k].name);

    for (const char *at = f->word[i]; (at = strchr(at, '{'));
         at += at[1] == '{' ? 2 : 1)
        if (strncmp(at + 1, f->param[k].name, len) == 0 && at[len + 1] == '}')
            return true;
    return false;
}

/* Is parameter k in the clock, the memory clock or the power cap? */
static bool sets_operating_point(const ft_exploration *x, size_t k)
{
    bool any = false;

    for (size_t i = 0; i < ft_exploration_get(x)->n_words; i++)
        any = any || (contains(x, i, k) && is_operating_word(x, i));
    return any;
}

/* Is parameter k only ever the clock, the memory clock or the power cap? */
static bool sets_only_operating_point(const ft_exploration *x, size_t k)
{
    bool only = sets_operating_point(x, k);

    for (size_t i = 0; i < ft_exploration_get(x)->n_words; i++)
        only = only && (!contains(x, i, k) || is_operating_word(x, i));
    return only;
}

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
static bool number_rows(struct numbers *out, const ft__predicted_design *s,
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
    ft__predicted_design *o = s->out;
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

void ft__predicted_design_free(ft__predicted_design *s)
{
    free(s->point);
    free(s->value);
    free(s->fits);
    free(s->why);
    free(s->method);
    free(s->learned);
    free(s->reason);
    *s = (ft__predicted_design){0};
}

static bool make(struct sweep *s)
{
    ft__predicted_design *o = s->out;
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

/* The number of a text, of which the last is that of all others; 0: no memory. */
static uint16_t note_text(ft__predicted_design *o, const char *why)
{
    char(*grown)[FT__REASON_SIZE];

    for (size_t i = 0; i < o->n_reasons; i++)
        if (strncmp(o->reason[i], why, FT__REASON_SIZE - 1) == 0)
            return (uint16_t)(i + 1);
    if (o->n_reasons == MAX_REASONS)
        return MAX_REASONS;
    if (o->n_reasons + 1 == MAX_REASONS)
        why = "other";
    grown = realloc(o->reason, (o->n_reasons + 1) * sizeof(*grown));
    if (!grown)
        return 0;
    o->reason = grown;
    snprintf(o->reason[o->n_reasons], FT__REASON_SIZE, "%s", why);
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

static void take(ft__predicted_design *o, uint32_t workload, size_t i,
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
    char why[FT__REASON_SIZE];
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

static void keep_shard(ft__predicted_design *s, const ft__shard *shard)
{
    const size_t end = s->n * shard->i / shard->n;

    s->first = s->n * (shard->i - 1) / shard->n;
    s->n = end - s->first;
    memmove(s->point, s->point + s->first * s->n_params,
            s->n * s->n_params * sizeof(*s->point));
}

int ft__design_predict(ft__cli *c, ft__predicted_design *out, const ft_exploration *x,
                       const ft_design_options *design, const ft__shard *shard)
{
    const ft_exploration_facts *facts = ft_exploration_get(x);
    const double begun = ft__monotonic_s();
    struct sweep s = {.c = c, .out = out};
    ft_status st;
    int code = FT__EXIT_GOOD;

    *out = (ft__predicted_design){.x = x,
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
    out->seconds = ft__monotonic_s() - begun;
    if (code)
        ft__predicted_design_free(out);
    return code;
}
