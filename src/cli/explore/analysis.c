/* Fronts, influences, correlations and transfers of all that was run, and which points
 * of a front are shown where it has more than can be. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explore/explore.h"

/* Of so many trials an influence can be learned. */
enum { LEAST_TRIALS = 12 };

void ft__explored_free(ft__explored *e)
{
    for (size_t i = 0; e->aspect && i < e->n_workloads * e->n_objectives; i++) {
        ft_influence_free(&e->aspect[i].influence);
        ft_influence_model_free(&e->aspect[i].model);
        free(e->aspect[i].effect);
    }
    for (size_t i = 0; i < e->n_unknown; i++)
        free(e->unknown[i].which);
    for (size_t i = 0; i < e->n_warnings; i++)
        free(e->warning[i]);
    free(e->unknown);
    free(e->warning);
    free(e->aspect);
    free(e->relation);
    free(e->transfer);
    free(e->front);
    free(e->hypervolume);
    free(e->drawn);
    ft_trials_free(&e->t);
    *e = (ft__explored){0};
}

/* Does trial i count in statistics over the points of workload w? */
static bool counts(const ft__explored *e, size_t i, uint32_t w)
{
    const ft_trial *t = &e->t.v[i];

    return t->workload == w && !t->failure && (!e->drawn || e->drawn[i]);
}

/* Rows of those trials of a workload that have objective k. */
struct analysis_rows {
    double *point, *y;
    size_t n;
};

static bool rows_of(struct analysis_rows *r, const ft__explored *e, uint32_t w,
                    size_t k)
{
    r->n = 0;
    r->point = malloc((e->t.n + 1) * e->n_params * sizeof(*r->point));
    r->y = malloc((e->t.n + 1) * sizeof(*r->y));
    for (size_t i = 0; r->point && r->y && i < e->t.n; i++) {
        const ft_trial *t = &e->t.v[i];

        if (!counts(e, i, w) || isnan(t->value[k]))
            continue;
        memcpy(r->point + r->n * e->n_params, t->point, e->n_params * sizeof(double));
        r->y[r->n++] = t->value[k];
    }
    return r->point && r->y;
}

static void rows_free(struct analysis_rows *r)
{
    free(r->point);
    free(r->y);
}

static int up(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_of(const double *v, size_t n)
{
    double *copy = malloc((n + 1) * sizeof(*copy)), m = NAN;

    if (copy && n) {
        memcpy(copy, v, n * sizeof(*copy));
        qsort(copy, n, sizeof(*copy), up);
        m = 0.5 * (copy[(n - 1) / 2] + copy[n / 2]);
    }
    free(copy);
    return m;
}

static size_t worst_of(const ft__explored *e, uint32_t w, size_t k)
{
    size_t worst = e->t.n;

    for (size_t i = 0; i < e->t.n; i++) {
        const ft_trial *t = &e->t.v[i];

        if (t->workload != w || t->failure || isnan(t->value[k]))
            continue;
        if (worst == e->t.n ||
            (e->objective[k].maximize ? t->value[k] < e->t.v[worst].value[k]
                                      : t->value[k] > e->t.v[worst].value[k]))
            worst = i;
    }
    return worst;
}

static bool all_alike(const double *y, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (y[i] != y[0])
            return false;
    return true;
}

static int by_share(const void *x, const void *y)
{
    double a = ((const ft__effect *)x)->share, b = ((const ft__effect *)y)->share;

    return (a < b) - (a > b);
}

static ft_status list_effects(ft__aspect *a, ft_error *err)
{
    const ft_influence *in = &a->influence;
    ft__effect *v = a->effect = malloc((in->k * in->k + 1) * sizeof(*v));

    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "effects of %zu parameters", in->k);
    for (size_t x = 0; x < in->k; x++) {
        v[a->n_effects++] = (ft__effect){x, x, in->main[x]};
        for (size_t y = x + 1; y < in->k; y++)
            v[a->n_effects++] = (ft__effect){x, y, in->pair[x * in->k + y]};
    }
    qsort(v, a->n_effects, sizeof(*v), by_share);
    return FT_OK;
}

