#ifndef ORT_NODE_H
#define ORT_NODE_H

#include "foretell/op.h"
#include "pb.h"

/* What has to be put right in an operand before a kernel may have it: engines take
 * any value, kernels do not. */
typedef enum ft__repair {
    FT__REPAIR_NONE,
    FT__REPAIR_INDEX,   /* wraps around */
    FT__REPAIR_DIVISOR, /* 0 becomes so large that the quotient is 0 */
    FT__REPAIR_MODULUS, /* 0 becomes 1 */
} ft__repair;

/* An operation as an ONNX model of one node, or of the few nodes that exporters
 * write where ONNX has no single operator. Operands are named i0, i1, ..., results
 * o0, ..., weights w0, ...; constants and values in between as their kind likes. */
typedef struct ft__model {
    const ft_op *op;
    const float *const *params; /* given weights; NULL: random */
    uint64_t seed;
    uint32_t n_in, n_out;
    ft_shape in[FT_OP_MAX_OPERANDS]; /* as the model sees them: same elements */
    ft_shape out[FT_OP_MAX_OPERANDS];
    ft_dtype in_type[FT_OP_MAX_OPERANDS], out_type[FT_OP_MAX_OPERANDS];
    uint64_t weight_bytes;
    int64_t opset;
    ft__repair repair; /* of operand `repair_operand` */
    uint32_t repair_operand;
    int64_t repair_extent; /* of the axis that indices lie on */
    const char *why;       /* not NULL: this engine does not run it */
    ft__pb attributes;     /* of the node being written */
    ft__pb graph;
} ft__model;

/* Node `type` with inputs and outputs as names joined by blanks ("-": left out) and
 * the attributes written since the last node. A type "com.microsoft:Name" is in
 * that domain. */
void ft__node(ft__model *m, const char *type, const char *inputs, const char *outputs);
void ft__attr_int(ft__model *m, const char *name, int64_t value);
void ft__attr_ints(ft__model *m, const char *name, const int64_t *values, uint32_t n);
void ft__attr_float(ft__model *m, const char *name, float value);
void ft__attr_text(ft__model *m, const char *name, const char *value);

/* Constants. */
void ft__const_ints(ft__model *m, const char *name, const int64_t *values, uint32_t n);
/* Numbers as the given type; whole types take their whole part. */
void ft__const_numbers(ft__model *m, const char *name, ft_dtype t, const double *values,
                       uint32_t n);
void ft__const_scalar(ft__model *m, const char *name, ft_dtype t, double value);
/* A tensor whose raw bytes the caller writes: NULL when out of memory. */
void *ft__const_raw(ft__model *m, const char *name, ft_dtype t, const ft_shape *s);

/* weights.c: weights as constants w0, w1, ... in the order of ft_op_param(). */
void ft__weights(ft__model *m);
/* A matrix of weights out x in as w0, but in x out. */
void ft__weights_turned(ft__model *m);
/* Those of a recurrent layer: one tensor of all directions each. */
void ft__weights_recurrent(ft__model *m);

/* recipe.c: write the nodes of a recipe. */
void ft__follow(ft__model *m, const char *recipe);
/* kinds.c: write the nodes of m->op; sets why where it cannot. */
void ft__write_nodes(ft__model *m);

/* The model's file; empties m->graph. */
void ft__model_finish(ft__model *m, ft__pb *file);
void ft__model_free(ft__model *m);

#endif
