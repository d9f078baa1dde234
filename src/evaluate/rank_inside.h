#ifndef EVALUATE_RANK_INSIDE_H
#define EVALUATE_RANK_INSIDE_H

#include "foretell/rank.h"

/* A choice that an item has several times counts by its mean measured value and mean
 * value. FT_ENOTFOUND: no item has all choices, or there is one choice only. */
ft_status ft__rank_evaluate(ft_rank_evaluation *out, const ft_rank_row *row, size_t n,
                            ft_error *err);

#endif
