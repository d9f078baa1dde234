#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "graph/op.h"
#include "predict/file/image.h"
#include "predict/model/regressor.h"

static ft_status open_stored(ft__fit *out, const ft__regressor *p, uint32_t width,
                             ft_error *err)
{
    const ft__stored *s = &p->stored;

    *out = p->fit;
    if (!ft__predictor_sound(s->section, s->bytes, s->checksum))
        return ft__predictor_damaged(s->pos, "a regressor fails the checksum", err);
    return ft__mixture_open(out, s->mixture, s->models, width, s->pos, err);
}

/* The fit of a part with its models, which are opened when first asked. */
static ft_status fit_of(const ft__fit **out, const ft__model_set *l, uint32_t part,
                        ft_error *err)
{
    ft__regressor *p = &l->part[part];
    ft__fit *fit = atomic_load_explicit(&p->opened, memory_order_acquire),
            *other = NULL;
    ft_status st;

    *out = p->stored.section ? fit : &p->fit;
    if (*out)
        return FT_OK;
    fit = calloc(1, sizeof(*fit));
    if (!fit)
        return ft_fail(err, FT_ENOMEM, 0, "regressor");
    st =
        open_stored(fit, p, l->columns.n + ft__neighbours_columns(&p->neighbours), err);
    /* Another thread may be first: its models stay, ours go. */
    if (st || !atomic_compare_exchange_strong(&p->opened, &other, fit)) {
        ft__fit_free(fit);
        free(fit);
        fit = other;
    }
    *out = fit;
    return st;
}

static bool is_beyond(const ft__regressor *p, const float *row, const uint32_t *column,
                      size_t n, float margin)
{
    for (size_t i = 0; i < n; i++)
        if (row[column[i]] < p->least[column[i]] - margin ||
            row[column[i]] > p->most[column[i]] + margin)
            return true;
    return false;
}

/* Are sizes beyond its rows by more than a factor of two? */
static bool is_new_size(const ft__regressor *p, const float *row)
{
    static const uint32_t sizes[] = {FT__F_input_elements, FT__F_output_elements,
                                     FT__F_weight_elements, FT__F_flops, FT__F_bytes};

    return is_beyond(p, row, sizes, sizeof(sizes) / sizeof(*sizes), 1);
}

/* Sizes within a fifth of each other are of one layer. */
static const float one_layer = 0.25F;

/* Was one layer measured, at any number of batches, and is this another? A layer is
 * known by its weights; additions, activations and norms by their rows' width. No fold
 * can take out the only one, so that residuals say nothing of others. */
static bool is_beyond_one_layer(const ft__regressor *p, const float *row)
{
    const ft_class c = ft_kind_class((ft_kind)row[FT__F_kind]);
    const bool by_width =
        c == FT_CLASS_NORM || c == FT_CLASS_UNARY || c == FT_CLASS_BINARY;
    const uint32_t size = by_width ? FT__F_width : FT__F_weight_elements;

    return p->most[size] - p->least[size] <= one_layer &&
           is_beyond(p, row, &size, 1, one_layer);
}

/* Are there several products? A batch may be of one. */
static bool is_batched(const float *row)
{
    const double one =
        (exp2(row[FT__F_rows]) - 1) * (exp2(row[FT__F_width]) - 1); /* operand */

    return row[FT__F_rank] > 2 && exp2(row[FT__F_input_elements]) - 1 > 1.5 * one;
}

/* Is it one product where all rows are batches of several, or the other way round? */
static bool is_batched_otherwise(const ft__regressor *p, const float *row)
{
    const float batch_of_one = log2f(1 + 1);

    if (is_batched(row))
        return p->most[FT__F_rank] <= 2;
    return p->least[FT__F_rank] > 2 &&
           (row[FT__F_rank] <= 2 || p->least[FT__F_batch] > batch_of_one);
}

/* Has it another kernel than all rows? Its window, stride or grouping is beyond theirs:
 * trees answer with the nearest one, but a convolution of 1 x 1 is no small one of
 * 3 x 3. Libraries have other kernels for convolutions of wider or narrower elements,
 * for single products, and for softmax along another axis than the last. */
static bool is_new_kernel(const ft__regressor *p, const float *row)
{
    static const uint32_t form[] = {FT__F_kernel, FT__F_kernel_width, FT__F_stride,
                                    FT__F_dilation, FT__F_groups};
    static const uint32_t after = FT__F_after_axis, bits = FT__COLUMN_BITS;
    const ft_kind kind = (ft_kind)row[FT__F_kind];

    return is_beyond(p, row, form, sizeof(form) / sizeof(*form), 0) ||
           (ft_kind_class(kind) == FT_CLASS_CONV && is_beyond(p, row, &bits, 1, 0)) ||
           (kind == FT_KIND_matmul && is_batched_otherwise(p, row)) ||
           (ft_kind_class(kind) == FT_CLASS_SOFTMAX && is_beyond(p, row, &after, 1, 0));
}