static ft_status aspect(ft__aspect *a, const ft__explored *e, uint32_t w, size_t k,
                        uint64_t seed, ft_error *err)
{
    const ft_space *space = ft_exploration_get(e->x)->space;
    struct analysis_rows r;
    ft_status st = FT_OK;

    *a = (ft__aspect){.workload = w, .objective = k};
    if (!rows_of(&r, e, w, k)) {
        rows_free(&r);
        return ft_fail(err, FT_ENOMEM, 0, "%zu trials", e->t.n);
    }
    a->n = r.n;
    a->best = ft_trials_best(e->x, &e->t, w, k);
    a->worst = worst_of(e, w, k);
    a->median = median_of(r.y, r.n);
    if (r.n >= LEAST_TRIALS && !all_alike(r.y, r.n)) {
        st = ft_influence_compute(&a->influence, space, r.point, r.y, r.n, seed, err);
        if (!st)
            st = ft_influence_fit(&a->model, space, r.point, r.y, r.n, seed, err);
        if (!st)
            st = list_effects(a, err);
        a->has_influence = !st;
    }
    rows_free(&r);
    return st;
}

/* Column c of the trials of a workload: parameters first, then objectives. Categories
 * have no order: NaN. */
static void column(double *out, const ft__explored *e, uint32_t w, size_t c)
{
    for (size_t i = 0; i < e->t.n; i++) {
        const ft_trial *t = &e->t.v[i];

        out[i] = !counts(e, i, w)   ? (double)NAN
                 : c >= e->n_params ? t->value[c - e->n_params]
                 : e->param[c].type == FT_PARAM_CATEGORICAL && e->param[c].n_values > 2
                     ? NAN
                     : t->point[c];
    }
}

static ft_status relation(ft__relation *r, const ft__explored *e, uint32_t w, size_t a,
                          size_t b, double *scratch, ft_error *err)
{
    const size_t p = e->n_params, n = e->t.n;
    ft_status st = FT_OK;

    r->a = a < p ? e->param[a].name : e->objective[a - p].name;
    r->b = e->objective[b - p].name;
    column(scratch, e, w, a);
    column(scratch + n, e, w, b);
    for (int k = 0; k < FT_CORRELATION_COUNT && !st; k++)
        st = ft_correlate(&r->r[k], (ft_correlation_kind)k, scratch, scratch + n, n,
                          err);
    return st;
}

/* Parameters with objectives, then objectives with each other. */
static ft_status correlations(ft__explored *e, ft_error *err)
{
    double *scratch = malloc((2 * e->t.n + 1) * sizeof(*scratch));
    size_t p = e->n_params, m = e->n_objectives;
    ft__relation *r;
    ft_status st = FT_OK;

    e->n_relations = p * m + m * (m - 1) / 2;
    r = e->relation = calloc(e->n_workloads * e->n_relations + 1, sizeof(*r));
    if (!scratch || !r)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu trials", e->t.n);
    for (uint32_t w = 0; w < e->n_workloads && !st; w++)
        for (size_t a = 0; a < p + m; a++)
            for (size_t b = a < p ? p : a + 1; b < p + m && !st; b++)
                st = relation(r++, e, w, a, b, scratch, err);
    free(scratch);
    return st;
}

static double cost(const ft__explored *e, const ft_trial *t, size_t k)
{
    return e->objective[k].maximize ? -t->value[k] : t->value[k];
}

/* Hypervolume as a share of the box between the best and the worst of every objective.
 */
