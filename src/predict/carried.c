#include "predict/carried.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "predict/carry.h"

/* Training rows that are told from other devices, and fewest that decide anything. */
enum { MOST_ROWS = 6000, LEAST_ROWS = 60 };
/* Generations apart, in steps of the compute capability: of devices that count as one
 * generation, as near, and at all. A step takes four years where there is none. */
static const double same_generation = 0.05, near_by = 0.35, too_far = 2, years = 4;
/* Another version of the engine is as far as this: it does not make another generation
 * of a device. */
static const double other_version = 0.04;
/* Intervals either way: at least, where no known device is of a device's kin; at most.
 */
static const double stranger_least = 3, most_wide = 100;
/* The same where too few devices are known to tell how far they stray from each other,
 * and the nearest is of the same generation but differs, or of another generation. */
static const double version_least = 1.2, generation_least = 1.33;
/* Power, of whatever device: sensors and loops differ as much as devices do. */
static const double power_least = 2;
/* How quickly generations grow apart: what is tried. */
static const double reach[] = {0.15, 1.5};
enum { N_REACHES = sizeof(reach) / sizeof(*reach), N_WEIGHTS = 5 };

enum zone { NEAR, FAR, NOWHERE };

/* What other devices say of one operation. */
struct said {
    enum zone zone;
    double nearest;
    double ratio[N_REACHES];  /* log(time / estimate) */
    double spread[N_REACHES]; /* between those devices */
};

/* A training row told from the other devices. */
struct proof {
    ft_kind kind;
    struct said said;
    double truth; /* log(time / estimate) */
};

/* How templates are used. */
struct rule {
    int reach; /* index */
    double weight;
    bool calibrated;
    double low, high; /* of truth - template, in units of scale_of() */
};

struct carrying {
    const ft__learner *l;
    const ft__samples *s;
    ft__carry **table;  /* per dataset; NULL: nobody was trained on it */
    uint32_t n_devices; /* that some are of */
    double *distance;   /* n_datasets x n_datasets */
    struct proof *proof;
    size_t n_proofs;
    size_t n_near;   /* of them: from near by */
    double *scratch; /* n_proofs */
};

/* ---- kinship ---- */

static bool is_same_device(const ft__dataset *a, const ft__dataset *b)
{
    return strcmp(ft_device_get(a->file)->name, ft_device_get(b->file)->name) == 0;
}

static bool is_gpu(const ft__dataset *d)
{
    return d->file && strcmp(ft_device_get(d->file)->type, "gpu") == 0;
}

/* Infinite between devices that say nothing of each other. */
static double distance(const ft__dataset *a, const ft__dataset *b)
{
    const ft_device_facts *x, *y;
    double steps;

    if (!a->file || !b->file || strcmp(a->engine, b->engine))
        return INFINITY;
    x = ft_device_get(a->file);
    y = ft_device_get(b->file);
    if (!x->vendor || !y->vendor || strcmp(x->vendor, y->vendor) ||
        strcmp(x->type, y->type))
        return INFINITY;
    steps = fabs(x->compute_capability - y->compute_capability);
    if (isnan(steps))
        steps = fabs(x->year - y->year) / years;
    if (isnan(steps))
        return INFINITY;
    return steps + (strcmp(a->engine_version, b->engine_version) ? other_version : 0);
}

static struct said ask(const struct carrying *c, uint32_t dataset, const ft_op *op)
{
    const ft__dataset *d = &c->s->dataset[dataset];
    const double *far = c->distance + (size_t)dataset * c->s->n_datasets;
    struct said said = {.zone = NOWHERE, .nearest = INFINITY};
    double weight[N_REACHES] = {0}, square[N_REACHES] = {0};

