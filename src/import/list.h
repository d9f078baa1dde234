#ifndef IMPORT_LIST_H
#define IMPORT_LIST_H

#include "graph/build.h"

/* For a spec list: an operation with invented operands, `count` times. */
void ft__list_op(ft__build *b, const char *name, size_t name_len, const ft_op *op,
                 uint64_t count);

#endif
