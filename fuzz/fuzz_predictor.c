#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/predictor.h"
#include "predict/file/predictor.h"
#include "predict/model/family.h"
#include "predict/query/network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A device among the datasets of the corpus, and one without a data sheet. */
static void ask_family(const ft_predictor *p, const ft_op *ops, size_t n)
{
    static const char *const names[] = {"t4", "nobody's"};
    ft__op_answer said[8];

    for (int i = 0; i < 2; i++) {
        const ft__dataset on = {.device = (char *)names[i]};

        (void)ft__family_query(said, p->family, FT__METRIC_ENERGY, &on, ops, NULL, n,
                               NULL);
    }
}

/* The machine that was measured, if it is of one. */
static void ask_network(const ft_predictor *p, const char *const *specs, size_t n)
{
    const ft__device_use as_measured = {0};
    ft__network_estimate e;
    char text[512] = "";
    ft_graph *g;

    for (size_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s\n", specs[i]);
    if (ft_import_ops(&g, text, strlen(text), "network", NULL))
        return;
    if (ft__predict_network(&e, p, &as_measured, g, NULL) == FT_OK)
        ft__network_estimate_free(&e);
    ft_graph_free(g);
}

/* Devices that the corpus knows, and one that it does not: what was measured whole at
 * clocks, networks as a whole, and those of other devices. */
static void ask_devices(const ft_predictor *p)
{
    static const char *const lists[] = {
        "kernel name=k_1\n", "relu x=4000000\n",
        ("conv2d x=8x3x64x64 out=16 kernel=3x3 stride=1x1 "
         "pad=1x1 dtype=fp16\n")};
    static const char *const names[] = {"t4", "rtx-3090", "nobody's"};

    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        ft_graph *g;

        if (ft_import_ops(&g, lists[i], strlen(lists[i]), "list", NULL))
            continue;
        for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
            const ft__device_use on = {.name = names[k], .setting = "clock=700MHz"};
            ft__network_estimate e;

            if (ft__predict_network(&e, p, &on, g, NULL) == FT_OK)
                ft__network_estimate_free(&e);
        }
        ft_graph_free(g);
    }
}

static void ask_kernels(const ft_predictor *p)
{
    static const char *const devices[] = {"t4", "a"}, *const kernels[] = {"acopy", "b"};
    const ft__kernel_work work = {.blocks = 100,
                                  .warps = 400,
                                  .threads = 12800,
                                  .loaded_bytes = 1e6,
                                  .distinct_bytes = 1e6,
                                  .registers = 32};

    for (int i = 0; i < 4; i++) {
        const ft_device_facts gpu = {.name = devices[i / 2],
                                     .vendor = "NVIDIA",
                                     .cores = 80,
                                     .boost_clock_hz = 1.4e9,
                                     .memory_clock_hz = 1e9,
                                     .peak_fp32 = 14e12,
                                     .bandwidth_bytes_per_s = 9e11,
                                     .l2_bytes = 6e6,
                                     .tdp_w = 250,
                                     .compute_capability = 7};
        ft_kernel_estimate e;

        (void)ft__kernel_predict(&e, p->family->kernels, &work, &gpu, kernels[i % 2],
                                 kernels[i % 2], NULL);
    }
}

/* Whatever the bytes: refused cleanly, or a predictor that answers. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const specs[] = {
        "conv2d x=1x16x28x28 out=32 kernel=3x3 stride=1x1 pad=1x1 layout=channels_last",
        "linear x=1x128 out=10", "relu x=1x16", "softmax x=2x10 axis=1"};
    enum { N = sizeof(specs) / sizeof(*specs) };
    void *copy = malloc(size ? size : 1);
    ft_regressor_info r;
    ft_predictor_dataset d;
    ft_predictor_schedule k;
    ft_predictor_info info;
    ft_predictor *p;
    ft_op ops[N];

    if (!copy)
        return 0;
    /* malloc's alignment is what a mapped file has. */
    memcpy(copy, data, size);
    for (int i = 0; i < N; i++)
        (void)ft_op_parse(&ops[i], specs[i], strlen(specs[i]), NULL);
    if (ft__predictor_load_image(&p, copy, size, NULL) == FT_OK) {
        ft_predictor_get_info(p, &info);
        for (uint32_t i = 0; i < info.n_regressors; i++)
            ft_predictor_regressor(p, i, &r);
        for (uint32_t i = 0; i < info.n_datasets; i++)
            ft_predictor_get_dataset(p, i, &d);
        for (uint32_t i = 0; i < info.n_schedules; i++)
            ft_predictor_get_schedule(p, i, &k);
        ask_network(p, specs, N);
        if (ft__family_any(p->family, FT__METRIC_TIME))
            ask_family(p, ops, N);
        ask_devices(p);
        ask_kernels(p);
        ft_predictor_free(p);
    }
    free(copy);
    return 0;
}
