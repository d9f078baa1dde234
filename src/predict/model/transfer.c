/* What is learned of known devices and kinds, taken to those that are not among them.
 */
#include "predict/model/regressor.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "learn/learn_inside.h"
#include "predict/data/shrinkage.h"

/* Fewer rows of a chip say nothing of its interval. */
enum { LEAST_ROWS = 12 };

/* Number of a sample's chip: the first dataset that was measured on it. */
static uint32_t chip_of(const ft__samples *s, uint32_t i)
{
    const char *name = ft__dataset_chip(&s->dataset[s->v[i].dataset]);
    uint32_t d = 0;

    while (strcmp(ft__dataset_chip(&s->dataset[d]), name) != 0)
        d++;
    return d;
}

/* Are the rows of a part of two chips or more? */
static bool several_chips(const struct regressor_rows *r, const ft__samples *s)
{
    size_t i = 1;

    while (i < r->m && chip_of(s, r->index[r->of[i]]) == chip_of(s, r->index[r->of[0]]))
        i++;
    return i < r->m;
}

enum { MOST_FOLDS = 10 };

/* Of so few devices luck makes a regressor look better than none by less than this. */
#define LEAST_GAIN 0.15

ft__fit_options ft__transfer_how(const ft__model_set *l, struct regressor_rows *r,
                                 const ft__samples *s)
{
    ft__fit_options how = l->opt.fit;

    how.no_residual_scale = l->opt.unseen;
    if (!l->opt.unseen)
        return how;
    if (!several_chips(r, s)) {
        for (size_t i = 0; i < r->m; i++)
            r->py[i] *= r->busy[r->of[i]];
        return how;
    }
    for (size_t i = 0; i < r->m; i++)
        r->group[i] = chip_of(s, r->index[r->of[i]]);
    how.mix = 1;
    how.gain = fmax(how.gain, LEAST_GAIN);
    how.n_folds = MOST_FOLDS;
    return how;
}

/* Rows whose chip or kind was left out of what said `out` of them. */
struct left_out {
    double *y, *out;
    uint64_t *group; /* chip_of(), or the kind */
    size_t n;
    uint32_t n_groups; /* above all of them */
    const ft__samples *s;
};

/* Collects the residuals of a chip's rows; returns their number. */
static size_t residuals_of(double *out, const struct left_out *h, uint32_t chip)
{
    size_t n = 0;

    for (size_t i = 0; i < h->n; i++)
        if (h->group[i] == chip)
            out[n++] = h->y[i] - h->out[i];
    return n;
}

/* Random effects: what a chip's rows have in common, and how they scatter about it:
 * another row lies beyond the k-th of n with a probability of k / (n + 1). Of fewer
 * than 19 rows the first and the last count. */
static void add_chip(ft__chip_effects *e, double *residual, size_t n)
{
    const double rank = (1 - FT__COVERAGE) / 2 * (double)(n + 1);
    const double tail = n > 1 ? fmax(0, rank - 1) / (double)(n - 1) : 0;
    double middle;

    ft__sort(residual, n);
    middle = ft__quantile(residual, n, 0.5);
    e->between += middle * middle;
    e->below += middle - ft__quantile(residual, n, tail);
    e->above += ft__quantile(residual, n, 1 - tail) - middle;
    e->chips++;
}

/* Facts of a chip; NULL where no device file describes it. */
static const ft_device_facts *facts_of(const struct left_out *h, uint64_t chip)
{
    const ft_device *file = h->s->dataset[chip].file;

    return file ? ft_device_get(file) : NULL;
}

static bool same_type(const struct left_out *h, uint64_t a, uint64_t b)
{
    const ft_device_facts *x = facts_of(h, a), *y = facts_of(h, b);

    return x && y ? strcmp(x->type, y->type) == 0 : x == y;
}

