#ifndef IMPORT_LIST_H
#define IMPORT_LIST_H

#include "graph/build.h"

/* For a spec list: an operation with invented operands, `count` times. */
void ft__list_op(ft__build *b, const char *name, size_t name_len, const ft_op *op,
                 uint64_t count);

/* The tensors of its weights, `count` times as large each; how many, at most 3. Scales
 * of blocks are of fp8e8m0, whatever they are: so many bytes, and no parameters. */
uint32_t ft__op_weights(ft__build *b, const ft_op *op, double count,
                        uint32_t params[3]);

#endif
