/* What came of an exploration, read back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "explore/exploration_inside.h"
#include "explore/run.h"
#include "explore/space/points.h"

struct loading {
    const ft_exploration *x;
    ft_trials *out;
    ft__runs *runs; /* of each trial */
    size_t cap_trials, cap_runs;
    ft__index index;
    ft_error *err;
    ft_status st;
};

void ft_trials_free(ft_trials *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->v[i].point); /* value and error behind it */
        free(t->v[i].failure);
        free(t->v[i].output);
    }
    free(t->v);
    *t = (ft_trials){0};
}

static ft_status add_trial(struct loading *l, uint32_t workload, const double *at)
{
    size_t n = l->out->params, n_objectives = l->out->objectives, i = l->out->n;
    ft_trial *trials = ft__list_grow(l->out->v, i, &l->cap_trials, sizeof(*trials));
    ft__runs *runs = ft__list_grow(l->runs, i, &l->cap_runs, sizeof(*runs));
    double *point = malloc((n + 2 * n_objectives) * sizeof(*point));

    l->out->v = trials ? trials : l->out->v;
    l->runs = runs ? runs : l->runs;
    if (!point || !trials || !runs) {
        free(point);
        return ft_fail(l->err, FT_ENOMEM, 0, "%s", l->x->name);
    }
    memcpy(point, at, n * sizeof(*point));
    trials[i] = (ft_trial){.workload = workload,
                           .point = point,
                           .value = point + n,
                           .error = point + n + n_objectives};
    runs[i] = (ft__runs){0};
    l->out->n++;
    return FT_OK;
}

/* Runs of the file as it was are passed over. */
static bool take(void *user, const ft__trial_run *t)
{
    struct loading *l = user;
    double point[FT__MAX_PARAMS];
    ft__index_slot *slot;
    uint64_t hash;
    uint32_t v;

    if (!ft__run_place(l->x, t, &v, point))
        return true;
    hash = ft__point_hash(ft__hash_bytes(FT__HASH_BEGIN, &v, sizeof(v)), point,
                          l->out->params);
    slot = ft__index_at(&l->index, hash, NULL);
    if (!slot)
        l->st = ft_fail(l->err, FT_ENOMEM, 0, "%s", l->x->name);
    else if (!slot->hash)
        l->st = add_trial(l, v, point);
    if (slot && !slot->hash && !l->st) {
        *slot = (ft__index_slot){hash, NULL, (int64_t)l->out->n - 1};
        l->index.n++;
    }
    if (!l->st)
        l->st = ft__runs_add(&l->runs[slot->number], l->x, t, l->err);
    return !l->st;
}

static ft_status sum_up(struct loading *l)
{
    for (size_t i = 0; i < l->out->n; i++) {
        ft_trial *t = &l->out->v[i];
        ft__runs *r = &l->runs[i];

        for (size_t k = 0; k < l->out->objectives; k++) {
            ft_status st =
                ft__objective_of(&t->value[k], &t->error[k], l->x, r, k, l->err);

            if (st)
                return st;
        }
        t->runs = (uint32_t)r->n;
        t->failure = r->failure;
        t->output = r->output;
        r->failure = r->output = NULL;
    }
    return FT_OK;
}

/* By workload, then by point, so that the order of the runs does not show. */
static int in_order(const void *a, const void *b)
{
    const ft_trial *p = a, *q = b;

    if (p->workload != q->workload)
        return p->workload < q->workload ? -1 : 1;
    for (const double *v = p->point, *w = q->point; v < p->value; v++, w++)
        if (isnan(*v) != isnan(*w))
            return isnan(*v) ? -1 : 1;
        else if (*v != *w && !isnan(*v))
            return *v < *w ? -1 : 1;
    return 0;
}

ft_status ft_trials_load(ft_trials *out, const ft_exploration *x, ft_store *store,
                         ft_error *err)
{
    struct loading l = {.x = x, .out = out, .err = err};
    int64_t number;
    ft_status st = ft__trials_of(store, &number, x->name, x->print, err);

    *out = (ft_trials){.params = x->space->n,
                       .objectives = x->n_objectives,
                       .workloads = x->n_workloads};
    if (!st && number)
        st = ft__trial_each(store, number, take, &l, err);
    if (!st)
        st = l.st;
    if (!st)
        st = sum_up(&l);
    for (size_t i = 0; i < out->n; i++)
        ft__runs_free(&l.runs[i]);
    free(l.runs);
    ft__index_free(&l.index);
    if (st)
        ft_trials_free(out);
    else if (out->n)
        qsort(out->v, out->n, sizeof(*out->v), in_order);
    return st;
}