static bool same_maker(const struct left_out *h, uint64_t a, uint64_t b)
{
    const ft_device_facts *x = facts_of(h, a), *y = facts_of(h, b);

    return same_type(h, a, b) && (!x || strcmp(x->vendor, y->vendor) == 0);
}

/* Is a chip informative for another? NULL: every chip is for all. */
typedef bool alike_fn(const struct left_out *h, uint64_t a, uint64_t b);

static bool counts(const struct left_out *h, alike_fn *alike, uint32_t group,
                   uint32_t usual)
{
    return !alike || alike(h, group, usual);
}

/* A chip of those that most rows are of: others say nothing of these. */
static uint32_t usual_chip(const struct left_out *h, alike_fn *alike)
{
    uint32_t best = 0;
    size_t most = 0;

    for (uint32_t c = 0; c < h->n_groups && alike; c++) {
        size_t n = 0;

        for (size_t i = 0; i < h->n; i++)
            n += alike(h, h->group[i], c);
        if (n > most) {
            most = n;
            best = c;
        }
    }
    return best;
}

/* Mean relative errors of a chip by each share of what is learned; how many rows. */
static size_t share_errors(ft__share_errors *out, const struct left_out *h,
                           uint32_t chip)
{
    size_t n = 0;

    *out = (ft__share_errors){0};
    for (size_t i = 0; i < h->n; i++) {
        if (h->group[i] != chip)
            continue;
        for (int q = 0; q < FT__N_SHARES; q++)
            out->of[q] += fabs(expm1(ft__share(q) * h->out[i] - h->y[i]));
        n++;
    }
    for (int q = 0; q < FT__N_SHARES && n; q++)
        out->of[q] /= (double)n;
    return n;
}

/* How much of what is learned to take on other chips: what does not transfer is shrunk
 * to the physical estimate, and so is what may not. Chips of another type or maker than
 * most say nothing of it: their kernels are others. alone: of one chip. */
static ft_status share_of_learned(double *out, const struct left_out *h,
                                  alike_fn *alike, double alone, ft_error *err)
{
    ft__share_errors *error = calloc(h->n_groups + 1u, sizeof(*error));
    const uint32_t usual = usual_chip(h, alike);
    size_t n = 0;

    if (!error)
        return ft_fail(err, FT_ENOMEM, 0, "%u chips", h->n_groups);
    for (uint32_t c = 0; c < h->n_groups; c++)
        if (counts(h, alike, c, usual))
            n += share_errors(&error[n], h, c) >= LEAST_ROWS;
    *out = n < 2 ? alone : ft__share_of_learned(error, n, h->n);
    free(error);
    return FT_OK;
}

/* Of one chip, which tells nothing of others. */
static void widen(ft__chip_effects *e)
{
    e->between = fmax(e->between, pow(log(FT__LEAST_REACH) / FT__Z90, 2));
}

/* Of chips with rows enough; where none has, as if all rows were of one. */
static ft_status find_effects(ft__chip_effects *e, const struct left_out *h,
                              alike_fn *alike, ft_error *err)
{
    double *scratch = malloc((h->n + 1) * sizeof(*scratch));
    const uint32_t usual = usual_chip(h, alike);

    *e = (ft__chip_effects){0};
    if (!scratch)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", h->n);
    for (uint32_t c = 0; c < h->n_groups; c++) {
        const size_t n = residuals_of(scratch, h, c);

        if (n >= LEAST_ROWS && counts(h, alike, c, usual))
            add_chip(e, scratch, n);
    }
    for (size_t i = 0; i < h->n && !e->chips; i++)
        scratch[i] = h->y[i] - h->out[i];
    if (!e->chips)
        add_chip(e, scratch, h->n);
    e->between /= e->chips;
    e->below /= e->chips;
    e->above /= e->chips;
    if (e->chips < 2)
        widen(e);
    free(scratch);
    return FT_OK;
}

