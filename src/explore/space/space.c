/* Spaces of parameters with conditions and forbidden combinations; their points: to the
 * unit cube and back, sets of them, all of them, some drawn at random. */
#include "explore/space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ft_status check_range(const ft_parameter *p, ft_error *err)
{
    if (!isfinite(p->low) || !isfinite(p->high) || p->low > p->high)
        return ft_fail(err, FT_EINVAL, 0, "%s goes from %g to %g", p->name, p->low,
                       p->high);
    if (p->log && !(p->low > 0))
        return ft_fail(err, FT_EINVAL, 0,
                       "%s counts by orders of magnitude, of which %g has none",
                       p->name, p->low);
    if (p->type == FT_PARAM_REAL && p->low == p->high)
        return ft_fail(err, FT_EINVAL, 0, "%s goes from %g to %g", p->name, p->low,
                       p->high);
    if (p->type == FT_PARAM_INTEGER &&
        (p->low != floor(p->low) || p->high != floor(p->high) ||
         fabs(p->low) > 0x1p52 || p->high - p->low >= FT__MAX_VALUES ||
         p->n_values != p->high - p->low + 1))
        return ft_fail(err, FT_EINVAL, 0, "%s: %g to %g are not %u integers", p->name,
                       p->low, p->high, p->n_values);
    return FT_OK;
}

static ft_status check_param(const ft_parameter *p, ft_error *err)
{
    if (!p->name || (unsigned)p->type >= FT_PARAM_TYPE_COUNT)
        return ft_fail(err, FT_EINVAL, 0, "a parameter without a name or a type");
    if (!ft__param_is_text(p))
        return check_range(p, err);
    if (p->n_values == 0 || p->n_values > FT__MAX_VALUES || !p->value)
        return ft_fail(err, FT_EINVAL, 0, "%s has %u values", p->name, p->n_values);
    return FT_OK;
}

static ft_status check_among(const ft_space *s, const ft__among *a, ft_error *err)
{
    if (a->param >= s->n)
        return ft_fail(err, FT_EINVAL, 0, "there is no parameter %u", a->param);
    if (s->param[a->param].type == FT_PARAM_REAL)
        return ft_fail(err, FT_EINVAL, 0,
                       "%s is a real number: nothing can depend on its values",
                       s->param[a->param].name);
    for (uint32_t i = 0; i < a->n; i++)
        if (a->value[i] >= s->param[a->param].n_values)
            return ft_fail(err, FT_EINVAL, 0, "%s has no value %u",
                           s->param[a->param].name, a->value[i]);
    return FT_OK;
}

static ft_status check_forbidden(const ft_space *s, const ft__forbidden *f,
                                 ft_error *err)
{
    ft_status st = FT_OK;

    if (f->n == 0)
        return ft_fail(err, FT_EINVAL, 0, "a forbidden combination of nothing");
    for (uint32_t k = 0; k < f->n && !st; k++)
        st = check_among(s, &f->part[k], err);
    return st;
}

static ft_status check_all(const ft_space *s, ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < s->n && !st; i++)
        st = check_param(&s->param[i], err);
    for (size_t i = 0; i < s->n_conditions && !st; i++) {
        const ft__condition *c = &s->condition[i];

        st = c->param < s->n
                 ? check_among(s, &c->when, err)
                 : ft_fail(err, FT_EINVAL, 0, "there is no parameter %u", c->param);
    }
    for (size_t i = 0; i < s->n_forbidden && !st; i++)
        st = check_forbidden(s, &s->forbidden[i], err);
    return st;
}

static void *copy_of(ft__arena *a, const void *from, size_t n, size_t size)
{
    void *to = ft__arena_array(a, n + 1, size);

    return to && n ? memcpy(to, from, n * size) : to;
}

static bool is_placed(const uint32_t *order, size_t n, uint32_t k)
{
    for (size_t i = 0; i < n; i++)
        if (order[i] == k)
            return true;
    return false;
}

/* The first parameter that is not placed yet, and of which all that it depends on are;
 * s->n: there is none. */
