#include "predict/schedule/unseen_networks.h"

#include <math.h>
#include <stdlib.h>

#include "predict/model/family.h"

/* Operations of a group that took less of the networks' time are not like theirs. */
static const double little = 0.02;
/* A network with this share of its time in such groups is none of theirs. */
static const double enough = 0.1;

bool ft__op_bounds_of(ft__op_bounds *out, const ft_network_estimate *e,
                      const ft_graph *g)
{
    double sum = 0, squares = 0;

    *out = (ft__op_bounds){0};
    for (uint32_t i = 0; i < e->n_ops; i++) {
        const ft_estimate *d = &e->op_device[i];
        double v = (double)g->op_count[i] * d->value, below, above;

        if (!(v > 0))
            continue;
        below = v * log(d->value / d->low);
        above = v * log(d->high / d->value);
        sum += v;
        squares += v * v;
        out->low += below;
        out->high += above;
        out->own_low += below * below;
        out->own_high += above * above;
        out->share[ft__task_group_of(&g->op[i])] += v;
    }
    if (!(sum > 0))
        return false;
    out->low /= sum;
    out->high /= sum;
    out->own_low = sqrt(out->own_low) / sum;
    out->own_high = sqrt(out->own_high) / sum;
    out->alone = squares / (sum * sum);
    for (int k = 0; k < FT__N_TASK_GROUPS; k++)
        out->share[k] /= sum;
    return true;
}

bool ft__unseen_sound(const ft__unseen *u)
{
    bool good = u->part > 0 && u->part <= FT__WIDEST && u->alone > 0 && u->alone <= 1;

    for (int k = 0; k < FT__N_TASK_GROUPS; k++)
        good = good && u->share[k] >= 0 && u->share[k] <= 1;
    return good && u->n > 0 && u->chips >= 2;
}

double ft__unseen_unlike(const ft__unseen *u, const ft__op_bounds *of)
{
    double unlike = 0, alone = (of->alone - u->alone) / (1 - u->alone);

    for (int k = 0; k < FT__N_TASK_GROUPS; k++)
        if (u->share[k] < little)
            unlike += of->share[k] / enough;
    return fmin(1, fmax(unlike, u->alone < 1 ? fmax(0, alone) : 0));
}

ft_status ft__unseen_set(ft__family *f, const ft__unseen *u, ft_error *err)
{
    if (!f->unseen)
        f->unseen = malloc(sizeof(*f->unseen));
    if (!f->unseen)
        return ft_fail(err, FT_ENOMEM, 0, "predictor");
    *f->unseen = *u;
    return FT_OK;
}
