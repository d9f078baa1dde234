#ifndef PREDICT_DATA_PROBES_H
#define PREDICT_DATA_PROBES_H

#include "predict/data/features.h"

/* Operations whose times give the machine's roofline. Collecting measures them
 * first; training looks them up. */
enum {
    FT__PROBE_PEAK,    /* a matrix product that keeps the arithmetic busy */
    FT__PROBE_LAUNCH,  /* next to no work */
    FT__PROBE_SPECIAL, /* a transcendental function of many elements */
    FT__PROBE_STREAM,  /* the first of those that stream more and more memory */
    FT__N_PROBES = FT__PROBE_STREAM + FT__MAX_ROOF_POINTS
};

ft_op ft__probe(uint32_t id);
/* The roofline from their measured times. */
ft__roof ft__roof_from_probes(const double time_s[FT__N_PROBES]);

#endif
