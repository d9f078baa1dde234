/* aiconfigurator (github.com/ai-dynamo/aiconfigurator): operators of large language
 * models in TensorRT-LLM and vLLM, replayed as CUDA graphs with warm caches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op_inside.h"
#include "measure/dataset.h"

/* What the engines call a precision: the operands' dtype, whether the result is
 * another one (bf16), and how many weights share a scale. */
static const struct {
    const char *name;
    ft_dtype dtype;
    bool narrow;
    int64_t block;
    ft_dtype weights; /* where they are narrower than what they meet */
} precisions[] = {
    {"bfloat16", FT_DTYPE_bf16, false, 0, FT_DTYPE_NONE},
    {"bf16", FT_DTYPE_bf16, false, 0, FT_DTYPE_NONE},
    {"float16", FT_DTYPE_fp16, false, 0, FT_DTYPE_NONE},
    {"fp16", FT_DTYPE_fp16, false, 0, FT_DTYPE_NONE},
    {"float32", FT_DTYPE_fp32, false, 0, FT_DTYPE_NONE},
    {"fp8", FT_DTYPE_fp8e4m3, true, 0, FT_DTYPE_NONE},
    {"fp8_static", FT_DTYPE_fp8e4m3, true, 0, FT_DTYPE_NONE},
    {"fp8_block", FT_DTYPE_fp8e4m3, true, 128, FT_DTYPE_NONE},
    {"nvfp4", FT_DTYPE_fp4, true, 16, FT_DTYPE_NONE},
    {"mxfp4", FT_DTYPE_fp4, true, 32, FT_DTYPE_NONE},
    {"int8", FT_DTYPE_int8, true, 0, FT_DTYPE_NONE},
    {"sq", FT_DTYPE_int8, true, 0, FT_DTYPE_NONE},
    {"int8_wo", FT_DTYPE_bf16, false, 0, FT_DTYPE_int8},
    {"int4_wo", FT_DTYPE_bf16, false, 128, FT_DTYPE_int4},
    {"w4a16_mxfp4", FT_DTYPE_bf16, false, 32, FT_DTYPE_fp4},
    {"w4afp8", FT_DTYPE_fp8e4m3, true, 128, FT_DTYPE_int4},
    {"w4a8_mxfp4_mxfp8", FT_DTYPE_fp8e4m3, true, 32, FT_DTYPE_fp4},
};
enum { N_PRECISIONS = sizeof(precisions) / sizeof(*precisions) };

/* Exactly that name, or the longest that it begins with ("w4a16_mxfp4_cutlass"). */
static size_t precision(ft__import *im)
{
    const char *name = ft__text(im, FT__C_dtype);
    size_t best = N_PRECISIONS, longest = 0;

    for (size_t i = 0; i < N_PRECISIONS; i++) {
        size_t n = strlen(precisions[i].name);

        if (n > longest && strncmp(precisions[i].name, name, n) == 0) {
            best = i;
            longest = n;
        }
    }
    if (best < N_PRECISIONS)
        return best;
    ft__wrong(im, FT__C_dtype, "no such precision is known");
    return 0;
}

/* Names that differ in what the spec cannot say are settings. */
static void tell_precision(ft__import *im)
{
    static const char *const plain[] = {
        "bfloat16", "float16", "float32",   "fp8",         "bf16",
        "fp16",     "nvfp4",   "fp8_block", "int8",        "int8_wo",
        "int4_wo",  "w4afp8",  "mxfp4",     "w4a16_mxfp4", "w4a8_mxfp4_mxfp8"};
    const char *name = ft__text(im, FT__C_dtype);

    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
        if (strcmp(plain[i], name) == 0)
            return;
    ft__setting(im, "precision", name);
}

/* A cap that is not the device's own is a setting. */
static void key(ft__import *im)
{
    double cap = ft__real(im, FT__C_power_cap_w);

    ft__device(im, ft__text(im, FT__C_device));
    ft__engine(im, ft__text(im, FT__C_backend), ft__text(im, FT__C_version));
    if (isnan(cap) || cap == ft__device_tdp(im))
        ft__keep(im, FT__C_power_cap_w);
    else
        ft__setting_unit(im, "power", cap, "W");
    if (!ft__is(im, FT__C_mode, "inference_fwd"))
        ft__keep(im, FT__C_mode);
}

static void values(ft__import *im)
{
    ft__value(im, "time", "s", ft__real(im, FT__C_time_s), NAN, 1);
    ft__value(im, "power", "W", ft__real(im, FT__C_power_w), NAN, 1);
}

/* Keys that products of narrow types have, in canonical order. */
static void narrow(ft_op *op, size_t p)
{
    if (precisions[p].narrow)
        ft__op_set1(op, FT_K_to, FT_DTYPE_bf16);
    ft__op_set1(op, FT_K_weights, precisions[p].weights);
    ft__op_set1(op, FT_K_block, precisions[p].block);
}