static ft_status left_out_make(struct left_out *h, size_t n, const ft__samples *s,
                               ft_error *err)
{
    *h = (struct left_out){.y = malloc((2 * n + 1) * sizeof(double)),
                           .group = malloc((n + 1) * sizeof(uint64_t)),
                           .n_groups = s->n_datasets,
                           .s = s};
    if (!h->y || !h->group)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", n);
    h->out = h->y + n;
    return FT_OK;
}

/* The width class of a sample: below 16 bits or not, which have separate regressors. */
static uint32_t width_of(const ft__samples *s, uint32_t i)
{
    const uint32_t bits = ft_dtype_bits(s->v[i].op.dtype);

    return bits < 16 ? 16 : bits;
}

enum { WIDEST = 128 };

/* Of the elements of most rows of a part. Others are other arithmetic: what one chip
 * makes of them says nothing of how these scatter. */
static uint32_t usual_width(const struct regressor_rows *r, const ft__samples *s)
{
    size_t n[WIDEST + 1] = {0};
    uint32_t best = WIDEST;

    for (size_t i = 0; i < r->m; i++)
        n[width_of(s, r->index[r->of[i]])]++;
    for (uint32_t width = 0; width < WIDEST; width++)
        if (n[width] > n[best])
            best = width;
    return best;
}

static bool has_width(const struct regressor_rows *r, const ft__samples *s, size_t i,
                      uint32_t width)
{
    return width_of(s, r->index[r->of[i]]) == width;
}

static void left_out_add(struct left_out *h, double y, double out, uint64_t chip)
{
    if (!isfinite(out))
        return;
    h->y[h->n] = y;
    h->out[h->n] = out;
    h->group[h->n++] = chip;
}

static void left_out_free(struct left_out *h)
{
    free(h->y);
    free(h->group);
}

/* Predictions become `share` of what they are: shrunk to 0. */
static void shrink(ft__fit *f, double share)
{
    for (uint32_t k = 0; k < f->n_models; k++)
        f->weight[k] *= share;
    if (!f->n_models)
        f->centre *= share;
    if (share < 1) {
        size_t len = strlen(f->choice);

        snprintf(f->choice + len, sizeof(f->choice) - len, ", x %.2g", share);
    }
}

/* Of few chips, how far they lie apart is hardly known: what regressors of all kinds
 * saw counts as if of so many chips more. */
enum { EVEN_CHIPS = 3 };

/* The chip's effect is drawn from those of the others, about which rows scatter as on
 * these. A left-out chip's error already holds that of the chips it was predicted from;
 * of one chip alone there are none. */
static void cover_effects(double *low, double *high, const ft__chip_effects *e,
                          double between)
{
    const double n = e->chips;
    const double common = (n * e->between + EVEN_CHIPS * between) / (n + EVEN_CHIPS);
    const double chip = FT__Z90 * FT__Z90 * (n > 1 ? 1 : 2) * common;

    *low = -hypot(sqrt(chip), e->below);
    *high = hypot(sqrt(chip), e->above);
}

/* A row of a part, by its operation. */
struct alike {
    uint64_t hash;
    uint32_t row;
};

