/* What a GPU is called in datasets. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "device/nvml.h"
#include "foretell/device.h"

/* "NVIDIA H200" -> "gpu-nvidia-h200": words of letters and digits. */
static void make_name(char *out, size_t size, const char *said)
{
    size_t n = (size_t)snprintf(out, size, "gpu");
    bool apart = true;

    for (; *said && n + 2 < size; said++) {
        bool word = isalnum((unsigned char)*said);

        if (word && apart)
            out[n++] = '-';
        if (word)
            out[n++] = (char)tolower((unsigned char)*said);
        apart = !word;
    }
    out[n] = '\0';
}

ft_status ft_device_gpu_name(char *out, size_t size, uint32_t index, const char *nvml,
                             ft_error *err)
{
    ft__nvml n = {0};
    char said[128] = "";
    void *device;
    ft_status st = FT_OK;

    out[0] = '\0';
    if (!ft__nvml_open(&n, nvml, false))
        return ft_fail(err, FT_ENOTFOUND, 0, "what GPU %u is cannot be told: %s", index,
                       n.reason);
    if (index >= n.n_devices)
        st = ft_fail(err, FT_ENOTFOUND, 0, "there is no GPU %u; there are %u, from 0",
                     index, n.n_devices);
    else if (!n.name || n.handle_by_index(index, &device) ||
             n.name(device, said, sizeof(said)) || !*said)
        st = ft_fail(err, FT_ENOTFOUND, 0, "GPU %u does not say what it is", index);
    else
        make_name(out, size, said);
    ft__nvml_close(&n);
    return st;
}