static uint32_t next_ready(const ft_space *s, const uint32_t *order, size_t placed)
{
    for (uint32_t k = 0; k < s->n; k++) {
        bool ready = !is_placed(order, placed, k);

        for (size_t c = 0; c < s->n_conditions && ready; c++)
            ready = s->condition[c].param != k ||
                    is_placed(order, placed, s->condition[c].when.param);
        if (ready)
            return k;
    }
    return (uint32_t)s->n;
}

static ft_status find_order(ft_space *s, uint32_t *order, ft_error *err)
{
    for (size_t i = 0; i < s->n; i++) {
        order[i] = next_ready(s, order, i);
        if (order[i] == s->n)
            return ft_fail(err, FT_EINVAL, 0,
                           "conditions in a circle: a parameter depends on itself");
    }
    s->order = order;
    return FT_OK;
}

static bool is_parent(const ft_space *s, size_t k)
{
    for (size_t c = 0; c < s->n_conditions; c++)
        if (s->condition[c].when.param == k)
            return true;
    return false;
}

static bool among(const ft__among *a, const ft_space *s, const double *point)
{
    const ft_parameter *p = &s->param[a->param];
    const double index = point[a->param] - (ft__param_is_text(p) ? 0 : p->low);

    for (uint32_t i = 0; i < a->n; i++)
        if (index == a->value[i])
            return true;
    return false;
}

/* Whether value v of parent k opens and closes the same as value u. */
static bool same_class(const ft_space *s, double *point, size_t k, double u, double v)
{
    for (size_t c = 0; c < s->n_conditions; c++) {
        bool of_u;

        if (s->condition[c].when.param != k)
            continue;
        point[k] = u;
        of_u = among(&s->condition[c].when, s, point);
        point[k] = v;
        if (among(&s->condition[c].when, s, point) != of_u)
            return false;
    }
    return true;
}

enum { MOST_STEPS = 1 << 20 };

/* Points behind the first `done` parameters of the order; INFINITY where counting them
 * takes too many steps. Parents are gone through by value, values that open the same
 * side by side; all others only multiply. */
static double count(const ft_space *s, double *point, size_t done, size_t *steps)
{
    const size_t k = done < s->n ? s->order[done] : 0;
    const ft_parameter *p = &s->param[k];
    double sum = 0;

    if (done == s->n)
        return 1;
    if (*steps == MOST_STEPS)
        return INFINITY;
    ++*steps;
    point[k] = NAN;
    if (!ft__space_has_say(s, point, k))
        return count(s, point, done + 1, steps);
    if (!is_parent(s, k))
        return (p->type == FT_PARAM_REAL ? (double)INFINITY : p->n_values) *
               count(s, point, done + 1, steps);
    for (uint32_t v = 0, run = 1; v < p->n_values; v++, run++) {
        const double at = ft__param_least(p) + v;

        if (v + 1 < p->n_values && same_class(s, point, k, at, at + 1))
            continue;
        point[k] = at;
        sum += run * count(s, point, done + 1, steps);
        run = 0;
    }
    return sum;
}

static ft_status find_size(ft_space *s, ft_error *err)
{
    double point[FT__MAX_PARAMS];
    size_t parents = 0, steps = 0;

    for (size_t k = 0; k < s->n; k++)
        parents += is_parent(s, k);
    if (parents > FT__MAX_PARENTS)
        return ft_fail(err, FT_EINVAL, 0,
                       "%zu parameters have others that depend on them; at most %d may",
                       parents, FT__MAX_PARENTS);
    s->size = count(s, point, 0, &steps);
    return FT_OK;
}

static ft_status check_count(size_t n, ft_error *err)
{
    return n > 0 && n <= FT__MAX_PARAMS
               ? FT_OK
               : ft_fail(err, FT_EINVAL, 0, "a space of %zu parameters: 1 to %d", n,
                         FT__MAX_PARAMS);
}

/* All of it is there, apart from what follows from it. */
static ft_status finish(ft_space **out, ft_space *s, uint32_t *order, ft_error *err)
{
    ft_status st = check_all(s, err);

    if (!st)
        st = find_order(s, order, err);
    if (!st)
        st = find_size(s, err);
    if (!st)
        *out = s;
    return st;
}