static int by_operation(const void *a, const void *b)
{
    const struct alike *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Were both measured in the same way, on different chips? */
static bool is_template(const ft__samples *s, uint32_t a, uint32_t b)
{
    const ft__dataset *x = &s->dataset[s->v[a].dataset];
    const ft__dataset *y = &s->dataset[s->v[b].dataset];

    return strcmp(x->engine, y->engine) == 0 &&
           ft__is_same_run_mode(x->setting, y->setting) &&
           strcmp(ft__dataset_chip(x), ft__dataset_chip(y)) != 0;
}

/* The mean target of the n rows of one operation that are of other chips than row i;
 * NaN: there are none. */
static double mean_of_other_chips(const struct regressor_rows *r, const ft__samples *s,
                                  const struct alike *v, size_t n, uint32_t i)
{
    const uint32_t own = r->index[r->of[i]];
    const ft__hardware hardware = ft__hardware_of(s->dataset[s->v[own].dataset].file);
    double sum = 0, weights = 0;

    for (size_t k = 0; k < n; k++) {
        const uint32_t other = r->index[r->of[v[k].row]];
        const ft__hardware h = ft__hardware_of(s->dataset[s->v[other].dataset].file);
        const double weight =
            is_template(s, own, other) ? ft__others_weight(&hardware, &h) : 0;

        sum += weight * r->py[v[k].row];
        weights += weight;
    }
    return sum / weights;
}

static ft_status find_templates(double *out, const struct regressor_rows *r,
                                const ft__samples *s, ft_error *err)
{
    struct alike *v = malloc((r->m + 1) * sizeof(*v));

    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", r->m);
    for (size_t i = 0; i < r->m; i++)
        v[i] = (struct alike){s->v[r->index[r->of[i]]].hash, (uint32_t)i};
    qsort(v, r->m, sizeof(*v), by_operation);
    for (size_t i = 0, end; i < r->m; i = end) {
        for (end = i; end < r->m && v[end].hash == v[i].hash;)
            end++;
        for (size_t k = i; k < end; k++)
            out[v[k].row] = mean_of_other_chips(r, s, v + i, end - i, v[k].row);
    }
    free(v);
    return FT_OK;
}

/* How much of the templates to take in place of what is learned (r->pout, shrunk), and
 * how far rows that have one are off then. */
static ft_status mix_templates(ft__regressor *p, const struct regressor_rows *r,
                               const ft__samples *s, ft_error *err)
{
    double *template = malloc((r->m + 1) * sizeof(*template));
    ft__chip_effects e = {0};
    const uint32_t width = usual_width(r, s);
    struct left_out h;
    ft_status st = left_out_make(&h, r->m, s, err);

    if (!st && !template)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu rows", r->m);
    if (!st)
        st = find_templates(template, r, s, err);
    /* What is left of the target, and what the template would change. */
    for (size_t i = 0; i < r->m && !st; i++) {
        const double shift = r->shift[r->of[i]];

        if (has_width(r, s, i, width))
            left_out_add(&h, r->py[i] + shift - r->pout[i],
                         r->busy[r->of[i]] * (template[i] + shift - r->pout[i]),
                         r->group[i]);
    }
    if (!st && h.n)
        st = share_of_learned(&p->others.share, &h, same_maker, 0, err);
    for (size_t i = 0; i < h.n && !st; i++)
        h.out[i] *= p->others.share;
    if (!st && p->others.share > 0)
        st = find_effects(&e, &h, same_type, err);
    if (!st && p->others.share > 0)
        cover_effects(&p->others.low, &p->others.high, &e, e.between);
    left_out_free(&h);
    free(template);
    return st;
}

/* Shrinks a regressor by this share, and finds its residuals then. */
static ft_status shrink_to_share(ft__regressor *p, ft__chip_effects *e,
                                 struct regressor_rows *r, struct left_out *h,
                                 double share, alike_fn *alike, ft_error *err)
{
    for (size_t i = 0; i < r->m; i++)
        r->pout[i] *= share;
    for (size_t i = 0; i < h->n; i++)
        h->out[i] *= share;
    shrink(&p->fit, share);
    return find_effects(e, h, alike, err);
}

/* Shrinks a regressor whose rows are grouped by chip, and sets its interval. */
static ft_status shrink_and_cover(ft__regressor *p, struct regressor_rows *r,
                                  const ft__samples *s, ft_error *err)
{
    const uint32_t width = usual_width(r, s);
    struct left_out h;
    double share = 0;
    ft_status st = left_out_make(&h, r->m, s, err);

    for (size_t i = 0; i < r->m && !st; i++)
        if (has_width(r, s, i, width))
            left_out_add(&h, r->py[i] + r->shift[r->of[i]], r->pout[i], r->group[i]);
    if (!st && h.n)
        st = share_of_learned(&share, &h, same_maker, ft__share_of_one_chip(h.n), err);
    if (!st && h.n)
        st = shrink_to_share(p, &p->fit.effects, r, &h, share, same_type, err);
    left_out_free(&h);
    return st ? st : mix_templates(p, r, s, err);
}

/* As ft__transfer_part() with kinds in place of chips. All rows count as far, so
 * FT__FAR_FACTOR is divided out here. */
ft_status ft__transfer_to_kinds(ft__regressor *p, struct regressor_rows *r,
                                const ft__samples *s, ft_error *err)
{
    const double unit = FT__FAR_FACTOR * p->fit.typical;
    ft__chip_effects e = {0};
    struct left_out h;
    double share = 0;
    ft_status st = left_out_make(&h, r->m, s, err);

    h.n_groups = FT__N_KIND_NUMBERS;
    for (size_t i = 0; i < r->m && !st; i++)
        left_out_add(&h, r->py[i], r->pout[i], r->group[i]);
    if (!st)
        st = share_of_learned(&share, &h, NULL, FT__ONE_CHIP_SHARE, err);
    if (!st)
        st = shrink_to_share(p, &e, r, &h, share, NULL, err);
    if (!st)
        cover_effects(&p->fit.low, &p->fit.high, &e, e.between);
    p->fit.low /= unit;
    p->fit.high /= unit;
    left_out_free(&h);
    return st;
}

static void shrink_and_widen(ft__regressor *p, struct regressor_rows *r)
{
    const double share = ft__share_of_one_chip(r->m);
    size_t n = 0;

    shrink(&p->fit, share);
    for (size_t i = 0; i < r->m; i++) {
        r->pout[i] *= share;
        if (isfinite(r->pout[i]))
            r->punused[n++] = r->py[i] - r->pout[i];
    }
    if (n)
        add_chip(&p->fit.effects, r->punused, n);
    widen(&p->fit.effects);
}

ft_status ft__transfer_part(ft__regressor *p, struct regressor_rows *r,
                            const ft__samples *s, ft_error *err)
{
    p->fit.typical = 1;
    for (size_t i = 0; i < r->m; i++)
        r->presidual_scale[i] = 1;
    if (several_chips(r, s))
        return shrink_and_cover(p, r, s, err);
    shrink_and_widen(p, r);
    return FT_OK;
}

/* Mean of what chips differ by, over regressors by their rows; NaN: there are none. */
static double mean_between(const ft__model_set *l)
{
    double sum = 0, rows = 0;

    for (uint32_t i = 0; i < l->n_regressors; i++) {
        const ft__fit *f = &l->part[i].fit;

        if (f->effects.chips < 2 || l->part[i].scope > FT__SCOPE_KIND)
            continue;
        sum += f->effects.between * (double)f->n_rows;
        rows += (double)f->n_rows;
    }
    return sum / rows;
}

ft_status ft__transfer_tails(ft__model_set *l, const struct regressor_rows *r,
                             const ft__samples *s, ft_error *err)
{
    const double between = mean_between(l);
    ft__chip_effects all = {0};
    struct left_out h;
    ft_status st = left_out_make(&h, r->n, s, err);

    for (size_t i = 0; i < r->n && !st; i++)
        left_out_add(&h, r->y[i] + r->shift[i], r->out[i], chip_of(s, r->index[i]));
    if (!st && h.n)
        st = find_effects(&all, &h, same_type, err);
    left_out_free(&h);
    if (!st && all.chips && !l->opt.before)
        cover_effects(&l->low, &l->high, &all, all.between);
    for (uint32_t i = 0; i < l->n_regressors && !st; i++) {
        ft__fit *f = &l->part[i].fit;

        if (!l->part[i].stored.section && f->effects.chips)
            cover_effects(&f->low, &f->high, &f->effects,
                          isfinite(between) ? between : f->effects.between);
    }
    return st;
}
