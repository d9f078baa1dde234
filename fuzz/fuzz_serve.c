#include <math.h>
#include <stdint.h>

#include "foretell/serve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the text, reading it must fail with a message or give results of a load. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 4 };
    ft_serve_measured m[MOST];
    ft_error err = {0};
    size_t n;

    if (ft_serve_measured_read(m, &n, MOST, (const char *)data, size, "fuzz", &err)) {
        if (n || !err.msg[0])
            __builtin_trap();
        return 0;
    }
    if (n < 1 || n > MOST)
        __builtin_trap();
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < FT_SERVE_METRIC_COUNT; k++)
            for (int p = 0; p < FT_SERVE_POINT_COUNT; p++)
                if (!isnan(m[i].latency[k][p]) && !(m[i].latency[k][p] > 0))
                    __builtin_trap();
    return 0;
}
