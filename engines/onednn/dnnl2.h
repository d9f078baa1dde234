#ifndef ONEDNN_DNNL2_H
#define ONEDNN_DNNL2_H

#include <oneapi/dnnl/dnnl.h>

#include "foretell/engine.h"
#include "tensor.h"

/* All that oneDNN 2 and 3 spell differently. A dnnl_status_t is what oneDNN
 * itself answered: dnnl_unimplemented means that it has no such kernel. */

/* Engine and stream. */
typedef struct ft__dnnl {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
} ft__dnnl;

/* One primitive with its memory objects and the weights of every instance. */
typedef struct ft__prim ft__prim;

/* What a run gets. */
typedef struct ft__call {
    uint32_t instance;
    const void *const *in;
    void *const *out;
    char *workspace;
} ft__call;

/* Sliding window of convolution and pooling, per spatial axis. */
typedef struct ft__window {
    int64_t kernel[3], stride[3];
    int64_t dilation[3]; /* 1: dense */
    int64_t begin[3];    /* padding, may be negative at the end */
    int64_t end[3];
} ft__window;

dnnl_status_t ft__dnnl_open(ft__dnnl *d);
void ft__dnnl_close(ft__dnnl *d);

/* Each makes b->prim. Weights (w, bias; scale, shift) are given as they lie in plain
 * memory; the primitive chooses its own layout for filters. bias may be NULL. */
dnnl_status_t ft__prim_conv(ft_block *b, bool transposed, const ft__tensor *x,
                            const ft__tensor *w, const ft__tensor *bias,
                            const ft__tensor *y, const ft__window *win);
dnnl_status_t ft__prim_linear(ft_block *b, const ft__tensor *x, const ft__tensor *w,
                              const ft__tensor *bias, const ft__tensor *y);
dnnl_status_t ft__prim_matmul(ft_block *b, const ft__tensor *x, const ft__tensor *y,
                              const ft__tensor *z);
dnnl_status_t ft__prim_pool(ft_block *b, dnnl_alg_kind_t alg, const ft__tensor *x,
                            const ft__tensor *y, const ft__window *win);
dnnl_status_t ft__prim_eltwise(ft_block *b, dnnl_alg_kind_t alg, float alpha,
                               float beta, int64_t elements);
dnnl_status_t ft__prim_binary(ft_block *b, dnnl_alg_kind_t alg, const ft__tensor *x,
                              const ft__tensor *y, const ft__tensor *z);
/* Parameters: scale, shift, mean, variance. */
dnnl_status_t ft__prim_batchnorm(ft_block *b, const ft__tensor *x, float eps);
/* Over the last axis. Parameters: scale, shift. */
dnnl_status_t ft__prim_layernorm(ft_block *b, const ft__tensor *x, float eps);
dnnl_status_t ft__prim_lrn(ft_block *b, const ft__tensor *x, int64_t size, float alpha,
                           float beta, float k);
dnnl_status_t ft__prim_softmax(ft_block *b, bool log, const ft__tensor *x,
                               uint32_t axis);
dnnl_status_t ft__prim_resize(ft_block *b, dnnl_alg_kind_t alg, const ft__tensor *x,
                              const ft__tensor *y);
/* Copy between two layouts of the same shape; elements of 1 or 4 bytes, bits
 * unchanged. */
dnnl_status_t ft__prim_reorder(ft__prim **out, const ft__dnnl *d, const ft__tensor *x,
                               const ft__tensor *y);

const char *ft__prim_name(const ft__prim *p);
/* oneDNN's fallback in plain C++, orders of magnitude slower. */
bool ft__prim_is_slow(const ft__prim *p);
uint64_t ft__prim_scratch_bytes(const ft__prim *p);
/* Weights of one instance as oneDNN stores them. */
uint64_t ft__prim_weight_bytes(const ft__prim *p);

/* Make room for the weights of `instances`, then fill each from plain memory. */
dnnl_status_t ft__prim_set_instances(ft__prim *p, uint32_t instances);
dnnl_status_t ft__prim_load(ft__prim *p, uint32_t instance, uint32_t param,
                            const float *plain);

dnnl_status_t ft__prim_run(ft__prim *p, const ft__call *call);
void ft__prim_free(ft__prim *p);

#endif
