#ifndef ONEDNN_KERNELS_H
#define ONEDNN_KERNELS_H

#include "nest.h"

/* The rows of our own loops. kernels.c is compiled once per instruction set;
 * every function returns NULL for what it does not know. */
typedef struct ft__kernels {
    const char *name;
    /* result, x (, y (, z)); reductions: running result, x. */
    ft__row_fn *(*kind)(ft_kind k, ft_dtype t);
    ft__row_fn *(*cast)(ft_dtype from, ft_dtype to);
    /* To integers and back, as quantisation does. */
    ft__row_fn *(*scale)(ft_dtype from, ft_dtype to);
    ft__row_fn *(*copy)(int64_t size);
    ft__row_fn *muladd;         /* r = x * a + b */
    ft__row_fn *mulmul;         /* r = x * a * b */
    ft__row_fn *sum_squares_of; /* r += (x - a)^2 */
    ft__row_fn *exp_of;         /* r = exp(x - a) */
    ft__row_fn *sum_exp_of;     /* r += exp(x - a) */
    ft__row_fn *log_plus;       /* r = log(x) + a */
} ft__kernels;

extern const ft__kernels ft__kernels_base;
extern const ft__kernels ft__kernels_v3; /* x86-64-v3: AVX2 */

#endif
