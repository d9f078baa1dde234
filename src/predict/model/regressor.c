/* One regressor of a model set. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op_inside.h"
#include "predict/file/predictor.h"
#include "predict/model/model_set_rows.h"

bool ft__regressor_has(const ft__regressor *p, const ft_op *op)
{
    uint32_t which = p->scope <= FT__SCOPE_KIND    ? ft__kind_number(op)
                     : p->scope == FT__SCOPE_CLASS ? (uint32_t)ft_kind_class(op->kind)
                                                   : 0;

    return p->phase == op->phase && p->which == which;
}

uint32_t ft__kind_number(const ft_op *op)
{
    return (uint32_t)op->kind + (ft__is_narrow(op) ? FT_KIND_COUNT : 0);
}

/* Kinds, then those of less than 16 bits. */
static const char *const names[FT__N_KIND_NUMBERS] = {
#define FT_KIND(name, ...) [FT_KIND_##name] = #name,
#include "foretell/ops.def"
#undef FT_KIND
#define FT_KIND(name, ...) [FT_KIND_COUNT + FT_KIND_##name] = #name ".narrow",
#include "foretell/ops.def"
#undef FT_KIND
};

bool ft__kind_number_named(uint32_t *out, const char *name)
{
    for (uint32_t i = 0; i < FT__N_KIND_NUMBERS; i++)
        if (strcmp(names[i], name) == 0) {
            *out = i;
            return true;
        }
    return false;
}

const char *ft__regressor_name(const ft__regressor *p)
{
    return p->scope <= FT__SCOPE_KIND    ? names[p->which]
           : p->scope == FT__SCOPE_CLASS ? ft__class_name((ft_class)p->which)
                                         : "all";
}

uint32_t ft__model_set_regressor(const ft__model_set *l, const ft_op *op)
{
    uint32_t best = l->n_regressors;

    for (uint32_t i = 0; i < l->n_regressors; i++)
        if (l->part[i].scope != FT__SCOPE_NEIGHBOURS &&
            ft__regressor_has(&l->part[i], op) &&
            (best == l->n_regressors || l->part[i].scope < l->part[best].scope))
            best = i;
    return best;
}

uint32_t ft__model_set_pooled(const ft__model_set *l, ft_phase phase)
{
    uint32_t i = 0;

    while (i < l->n_regressors &&
           (l->part[i].scope != FT__SCOPE_ALL || l->part[i].phase != phase))
        i++;
    return i;
}

uint32_t ft__model_set_neighbours_of(const ft__model_set *l, const ft__regressor *kind)
{
    uint32_t i = 0;

    while (i < l->n_regressors &&
           !(kind->scope == FT__SCOPE_KIND &&
             l->part[i].scope == FT__SCOPE_NEIGHBOURS &&
             l->part[i].which == kind->which && l->part[i].phase == kind->phase))
        i++;
    return i;
}

static uint64_t sum_of_text(const char *text)
{
    return ft__checksum(text, strlen(text));
}

uint64_t ft__sample_sum(const ft__samples *s, uint32_t i, ft__metric metric)
{
    const ft__dataset *d = &s->dataset[s->v[i].dataset];
    uint64_t all[7] = {s->v[i].hash,           0,
                       sum_of_text(d->device), sum_of_text(d->setting),
                       sum_of_text(d->engine), sum_of_text(d->engine_version),
                       sum_of_text(d->policy)};

    memcpy(&all[1], &s->v[i].value[metric], sizeof(all[1]));
    return ft__checksum(all, sizeof(all));
}

ft_status ft__regressor_range(ft__regressor *p, const float *x, size_t m,
                              uint32_t width, ft_error *err)
{
    p->least = malloc(width * sizeof(float));
    p->most = malloc(width * sizeof(float));
    if (!p->least || !p->most)
        return ft_fail(err, FT_ENOMEM, 0, "regressor");
    memcpy(p->least, x, width * sizeof(float));
    memcpy(p->most, x, width * sizeof(float));
    for (size_t i = 1; i < m; i++)
        for (uint32_t j = 0; j < width; j++) {
            p->least[j] = fminf(p->least[j], x[i * width + j]);
            p->most[j] = fmaxf(p->most[j], x[i * width + j]);
        }
    return FT_OK;
}

bool ft__regressor_is_outside(const ft__regressor *p, const float *row)
{
    static const uint32_t sizes[] = {FT__F_input_elements, FT__F_output_elements,
                                     FT__F_weight_elements, FT__F_flops, FT__F_bytes};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        if (row[sizes[i]] < p->least[sizes[i]] - 1 ||
            row[sizes[i]] > p->most[sizes[i]] + 1)
            return true;
    return false;
}

void ft__regressor_free(ft__regressor *p)
{
    ft__fit *opened = atomic_load(&p->opened);

    if (opened)
        ft__fit_free(opened);
    free(opened);
    ft__fit_free(&p->fit);
    ft__neighbours_free(&p->neighbours);
    free(p->least);
    free(p->most);
}

ft_status ft__regressor_copy(ft__regressor *out, const ft__regressor *p, uint32_t width,
                             ft_error *err)
{
    *out = *p;
    atomic_init(&out->opened, NULL);
    out->least = malloc((width + 1u) * sizeof(float));
    out->most = malloc((width + 1u) * sizeof(float));
    if (!out->least || !out->most) {
        ft__regressor_free(out);
        return ft_fail(err, FT_ENOMEM, 0, "regressor");
    }
    memcpy(out->least, p->least, width * sizeof(float));
    memcpy(out->most, p->most, width * sizeof(float));
    return FT_OK;
}

static ft_status open_stored(ft__fit *out, const ft__regressor *p, uint32_t width,
                             ft_error *err)
{
    const ft__stored *s = &p->stored;

    *out = p->fit;
    if (!ft__predictor_sound(s->section, s->bytes, s->checksum))
        return ft__predictor_damaged(s->pos, "a regressor fails the checksum", err);
    return ft__mixture_open(out, s->mixture, s->models, width, s->pos, err);
}

ft_status ft__regressor_fit(const ft__fit **out, const ft__model_set *l, uint32_t part,
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
