#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/spec/device.h"
#include "foretell/predictor.h"
#include "graph/graph_inside.h"
#include "predict/query/op_costs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 6 };

static const char l4[] =
    "title: NVIDIA L4\nvendor: NVIDIA\ntype: gpu\nsource: data sheet\ncores: 58\n"
    "base_clock_mhz: 795\nboost_clock_mhz: 2040\nmemory_clock_mhz: 6251\n"
    "peak_fp32_tflops: 30.3\npeak_tf32_tflops: 60\npeak_fp16_tflops: 121\n"
    "peak_bf16_tflops: 121\nbandwidth_gb_s: 300\nmemory_gib: 24\nl2_mib: 48\n"
    "tdp_w: 72\nprocess_nm: 4\ncompute_capability: 8.9\nyear: 2023\n";

static int same(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0 || (isnan(a) && isnan(b));
}

static ft_status alone(ft_brief *out, const ft__listed *list, const ft__device_use *on)
{
    ft_graph *g = NULL, *lowered = NULL;
    ft__network_estimate e;
    ft_status st = ft_import_ops(&g, list->text, list->len, "list", NULL);

    *out = (ft_brief){NAN, NAN, NAN, NAN, FT_OK, ""};
    if (!st)
        st = ft__graph_lower(&lowered, g, FT_POLICY_STRIDED_VIEWS, NULL);
    if (!st)
        st = ft__predict_network(&e, NULL, on, lowered, NULL);
    if (!st) {
        *out = (ft_brief){e.time.value,   e.energy.value, e.power.value,
                          e.memory.value, FT_OK,          ""};
        ft__network_estimate_free(&e);
    }
    ft_graph_free(g);
    ft_graph_free(lowered);
    return st;
}

/* Lists with zeros between them, priced together: each is what it is alone. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    ft__listed list[MOST];
    ft__op_costs *x = NULL;
    ft_device *d = NULL;
    ft_error err = {0};
    size_t n = 0;

    if (ft__device_parse(&d, "l4", (const uint8_t *)l4, sizeof(l4) - 1, "l4", &err))
        abort();
    for (size_t at = 0; at < size && n < MOST; n++) {
        const char *end = memchr(text + at, '\0', size - at);
        size_t len = (end ? (size_t)(end - text) : size) - at;

        list[n] = (ft__listed){.text = text + at, .len = len};
        at += len + 1;
    }
    if (ft__op_costs_new(&x, NULL, &(ft__device_use){.device = d}, &err))
        abort();
    for (int round = 0; round < 2; round++) {
        if (ft__op_costs_of_lists(x, list, n, &err))
            break;
        for (size_t i = 0; i < n; i++) {
            ft_brief want;

            if (alone(&want, &list[i], &(ft__device_use){.device = d}) !=
                    list[i].status ||
                !same(want.time_s, list[i].brief.time_s) ||
                !same(want.energy_j, list[i].brief.energy_j) ||
                !same(want.memory_bytes, list[i].brief.memory_bytes))
                abort();
        }
    }
    ft__op_costs_free(x);
    ft_device_free(d);
    return 0;
}
