/* What the machine did, over several rounds. */
#include <math.h>

#include "run/rounds.h"

static const double clock_may_move = 0.02;

ft_conditions ft__conditions_unknown(void)
{
    return (ft_conditions){.clock_low_hz = NAN,
                           .clock_high_hz = NAN,
                           .clock_hz = NAN,
                           .memory_clock_hz = NAN,
                           .temperature_max_k = NAN,
                           .foreign_load = NAN};
}

/* Mean of n + 1 values from that of n; what is not told does not count. */
static double mean_with(double mean, double one, uint32_t n)
{
    if (isnan(mean) || isnan(one))
        return isnan(mean) ? one : mean;
    return mean + (one - mean) / (double)(n + 1);
}

void ft__conditions_add(ft_conditions *sum, const ft_conditions *one, uint32_t n)
{
    sum->clock_low_hz = fmin(sum->clock_low_hz, one->clock_low_hz);
    sum->clock_high_hz = fmax(sum->clock_high_hz, one->clock_high_hz);
    sum->clock_hz = mean_with(sum->clock_hz, one->clock_hz, n);
    sum->memory_clock_hz = mean_with(sum->memory_clock_hz, one->memory_clock_hz, n);
    sum->temperature_max_k = fmax(sum->temperature_max_k, one->temperature_max_k);
    sum->foreign_load = mean_with(sum->foreign_load, one->foreign_load, n);
    sum->throttle |= one->throttle;
    sum->marks |= one->marks;
    /* Rounds may each be steady and yet differ. */
    if (sum->clock_high_hz > (1 + clock_may_move) * sum->clock_low_hz)
        sum->marks |= FT_MARK_CLOCK_MOVED;
}
