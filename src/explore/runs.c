/* Figures of a point from its runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "explore/exploration_inside.h"
#include "explore/explore_inside.h"
#include "explore/run.h"
#include "measure/rounds.h"

bool ft__run_place(const ft_exploration *x, const ft__trial_run *t, uint32_t *workload,
                   double *point)
{
    ft_error unused;

    *workload = 0;
    while (*workload < x->n_workloads &&
           strcmp(x->workload[*workload], t->workload) != 0)
        ++*workload;
    return *workload < x->n_workloads &&
           !ft__point_parse(x, point, t->point, &unused) &&
           ft__space_allows(x->space, point);
}

void ft__runs_free(ft__runs *r)
{
    free(r->value);
    free(r->failure);
    free(r->output);
}

static double value_of(const ft__trial_run *t, const char *name)
{
    for (size_t i = 0; i < t->n_values; i++)
        if (strcmp(t->value[i].name, name) == 0)
            return t->value[i].value;
    return NAN;
}

/* Where it came from a run that failed, or is measured anew, the last word counts. */
static ft_status note_failure(ft__runs *r, const ft_exploration *x,
                              const ft__trial_run *t, ft_error *err)
{
    free(r->failure);
    free(r->output);
    r->failure = r->output = NULL;
    r->failed = *t->failure != '\0';
    if (!r->failed)
        return FT_OK;
    r->failure = strdup(t->failure);
    r->output = strdup(t->output);
    return r->failure && r->output ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%s", x->name);
}

ft_status ft__runs_add(ft__runs *r, const ft_exploration *x, const ft__trial_run *t,
                       ft_error *err)
{
    size_t width = x->n_objectives + 2;
    ft_status st = note_failure(r, x, t, err);
    double *grown, *row;

    if (st || r->failed)
        return st;
    grown = r->n < r->cap
                ? r->value
                : ft__list_grow(r->value, r->n, &r->cap, width * sizeof(*r->value));
    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "%s", x->name);
    r->value = grown;
    row = grown + r->n++ * width;
    for (size_t k = 0; k < x->n_objectives; k++)
        row[k] = value_of(t, x->objective[k].name);
    row[x->n_objectives] = value_of(t, FT__RUN_TIME);
    row[x->n_objectives + 1] = value_of(t, FT__RUN_MEMORY);
    return FT_OK;
}

ft_status ft__objective_of(double *value, double *error, const ft_exploration *x,
                           const ft__runs *r, size_t k, ft_error *err)
{
    ft_measured what = x->objective[k].what;
    size_t width = x->n_objectives + 2, n = 0;
    size_t column = what == FT_MEASURED_TIME || what == FT_MEASURED_P95
                        ? x->n_objectives
                    : what == FT_MEASURED_MEMORY ? x->n_objectives + 1
                                                 : k;
    double *v = malloc((r->n + 1) * sizeof(*v));

    *value = *error = NAN;
    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "%s", x->name);
    for (size_t i = 0; i < r->n && !r->failed; i++)
        if (!isnan(r->value[i * width + column]))
            v[n++] = r->value[i * width + column];
    ft__sort(v, n);
    if (n && what == FT_MEASURED_P95)
        *value = ft__quantile(v, n, 0.95);
    else if (n && what == FT_MEASURED_MEMORY)
        *value = v[n - 1];
    else if (n)
        *value = ft__quantile(v, n, 0.5);
    /* Of a quantile and a maximum it is not known. */
    if (n > 1 && what != FT_MEASURED_P95 && what != FT_MEASURED_MEMORY)
        *error = ft__error_of_rounds(v, n, *value);
    free(v);
    return FT_OK;
}
