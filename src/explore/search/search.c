/* Ask and tell: observed points in, the next point to run out, by one of the
 * searchers. */
#include "explore/search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POPULATION = 24, FIRST = 10 };

double ft__search_excess(const ft__search *s, const double *y)
{
    double sum = 0;

    for (uint32_t k = 0; k < s->m; k++) {
        if (isnan(y[k]))
            return INFINITY;
        if (y[k] > s->limit[k])
            sum += (y[k] - s->limit[k]) / (fabs(s->limit[k]) + 1e-300);
    }
    return sum;
}

void ft__search_step(const ft__search *s, double *unit, size_t k, ft__prng *rng)
{
    const ft_parameter *p = &s->s->param[k];
    const double way = ft__prng_unit(rng) < 0.5 ? -1 : 1;
    const double size = ft__prng_unit(rng);

    if (p->type == FT_PARAM_CATEGORICAL)
        unit[k] += (1 + ft__prng_below(rng, p->n_values > 1 ? p->n_values - 1 : 1)) /
                   (double)p->n_values;
    else if (p->n_values && p->n_values <= 64 && !p->log) /* mostly to the next value */
        unit[k] += way * floor(1 + 2 * size * size) / p->n_values;
    else
        unit[k] += way * 0.2 * size * size;
    if (p->type == FT_PARAM_CATEGORICAL)
        unit[k] -= floor(unit[k]);
    unit[k] = fmin(fmax(unit[k], 0), 1 - 0x1p-53);
}

static ft_status ask_any(ft__search *s, double *point, ft_error *err)
{
    const size_t before = s->seen.n;
    ft__prng rng = ft__search_draws(s);
    ft_status st = ft__points_fill(&s->seen, before + 1, &rng, err);

    if (st)
        return st;
    if (s->seen.n == before)
        return ft_fail(err, FT_ENOTFOUND, 0, "all %zu points of the space are known",
                       before);
    memcpy(point, s->seen.row + before * s->s->n, s->s->n * sizeof(*point));
    return FT_OK;
}

static const ft__searcher_ops *const searcher[FT_SEARCH_COUNT] = {
    &ft__search_model, &ft__search_nsga2, NULL};

static uint32_t first_points(const ft__search_options *opt)
{
    if (opt->first)
        return opt->first;
    return opt->searcher == FT_SEARCH_NSGA2 ? POPULATION : FIRST;
}

static ft_status start(ft__search *s, const ft__search_options *opt, ft_error *err)
{
    const ft_design_options design = {
        .design = FT_DESIGN_LATIN, .n = first_points(opt), .seed = opt->seed};
    ft_status st = FT_OK;

    for (uint32_t k = 0; k < s->m; k++)
        s->limit[k] = opt->limit ? opt->limit[k] : (double)INFINITY;
    s->seen.s = s->s;
    s->seed = opt->seed;
    s->rng = ft__prng_stream(opt->seed, 2);
    if (opt->searcher != FT_SEARCH_RANDOM)
        st = ft_design_make(&s->first, &s->n_first, s->s, &design, err);
    if (!st && s->ops && s->ops->open)
        st = s->ops->open(s, err);
    return st;
}

ft_status ft__search_new(ft__search **out, const ft_space *space,
                         const ft__search_options *opt, ft_error *err)
{
    ft__search *s;
    ft_status st;

    *out = NULL;
    if ((unsigned)opt->searcher >= FT_SEARCH_COUNT || opt->objectives == 0 ||
        opt->objectives > FT__MAX_OBJECTIVES)
        return ft_fail(err, FT_EINVAL, 0,
                       "searcher %d for %u objectives: there are %d, for 1 to %d",
                       (int)opt->searcher, opt->objectives, FT_SEARCH_COUNT,
                       FT__MAX_OBJECTIVES);
    s = calloc(1, sizeof(*s));
    if (!s)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a search");
    s->s = space;
    s->m = opt->objectives;
    s->ops = searcher[opt->searcher];
    st = start(s, opt, err);
    if (st) {
        ft__search_free(s);
        return st;
    }
    *out = s;
    return FT_OK;
}

/* The next point of the hypercube that is not observed yet. */
static ft_status ask_first(ft__search *s, double *point, bool *found, ft_error *err)
{
    const size_t width = s->s->n;
    ft_status st = FT_OK;

    *found = false;
    while (s->n_first && !*found && !st) {
        const double *next = s->first + --s->n_first * width;

        st = ft__points_add(&s->seen, next, found, err);
        if (*found)
            memcpy(point, next, width * sizeof(*point));
    }
    return st;
}

ft_status ft__search_ask(ft__search *s, double *point, double *gain, ft_error *err)
{
    bool found;
    ft_status st = ask_first(s, point, &found, err);

    *gain = NAN;
    if (st || found)
        return st;
    if (s->ops) {
        st = s->ops->ask(s, point, gain, err);
        if (st != FT_ENOTFOUND)
            return st;
    }
    return ask_any(s, point, err);
}

ft_status ft__search_tell(ft__search *s, const double *point, const double *y,
                          ft_error *err)
{
    const size_t width = s->s->n;
    size_t cap = s->cap;
    double *points = ft__list_grow(s->point, s->n, &cap, width * sizeof(*points));
    double *ys;
    bool added;
    ft_status st;

    if (!points)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %zu points", s->n + 1);
    s->point = points;
    ys = ft__list_grow(s->y, s->n, &s->cap, s->m * sizeof(*ys));
    if (!ys)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %zu points", s->n + 1);
    s->y = ys;
    memcpy(points + s->n * width, point, width * sizeof(*point));
    memcpy(ys + s->n++ * s->m, y, s->m * sizeof(*y));
    st = ft__points_add(&s->seen, point, &added, err);
    if (!st && s->ops && s->ops->tell)
        st = s->ops->tell(s, err);
    return st;
}

void ft__search_free(ft__search *s)
{
    if (!s)
        return;
    if (s->ops && s->ops->close)
        s->ops->close(s);
    ft__points_free(&s->seen);
    free(s->point);
    free(s->y);
    free(s->first);
    free(s);
}
