/* Until the meter is there. */
#include <math.h>

#include "foretell/power.h"

ft_status ft_meter_open(ft_meter **out, const ft_meter_options *opt, ft_error *err)
{
    (void)opt;
    *out = NULL;
    return ft_fail(err, FT_EUNSUPPORTED, 0, "no power source");
}

void ft_meter_close(ft_meter *m)
{
    (void)m;
}

uint32_t ft_meter_n_domains(const ft_meter *m)
{
    (void)m;
    return 0;
}

const ft_domain *ft_meter_domain(const ft_meter *m, uint32_t i)
{
    (void)m, (void)i;
    return NULL;
}

double ft_meter_least_s(const ft_meter *m, uint32_t i)
{
    (void)m, (void)i;
    return NAN;
}

ft_status ft_meter_start(ft_meter *m, ft_error *err)
{
    (void)m;
    return ft_fail(err, FT_EUNSUPPORTED, 0, "no power source");
}

ft_status ft_meter_stop(ft_meter *m, ft_trace *out, ft_error *err)
{
    (void)m, (void)out;
    return ft_fail(err, FT_EUNSUPPORTED, 0, "no power source");
}

ft_status ft_trace_write(const ft_trace *t, const char *path, ft_error *err)
{
    (void)t, (void)path;
    return ft_fail(err, FT_EUNSUPPORTED, 0, "no power source");
}

void ft_trace_free(ft_trace *t)
{
    (void)t;
}
