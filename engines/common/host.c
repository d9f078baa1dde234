#include "host.h"

#include <stdlib.h>
#include <time.h>

#include "random.h"

static double seconds_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double ft__host_now(ft_engine_context *c)
{
    (void)c;
    return seconds_of(CLOCK_MONOTONIC);
}

double ft__host_cpu_now(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

ft_status ft__host_sync(ft_engine_context *c, ft_error *err)
{
    (void)c;
    (void)err;
    return FT_OK;
}

void *ft__host_alloc(ft_engine_context *c, uint64_t bytes)
{
    void *p;

    (void)c;
    return bytes <= SIZE_MAX - 64 && posix_memalign(&p, 64, bytes ? bytes : 64) == 0
               ? p
               : NULL;
}

void ft__host_release(ft_engine_context *c, void *memory)
{
    (void)c;
    free(memory);
}

ft_status ft__host_fill(ft_engine_context *c, void *memory, ft_dtype dtype,
                        uint64_t elements, int64_t limit, uint64_t seed, ft_error *err)
{
    (void)c;
    if (!ft__random_fill(memory, dtype, elements, limit, seed))
        return ft_fail(err, FT_EUNSUPPORTED, 0, "no values of type %s",
                       ft_dtype_name(dtype));
    return FT_OK;
}
