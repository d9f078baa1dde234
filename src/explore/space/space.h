#ifndef EXPLORE_SPACE_SPACE_H
#define EXPLORE_SPACE_SPACE_H

#include <math.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/index.h"
#include "base/prng.h"
#include "foretell/explore.h"

enum {
    FT__MAX_PARAMS = 256,
    FT__MAX_PARENTS = 20, /* parameters that others depend on */
    FT__MAX_VALUES = 1 << 24,
};

/* Parameter `param` has one of n values, given as indices: of the text, or value - low
 * of an INTEGER. A REAL has none, a parameter that has no say is among nothing. */
typedef struct ft__among {
    uint32_t param, n;
    const uint32_t *value;
} ft__among;

/* `param` has a say only when this holds; of several conditions on one parameter all
 * have to. */
typedef struct ft__condition {
    uint32_t param;
    ft__among when;
} ft__condition;

/* No point for which all of these hold. */
typedef struct ft__forbidden {
    const ft__among *part;
    uint32_t n;
} ft__forbidden;

struct ft_space {
    const ft_parameter *param;
    size_t n;
    const ft__condition *condition;
    size_t n_conditions;
    const ft__forbidden *forbidden;
    size_t n_forbidden;
    const uint32_t *order; /* of parameters, each behind those that it depends on */
    /* How many points of it differ; INFINITY with a REAL among them, or where
     * conditions are too many to count them. Forbidden ones count. */
    double size;
};

/* A space of n parameters, 1 to FT__MAX_PARAMS, in the arena, as are copies of the
 * three lists; texts, lists of values and parts of forbidden combinations are borrowed.
 * A REAL has n_values 0. FT_EINVAL: a parameter without a range, an index that is none,
 * a parameter that depends on itself. */
ft_status ft__space_new(ft_space **out, ft__arena *a, const ft_parameter *param,
                        size_t n, const ft__condition *condition, size_t n_conditions,
                        const ft__forbidden *forbidden, size_t n_forbidden,
                        ft_error *err);

/* 1: no forbidden combination. */
int ft__space_allows(const ft_space *s, const double *point);
/* Points from coordinates in [0, 1) and back: each value of a parameter owns an equal
 * share. Conditions are applied: parameters that have no say become NaN. */
void ft__space_from_unit(const ft_space *s, double *point, const double *unit);
/* The middle of the share; 0.5 for NaN. */
void ft__space_to_unit(const ft_space *s, double *unit, const double *point);
/* Whether parameter k has a say, where those it depends on are settled. */
bool ft__space_has_say(const ft_space *s, const double *point, size_t k);
/* NaN to parameters that have no say in the point. */
static inline void ft__space_settle(const ft_space *s, double *point)
{
    for (size_t i = 0; s->n_conditions && i < s->n; i++)
        if (!ft__space_has_say(s, point, s->order[i]))
            point[s->order[i]] = NAN;
}

/* A value is the index of a text, otherwise the number itself. */
static inline bool ft__param_is_text(const ft_parameter *p)
{
    return p->type == FT_PARAM_CATEGORICAL || p->type == FT_PARAM_ORDINAL;
}

static inline double ft__param_least(const ft_parameter *p)
{
    return ft__param_is_text(p) ? 0 : p->low;
}

static inline double ft__param_greatest(const ft_parameter *p)
{
    return ft__param_is_text(p) ? p->n_values - 1 : p->high;
}

/* `share` of the way between them, 0 <= share < 1, each value owning its part. */
double ft__param_at(const ft_parameter *p, double share);

enum { FT__MAX_POINTS = 1 << 24 };

/* Of n values, of which NaN is one. */
static inline uint64_t ft__point_hash(uint64_t h, const double *point, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const double v = isnan(point[k]) ? (double)INFINITY : point[k] + 0.0;

        h = ft__hash_bytes(h, &v, sizeof(v));
    }
    return h;
}

/* Points of a space, each once, in the order in which they came. Zero-initialise but
 * for the space. */
typedef struct ft__points {
    const ft_space *s;
    double *row;
    size_t n, cap;
    ft__index seen;
} ft__points;

/* Note the point unless it is there or forbidden; *added says which. FT_ENOMEM. */
ft_status ft__points_add(ft__points *p, const double *point, bool *added,
                         ft_error *err);
/* Its row; p->n: it is not there. */
size_t ft__points_find(const ft__points *p, const double *point);
void ft__points_free(ft__points *p);

/* Call visit() for every point that the space allows, reals at `levels` values, the
 * last parameter varying fastest. FT_EINVAL: more than FT__MAX_POINTS; other failures
 * are those of visit(). */
typedef ft_status (*ft__visit)(void *user, const double *point, ft_error *err);
ft_status ft__space_walk(const ft_space *s, uint32_t levels, ft__visit visit,
                         void *user, ft_error *err);

/* Points drawn at random until there are n, or as many as the space has. */
ft_status ft__points_fill(ft__points *p, size_t n, ft__prng *rng, ft_error *err);

#endif
