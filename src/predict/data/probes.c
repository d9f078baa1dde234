#include "predict/data/probes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

ft_op ft__probe(uint32_t id)
{
    static const char *const specs[FT__N_PROBES] = {
        [FT__PROBE_PEAK] = "linear x=512x1024 out=1024 dtype=fp32",
        [FT__PROBE_LAUNCH] = "relu x=1x16 dtype=fp32",
        [FT__PROBE_SPECIAL] = "tanh x=1x100000 dtype=fp32",
        [FT__PROBE_STREAM] = "relu x=1x16384 dtype=fp32",
        [FT__PROBE_STREAM + 1] = "relu x=1x100000 dtype=fp32",
        [FT__PROBE_STREAM + 2] = "relu x=1x500000 dtype=fp32",
        [FT__PROBE_STREAM + 3] = "relu x=1x1500000 dtype=fp32",
        [FT__PROBE_STREAM + 4] = "relu x=1x4000000 dtype=fp32",
        [FT__PROBE_STREAM + 5] = "relu x=1x16000000 dtype=fp32",
    };
    ft_op op;
    ft_status st = ft_op_parse(&op, specs[id], strlen(specs[id]), NULL);

    assert(st == FT_OK);
    (void)st;
    return op;
}

ft__roof ft__roof_from_probes(const double time_s[FT__N_PROBES])
{
    ft_op op = ft__probe(FT__PROBE_PEAK);
    ft__roof r = {.launch_s = time_s[FT__PROBE_LAUNCH],
                  .n_points = FT__MAX_ROOF_POINTS};
    ft_cost c;

    ft_op_cost(&op, &c);
    r.peak_flops = c.flops / time_s[FT__PROBE_PEAK];
    op = ft__probe(FT__PROBE_SPECIAL);
    ft_op_cost(&op, &c);
    r.transcendental_s = time_s[FT__PROBE_SPECIAL] / c.transcendentals;
    for (uint32_t i = 0; i < FT__MAX_ROOF_POINTS; i++) {
        double t = time_s[FT__PROBE_STREAM + i];

        op = ft__probe(FT__PROBE_STREAM + i);
        ft_op_cost(&op, &c);
        r.working_set[i] = c.bytes_read + c.bytes_written;
        /* The launch is a term of its own; never let it eat the whole time. */
        r.bandwidth[i] = r.working_set[i] / fmax(t - r.launch_s, t / 2);
    }
    return r;
}
