/* A small librocm_smi64: GPU 0 counts 30 W by the clock in units of 15.3 uJ and tells
 * power; GPU 1 only tells power, by the older call. */
#include <stdint.h>

#include "fake_now.h"

#define EXPORT(name, ...)                                                              \
    int name(__VA_ARGS__);                                                             \
    int name(__VA_ARGS__)

enum { NOT_SUPPORTED = 2 };

EXPORT(rsmi_init, uint64_t flags)
{
    return flags != 0;
}

EXPORT(rsmi_shut_down, void)
{
    return 0;
}

EXPORT(rsmi_num_monitor_devices, uint32_t *n)
{
    *n = 2;
    return 0;
}

EXPORT(rsmi_dev_energy_count_get, uint32_t gpu, uint64_t *count, float *resolution,
       uint64_t *time_ns)
{
    if (gpu)
        return NOT_SUPPORTED;
    *resolution = 15.3F;
    *count = (uint64_t)(30 * now_s() / (double)*resolution * 1e6);
    *time_ns = (uint64_t)(now_s() * 1e9);
    return 0;
}

/* Swings a little, or no value would be new. */
EXPORT(rsmi_dev_power_get, uint32_t gpu, uint64_t *microwatts, int *kind)
{
    *microwatts = 30000000 + (uint64_t)(now_s() * 100) % 10 * 10000;
    *kind = 0;
    return gpu ? NOT_SUPPORTED : 0;
}

EXPORT(rsmi_dev_power_ave_get, uint32_t gpu, uint32_t sensor, uint64_t *microwatts)
{
    (void)gpu;
    (void)sensor;
    *microwatts = 25000000 + (uint64_t)(now_s() * 100) % 10 * 10000;
    return 0;
}
