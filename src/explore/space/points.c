/* Sets of different points; every point of a space; points drawn at random. */
#include "explore/space/points.h"

#include "explore/explore_inside.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIES = 64,           /* draws for one point, before the space is gone through */
    MAX_LISTED = 1 << 22, /* points of a space for which that is done; of others */
    MORE_TRIES = 1 << 16, /* so many draws have to do */
};

uint64_t ft__point_hash(uint64_t h, const double *point, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const double v = isnan(point[k]) ? (double)INFINITY : point[k] + 0.0;

        h = ft__hash_bytes(h, &v, sizeof(v));
    }
    return h;
}

ft_status ft__points_add(ft__points *p, const double *point, bool *added, ft_error *err)
{
    const size_t width = p->s->n;
    const uint64_t hash = ft__point_hash(FT__HASH_BEGIN, point, width);
    ft__index_slot *slot;
    double *row;

    *added = false;
    if (!ft__space_allows(p->s, point))
        return FT_OK;
    slot = ft__index_at(&p->seen, hash, NULL);
    if (!slot)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %zu points", p->n + 1);
    if (slot->hash)
        return FT_OK;
    row = ft__list_grow(p->row, p->n, &p->cap, width * sizeof(*row));
    if (!row)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %zu points", p->n + 1);
    p->row = row;
    memcpy(row + p->n * width, point, width * sizeof(*row));
    *slot = (ft__index_slot){.hash = hash, .number = (int64_t)p->n++};
    p->seen.n++;
    *added = true;
    return FT_OK;
}

size_t ft__points_find(const ft__points *p, const double *point)
{
    const ft__index_slot *slot =
        ft__index_find(&p->seen, ft__point_hash(FT__HASH_BEGIN, point, p->s->n), NULL);

    return slot ? (size_t)slot->number : p->n;
}

void ft__points_free(ft__points *p)
{
    free(p->row);
    ft__index_free(&p->seen);
}

/* ---- every point of a space ---- */

struct point_walk {
    const ft_space *s;
    double *point;
    ft__visit visit;
    void *user;
    ft_error *err;
    uint32_t levels;
    size_t seen; /* forbidden ones, too */
};

static double level(const ft_parameter *p, uint32_t i, uint32_t levels)
{
    if (p->type != FT_PARAM_REAL)
        return ft__param_least(p) + i;
    if (i + 1 == levels && levels > 1)
        return p->high; /* not what rounding makes of it */
    return ft__param_at(p, levels > 1 ? (double)i / (levels - 1) : 0.5);
}

static ft_status descend(struct point_walk *w, size_t done)
{
    const size_t k = done < w->s->n ? w->s->order[done] : 0;
    const ft_parameter *p = &w->s->param[k];
    const uint32_t n = p->type == FT_PARAM_REAL ? w->levels : p->n_values;
    ft_status st = FT_OK;

    if (done == w->s->n) {
        if (++w->seen > FT__MAX_POINTS)
            return ft_fail(w->err, FT_EINVAL, 0,
                           "the space has more than %d points: draw some of them "
                           "(random, latin, sobol)",
                           FT__MAX_POINTS);
        return ft__space_allows(w->s, w->point) ? w->visit(w->user, w->point, w->err)
                                                : FT_OK;
    }
    w->point[k] = NAN;
    if (!ft__space_has_say(w->s, w->point, k))
        return descend(w, done + 1);
    for (uint32_t i = 0; i < n && !st; i++) {
        w->point[k] = level(p, i, w->levels);
        st = descend(w, done + 1);
    }
    return st;
}

ft_status ft__space_walk(const ft_space *s, uint32_t levels, ft__visit visit,
                         void *user, ft_error *err)
{
    double point[FT__MAX_PARAMS];
    struct point_walk w = {s, point, visit, user, err, levels, 0};

    return descend(&w, 0);
}

/* ---- drawing ---- */

struct rest {
    ft__points *known;
    ft__points left;
};

static ft_status visit_rest(void *user, const double *point, ft_error *err)
{
    struct rest *r = user;
    bool added;

    return ft__points_find(r->known, point) < r->known->n
               ? FT_OK
               : ft__points_add(&r->left, point, &added, err);
}

/* The points that are left, in a random order, when drawing seldom meets one. */
static ft_status fill_from_list(ft__points *p, size_t n, ft__prng *rng, ft_error *err)
{
    struct rest r = {p, {.s = p->s}};
    const size_t width = p->s->n;
    ft_status st = ft__space_walk(p->s, 1, visit_rest, &r, err);

    for (size_t left = r.left.n; left && p->n < n && !st; left--) {
        double *pick = r.left.row + ft__prng_below(rng, (uint32_t)left) * width;
        bool added;

        st = ft__points_add(p, pick, &added, err);
        memcpy(pick, r.left.row + (left - 1) * width, width * sizeof(*pick));
    }
    ft__points_free(&r.left);
    return st;
}

ft_status ft__points_fill(ft__points *p, size_t n, ft__prng *rng, ft_error *err)
{
    const bool listed = p->s->size <= MAX_LISTED;
    const size_t tries = listed ? TRIES : MORE_TRIES;
    double point[FT__MAX_PARAMS], unit[FT__MAX_PARAMS];
    ft_status st = FT_OK;

    for (size_t tried = 0; p->n < n && tried < tries && !st;) {
        bool added;

        for (size_t k = 0; k < p->s->n; k++)
            unit[k] = ft__prng_unit(rng);
        ft__space_from_unit(p->s, point, unit);
        st = ft__points_add(p, point, &added, err);
        tried = added ? 0 : tried + 1;
    }
    if (!st && p->n < n && listed)
        st = fill_from_list(p, n, rng, err);
    return st;
}
