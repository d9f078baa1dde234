#ifndef PTX_COUNT_CLASSES_H
#define PTX_COUNT_CLASSES_H

#include "ptx/count/run.h"

/* Sums over the thread blocks of a launch, as one block of each class says. */
typedef struct ft__totals {
    uint64_t *count; /* [n_items][FT__SETS] */
    uint64_t barriers[FT__SETS];
} ft__totals;

/* out->count: zeros of the caller's. FT_ENOMEM. */
ft_status ft__classes_count(ft__totals *out, ft__run *r, ft_error *err);

#endif
