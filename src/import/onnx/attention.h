#ifndef IMPORT_ONNX_ATTENTION_H
#define IMPORT_ONNX_ATTENTION_H

#include "import/onnx/compose.h"

/* What the rules of attention operators share (rules_ms_attention*.c). */

/* Heads and sizes of one attention. */
typedef struct ft__heads {
    int64_t batch;
    int64_t heads;
    int64_t kv_heads;
    int64_t queries;
    int64_t keys;
    int64_t size;  /* of a query and a key */
    int64_t value; /* of a value */
    bool causal;
    bool mask;
} ft__heads;

/* Features of one head; fails the import where they are none. */
int64_t ft__per_head(const ft__onnx_node *n, int64_t hidden, int64_t heads);
/* The kernel; the node's first result is it in shape s. */
void ft__attend(const ft__onnx_node *n, const ft__heads *h, ft__onnx_value *q,
                ft__onnx_value *k, ft__onnx_value *v, const ft_shape *s);
/* x times a matrix, weights or not. */
ft__onnx_value *ft__project(const ft__onnx_node *n, ft__onnx_value *x,
                            ft__onnx_value *w, ft__onnx_value *bias, ft_dtype to);
/* A result that something reads; else NULL. */
ft__onnx_value *ft__wanted(const ft__onnx_node *n, uint32_t i);

#endif
