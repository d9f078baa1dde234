/* Resizing: oneDNN for nearest and linear over spatial axes, our own passes,
 * one per axis that changes, for cubic and for other axes. */
#include <math.h>
#include <stdlib.h>

#include "onednn.h"
#include "runtime.h"

enum { NEAREST, LINEAR, CUBIC, TAPS = 4 };

/* One result position along an axis as a weighted sum of source positions. */
typedef struct tap_set {
    int64_t from[TAPS];
    float weight[TAPS];
} tap_set;

/* One axis: outer x in x inner -> outer x out x inner. */
typedef struct pass {
    int64_t outer, in, out, inner;
    tap_set *taps;
    const float *x;
    float *y;
} pass;

typedef struct passes {
    uint32_t n;
    uint64_t half; /* bytes of one of two buffers between passes */
    pass list[FT_MAX_RANK];
} passes;

static void free_passes(void *plan)
{
    passes *p = plan;

    for (uint32_t i = 0; i < p->n; i++)
        free(p->list[i].taps);
    free(p);
}

/* Keys' cubic convolution with a = -0.75. */
static float cubic(float t)
{
    const float a = -0.75f;

    t = fabsf(t);
    if (t <= 1)
        return ((a + 2) * t - (a + 3)) * t * t + 1;
    return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

static void fill_taps(tap_set *taps, int64_t in, int64_t out, int64_t mode)
{
    for (int64_t i = 0; i < out; i++) {
        float centre = ((float)i + 0.5f) * (float)in / (float)out;
        float left = floorf(centre - 0.5f);

        for (int k = 0; k < TAPS; k++) {
            float at = mode == NEAREST ? floorf(centre) : left + (float)k - 1;
            float away = centre - 0.5f - at;
            int64_t from = at < 0 ? 0 : (int64_t)at;

            taps[i].from[k] = from < in ? from : in - 1;
            taps[i].weight[k] = mode == NEAREST  ? (float)(k == 0)
                                : mode == LINEAR ? fmaxf(0, 1 - fabsf(away))
                                                 : cubic(away);
        }
    }
}

static void resize_range(void *arg, int64_t begin, int64_t end)
{
    const pass *p = arg;

    for (int64_t i = begin; i < end; i++) {
        const tap_set *t = &p->taps[i % p->out];
        const float *x = p->x + i / p->out * p->in * p->inner;
        const float *a = x + t->from[0] * p->inner, *b = x + t->from[1] * p->inner;
        const float *c = x + t->from[2] * p->inner, *d = x + t->from[3] * p->inner;
        float *y = p->y + i * p->inner;

        for (int64_t k = 0; k < p->inner; k++)
            y[k] = a[k] * t->weight[0] + b[k] * t->weight[1] + c[k] * t->weight[2] +
                   d[k] * t->weight[3];
    }
}

static dnnl_status_t run_passes(ft_block *b, const ft__call *call)
{
    const passes *p = b->plan;
    const float *x = call->in[0];

    for (uint32_t i = 0; i < p->n; i++) {
        pass now = p->list[i];

        now.x = x;
        now.y = i + 1 == p->n ? call->out[0]
                              : (void *)(call->workspace + (i % 2 ? p->half : 0));
        ft__parallel(b->ctx->threads, now.outer * now.out, now.inner, resize_range,
                     &now);
        x = now.y;
    }
    return dnnl_success;
}

/* Over the axes in the order of memory. */
static ft_status plan_passes(ft_block *b, ft_error *err)
{
    const ft__tensor *x = &b->x, *y = &b->y;
    passes *p = ft__new_plan(b, sizeof(*p), err);
    int64_t outer = 1, inner = 1, mode = ft_op_at(&b->op, FT_K_mode, 0);
    bool last = b->op.layout == FT_LAYOUT_CHANNELS_LAST && x->rank >= 3;

    if (!p)
        return FT_ENOMEM;
    b->free_plan = free_passes;
    ft__use_loops(b, run_passes);
    for (uint32_t i = 0; i < x->rank; i++)
        inner *= x->dim[i];
    for (uint32_t i = 0; i < x->rank; i++) {
        uint32_t axis = !last || i == 0 ? i : i + 1 < x->rank ? i + 1 : 1;
        int64_t from = x->dim[axis], to = y->dim[axis];
        pass *now = &p->list[p->n];

        inner /= from;
        *now = (pass){.outer = outer, .in = from, .out = to, .inner = inner};
        outer *= to;
        /* Something must be copied even if nothing changes. */
        if (from == to && !(p->n == 0 && i + 1 == x->rank))
            continue;
        now->taps = calloc((size_t)to, sizeof(*now->taps));
        p->n++;
        if (!now->taps)
            return ft__no_memory(b, err);
        fill_taps(now->taps, from, to, mode);
        if (p->half < ft__align((uint64_t)(outer * inner) * sizeof(float)))
            p->half = ft__align((uint64_t)(outer * inner) * sizeof(float));
    }
    b->workspace_bytes = p->n > 1 ? 2 * p->half : 0;
    return FT_OK;
}

ft_status ft__prepare_resize(ft_block *b, ft_error *err)
{
    ft__tensor x = b->x, y = b->y;
    int64_t mode = ft_op_at(&b->op, FT_K_mode, 0);

    if (b->op.dtype != FT_DTYPE_fp32 || x.rank != y.rank || mode > CUBIC)
        return ft__unsupported(b, err,
                               "resize takes fp32, equal ranks and modes 0 to 2");
    for (uint32_t i = 0; i < x.rank; i++)
        if (x.dim[i] == 0)
            return ft__unsupported(b, err, "x has no elements");
    if (mode != CUBIC && x.rank >= 3 && x.rank <= 5 && x.dim[0] == y.dim[0] &&
        x.dim[1] == y.dim[1] &&
        ft__use_fast_prim(b, ft__prim_resize(b,
                                             mode == NEAREST ? dnnl_resampling_nearest
                                                             : dnnl_resampling_linear,
                                             &x, &y)))
        return FT_OK;
    return plan_passes(b, err);
}
