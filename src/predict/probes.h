#ifndef PREDICT_PROBES_H
#define PREDICT_PROBES_H

#include "predict/features.h"

/* Three operations whose times give the machine's roofline. Collecting measures
 * them first; training looks them up. */
typedef enum ft__probe_id {
    FT__PROBE_PEAK,      /* a matrix product that keeps the arithmetic busy */
    FT__PROBE_BANDWIDTH, /* streams through far more than any cache */
    FT__PROBE_LAUNCH,    /* next to no work */
    FT__N_PROBES
} ft__probe_id;

ft_op ft__probe(ft__probe_id id);
/* The roofline from the three measured times. */
ft__roof ft__roof_from_probes(const double time_s[FT__N_PROBES]);

#endif
