#ifndef EXPLORE_SPACE_SPACE_H
#define EXPLORE_SPACE_SPACE_H

#include <stdbool.h>

#include "base/arena.h"
#include "explore/explore_inside.h"
#include "foretell/explore.h"

enum {
    FT__MAX_PARAMS = 256,
    FT__MAX_PARENTS = 20, /* parameters that others depend on */
    FT__MAX_VALUES = 1 << 24,
};

/* Parameter `param` has one of n values, given as indices: of the text, or value - low
 * of an INTEGER. A REAL has none, a parameter that has no say is among nothing. */
typedef struct ft__among {
    uint32_t param;
    uint32_t n;
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
    ft__arena arena; /* of the lists */
};

/* A space of n parameters, 1 to FT__MAX_PARAMS. The three lists are copied; texts,
 * lists of values and parts of forbidden combinations are borrowed. A REAL has n_values
 * 0. FT_EINVAL: a parameter without a range, an index that is none, a parameter that
 * depends on itself. */
ft_status ft__space_new(ft_space **out, const ft_parameter *param, size_t n,
                        const ft__condition *condition, size_t n_conditions,
                        const ft__forbidden *forbidden, size_t n_forbidden,
                        ft_error *err);
void ft__space_free(ft_space *s);

/* NaN to parameters that have no say in the point. */
void ft__space_settle(const ft_space *s, double *point);
/* Whether parameter k has a say, where those it depends on are settled. */
bool ft__space_has_say(const ft_space *s, const double *point, size_t k);
/* The least value of parameter k and the greatest; `share` of the way between them
 * otherwise, 0 <= share < 1, each value owning its part. */
double ft__param_least(const ft_parameter *p);
double ft__param_greatest(const ft_parameter *p);
double ft__param_at(const ft_parameter *p, double share);

#endif
