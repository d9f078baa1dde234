#include <math.h>
#include <stdlib.h>

#include "device/spec/device.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the bytes, a device comes out whole or not at all. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ft_device *d;
    ft_error err;

    if (ft__device_parse(&d, "fuzz", data, size, "fuzz", &err) != FT_OK) {
        if (d)
            abort();
        return 0;
    }
    if (!*ft_device_get(d)->title || ft_device_get(d)->cores <= 0 ||
        isinf(ft_device_get(d)->peak_fp32))
        abort();
    ft_device_free(d);
    return 0;
}
