#ifndef EXPLORE_EXPLORE_INSIDE_H
#define EXPLORE_EXPLORE_INSIDE_H

#include "foretell/explore.h"

/* The next point, none that was observed or proposed before; *gain: what the model
 * expects of it, as a share of the hypervolume so far (NaN: not known). FT_ENOTFOUND:
 * there are no others. */
ft_status ft__search_ask(ft_search *s, double *point, double *gain, ft_error *err);
void ft__search_free(ft_search *s);
/* The space is borrowed. */
ft_status ft__search_new(ft_search **out, const ft_space *s,
                         const ft_search_options *opt, ft_error *err);
/* y: the objectives; NaN in all of them: it failed. */
ft_status ft__search_tell(ft_search *s, const double *point, const double *y,
                          ft_error *err);
/* 1: no forbidden combination. */
int ft__space_allows(const ft_space *s, const double *point);
/* Points from coordinates in [0, 1) and back: each value of a parameter owns an equal
 * share. Conditions are applied: parameters that have no say become NaN. */
void ft__space_from_unit(const ft_space *s, double *point, const double *unit);
/* The middle of the share; 0.5 for NaN. */
void ft__space_to_unit(const ft_space *s, double *unit, const double *point);

#endif
