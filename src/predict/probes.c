#include "predict/probes.h"

#include <assert.h>
#include <string.h>

ft_op ft__probe(ft__probe_id id)
{
    static const char *const specs[FT__N_PROBES] = {
        [FT__PROBE_PEAK] = "linear x=512x1024 out=1024 dtype=fp32",
        [FT__PROBE_BANDWIDTH] = "relu x=1x64x512x512 dtype=fp32",
        [FT__PROBE_LAUNCH] = "relu x=1x16 dtype=fp32",
    };
    ft_op op;
    ft_status st = ft_op_parse(&op, specs[id], strlen(specs[id]), NULL);

    assert(st == FT_OK);
    (void)st;
    return op;
}

ft__roof ft__roof_from_probes(const double time_s[FT__N_PROBES])
{
    ft_op peak = ft__probe(FT__PROBE_PEAK), stream = ft__probe(FT__PROBE_BANDWIDTH);
    ft_cost p, b;

    ft_op_cost(&peak, &p);
    ft_op_cost(&stream, &b);
    return (ft__roof){.peak_flops = p.flops / time_s[FT__PROBE_PEAK],
                      .bandwidth = (b.bytes_read + b.bytes_written) /
                                   time_s[FT__PROBE_BANDWIDTH],
                      .launch_s = time_s[FT__PROBE_LAUNCH]};
}