static bool is_new_form(const ft__regressor *p, const float *row)
{
    static const uint32_t rank = FT__F_rank;

    return is_new_kernel(p, row) || is_beyond(p, row, &rank, 1, 0);
}

/* Attention with heads wider than all that were measured (multi-head latent attention:
 * 576) is another kernel. */
static bool is_new_head(const ft__regressor *p, const float *row)
{
    static const uint32_t head = FT__F_width;

    return (int)row[FT__F_kind] == FT_KIND_attention && is_beyond(p, row, &head, 1, 0);
}

/* What no regressor is for: the median ratio and the residual scale of all, on an
 * unknown device the physical estimate. */
static void answer_alone(const ft__model_set *l, ft__op_answer *a, double scale)
{
    const bool estimated = l->opt.unseen && l->opt.metric < FT__METRIC_MEMORY;
    const double value = estimated ? 0 : l->centre, usual = 0.5 * FT__FAR_FACTOR;
    const double low = usual * fmin(0, l->low), high = usual * fmax(0, l->high);

    a->far = true;
    a->unlike = estimated;
    a->value = ft__model_set_value(l, value, scale);
    a->low = ft__model_set_value(l, value + low, scale);
    a->high = ft__model_set_value(l, value + high, scale);
    a->constant = ft__model_set_value(l, l->centre, scale);
    a->base = scale;
    a->measured = false;
}

/* As FT__FAR_FACTOR, of sizes on devices that are not among the rows: their intervals
 * are mostly what chips and hosts differ by (docs/notes/one-model.md, "Sizes far from
 * the known rows'"). */
static const double far_unseen = 1.5;

/* Steps of a recurrent layer in 16 bits where all rows are wider: a library's kernels
 * of these differ as much as one chip and others. */
static bool is_step_of_other_width(const ft__regressor *p, const float *row)
{
    static const uint32_t bits = FT__COLUMN_BITS;

    return ft__rnn_gates((ft_kind)row[FT__F_kind]) && is_beyond(p, row, &bits, 1, 0);
}

/* One row. Of a new head, or of an unknown device and a new form, nothing was learned:
 * the physical estimate. */
static void answer(const ft__model_set *l, ft__op_answer *a, const ft__regressor *p,
                   const float *row, double value, double residual_scale, double scale)
{
    const bool new_head = is_new_head(p, row);
    const bool new_form = new_head || is_new_form(p, row);
    const bool other_layer = !l->opt.unseen && is_beyond_one_layer(p, row);
    /* As of one chip alone. */
    const bool alone = other_layer || is_step_of_other_width(p, row);
    const double least =
        alone && l->opt.metric == FT__METRIC_TIME ? log(FT__LEAST_REACH) : 0;
    const double low = p->fit.low, high = p->fit.high;

    if (new_head || (new_form && l->opt.unseen))
        value = 0;
    a->unlike = l->opt.unseen && is_new_kernel(p, row);
    a->far = (p->scope > FT__SCOPE_KIND && !l->opt.single) || new_form ||
             is_new_size(p, row) || other_layer;
    if (a->far)
        residual_scale *= l->opt.unseen && p->scope <= FT__SCOPE_KIND && !new_form
                              ? far_unseen
                              : FT__FAR_FACTOR;
    a->value = ft__model_set_value(l, value, scale);
    a->low = ft__model_set_value(l, value + fmin(-least, low * residual_scale), scale);
    a->high = ft__model_set_value(l, value + fmax(least, high * residual_scale), scale);
    a->constant = ft__model_set_value(l, p->fit.centre, scale);
    a->base = scale;
    a->measured = false;
}

/* Mixes in the prediction of the regressor of all kinds by p's share. */
static ft_status add_share(const ft__model_set *l, const ft__regressor *p,
                           struct regressor_rows *r, ft_error *err)
{
    const ft__fit *fit;
    double *predicted = r->ppooled, share = (double)p->pooled / FT__POOLED_SHARES;
    uint32_t g;
    ft_status st;

    if (!p->pooled)
        return FT_OK;
    g = ft__model_set_pooled(l, p->phase);
    if (g == l->n_regressors)
        return ft_fail(err, FT_EFORMAT, 0,
                       "the predictor lacks the regressor of all kinds that the one of "
                       "%s needs: make it again",
                       ft__regressor_name(p));
    st = fit_of(&fit, l, g, err);
    if (st)
        return st;
    ft__fit_predict(fit, r->px, r->m, predicted, r->punused, r->py);
    for (size_t i = 0; i < r->m; i++)
        r->pout[i] += (predicted[i] - r->pout[i]) * share;
    return FT_OK;
}

