#ifndef PREDICT_QUERY_CLOCK_LINE_H
#define PREDICT_QUERY_CLOCK_LINE_H

#include "predict/model/family.h"

/* A device that a family learned at several core clocks, asked about at another one. */
typedef struct ft__clock_interpolation {
    const ft__dataset
        *at[2]; /* measured at these clocks: on either side of the one asked
                   for where there are such, otherwise the nearest two */
    double clock_hz[2];
    double asked_hz;
    double top_hz; /* the highest of the device */
    double reach;  /* |log(asked / nearest)| outside of what was measured; 0: between */
} ft__clock_interpolation;

/* False: it was measured at fewer than two clocks, or a memory clock or cap is asked
 * for under which it was not. */
bool ft__clock_interpolation_find(ft__clock_interpolation *out, const ft__family *f,
                                  const ft__dataset *asked);
/* Time: what computes goes with 1 / clock, the rest does not change (docs/clocks.md);
 * what the family says at both clocks tells how much of each there is. Power: a level
 * and what switches at a clock, between the two; beyond them a power of the clock,
 * which errs less there (docs/notes/clocks-model.md). As ft__family_query();
 * on->setting is not looked at. */
ft_status ft__clock_interpolation_query(ft__op_answer *out,
                                        const ft__clock_interpolation *s,
                                        const ft__family *f, ft__metric metric,
                                        const ft__dataset *on, const ft_op *ops,
                                        size_t n, ft_error *err);

#endif
