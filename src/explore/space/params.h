#ifndef EXPLORE_SPACE_PARAMS_H
#define EXPLORE_SPACE_PARAMS_H

#include "explore/exploration.h"
#include "explore/space/yaml.h"

/* Parameters, their conditions and forbidden combinations: x->space; what is read
 * before must be there. */
void ft__read_params(ft__yaml *y, ft__node *root, ft_exploration *x);

/* What stands for {name} at a point: its value, a constant, or one of these. */
typedef struct ft__place {
    const ft_exploration *x;
    const double *point;
    uint32_t workload;
    const char *build; /* folder */
    const char *self;
} ft__place;

/* text with every {name} replaced; in the arena. {{ and }} are braces. NULL: FT_ENOMEM,
 * or FT_EFORMAT, a name that nothing stands for. */
char *ft__place_text(const ft__place *p, ft__arena *a, const char *text, ft_error *err);
/* The value of a parameter as text; "" where it has no say. */
enum { FT__PARAM_TEXT = 1024 };
size_t ft__param_print(const ft_parameter *p, double value, char *buf, size_t size);

/* FT_EFORMAT: not a point of this space. */
ft_status ft__point_parse(const ft_exploration *x, double *point, const char *text,
                          ft_error *err);
/* The workload and the point of a run in the store, point[FT__MAX_PARAMS]; false: the
 * file has no such workload or point any more. */
bool ft__run_place(const ft_exploration *x, uint32_t *workload, double *point,
                   const char *workload_name, const char *text);

#endif