/* To r: rows that part `index` is for, with the columns of their neighbours where
 * `near`, whose regressor is for those that have some; NULL: there is none. Those that
 * were measured, or all others. */
static void gather(struct regressor_rows *r, const ft__model_set *l,
                   const ft__op_answer *out, const ft__samples *s, uint32_t index,
                   const ft__regressor *neighbours, bool with, bool measured)
{
    const uint32_t plain = l->columns.n,
                   width = plain + ft__neighbours_columns(with ? &neighbours->neighbours
                                                               : NULL);
    float columns[FT__MOST_AXES * FT__AXIS_COLUMNS];

    r->m = 0;
    for (size_t i = 0; i < r->n; i++) {
        float *row = r->px + r->m * width;

        if (out[i].part != index ||
            (s->measured && s->measured[r->index[i]]) != measured ||
            (neighbours && ft__neighbours_fill(&neighbours->neighbours, columns,
                                               &s->v[r->index[i]]) != with))
            continue;
        memcpy(row, r->x + i * plain, plain * sizeof(float));
        if (with)
            memcpy(row + plain, columns, (width - plain) * sizeof(float));
        r->of[r->m++] = (uint32_t)i;
    }
}

/* Rows of one part, predicted in one call where their answers are wanted; those of none
 * have the last number. */
static ft_status answer_gathered(const ft__model_set *l, ft__op_answer *out,
                                 struct regressor_rows *r, uint32_t index, bool wanted,
                                 ft_error *err)
{
    const ft__regressor *p = index < l->n_regressors ? &l->part[index] : NULL;
    const bool asked = p && wanted;
    const ft__fit *fit;
    ft_status st;

    if (asked && r->m) {
        st = fit_of(&fit, l, index, err);
        if (st)
            return st;
        ft__fit_predict(fit, r->px, r->m, r->pout, r->presidual_scale, r->py);
        st = add_share(l, p, r, err);
        if (st)
            return st;
    }
    for (size_t i = 0; i < r->m; i++)
        if (p)
            answer(l, &out[r->of[i]], p, r->x + r->of[i] * (size_t)l->columns.n,
                   asked ? r->pout[i] : p->fit.centre,
                   asked ? r->presidual_scale[i] : 0.5, r->scale[r->of[i]]);
        else
            answer_alone(l, &out[r->of[i]], r->scale[r->of[i]]);
    return FT_OK;
}

static bool is_empty(const ft__op_answer *out, size_t n, uint32_t part)
{
    size_t i = 0;

    while (i < n && out[i].part != part)
        i++;
    return i == n;
}

static ft_status predict_regressor(const ft__model_set *l, ft__op_answer *out,
                                   struct regressor_rows *r, const ft__samples *s,
                                   uint32_t index, ft_error *err)
{
    const ft__regressor *p = index < l->n_regressors ? &l->part[index] : NULL,
                        *neighbours = NULL;
    const uint32_t at = p ? ft__model_set_neighbours_of(l, p) : l->n_regressors;
    const ft__fit *checked;
    ft_status st = FT_OK;

    if (is_empty(out, r->n, index))
        return FT_OK;
    if (at < l->n_regressors) {
        neighbours = &l->part[at];
        st = fit_of(&checked, l, at, err);
    }
    for (int with = 0; with <= (neighbours != NULL); with++)
        for (int measured = 0; measured <= (s->measured != NULL) && !st; measured++) {
            gather(r, l, out, s, index, neighbours, with, measured);
            st = answer_gathered(l, out, r, with ? at : index, !measured, err);
        }
    return st;
}

ft_status ft__model_set_predict(const ft__model_set *l, ft__op_answer *out,
                                const ft__samples *s, const uint32_t *row, size_t n,
                                ft_error *err)
{
    struct regressor_rows r;
    ft_status st = ft__rows_make(&r, l, s, row, n, err);

    if (st)
        return st;
    for (size_t i = 0; i < n; i++)
        out[i].part = ft__model_set_regressor(l, &s->v[row[i]].op);
    for (uint32_t p = 0; p <= l->n_regressors && !st; p++)
        st = predict_regressor(l, out, &r, s, p, err);
    ft__rows_free(&r);
    return st;
}

/* How far an operation that was measured differs when it is measured again: 90 %. */
static const double repeat_log = 0.05;

void ft__answer_as_measured(ft__op_answer *a, double value, double error)
{
    const double reach = fmax(repeat_log, FT__Z90 * error);

    a->value = value;
    a->low = value * exp(-reach);
    a->high = value * exp(reach);
    a->measured = true;
    a->far = false;
}
