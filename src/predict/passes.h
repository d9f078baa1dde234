#ifndef PREDICT_PASSES_H
#define PREDICT_PASSES_H

#include "predict/physics.h"

/* The kernels that an operation is run as, each a product or a stream of memory. */
typedef enum ft__pass_what {
    FT__PASS_PRODUCT, /* `batch` products of m x k with k x n */
    FT__PASS_CONV,    /* the same, of a convolution: implicit */
    FT__PASS_DIRECT,  /* a convolution of one channel a group */
    FT__PASS_STREAM,  /* reads, writes, and little else */
    FT__PASS_NORM,
    FT__PASS_SOFTMAX,
    FT__PASS_BIAS,
    FT__PASS_LOSS,
    FT__PASS_LAYOUT,
    FT__PASS_ATTENTION, /* m queries, n keys, heads of k numbers */
    FT__PASS_CACHE,     /* new keys and values to where the old ones are */
} ft__pass_what;

typedef struct ft__pass {
    ft__pass_what what;
    ft_phase phase;
    double count;   /* how often */
    double kernels; /* launches each */
    double batch, m, n, k;
    double flops; /* done by the textbook algorithm */
    /* Of convolutions: */
    double images, height, width; /* of the places that are multiplied from */
    double in, out;               /* channels of a group, in the sense of the product */
    double taps;                  /* values of the kernel for one channel */
    double kernel;  /* its width where fast algorithms serve, otherwise 0 */
    double columns; /* of a gradient of the data by way of columns, or 0 */
    double tensors; /* B of the two tensors that are not weights */
    /* Of attention: */
    double heads, kv_heads;
    int causal;

    double size; /* B of an element */
    double read; /* B */
    double written;
    double special; /* exponentials and the like */
    int gradient;   /* 0: forward; FT_WRT_X, FT_WRT_WEIGHTS */
    int partial;    /* a step's gradient of its input, which few need */
} ft__pass;

enum { FT__MAX_PASSES = 24 };
typedef struct ft__work {
    ft__pass pass[FT__MAX_PASSES];
    uint32_t n;
    int floor; /* FT__C_ of what the host's time is multiplied by, or -1 */
    int step;  /* host time of a training step is added */
} ft__work;

void ft__work_make(ft__work *out, const ft_op *op, const ft__chip *chip);
/* The estimate of what was made of an operation before: for many thetas. */
void ft__work_price(ft__terms *out, const ft__work *w, const ft__chip *chip,
                    const ft__theta *theta);

/* Share of the peak that the power budget sustains: docs/physics.md. */
double ft__sustained(const ft__chip *chip, const ft__theta *theta);
/* One kernel of each class, without its launch: compute_s, cache_s, memory_s, waves,
 * fill and busy_s of *out. */
void ft__product_price(ft__terms *out, const ft__pass *p, const ft__chip *chip,
                       const ft__theta *theta);
void ft__conv_price(ft__terms *out, const ft__pass *p, const ft__chip *chip,
                    const ft__theta *theta);
/* The best way of cutting a product whose arithmetic runs at `share` of the rate of a
 * plain one. */
void ft__product_cut(ft__terms *out, const ft__pass *p, double share,
                     const ft__chip *chip, const ft__theta *theta);
void ft__stream_price(ft__terms *out, const ft__pass *p, const ft__chip *chip,
                      const ft__theta *theta);
/* Seconds to move `bytes` when `working_set` is touched. */
double ft__cached_s(double bytes, double working_set, const ft__chip *chip,
                    const ft__theta *theta);

/* Products on tensor cores of numbers of 16 bits at most. */
int ft__tensor_serves(const ft__pass *p, const ft__chip *chip);
void ft__tensor_price(ft__terms *out, const ft__pass *p, const ft__chip *chip,
                      const ft__theta *theta);
/* Attention as one kernel: where tensor cores serve, forward. */
int ft__attention_serves(const ft_op *op, const ft__chip *chip);
void ft__attention_pass(ft__pass *out, const ft_op *op);
void ft__attention_price(ft__terms *out, const ft__pass *p, const ft__chip *chip,
                         const ft__theta *theta);
/* What stores the keys and values of an attention's new tokens, as a pass of its own.
 */
void ft__cache_pass(ft__pass *out, const ft__pass *attention);
void ft__cache_price(ft__terms *out, const ft__pass *p, const ft__chip *chip,
                     const ft__theta *theta);

#endif