static ft_status volume(double *out, const ft__explored *e, uint32_t w, ft_error *err)
{
    double *y = malloc((e->t.n + 1) * e->n_objectives * sizeof(*y));
    double *corner = malloc(e->n_objectives * sizeof(*corner));
    size_t n = 0, m = 0;
    ft_status st = y && corner ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "trials");

    *out = NAN;
    for (size_t k = 0; k < e->n_objectives && !st; k++) {
        const ft__aspect *a = &e->aspect[w * e->n_objectives + k];

        if (a->best == e->t.n || e->t.v[a->best].value[k] == e->t.v[a->worst].value[k])
            continue;
        corner[m++] = 1;
    }
    for (size_t i = 0; i < e->t.n && !st && m > 1; i++) {
        size_t at = 0;

        for (size_t k = 0; k < e->n_objectives && e->front[i]; k++) {
            const ft__aspect *a = &e->aspect[w * e->n_objectives + k];
            double lo, hi;

            if (e->t.v[i].workload != w || a->best == e->t.n)
                continue;
            lo = cost(e, &e->t.v[a->best], k);
            hi = cost(e, &e->t.v[a->worst], k);
            if (hi > lo)
                y[n * m + at++] = (cost(e, &e->t.v[i], k) - lo) / (hi - lo);
        }
        n += at == m;
    }
    if (!st && m > 1)
        st = ft_hypervolume(out, y, n, m, corner, err);
    free(y);
    free(corner);
    return st;
}

static ft_status fronts(ft__explored *e, ft_error *err)
{
    unsigned char *on = malloc(e->t.n + 1);
    ft_status st = FT_OK;

    e->front = calloc(e->t.n + 1, 1);
    e->hypervolume = calloc(e->n_workloads, sizeof(*e->hypervolume));
    if (!on || !e->front || !e->hypervolume)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu trials", e->t.n);
    for (uint32_t w = 0; w < e->n_workloads && !st; w++) {
        st = ft_trials_front(on, e->x, &e->t, w, err);
        for (size_t i = 0; i < e->t.n && !st; i++)
            e->front[i] |= on[i];
        if (!st)
            st = volume(&e->hypervolume[w], e, w, err);
    }
    free(on);
    return st;
}

static ft_status transfers(ft__explored *e, uint64_t seed, ft_error *err)
{
    size_t n = e->n_workloads, at = 0;
    ft_status st = FT_OK;

    e->n_transfers = n * (n - 1);
    e->transfer = calloc(e->n_objectives * e->n_transfers + 1, sizeof(*e->transfer));
    if (!e->transfer)
        return ft_fail(err, FT_ENOMEM, 0, "%zu workloads", n);
    for (size_t k = 0; k < e->n_objectives; k++)
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n && !st; b++)
                if (a != b)
                    st = ft_transfer_compute(&e->transfer[at++], e->x, &e->t, k, a, b,
                                             0, seed, err);
    return st;
}

static ft_status analyse(ft__explored *e, uint64_t seed, ft_error *err)
{
    size_t m = e->n_objectives;
    ft_status st = FT_OK;

    e->aspect = calloc(e->n_workloads * m, sizeof(*e->aspect));
    if (!e->aspect)
        return ft_fail(err, FT_ENOMEM, 0, "%zu trials", e->t.n);
    for (uint32_t w = 0; w < e->n_workloads; w++)
        for (size_t k = 0; k < m && !st; k++)
            st = aspect(&e->aspect[w * m + k], e, w, k, seed, err);
    if (!st)
        st = fronts(e, err);
    if (!st)
        st = correlations(e, err);
    if (!st)
        st = transfers(e, seed, err);
    return st;
}

