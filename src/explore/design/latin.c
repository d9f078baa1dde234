/* Latin hypercubes whose points are spread out. */
#include "explore/design/design.h"

#include <math.h>
#include <stdlib.h>

/* Spread out: M. D. Morris, T. J. Mitchell, Exploratory designs for
 * computational experiments, J. Stat. Plan. Inference 43, 1995. */
enum {
    ROUNDS = 8,      /* of points that take the place of those dropped */
    WORK = 40000000, /* distances times columns, over a whole design */
    SWAPS = 30,      /* tried for each cell, at most */
};

/* Cell c of column k lies at place[k * n + c] as the parameter sees it: the middle of
 * what its value owns; of a category its index, which is another or the same. */
struct cube {
    size_t n, k;
    uint32_t *cell; /* n x k */
    double *place;
    bool *category; /* k */
};

static void draw_cells(struct cube *c, ft__prng *rng)
{
    for (size_t k = 0; k < c->k; k++)
        for (size_t i = 0; i < c->n; i++) {
            const size_t j = ft__prng_below(rng, (uint32_t)i + 1);

            c->cell[i * c->k + k] = c->cell[j * c->k + k];
            c->cell[j * c->k + k] = (uint32_t)i;
        }
}

static void find_places(struct cube *c, const ft_space *s)
{
    double point[FT__MAX_PARAMS], unit[FT__MAX_PARAMS];

    for (size_t i = 0; i < c->n; i++) {
        for (size_t k = 0; k < c->k; k++)
            point[k] = ft__param_at(&s->param[k], ((double)i + 0.5) / (double)c->n);
        ft__space_to_unit(s, unit, point);
        for (size_t k = 0; k < c->k; k++) {
            c->category[k] = s->param[k].type == FT_PARAM_CATEGORICAL;
            c->place[k * c->n + i] = c->category[k] ? point[k] : unit[k];
        }
    }
}

static double distance2(const struct cube *c, size_t i, size_t j)
{
    const uint32_t *a = c->cell + i * c->k, *b = c->cell + j * c->k;
    double sum = 0;

    for (size_t k = 0; k < c->k; k++) {
        const double *place = c->place + k * c->n;
        const double off = place[a[k]] - place[b[k]];

        sum += c->category[k] ? off != 0 : off * off;
    }
    return sum;
}

/* Their criterion, summed over the pairs of point i: distance^-16, so that the smallest
 * ones count. */
static double crowding(const struct cube *c, size_t i, size_t except)
{
    double sum = 0;

    for (size_t j = 0; j < c->n; j++) {
        double d;

        if (j == i || j == except)
            continue;
        d = distance2(c, i, j) + 1e-9; /* two may coincide */
        d *= d;
        d *= d;
        sum += 1 / (d * d);
    }
    return sum;
}

static void swap(struct cube *c, size_t i, size_t j, size_t k)
{
    const uint32_t kept = c->cell[i * c->k + k];

    c->cell[i * c->k + k] = c->cell[j * c->k + k];
    c->cell[j * c->k + k] = kept;
}

/* Exchange cells of one column between two points while that helps. How far the two are
 * from each other stays the same. */
static void spread(struct cube *c, ft__prng *rng)
{
    const size_t least = WORK / (4 * c->n * c->k), most = SWAPS * c->n * c->k;
    const size_t swaps = least < most ? least : most;

    for (size_t t = 0; c->n > 2 && t < swaps; t++) {
        const size_t i = ft__prng_below(rng, (uint32_t)c->n);
        const size_t j = (i + 1 + ft__prng_below(rng, (uint32_t)c->n - 1)) % c->n;
        const size_t k = ft__prng_below(rng, (uint32_t)c->k);
        const double before = crowding(c, i, j) + crowding(c, j, i);

        swap(c, i, j, k);
        if (crowding(c, i, j) + crowding(c, j, i) > before)
            swap(c, i, j, k);
    }
}

/* A Latin hypercube of n points in the unit cube, row-major, spread out (maximin) as
 * the parameters see it. */
static ft_status latin_unit(double *unit, const ft_space *s, size_t n, ft__prng *rng,
                            ft_error *err)
{
    ft__arena room = {0};
    struct cube c = {n, s->n, ft__arena_need(&room, n * s->n, sizeof(*c.cell)),
                     ft__arena_need(&room, n * s->n, sizeof(*c.place)),
                     ft__arena_need(&room, s->n, sizeof(*c.category))};
    ft_status st = FT_OK;

    if (room.bad) {
        st = ft_fail(err, FT_ENOMEM, 0, "no memory for a hypercube of %zu points", n);
    } else {
        draw_cells(&c, rng);
        find_places(&c, s);
        spread(&c, rng);
        for (size_t i = 0; i < n * s->n; i++)
            unit[i] = (c.cell[i] + 0.5) / (double)n;
    }
    ft__arena_free(&room);
    return st;
}

/* A hypercube of as many points as are missing. */
static ft_status add(ft__points *p, size_t missing, ft__prng *rng, ft_error *err)
{
    const size_t k = p->s->n;
    double *unit = malloc(missing * k * sizeof(*unit)), point[FT__MAX_PARAMS];
    ft_status st = unit ? latin_unit(unit, p->s, missing, rng, err)
                        : ft_fail(err, FT_ENOMEM, 0,
                                  "no memory for a hypercube of %zu points", missing);

    for (size_t i = 0; i < missing && !st; i++) {
        bool added;

        ft__space_from_unit(p->s, point, unit + i * k);
        st = ft__points_add(p, point, &added, err);
    }
    free(unit);
    return st;
}

ft_status ft__latin_points(ft__points *p, size_t n, ft__prng *rng, ft_error *err)
{
    ft_status st = FT_OK;

    for (int round = 0; round < ROUNDS && p->n < n && !st; round++)
        st = add(p, n - p->n, rng, err);
    return st;
}
