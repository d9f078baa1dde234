#ifndef DEVICE_POWER_TRACE_H
#define DEVICE_POWER_TRACE_H

#include <stdbool.h>

#include "base/arena.h"
#include "device/power/power_inside.h"
#include "foretell/power.h"

/* A trace of n domains without readings; reading[i] is set to memory of malloc(). */
ft_status ft__trace_new(ft_trace *out, uint32_t n, ft_error *err);
/* Text that lives as long as the trace; NULL when memory is short. */
const char *ft__trace_keep(ft_trace *t, const char *text);
/* Copies text; false when memory is short. */
bool ft__trace_set_domain(ft_trace *t, uint32_t i, const ft_domain *d);

/* Text of ft__trace_write(), terminated, len bytes; it is cut up. `path` is for
 * messages. */
ft_status ft__trace_parse(ft_trace *out, char *text, size_t len, const char *path,
                          ft_error *err);

#endif
