#ifndef COMMON_RANDOM_H
#define COMMON_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "foretell/op.h"

/* Element i depends on (seed, i) only. No value but 0 is smaller than 2^-24 of
 * the range: none is a denormal, and products of a few are none either. */
void ft__random_floats(float *out, uint64_t n, float low, float high, uint64_t seed);
/* Floats in [-1, 1), others in [0, limit) as far as the type reaches. False:
 * no such type. */
bool ft__random_fill(void *out, ft_dtype dtype, uint64_t n, int64_t limit,
                     uint64_t seed);

/* Between which values random weights of parameter i lie, so that activations keep
 * their size: a product's have a variance of 1/fan_in, scales and variances lie
 * around 1. */
void ft__weight_range(const ft_op *op, uint32_t i, const ft_param *p, float *low,
                      float *high);

/* Weights of a network of which only the shape is known: vectors, mostly scales,
 * variances and biases, around 1; others those of a product over all axes but the
 * first; whole numbers 0, which always is an index, masks let everything pass. False:
 * no such type. */
bool ft__random_weight(void *to, ft_dtype dtype, const ft_shape *shape, uint64_t seed);

/* A float as a half and as a bfloat16, rounded towards zero. Halves: only for
 * magnitudes below 65536; what is below 2^-14 becomes 0. */
uint16_t ft__half(float v);
uint16_t ft__brain(float v);
bool ft__is_real(ft_dtype t);
/* Of a floating-point type; false: it is none, or memory is short. */
bool ft__random_reals(void *to, ft_dtype dtype, uint64_t n, float low, float high,
                      uint64_t seed);
/* Floats as elements of a floating-point type; false: it is none. */
bool ft__from_floats(void *to, const float *from, uint64_t n, ft_dtype dtype);

#endif
