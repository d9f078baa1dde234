/* NSGA-II: K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, A fast and elitist
 * multiobjective genetic algorithm: NSGA-II, IEEE Trans. Evol. Comput. 6, 2002:
 * tournaments, simulated binary crossover, polynomial mutation, limits by their section
 * VI. */
#include <math.h>
#include <stdlib.h>

#include "explore/search/search.h"

enum {
    CROSSING = 15, /* their distribution indices */
    MUTATION = 20,
    TRIES = 32, /* children until one is new */
};

/* An individual of the population: its row of observations, and how good it is among
 * the others. */
struct one {
    size_t row;
    size_t rank; /* 0: dominated by none */
    double crowding;
};

struct nsga2 {
    struct one *one; /* parents, then children as they are observed */
    size_t n, size;
};

static ft_status open_nsga2(ft__search *s, ft_error *err)
{
    struct nsga2 *g = calloc(1, sizeof(*g));

    s->state = g;
    if (!g)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a population");
    g->size = s->n_first < 4 ? 4 : s->n_first;
    g->one = calloc(2 * g->size, sizeof(*g->one));
    return g->one ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "no memory for a population");
}

static void close_nsga2(ft__search *s)
{
    struct nsga2 *g = s->state;

    if (g)
        free(g->one);
    free(g);
}

/* Within limits before beyond them, beyond them the least; else by the objectives. */
static bool beats(const ft__search *s, const struct one *a, const struct one *b)
{
    const double *p = s->y + a->row * s->m, *q = s->y + b->row * s->m;
    const double over_a = ft__search_excess(s, p), over_b = ft__search_excess(s, q);

    if (over_a > 0 || over_b > 0)
        return over_a < over_b;
    return ft__dominates(p, q, s->m);
}

/* Fronts by peeling: populations are small. */
static void rank_all(const ft__search *s, struct nsga2 *g)
{
    size_t left = g->n;

    for (size_t i = 0; i < g->n; i++)
        g->one[i].rank = SIZE_MAX;
    for (size_t rank = 0; left; rank++)
        for (size_t i = 0; i < g->n; i++) {
            size_t j = 0;

            if (g->one[i].rank < rank)
                continue;
            while (j < g->n &&
                   (g->one[j].rank < rank || !beats(s, &g->one[j], &g->one[i])))
                j++;
            if (j == g->n) {
                g->one[i].rank = rank;
                left--;
            }
        }
}

/* The sides of the box between the neighbours of each one in its front. */
static double side(const ft__search *s, const struct nsga2 *g, size_t i, uint32_t k)
{
    const double y = s->y[g->one[i].row * s->m + k];
    double below = -INFINITY, above = INFINITY, least = y, most = y;

    for (size_t j = 0; j < g->n; j++) {
        const double other = s->y[g->one[j].row * s->m + k];

        if (j == i || g->one[j].rank != g->one[i].rank || isnan(other))
            continue;
        least = fmin(least, other);
        most = fmax(most, other);
        if (other < y || (other == y && j < i))
            below = fmax(below, other);
        else
            above = fmin(above, other);
    }
    return most > least ? (above - below) / (most - least) : 0;
}

static void measure_crowding(const ft__search *s, struct nsga2 *g)
{
    for (size_t i = 0; i < g->n; i++) {
        g->one[i].crowding = 0;
        for (uint32_t k = 0; k < s->m; k++)
            g->one[i].crowding += side(s, g, i, k);
    }
}

static int best_first(const void *a, const void *b)
{
    const struct one *p = a, *q = b;

    if (p->rank != q->rank)
        return p->rank > q->rank ? 1 : -1;
    if (p->crowding != q->crowding)
        return p->crowding < q->crowding ? 1 : -1;
    return (p->row > q->row) - (p->row < q->row);
}

/* Parents and as many children: the better half lives on. */
static ft_status tell_nsga2(ft__search *s, ft_error *err)
{
    struct nsga2 *g = s->state;

    (void)err;
    g->one[g->n++].row = s->n - 1;
    if (g->n < g->size || (g->n > g->size && g->n < 2 * g->size))
        return FT_OK;
    rank_all(s, g);
    measure_crowding(s, g);
    qsort(g->one, g->n, sizeof(*g->one), best_first);
    g->n = g->size;
    return FT_OK;
}

static const struct one *choose(const struct nsga2 *g, ft__prng *rng)
{
    const size_t n = g->n < g->size ? g->n : g->size;
    const struct one *a = &g->one[ft__prng_below(rng, (uint32_t)n)];
    const struct one *b = &g->one[ft__prng_below(rng, (uint32_t)n)];

    return best_first(a, b) < 0 ? a : b;
}

static double clamp(double u)
{
    return fmin(fmax(u, 0), 1 - 0x1p-53);
}

/* Simulated binary crossover of what has an order; a category from either side. */
static double cross(const ft_parameter *p, double a, double b, ft__prng *rng)
{
    const double u = ft__prng_unit(rng), side = ft__prng_unit(rng) < 0.5 ? -1 : 1;
    const double power = 1.0 / (CROSSING + 1);
    const double spread = u < 0.5 ? pow(2 * u, power) : pow(1 / (2 - 2 * u), power);

    if (p->type == FT_PARAM_CATEGORICAL || ft__prng_unit(rng) < 0.5)
        return side < 0 ? a : b;
    return clamp(0.5 * (a + b + side * spread * fabs(a - b)));
}

static void mutate(const ft__search *s, double *unit, size_t k, ft__prng *rng)
{
    const ft_parameter *p = &s->s->param[k];
    const double u = ft__prng_unit(rng), power = 1.0 / (MUTATION + 1);

    if (p->n_values && p->n_values <= 64)
        ft__search_step(s, unit, k, rng);
    else
        unit[k] = clamp(unit[k] +
                        (u < 0.5 ? pow(2 * u, power) - 1 : 1 - pow(2 - 2 * u, power)));
}

static void make_child(ft__search *s, const struct nsga2 *g, double *point)
{
    const size_t n = s->s->n;
    double a[FT__MAX_PARAMS], b[FT__MAX_PARAMS];

    ft__space_to_unit(s->s, a, s->point + choose(g, &s->rng)->row * n);
    ft__space_to_unit(s->s, b, s->point + choose(g, &s->rng)->row * n);
    if (ft__prng_unit(&s->rng) < 0.9)
        for (size_t k = 0; k < n; k++)
            a[k] = cross(&s->s->param[k], a[k], b[k], &s->rng);
    for (size_t k = 0; k < n; k++)
        if (ft__prng_unit(&s->rng) * (double)n < 1)
            mutate(s, a, k, &s->rng);
    ft__space_from_unit(s->s, point, a);
}

static ft_status ask_nsga2(ft__search *s, double *point, double *gain, ft_error *err)
{
    const struct nsga2 *g = s->state;
    bool added = false;
    ft_status st = FT_OK;

    (void)gain;
    for (int t = 0; g->n && t < TRIES && !added && !st; t++) {
        make_child(s, g, point);
        st = ft__points_add(&s->seen, point, &added, err);
    }
    return st || added ? st : FT_ENOTFOUND;
}

const ft__searcher_ops ft__search_nsga2 = {open_nsga2, ask_nsga2, tell_nsga2,
                                           close_nsga2};
