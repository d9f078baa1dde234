#ifndef PREDICT_QUERY_CLOCK_INTERPOLATION_H
#define PREDICT_QUERY_CLOCK_INTERPOLATION_H

#include "predict/model/family.h"

/* A device that a family learned at several core clocks, asked about at another one. */
struct clock_interpolation {
    const ft__dataset
        *at[2]; /* measured at these clocks: on either side of the one asked
                   for where there are such, otherwise the nearest two */
    double clock_hz[2];
    double asked_hz;
    double top_hz; /* the highest of the device */
    double reach;  /* |log(asked / nearest)| outside of what was measured; 0: between */
};

/* False: it was measured at fewer than two clocks, or a memory clock or cap is asked
 * for under which it was not. */
bool ft__clock_interpolation_find(struct clock_interpolation *out, const ft__family *f,
                                  const ft__dataset *asked);
/* As ft__family_query(); on->setting is not looked at. */
ft_status ft__clock_interpolation_query(ft__op_answer *out,
                                        const struct clock_interpolation *s,
                                        const ft__family *f, ft__metric metric,
                                        const ft__dataset *on, const ft_op *ops,
                                        size_t n, ft_error *err);

#endif
