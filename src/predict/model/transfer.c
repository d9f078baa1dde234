/* What is learned of known devices, taken to devices that are not among them. */
#include "predict/model/transfer.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "learn/learn_inside.h"

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

    if (!l->opt.unseen || !several_chips(r, s))
        return how;
    for (size_t i = 0; i < r->m; i++)
        r->group[i] = chip_of(s, r->index[r->of[i]]);
    how.mix = 1;
    how.gain = fmax(how.gain, LEAST_GAIN);
    how.n_folds = MOST_FOLDS;
    return how;
}

/* Rows whose chip was left out of what said `out` of them. */
struct left_out {
    double *y, *out, *residual_scale;
    uint64_t *chip; /* chip_of() */
    size_t n;
    uint32_t n_chips; /* above all of them */
    const ft__samples *s;
};

static bool same_maker(const ft__dataset *a, const ft__dataset *b)
{
    const ft_device_facts *x = a->file ? ft_device_get(a->file) : NULL;
    const ft_device_facts *y = b->file ? ft_device_get(b->file) : NULL;

    return x && y && strcmp(x->vendor, y->vendor) == 0 && strcmp(x->type, y->type) == 0;
}

/* A chip that was predicted from those of other makers alone says nothing of one whose
 * maker is known. */
static bool is_stranger(const struct left_out *h, uint32_t chip)
{
    for (size_t i = 0; i < h->n; i++)
        if (h->chip[i] != chip &&
            same_maker(&h->s->dataset[chip], &h->s->dataset[h->chip[i]]))
            return false;
    return true;
}

/* Mean over chips of the mean |y - share x out|: the chip that was measured most counts
 * as much as any. */
static double chip_error(const struct left_out *h, double share)
{
    double sum = 0;
    uint32_t chips = 0;

    for (uint32_t c = 0; c < h->n_chips; c++) {
        double own = 0;
        size_t m = 0;

        for (size_t i = 0; i < h->n; i++)
            if (h->chip[i] == c) {
                own += fabs(h->y[i] - share * h->out[i]);
                m++;
            }
        sum += m ? own / (double)m : 0;
        chips += m > 0;
    }
    return chips ? sum / chips : 0;
}

/* How much of what is learned to take on other chips, in quarters: what does not
 * transfer is shrunk to the physical estimate, and so is what gains little. */
static double share_of_learned(const struct left_out *h)
{
    const double gain = 0.97;
    double best = 0, least = chip_error(h, 0);

    for (int quarters = 1; quarters <= 4; quarters++) {
        double error = chip_error(h, quarters / 4.0);

        if (error < gain * least) {
            least = error;
            best = quarters / 4.0;
        }
    }
    return best;
}

/* Standardised residuals (y - out) / residual scale of a chip's rows; how many. */
static size_t residuals_of(double *out, const struct left_out *h, uint32_t chip)
{
    size_t n = 0;

    for (size_t i = 0; i < h->n; i++)
        if (h->chip[i] == chip)
            out[n++] = (h->y[i] - h->out[i]) / h->residual_scale[i];
    return n;
}

/* Bounds between which nine tenths of each chip's residuals lie, sorted; of strangers
 * only where `strangers`. How many chips these are. */
static ft_status bounds_of_chips(double *below, double *above, size_t *chips,
                                 const struct left_out *h, bool strangers,
                                 double *scratch, ft_error *err)
{
    ft_status st = FT_OK;

    *chips = 0;
    for (uint32_t c = 0; c < h->n_chips && !st; c++) {
        size_t n = residuals_of(scratch, h, c);

        if (n < LEAST_ROWS || (!strangers && is_stranger(h, c)))
            continue;
        st = ft__conformal(&below[*chips], &above[*chips], scratch, n, FT__COVERAGE,
                           err);
        (*chips)++;
    }
    ft__sort(below, *chips);
    ft__sort(above, *chips);
    return st;
}

/* What nine tenths of the chips' bounds stay within: a new chip is exchangeable with
 * these and not with their rows, of which most are of whichever was measured most. */
static ft_status cover_chips(double *low, double *high, const struct left_out *h,
                             ft_error *err)
{
    double *scratch = malloc((h->n + 2 * (size_t)h->n_chips + 1) * sizeof(*scratch));
    double *below, *above;
    size_t chips;
    ft_status st;

    if (!scratch)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", h->n);
    below = scratch + h->n;
    above = below + h->n_chips;
    st = bounds_of_chips(below, above, &chips, h, false, scratch, err);
    if (!st && chips == 0)
        st = bounds_of_chips(below, above, &chips, h, true, scratch, err);
    if (!st && chips) {
        *low = fmin(0, ft__quantile(below, chips, 1 - FT__COVERAGE));
        *high = fmax(0, ft__quantile(above, chips, FT__COVERAGE));
    } else if (!st) { /* each has too few rows: all of them together */
        for (size_t i = 0; i < h->n; i++)
            scratch[i] = (h->y[i] - h->out[i]) / h->residual_scale[i];
        st = ft__conformal(low, high, scratch, h->n, FT__COVERAGE, err);
    }
    free(scratch);
    return st;
}

