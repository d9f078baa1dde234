/* A space in, the points of a design out: full, fractional, random, Latin, Sobol. */
#include "explore/design/design.h"

#include <string.h>

enum { LEVELS = 5, RESOLUTION = 4 };

/* Points of a walk are all different: they only have to be kept. */
static ft_status keep(void *user, const double *point, ft_error *err)
{
    ft__points *p = user;
    const size_t width = p->s->n;
    double *row = ft__list_grow(p->row, p->n, &p->cap, width * sizeof(*row));

    if (!row)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %zu points", p->n + 1);
    p->row = row;
    memcpy(row + p->n++ * width, point, width * sizeof(*row));
    return FT_OK;
}

/* n of the points, drawn at random, in their order: the first ones would all have the
 * same value of most parameters. */
static void thin(ft__points *p, size_t n, ft__prng *rng)
{
    const size_t width = p->s->n;
    size_t kept = 0;

    for (size_t i = 0; kept < n && i < p->n; i++) {
        const double need = (double)(n - kept), left = (double)(p->n - i);

        if (ft__prng_unit(rng) * left < need)
            memmove(p->row + kept++ * width, p->row + i * width,
                    width * sizeof(double));
    }
    p->n = n;
}

static ft_status draw(ft__points *p, const ft_design_options *opt, ft__prng *rng,
                      ft_error *err)
{
    const double size = p->s->size;
    const size_t n = (double)opt->n < size ? opt->n : (size_t)size;
    ft_status st = FT_OK;

    if (opt->n == 0 || opt->n > FT__MAX_POINTS)
        return ft_fail(err, FT_EINVAL, 0, "a design of %zu points: 1 to %d", opt->n,
                       FT__MAX_POINTS);
    if (opt->design == FT_DESIGN_LATIN)
        st = ft__latin_points(p, n, rng, err);
    else if (opt->design == FT_DESIGN_SOBOL)
        st = ft__sobol_points(p, n, opt->seed, err);
    return st ? st : ft__points_fill(p, n, rng, err);
}

static ft_status make(ft__points *p, const ft_design_options *opt, ft_error *err)
{
    ft__prng rng = ft__prng_stream(opt->seed, 1);
    ft_status st;

    if (opt->design == FT_DESIGN_FULL)
        st = ft__space_walk(p->s, opt->levels ? opt->levels : LEVELS, keep, p, err);
    else if (opt->design == FT_DESIGN_FRACTIONAL)
        st =
            ft__fraction_points(p, opt->resolution ? opt->resolution : RESOLUTION, err);
    else
        st = draw(p, opt, &rng, err);
    if (!st && p->n == 0)
        return ft_fail(err, FT_EINVAL, 0,
                       "no point of the design is allowed: see what is forbidden");
    if (!st && opt->n && p->n > opt->n)
        thin(p, opt->n, &rng);
    return st;
}

ft_status ft_design_make(double **out, size_t *n, const ft_space *s,
                         const ft_design_options *opt, ft_error *err)
{
    ft__points p = {.s = s};
    ft_status st;

    *out = NULL;
    *n = 0;
    if ((unsigned)opt->design >= FT_DESIGN_COUNT)
        return ft_fail(err, FT_EINVAL, 0, "there is no design %d", (int)opt->design);
    st = make(&p, opt, err);
    if (!st) {
        *out = p.row;
        *n = p.n;
        p.row = NULL;
    }
    ft__points_free(&p);
    return st;
}