int ft__explored_take(ft__cli *c, ft__explored *e, const ft_exploration *x,
                      ft_trials *trials_take, unsigned char *drawn_take, uint64_t seed)
{
    const ft_exploration_facts *facts = ft_exploration_get(x);
    ft_status st = FT_OK;

    *e = (ft__explored){.x = x, .t = *trials_take, .drawn = drawn_take};
    e->param = facts->param;
    e->n_params = facts->n_params;
    e->objective = facts->objective;
    e->n_objectives = facts->n_objectives;
    e->workload = facts->workload;
    e->n_workloads = facts->n_workloads;
    for (size_t i = 0; i < e->t.n; i++) {
        e->runs += e->t.v[i].runs;
        e->failed += e->t.v[i].failure != NULL;
    }
    if (e->t.n)
        st = analyse(e, seed, &c->err);
    if (!st)
        return FT__EXIT_GOOD;
    ft__explored_free(e);
    return ft__cli_check(c, st);
}

/* Values of an objective between 0 and 1 over the points that may be taken, by their
 * logarithms where all are positive. */
struct scale {
    double low, high;
    bool by_log;
};

static struct scale scale_of(const ft__explored *e, const unsigned char *may, size_t k)
{
    struct scale s = {INFINITY, -INFINITY, true};

    for (size_t i = 0; i < e->t.n; i++) {
        if (!may[i])
            continue;
        s.low = fmin(s.low, e->t.v[i].value[k]);
        s.high = fmax(s.high, e->t.v[i].value[k]);
    }
    s.by_log = s.low > 0;
    if (s.by_log) {
        s.low = log(s.low);
        s.high = log(s.high);
    }
    return s;
}

static double place(const struct scale *s, double v)
{
    return s->high > s->low ? ((s->by_log ? log(v) : v) - s->low) / (s->high - s->low)
                            : 0;
}

static double apart(const struct scale *s, const ft_trial *a, const ft_trial *b,
                    size_t n)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++) {
        double d = place(&s[k], a->value[k]) - place(&s[k], b->value[k]);

        sum += d * d;
    }
    return sum;
}

/* A point that may be shown: in the order of the first objective. */
struct pick {
    size_t trial;
    double first;
    double near; /* to the nearest of those taken */
};

static int by_first(const void *a, const void *b)
{
    const struct pick *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->trial > y->trial) - (x->trial < y->trial);
}

static size_t gather(struct pick *all, const ft__explored *e, const unsigned char *may)
{
    const double sign = e->objective[0].maximize ? -1 : 1;
    size_t n = 0;

    for (size_t i = 0; i < e->t.n; i++)
        if (may[i])
            all[n++] = (struct pick){i, sign * e->t.v[i].value[0], INFINITY};
    qsort(all, n, sizeof(*all), by_first);
    return n;
}

/* The best in the first objective, then whichever is farthest from all that were taken:
 * these `most` to the front. */
static void spread(struct pick *all, size_t n, size_t most, const ft__explored *e,
                   const struct scale *s)
{
    for (size_t k = 0; k < most; k++) {
        size_t best = k;
        struct pick taken;

        for (size_t i = k; i < n; i++)
            if (all[i].near > all[best].near ||
                (all[i].near == all[best].near && all[i].first < all[best].first))
                best = i;
        taken = all[best];
        all[best] = all[k];
        all[k] = taken;
        for (size_t i = k + 1; i < n; i++)
            all[i].near =
                fmin(all[i].near, apart(s, &e->t.v[taken.trial], &e->t.v[all[i].trial],
                                        e->n_objectives));
    }
    qsort(all, most, sizeof(*all), by_first);
}

size_t ft__explored_spread(size_t *out, const ft__explored *e, const unsigned char *may,
                           size_t most)
{
    struct scale *s = calloc(e->n_objectives + 1, sizeof(*s));
    struct pick *all = calloc(e->t.n + 1, sizeof(*all));
    size_t n = s && all ? gather(all, e, may) : 0;

    for (size_t k = 0; k < e->n_objectives && n; k++)
        s[k] = scale_of(e, may, k);
    if (most < n) {
        spread(all, n, most, e, s);
        n = most;
    }
    for (size_t k = 0; k < n; k++)
        out[k] = all[k].trial;
    free(s);
    free(all);
    return n;
}