    for (uint32_t i = 0; i < c->s->n_datasets; i++) {
        double ratio;

        if (!c->table[i] || far[i] > too_far || is_same_device(d, &c->s->dataset[i]))
            continue;
        ratio = ft__carry_ratio(c->table[i], op);
        if (isnan(ratio))
            continue;
        said.nearest = fmin(said.nearest, far[i]);
        for (int k = 0; k < N_REACHES; k++) {
            double w = exp(-far[i] / reach[k]);

            weight[k] += w;
            said.ratio[k] += w * ratio;
            square[k] += w * ratio * ratio;
        }
    }
    if (said.nearest > too_far)
        return said;
    said.zone = said.nearest <= near_by ? NEAR : FAR;
    for (int k = 0; k < N_REACHES; k++) {
        said.ratio[k] /= weight[k];
        said.spread[k] =
            sqrt(fmax(0, square[k] / weight[k] - said.ratio[k] * said.ratio[k]));
    }
    return said;
}

/* ---- templates ---- */

/* log(time / estimate) of the operation itself. */
static double truth_of(const struct carrying *c, uint32_t i, ft__carry_row *row)
{
    const ft__sample *v = &c->s->v[i];
    ft__terms t;

    ft__base_terms(&c->l->base, &t, c->s, i);
    *row = (ft__carry_row){&v->op, v->value[FT__METRIC_TIME] - t.aside_s,
                           t.total_s - t.aside_s};
    return log(row->value / row->estimate);
}

static ft_status make_table(struct carrying *c, const uint32_t *train, size_t n,
                            uint32_t dataset, ft__carry_row *row, ft_error *err)
{
    size_t used = 0;

    for (size_t i = 0; i < n; i++)
        if (c->s->v[train[i]].dataset == dataset)
            truth_of(c, train[i], &row[used++]);
    if (used == 0 || !c->s->dataset[dataset].file)
        return FT_OK;
    return ft__carry_make(&c->table[dataset], row, used, err);
}

static bool is_new_device(const struct carrying *c, uint32_t dataset)
{
    for (uint32_t i = 0; i < dataset; i++)
        if (c->table[i] && c->table[dataset] &&
            is_same_device(&c->s->dataset[i], &c->s->dataset[dataset]))
            return false;
    return c->table[dataset] != NULL;
}

static ft_status make_tables(struct carrying *c, const uint32_t *train, size_t n,
                             ft_error *err)
{
    uint32_t n_datasets = c->s->n_datasets;
    ft__carry_row *row = calloc(n + 1, sizeof(*row));
    ft_status st = FT_OK;

    if (!row)
        return ft_fail(err, FT_ENOMEM, 0, "%zu templates", n);
    for (uint32_t i = 0; i < n_datasets && !st; i++)
        st = make_table(c, train, n, i, row, err);
    for (uint32_t i = 0; i < n_datasets && !st; i++)
        c->n_devices += is_new_device(c, i);
    for (uint32_t i = 0; i < n_datasets; i++)
        for (uint32_t j = 0; j < n_datasets; j++)
            c->distance[(size_t)i * n_datasets + j] =
                distance(&c->s->dataset[i], &c->s->dataset[j]);
    free(row);
    return st;
}

/* ---- what known devices say of each other ---- */

static void find_proofs(struct carrying *c, const uint32_t *train, size_t n)
{
    for (size_t i = 0; i < n && c->n_proofs < MOST_ROWS; i++) {
        const ft__sample *v = &c->s->v[train[i]];
        ft__prng p = ft__prng_stream(c->l->opt.fit.seed, train[i]);
        struct proof *proof = &c->proof[c->n_proofs];
        ft__carry_row row;

        if (!c->table[v->dataset] || (double)n * ft__prng_unit(&p) >= (double)MOST_ROWS)
            continue;
        *proof = (struct proof){.kind = v->op.kind,
                                .said = ask(c, v->dataset, &v->op),
                                .truth = truth_of(c, train[i], &row)};
        if (proof->said.zone == NOWHERE || !isfinite(proof->truth))
            continue;
        c->n_near += proof->said.zone == NEAR;
        c->n_proofs++;
    }
}