static ft_status left_out_make(struct left_out *h, size_t n, const ft__samples *s,
                               ft_error *err)
{
    *h = (struct left_out){.y = malloc((3 * n + 1) * sizeof(double)),
                           .chip = malloc((n + 1) * sizeof(uint64_t)),
                           .n_chips = s->n_datasets,
                           .s = s};
    if (!h->y || !h->chip)
        return ft_fail(err, FT_ENOMEM, 0, "%zu rows", n);
    h->out = h->y + n;
    h->residual_scale = h->out + n;
    return FT_OK;
}

static void left_out_add(struct left_out *h, double y, double out,
                         double residual_scale, uint64_t chip)
{
    if (!isfinite(out) || !(residual_scale > 0))
        return;
    h->y[h->n] = y;
    h->out[h->n] = out;
    h->residual_scale[h->n] = residual_scale;
    h->chip[h->n++] = chip;
}

static void left_out_free(struct left_out *h)
{
    free(h->y);
    free(h->chip);
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

        snprintf(f->choice + len, sizeof(f->choice) - len, ", x %g", share);
    }
}

/* Of a part whose rows are grouped by chip: its share of the answer, its interval. */
static ft_status shrink_and_cover(ft__regressor *p, struct regressor_rows *r,
                                  const ft__samples *s, ft_error *err)
{
    struct left_out h;
    double share;
    ft_status st = left_out_make(&h, r->m, s, err);

    for (size_t i = 0; i < r->m && !st; i++)
        left_out_add(&h, r->py[i], r->pout[i], r->presidual_scale[i], r->group[i]);
    if (!st && h.n) {
        share = share_of_learned(&h);
        for (size_t i = 0; i < r->m; i++)
            r->pout[i] *= share;
        for (size_t i = 0; i < h.n; i++)
            h.out[i] *= share;
        shrink(&p->fit, share);
        st = cover_chips(&p->fit.low, &p->fit.high, &h, err);
    }
    left_out_free(&h);
    return st;
}

/* Of a part that one chip alone has rows of. How sure it is of these says nothing of
 * other chips: all its answers are as unsure. */
static ft_status shrink_and_widen(ft__regressor *p, struct regressor_rows *r,
                                  ft_error *err)
{
    const bool narrow = p->scope == FT__SCOPE_KIND && p->which >= FT_KIND_COUNT;
    const double least = narrow ? FT__LEAST_NARROW_REACH : FT__LEAST_REACH;
    const double reach = log(least) / p->fit.typical;
    size_t n = 0;
    ft_status st = FT_OK;

    shrink(&p->fit, FT__ONE_CHIP_SHARE);
    ft__model_free(p->fit.residual_scale);
    p->fit.residual_scale = NULL;
    for (size_t i = 0; i < r->m; i++) {
        r->pout[i] *= FT__ONE_CHIP_SHARE;
        r->presidual_scale[i] = p->fit.typical;
        if (isfinite(r->pout[i]))
            r->punused[n++] = (r->py[i] - r->pout[i]) / p->fit.typical;
    }
    if (n)
        st = ft__conformal(&p->fit.low, &p->fit.high, r->punused, n, 0.9, err);
    p->fit.low = fmin(p->fit.low, -reach);
    p->fit.high = fmax(p->fit.high, reach);
    return st;
}

ft_status ft__transfer_part(ft__regressor *p, struct regressor_rows *r,
                            const ft__samples *s, ft_error *err)
{
    if (several_chips(r, s))
        return shrink_and_cover(p, r, s, err);
    return shrink_and_widen(p, r, err);
}

ft_status ft__transfer_tails(ft__model_set *l, const struct regressor_rows *r,
                             const ft__samples *s, ft_error *err)
{
    struct left_out h;
    ft_status st = left_out_make(&h, r->n, s, err);

    for (size_t i = 0; i < r->n && !st; i++)
        left_out_add(&h, r->y[i], r->out[i], r->residual_scale[i],
                     chip_of(s, r->index[i]));
    if (!st && h.n)
        st = cover_chips(&l->low, &l->high, &h, err);
    left_out_free(&h);
    return st;
}
