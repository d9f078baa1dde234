#ifndef DEVICE_POWER_TRACE_H
#define DEVICE_POWER_TRACE_H

#include "foretell/power.h"

/* A trace of n domains, whose text is copied, without readings; reading[i] is set to
 * memory of malloc(), why[i] to text in out->memory, which is an ft__arena. */
ft_status ft__trace_new(ft_trace *out, const ft_domain *d, uint32_t n, ft_error *err);
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
ft_status ft__trace_read(ft_trace *out, const char *path, ft_error *err);
/* Text of ft__trace_write(), terminated, len bytes; it is cut up. `path` is for
 * messages. */
ft_status ft__trace_parse(ft_trace *out, char *text, size_t len, const char *path,
                          ft_error *err);

#endif