ft_status ft__space_new(ft_space **out, ft__arena *a, const ft_parameter *param,
                        size_t n, const ft__condition *condition, size_t n_conditions,
                        const ft__forbidden *forbidden, size_t n_forbidden,
                        ft_error *err)
{
    ft_status st = check_count(n, err);
    uint32_t *order;
    ft_space *s;

    *out = NULL;
    if (st)
        return st;
    s = ft__arena_alloc(a, sizeof(*s));
    order = ft__arena_array(a, n, sizeof(*order));
    if (!s || !order)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a space");
    *s = (ft_space){.n = n, .n_conditions = n_conditions, .n_forbidden = n_forbidden};
    s->param = copy_of(a, param, n, sizeof(*param));
    s->condition = copy_of(a, condition, n_conditions, sizeof(*condition));
    s->forbidden = copy_of(a, forbidden, n_forbidden, sizeof(*forbidden));
    return s->param && s->condition && s->forbidden
               ? finish(out, s, order, err)
               : ft_fail(err, FT_ENOMEM, 0, "no memory for a space");
}

/* One block: the space, its parameters, their order. */
ft_status ft_space_new(ft_space **out, const ft_parameter *param, size_t n,
                       ft_error *err)
{
    ft_status st = check_count(n, err);
    ft_parameter *own;
    ft_space *s;

    *out = NULL;
    if (st)
        return st;
    s = calloc(1, sizeof(*s) + n * (sizeof(*own) + sizeof(*s->order)));
    if (!s)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a space");
    own = memcpy(s + 1, param, n * sizeof(*own));
    s->param = own;
    s->n = n;
    st = finish(out, s, (uint32_t *)(own + n), err);
    if (st)
        free(s);
    return st;
}

double ft__param_at(const ft_parameter *p, double share)
{
    double v;

    if (ft__param_is_text(p))
        v = floor(share * p->n_values);
    else if (p->type == FT_PARAM_INTEGER && p->log)
        v = floor(p->low * pow((p->high + 1) / p->low, share));
    else if (p->type == FT_PARAM_INTEGER)
        v = p->low + floor(share * p->n_values);
    else if (p->log)
        v = p->low * pow(p->high / p->low, share);
    else
        v = p->low + share * (p->high - p->low);
    /* a share next to 1 may be rounded up to it */
    return fmin(fmax(v, ft__param_least(p)), ft__param_greatest(p));
}

/* The middle of the share that a value owns. */
static double share_of(const ft_parameter *p, double v)
{
    if (isnan(v))
        return 0.5;
    if (ft__param_is_text(p))
        return (v + 0.5) / p->n_values;
    if (p->type == FT_PARAM_INTEGER && p->log)
        return 0.5 * log(v / p->low * ((v + 1) / p->low)) / log((p->high + 1) / p->low);
    if (p->type == FT_PARAM_INTEGER)
        return (v - p->low + 0.5) / p->n_values;
    return p->log ? log(v / p->low) / log(p->high / p->low)
                  : (v - p->low) / (p->high - p->low);
}

bool ft__space_has_say(const ft_space *s, const double *point, size_t k)
{
    for (size_t c = 0; c < s->n_conditions; c++)
        if (s->condition[c].param == k && !among(&s->condition[c].when, s, point))
            return false;
    return true;
}

void ft__space_from_unit(const ft_space *s, double *point, const double *unit)
{
    for (size_t k = 0; k < s->n; k++)
        point[k] = ft__param_at(&s->param[k], unit[k]);
    ft__space_settle(s, point);
}

void ft__space_to_unit(const ft_space *s, double *unit, const double *point)
{
    for (size_t k = 0; k < s->n; k++)
        unit[k] = share_of(&s->param[k], point[k]);
}

int ft__space_allows(const ft_space *s, const double *point)
{
    for (size_t i = 0; i < s->n_forbidden; i++) {
        const ft__forbidden *f = &s->forbidden[i];
        uint32_t k = 0;

        while (k < f->n && among(&f->part[k], s, point))
            k++;
        if (k == f->n)
            return 0;
    }
    return 1;
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

enum {
    TRIES = 64,           /* draws for one point, before the space is gone through */
    MAX_LISTED = 1 << 22, /* points of a space for which that is done; of others */
    MORE_TRIES = 1 << 16, /* so many draws have to do */
};

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
