#include <stdint.h>
#include <stdlib.h>

#include "predict/kernels.h"
#include "predict/kernels_inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the bytes: refused cleanly, or something that answers. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ft_device_facts gpu = {.name = "a",
                                 .vendor = "NVIDIA",
                                 .cores = 80,
                                 .boost_clock_hz = 1.4e9,
                                 .memory_clock_hz = 1e9,
                                 .peak_fp32 = 14e12,
                                 .bandwidth_bytes_per_s = 9e11,
                                 .l2_bytes = 6e6,
                                 .tdp_w = 250,
                                 .compute_capability = 7};
    const ft_kernel_work work = {.blocks = 100,
                                 .warps = 400,
                                 .threads = 12800,
                                 .loaded_bytes = 1e6,
                                 .distinct_bytes = 1e6,
                                 .registers = 32};
    ft_kernel_estimate e;
    ft_kernels *k;

    if (ft__kernels_load_image(&k, data, size, NULL))
        return 0;
    (void)ft__kernel_predict(&e, k, &work, &gpu, 1e-5, NULL);
    ft__kernels_free(k);
    return 0;
}