static void gemm(ft__import *im)
{
    size_t p = precision(im);
    ft_shape x = {.rank = 2, .dim = {ft__whole(im, FT__C_m), ft__whole(im, FT__C_k)}};
    ft_op op = ft__op(FT_KIND_linear, precisions[p].dtype, &x);

    ft__op_set1(&op, FT_K_out, ft__whole(im, FT__C_n));
    narrow(&op, p);
    key(im);
    tell_precision(im);
    ft__about(im, &op);
    values(im);
}

/* vLLM's attention stored the new keys and values itself before 0.16. Since then that
 * is a kernel apart, which the collector left out at first: rows of 0.24 have it. */
static bool is_storing(const char *version)
{
    char *end;
    long major = strtol(version, &end, 10), minor = 0;

    if (*end == '.')
        minor = strtol(end + 1, NULL, 10);
    return major > 0 || minor < 16 || minor >= 24;
}

/* Queries of the new tokens, keys and values of those before them too (`step`). */
static void attention(ft__import *im, int64_t queries, int64_t keys)
{
    size_t p = precision(im);
    int64_t b = ft__whole(im, FT__C_batch), heads = ft__whole(im, FT__C_num_heads);
    int64_t kv = ft__whole(im, FT__C_num_kv_heads),
            size = ft__whole(im, FT__C_head_dim);
    ft_shape x = {.rank = 4, .dim = {b, heads, queries, size}};
    ft_shape y = {.rank = 4, .dim = {b, kv ? kv : heads, keys, size}};
    ft_op op = ft__op(FT_KIND_attention, precisions[p].dtype, &x);

    ft__op_set_shape(&op, FT_K_y, &y);
    ft__op_set_shape(&op, FT_K_z, &y);
    ft__op_set1(&op, FT_K_causal, queries > 1);
    key(im);
    if (ft__is(im, FT__C_backend, "vllm") && is_storing(ft__text(im, FT__C_version)))
        ft__setting(im, "cache", "written");
    tell_precision(im);
    ft__about(im, &op);
    values(im);
}

/* Both tables have the same columns. Where a prompt is read, step is 0 or what of it
 * was kept; where tokens are made one by one, isl is 1 and step what lies before. */
static void attend(ft__import *im)
{
    int64_t isl = ft__whole(im, FT__C_isl), step = ft__whole_or(im, FT__C_step, 0);

    attention(im, isl, isl + step);
}

static void moe(ft__import *im)
{
    size_t p = precision(im);
    ft_shape x = {
        .rank = 2,
        .dim = {ft__whole(im, FT__C_num_tokens), ft__whole(im, FT__C_hidden_size)}};
    ft_op op = ft__op(FT_KIND_moe, precisions[p].dtype, &x);

    ft__op_set1(&op, FT_K_hidden, ft__whole(im, FT__C_inter_size));
    ft__op_set1(&op, FT_K_experts, ft__whole(im, FT__C_num_experts));
    ft__op_set1(&op, FT_K_topk, ft__whole(im, FT__C_topk));
    ft__op_set1(&op, FT_K_tp, ft__whole_or(im, FT__C_moe_tp_size, 1));
    ft__op_set1(&op, FT_K_ep, ft__whole_or(im, FT__C_moe_ep_size, 1));
    narrow(&op, p);
    key(im);
    tell_precision(im);
    ft__about(im, &op);
    values(im);
}

/* compute_scale: what finding the scale of a tensor takes, its largest magnitude;
 * others write the tensor in the narrow type. */
static void quantise(ft__import *im)
{
    const char *name = ft__text(im, FT__C_op);
    size_t p = precision(im);
    ft_shape x = {.rank = 2, .dim = {ft__whole(im, FT__C_m), ft__whole(im, FT__C_k)}};
    bool scale = strcmp(name, "compute_scale") == 0;
    ft_op op = ft__op(scale ? FT_KIND_reduce_max : FT_KIND_quantize, FT_DTYPE_bf16, &x);

    if (scale)
        ft__op_set(&op, FT_K_axes, (int64_t[]){0, 1}, 2);
    else
        ft__op_set1(&op, FT_K_to, precisions[p].dtype);
    key(im);
    ft__setting(im, "op", name);
    ft__setting(im, "to", ft__text(im, FT__C_dtype));
    ft__about(im, &op);
    values(im);
}

#define COMMON FT__C_device, FT__C_backend, FT__C_version, FT__C_dtype, FT__C_time_s
static const ft__column gemm_needs[] = {COMMON, FT__C_m, FT__C_n, FT__C_k};
static const ft__column attend_needs[] = {
    COMMON,          FT__C_batch,        FT__C_isl,
    FT__C_num_heads, FT__C_num_kv_heads, FT__C_head_dim};
static const ft__column moe_needs[] = {
    COMMON,           FT__C_num_tokens, FT__C_hidden_size,
    FT__C_inter_size, FT__C_topk,       FT__C_num_experts};
static const ft__column quantise_needs[] = {COMMON, FT__C_op, FT__C_m, FT__C_k};

#define NEEDS(list) list, sizeof(list) / sizeof(*(list))
const ft__form ft__aic_forms[4] = {
    {NEEDS(gemm_needs), "", "", gemm},
    {NEEDS(attend_needs), "", "", attend},
    {NEEDS(moe_needs), "", "", moe},
    {NEEDS(quantise_needs), "", "", quantise},
};
