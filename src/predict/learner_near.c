/* A regressor of those rows of a kind that have neighbours. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/learner_rows.h"

/* Fewer rows with neighbours are not worth one, nor is a gain below this. */
enum { LEAST_ROWS = 200 };
static const double least_gain = 0.03;

/* Rows that have neighbours: in the order of the part's, of[m] which they are. */
struct wide {
    float *x;
    double *y, *out, *spread;
    uint64_t *group;
    size_t *of;
    uint32_t width;
    size_t m;
};

static void wide_free(struct wide *w)
{
    free(w->x);
    free(w->y);
    free(w->out);
    free(w->spread);
    free(w->group);
    free(w->of);
}

static ft_status wide_make(struct wide *w, size_t n, uint32_t width, ft_error *err)
{
    *w = (struct wide){.x = malloc((n + 1) * width * sizeof(float)),
                       .y = malloc((n + 1) * sizeof(double)),
                       .out = malloc((n + 1) * sizeof(double)),
                       .spread = malloc((n + 1) * sizeof(double)),
                       .group = malloc((n + 1) * sizeof(uint64_t)),
                       .of = malloc((n + 1) * sizeof(size_t)),
                       .width = width};
    if (w->x && w->y && w->out && w->spread && w->group && w->of)
        return FT_OK;
    wide_free(w);
    return ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", n);
}

static void take_wide(struct wide *w, const ft__near *near, const ft__learner *l,
                      const struct rows *r, const ft__samples *s)
{
    const uint32_t plain = l->columns.n;

    for (size_t i = 0; i < r->m; i++) {
        float *row = w->x + w->m * w->width;

        if (!ft__near_fill(near, row + plain, &s->v[r->index[r->of[i]]]))
            continue;
        memcpy(row, r->px + i * plain, plain * sizeof(float));
        w->y[w->m] = r->py[i];
        w->group[w->m] = r->group[i];
        w->of[w->m++] = i;
    }
}

/* Mean deviation out of fold of the kind's regressor, where rows have neighbours. */
static double deviation_without(const struct wide *w, const struct rows *r)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < w->m; i++)
        if (isfinite(r->pout[w->of[i]])) {
            sum += fabs(w->y[i] - r->pout[w->of[i]]);
            n++;
        }
    return sum / (double)n;
}

/* What it says of them out of fold, to r: nothing of those without neighbours. */
static void tell(struct rows *r, const struct wide *w)
{
    for (size_t i = 0; i < r->m; i++)
        r->pout[i] = r->pspread[i] = NAN;
    for (size_t i = 0; i < w->m; i++) {
        r->pout[w->of[i]] = w->out[i];
        r->pspread[w->of[i]] = w->spread[i];
    }
}

static ft_status copy_range(ft__part *out, const ft__part *kind, uint32_t width,
                            ft_error *err)
{
    out->least = malloc(width * sizeof(float));
    out->most = malloc(width * sizeof(float));
    if (!out->least || !out->most)
        return ft_fail(err, FT_ENOMEM, 0, "regressor");
    memcpy(out->least, kind->least, width * sizeof(float));
    memcpy(out->most, kind->most, width * sizeof(float));
    return FT_OK;
}

/* Cross-validation that looks at some of many rows flatters neighbours, which stay as
 * near as they are: both have to be held against all rows, too. */
static bool is_better(const ft__fit *with, const ft__fit *without)
{
    return !with->refused && with->deviation < (1 - least_gain) * without->deviation;
}

static ft_status fit_wide(ft__part *out, bool *made, struct wide *w,
                          const ft__learner *l, struct rows *r, const ft__part *kind,
                          const ft__fit_options *how, ft_error *err)
{
    const ft_matrix x = {w->x, w->m, w->width};
    ft__fit_options with = *how;
    ft_status st;

    with.ceiling = (1 - least_gain) * deviation_without(w, r);
    st = ft__fit_make(&out->fit, w->out, w->spread, &x, w->y, w->group, &with, err);
    if (st || !is_better(&out->fit, &kind->fit))
        return st;
    *made = true;
    tell(r, w);
    st = copy_range(out, kind, l->columns.n, err);
    return st ? st : ft__part_errors(out, l, r, err);
}

static ft_status find_near(ft__near *out, const ft__samples *s, const struct rows *r,
                           ft_error *err)
{
    uint32_t *row = malloc((r->m + 1) * sizeof(*row));
    ft_status st;

    if (!row)
        return ft_fail(err, FT_ENOMEM, 0, "training set of %zu rows", r->m);
    for (size_t i = 0; i < r->m; i++)
        row[i] = r->index[r->of[i]];
    st = ft__near_make(out, s, row, r->py, r->m, err);
    free(row);
    return st;
}

ft_status ft__part_make_near(ft__part *out, bool *made, const ft__learner *l,
                             struct rows *r, const ft__samples *s,
                             const ft__part *kind, const ft__fit_options *how,
                             ft_error *err)
{
    struct wide w = {0};
    ft_status st = FT_OK;

    *out = (ft__part){.scope = FT__SCOPE_NEAR,
                      .which = kind->which,
                      .phase = kind->phase,
                      .rows = kind->rows};
    *made = false;
    if (r->m < LEAST_ROWS || !kind->fit.n_models)
        return FT_OK;
    st = find_near(&out->near, s, r, err);
    if (!st && out->near.n_axes)
        st = wide_make(&w, r->m, l->columns.n + ft__near_columns(&out->near), err);
    if (!st && out->near.n_axes)
        take_wide(&w, &out->near, l, r, s);
    if (!st && w.m >= LEAST_ROWS)
        st = fit_wide(out, made, &w, l, r, kind, how, err);
    wide_free(&w);
    if (st || !*made)
        ft__part_free(out);
    return st;
}
