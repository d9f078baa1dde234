/* What engines of this library do not run. */
#include "query/lacks.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ONEDNN = 1, ONNXRUNTIME = 2, OPENCL = 4, TORCH = 8, TVM = 16, ALL = 31 };

static const struct {
    const char *name;
    uint8_t bit;
} engines[] = {{"onednn", ONEDNN},
               {"onnxruntime", ONNXRUNTIME},
               {"opencl", OPENCL},
               {"torch", TORCH},
               {"tvm", TVM}};

static const uint8_t lacking[FT_KIND_COUNT] = {
#define FT_LACKS(kind, engines) [FT_KIND_##kind] = engines,
#include "query/lacks.def"
#undef FT_LACKS
};

/* 0: another's, of which nothing is known. */
static uint8_t bit_of(const char *engine)
{
    const size_t len = strcspn(engine, ",");

    for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++)
        if (strlen(engines[i].name) == len && memcmp(engines[i].name, engine, len) == 0)
            return engines[i].bit;
    return 0;
}

bool ft__engine_lacks_kind(const char *engine, ft_kind kind)
{
    return lacking[kind] & bit_of(engine);
}

bool ft__engine_is_fp32(const char *engine)
{
    return bit_of(engine) & (ONEDNN | OPENCL);
}

static bool is_other_float(ft_dtype t)
{
    return t == FT_DTYPE_fp64 || t == FT_DTYPE_fp16 || t == FT_DTYPE_bf16;
}

const ft_op *ft__engine_lacks(const char *engine, const ft_graph *g, bool whole)
{
    const bool fp32 = ft__engine_is_fp32(engine);

    if (whole)
        return NULL;
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->op[i].phase == FT_PHASE_FORWARD &&
            (ft__engine_lacks_kind(engine, g->op[i].kind) ||
             (fp32 && is_other_float(g->op[i].dtype))))
            return &g->op[i];
    return NULL;
}
