#ifndef PTX_COUNT_CLASSES_H
#define PTX_COUNT_CLASSES_H

#include "ptx/count/run.h"

/* Sums over the thread blocks of a launch, as one block of each class says. */
typedef struct ft__totals {
    uint64_t *count; /* [n_items][FT__SETS] */
    uint64_t barriers[FT__SETS];
    struct ft__reach *reach; /* [n_reaches], zeros of the caller's */
} ft__totals;

/* out->count: zeros of the caller's. *r: what executes the plan, kept from one launch
 * to the next, made anew for blocks of another size; NULL: not yet. param, known: bytes
 * of the kernel's parameters, and which are. FT_ENOMEM. */
ft_status ft__classes_count(ft__totals *out, ft__run **r, ft__count_plan *p,
                            const ft_ptx_launch *l, const uint8_t *param,
                            const uint8_t *known, ft_error *err);

#endif