static double scale_of(const struct said *s, int k)
{
    return 0.05 + 0.25 * fabs(s->ratio[k]) + 0.5 * s->spread[k];
}

/* The rows that decide for a kind (FT_KIND_COUNT: for all) in a zone: what a rule
 * misses, in c->scratch. */
static size_t misses(struct carrying *c, int kind, enum zone where,
                     const struct rule *r, bool scaled)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_proofs; i++) {
        const struct proof *p = &c->proof[i];

        if (p->said.zone != where || (kind != FT_KIND_COUNT && (int)p->kind != kind))
            continue;
        c->scratch[n] = p->truth - r->weight * p->said.ratio[r->reach];
        c->scratch[n++] /= scaled ? scale_of(&p->said, r->reach) : 1;
    }
    return n;
}

static double mean_miss(const struct carrying *c, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += fabs(c->scratch[i]);
    return sum / (double)n;
}

/* The best rule for those rows; not calibrated: there are too few of them. */
static ft_status best_rule(struct rule *best, struct carrying *c, int kind,
                           enum zone where, ft_error *err)
{
    double least = INFINITY;
    size_t n = 0;

    *best = (struct rule){0};
    for (int k = 0; k < N_REACHES; k++)
        for (int w = 0; w < N_WEIGHTS; w++) {
            struct rule r = {.reach = k, .weight = (double)w / (N_WEIGHTS - 1)};
            double miss;

            n = misses(c, kind, where, &r, false);
            if (n < LEAST_ROWS)
                return FT_OK;
            miss = mean_miss(c, n);
            if (miss < least) {
                least = miss;
                *best = r;
            }
        }
    misses(c, kind, where, best, true);
    best->calibrated = true;
    return ft_conformal(&best->low, &best->high, c->scratch, n, 0.9, err);
}

/* From the most particular rows that there are enough of. What is true far away is
 * true near by, but says too little of twins. */
static ft_status find_rule(struct rule *r, struct carrying *c, ft_kind kind,
                           enum zone where, ft_error *err)
{
    const int kinds[2] = {(int)kind, FT_KIND_COUNT};
    ft_status st = FT_OK;

    *r = (struct rule){0};
    for (int i = 0; i < 2; i++)
        for (int z = (int)where; z < NOWHERE && !st; z++) {
            st = best_rule(r, c, kinds[i], (enum zone)z, err);
            if (st || r->calibrated)
                return st;
        }
    return st;
}

/* ---- answers ---- */

/* The interval that known devices bear out; joined with the regressor's where that
 * one stands and was not found on devices left out, there being too few. */
static void calibrate(ft__answer *a, const struct rule *r, double scale, bool join)
{
    double low = a->value * exp(fmin(0, r->low) * scale);
    double high = a->value * exp(fmax(0, r->high) * scale);

    a->low = join ? fmin(a->low, low) : low;
    a->high = join ? fmax(a->high, high) : high;
}

static void apply(ft__answer *a, const struct carrying *c, uint32_t i,
                  const struct said *said, const struct rule *rule)
{
    struct rule r = *rule;
    double before = log(a->value), after;
    ft__terms t;

    if (!r.calibrated)
        r.weight = said->nearest <= same_generation ? 1 : 0;
    if (r.weight > 0) {
        ft__base_terms(&c->l->base, &t, c->s, i);
        after = log((t.total_s - t.aside_s) * exp(said->ratio[r.reach]) + t.aside_s);
        after = before + r.weight * (after - before);
        a->low *= exp(after - before);
        a->high *= exp(after - before);
        a->value = exp(after);
    }
    if (r.calibrated && (r.weight > 0 || c->n_devices < FT__LEAST_DEVICES))
        calibrate(a, &r, scale_of(said, r.reach), r.weight == 0);
}

