#ifndef DEVICE_POWER_POWER_INSIDE_H
#define DEVICE_POWER_POWER_INSIDE_H

#include "foretell/power.h"

/* Energy of one iteration from mean power and time, both with their standard
 * errors: E = P t, sigma_E^2 = (P sigma_t)^2 + (t sigma_P)^2 (thesis on GPU
 * selection, eq. 3.1-3.9). NaN when power or time is; an error that is not known
 * makes error_j NaN. */
void ft__energy_of(double *joules, double *error_j, double watts, double watts_error,
                   double seconds, double seconds_error);
/* Watts while nothing runs: the median of what quiet_s seconds bring, for every
 * domain (watts[ft_meter_n_domains()]); NaN where it is unknown. */
ft_status ft__meter_idle(ft_meter *m, double quiet_s, double *watts, ft_error *err);
/* Returns once every domain has brought two new values (where its period is not known,
 * been read twice), or 0.5 s or two periods have passed, so that the stretch that
 * follows has a beginning; stop lingers likewise for its end. */
ft_status ft__meter_start(ft_meter *m, ft_error *err);
/* Returns once every domain has brought two new values (where its period is not known,
 * been read twice), or 0.5 s or two periods have passed, so that the stretch that
 * follows has a beginning; stop lingers likewise for its end. */
ft_status ft__meter_stop(ft_meter *m, ft_trace *out, ft_error *err);
ft_status ft__trace_read(ft_trace *out, const char *path, ft_error *err);
/* Traces as text, so that what one machine showed can be looked at on another:
 *
 *   # foretell trace 1
 *   # domain,part_of,counts,tells_power,all_fresh,period_s,window_s,duty,least_s
 *   # nvml:0,,1,1,0,0.1,0.025,0.25,5
 *   at_s,domain,watts,joules
 *   0.0501,nvml:0,61.5,1000.25
 *
 * An empty field is a number that is not known. Comments may be missing: domains
 * are then those of the rows. Reading gives back what was written.
 * FT_EFORMAT names the line. */
ft_status ft__trace_write(const ft_trace *t, const char *path, ft_error *err);

#endif
