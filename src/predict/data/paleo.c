/* PALEO: H. Qi, E. Sparks, A. Talwalkar, Paleo: a performance model for deep neural
 * networks, ICLR 2017, eq. 1: reading, computing and writing do not overlap. */
#include "predict/data/features.h"

double ft__paleo(const ft_op *op, const ft__roof *r)
{
    ft_cost c;
    double bytes;

    ft_op_cost(op, &c);
    bytes = c.bytes_read + c.bytes_written;
    return c.flops / r->peak_flops + bytes / ft__roof_bandwidth(r, bytes) + r->launch_s;
}
