#ifndef COMMON_HOST_H
#define COMMON_HOST_H

#include "foretell/engine.h"

/* Members of ft_engine for engines whose operands lie in this process's memory and
 * whose clock is real time. The context is not looked at. */
double ft__host_now(ft_engine_context *c);
/* Seconds for which processors ran this process: what others run is not in them. */
double ft__host_cpu_now(void);
/* Of runs that have ended when they return. */
ft_status ft__host_sync(ft_engine_context *c, ft_error *err);
void *ft__host_alloc(ft_engine_context *c, uint64_t bytes);
void ft__host_release(ft_engine_context *c, void *memory);
ft_status ft__host_fill(ft_engine_context *c, void *memory, ft_dtype dtype,
                        uint64_t elements, int64_t limit, uint64_t seed, ft_error *err);

#endif