/* Infinite where no known device is of its kin. */
static double nearest_kin(const struct carrying *c, uint32_t dataset)
{
    double nearest = INFINITY;

    for (uint32_t i = 0; i < c->s->n_datasets; i++)
        if (c->table[i])
            nearest =
                fmin(nearest, c->distance[(size_t)dataset * c->s->n_datasets + i]);
    return nearest;
}

/* How far intervals reach either way at least. */
static double least_reach(const struct carrying *c, uint32_t dataset)
{
    double nearest = nearest_kin(c, dataset);

    if (c->l->opt.metric == FT__METRIC_POWER)
        return c->n_devices >= FT__LEAST_DEVICES ? 1 : power_least;
    if (isinf(nearest) || !is_gpu(&c->s->dataset[dataset]))
        return stranger_least;
    if (c->n_devices >= FT__LEAST_DEVICES || nearest <= 0)
        return 1;
    return nearest <= same_generation ? version_least : generation_least;
}

/* Regressors know how far known devices stray from each other, not how far one of
 * another maker or sort does; and CPUs differ by more than their data sheets say. */
static void bound(ft__answer *a, double least)
{
    double down = fmin(fmax(a->value / a->low, least), most_wide);
    double up = fmin(fmax(a->high / a->value, least), most_wide);

    a->low = a->value / down;
    a->high = a->value * up;
    a->far = a->far || least >= stranger_least;
}

static ft_status apply_all(ft__answer *answer, struct carrying *c, const uint32_t *test,
                           size_t n, ft_error *err)
{
    struct rule rule[FT_KIND_COUNT][NOWHERE];
    bool found[FT_KIND_COUNT][NOWHERE] = {{false}};
    ft_status st = FT_OK;

    for (size_t i = 0; i < n && !st; i++) {
        const ft__sample *v = &c->s->v[test[i]];
        struct said said;

        if (c->table[v->dataset])
            continue;
        bound(&answer[i], least_reach(c, v->dataset));
        if (c->l->opt.metric != FT__METRIC_TIME)
            continue;
        said = ask(c, v->dataset, &v->op);
        if (said.zone == NOWHERE)
            continue;
        if (said.nearest <= same_generation && c->n_near < LEAST_ROWS) {
            apply(&answer[i], c, test[i], &said, &(struct rule){0});
            continue;
        }
        if (!found[v->op.kind][said.zone])
            st = find_rule(&rule[v->op.kind][said.zone], c, v->op.kind, said.zone, err);
        found[v->op.kind][said.zone] = true;
        if (!st)
            apply(&answer[i], c, test[i], &said, &rule[v->op.kind][said.zone]);
    }
    return st;
}

ft_status ft__carry_answers(ft__answer *answer, const ft__learner *l,
                            const ft__samples *s, const uint32_t *train, size_t n_train,
                            const uint32_t *test, size_t n_test, ft_error *err)
{
    size_t n = s->n_datasets;
    struct carrying c = {.l = l,
                         .s = s,
                         .table = calloc(n + 1, sizeof(ft__carry *)),
                         .distance = calloc(n * n + 1, sizeof(double)),
                         .proof = calloc(MOST_ROWS + 1, sizeof(struct proof)),
                         .scratch = calloc(MOST_ROWS + 1, sizeof(double))};
    ft_status st = FT_OK;

    if (!c.table || !c.distance || !c.proof || !c.scratch)
        st = ft_fail(err, FT_ENOMEM, 0, "%u datasets", s->n_datasets);
    if (!st)
        st = make_tables(&c, train, n_train, err);
    if (!st) {
        if (l->opt.metric == FT__METRIC_TIME)
            find_proofs(&c, train, n_train);
        st = apply_all(answer, &c, test, n_test, err);
    }
    for (size_t i = 0; c.table && i < n; i++)
        ft__carry_free(c.table[i]);
    free(c.table);
    free(c.distance);
    free(c.proof);
    free(c.scratch);
    return st;
}
