#ifndef GRAPH_OP_INSIDE_H
#define GRAPH_OP_INSIDE_H

#include <stdbool.h>
#include <string.h>

#include "foretell/op.h"

/* The letter that it begins with spares most calls: 1.8 % of the instructions of `ops`
 * with 6,000 lines. */
static inline bool ft__name_is(const char *name, const char *s, size_t len)
{
    return len && *name == *s && strlen(name) == len && memcmp(name, s, len) == 0;
}
const char *ft__class_name(ft_class c);
ft_dtype ft__dtype_from_name(const char *name, size_t len); /* NONE: unknown */
const char *ft__key_name(ft_key_id k);
int ft__kind_from_name(ft_kind *k, const char *name, size_t len); /* 0: unknown */
/* Keys of a kind in canonical order; FT_K_COUNT behind the last. *required (NULL: not
 * asked): it has no default. */
ft_key_id ft__kind_key(ft_kind k, uint32_t i, int *required);
/* Of all that the spec says; from names, so that stored hashes stay true when
 * the list of kinds grows. */
uint64_t ft__op_hash(const ft_op *op);
/* For tables of one process: of numbers, never 0. */
uint64_t ft__op_quick_hash(const ft_op *op);
/* The same of the operation's layer, whatever its batch: every first extent of its
 * operands taken out, of rotations the tokens of each sequence, too. */
uint64_t ft__op_layer_hash(const ft_op *op);
/* Start an operation: all keys at their defaults, forward, plain. */
void ft__op_init(ft_op *op, ft_kind k, ft_dtype t);
/* Set the values of a key. Keys are set in canonical order, each at most once.
 * 0 when the kind has no such key, the order is broken or there are too many. */
int ft__op_set(ft_op *op, ft_key_id key, const int64_t *values, uint32_t n);
/* What is not set has its default. */
void ft__op_clear(ft_op *op, ft_key_id key);
int ft__op_set1(ft_op *op, ft_key_id key, int64_t value);
int ft__op_set_shape(ft_op *op, ft_key_id key, const ft_shape *s);
void ft__op_set_wrt(ft_op *op, uint32_t bits);
/* The operation in the forward pass: what a backward one is the gradient of. */
ft_op ft__forward_of(const ft_op *op);
/* A cast; a view where its operand has that type already: PyTorch answers with the
 * operand. */
ft_op ft__op_cast_same(const ft_op *cast);
int ft__phase_from_name(ft_phase *p, const char *name, size_t len);

#endif
