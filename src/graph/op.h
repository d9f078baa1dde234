#ifndef GRAPH_OP_H
#define GRAPH_OP_H

#include "foretell/op.h"

/* Elements of all weights of an operation (ft_cost.weight_elements). */
double ft__weight_elements(const ft_op *op);
/* Of a recurrent layer; 0: the kind is none. */
int64_t ft__rnn_gates(ft_kind k);
/* Experts and columns of each that lie on this device, the fullest one. */
int64_t ft__moe_experts(const ft_op *op);
int64_t ft__moe_columns(const ft_op *op);
/* Of those that training changes: without the statistics of a batch norm. */
double ft__trained_elements(const ft_op *op);
double ft__kernel_volume(const ft_op *op);
double ft__last_dim(const ft_op *op, ft_key_id key);

/* ---- shape.c ---- */
/* How the results follow from the keys: the third column of ops.def. */
typedef enum ft__op_rules {
    RULE_SAME,
    RULE_SAME_BOOL,
    RULE_CAST,
    RULE_CONV,
    RULE_CONV_TRANSPOSE,
    RULE_LINEAR,
    RULE_MATMUL,
    RULE_POOL,
    RULE_GLOBAL_POOL,
    RULE_BROADCAST,
    RULE_BROADCAST_BOOL,
    RULE_WHERE,
    RULE_REDUCE,
    RULE_ARG,
    RULE_TRANSPOSE,
    RULE_CONCAT,
    RULE_SPLIT,
    RULE_OUT,
    RULE_GATHER,
    RULE_EMBEDDING,
    RULE_ATTENTION,
    RULE_RNN,
    RULE_LOSS,
    RULE_TOPK,
    RULE_LIKE_Y,
} ft__op_rules;
ft__op_rules ft__op_rule(ft_kind k);
/* Attributes of windows: small enough that products of two stay in int64_t. */
#define FT__MAX_STEP ((int64_t)1 << 30)
/* Results of the forward pass; a dimension that does not fit is -1. */
uint32_t ft__n_results(const ft_op *op);
ft_shape ft__result(const ft_op *op, uint32_t i);
/* x with the sum of sizes (part < 0) or one of them along axis. */
ft_shape ft__along_axis(const ft_op *op, int64_t part);

/* All of them together. */
typedef struct ft__results {
    double elements;
    double bytes;
} ft__results;
ft__results ft__results_of(const ft_op *op);

/* ---- flops.c ---- */
/* results: elements of the forward pass's. */
double ft__flops(const ft_op *op, double results);
double ft__transcendentals(const ft_op *op, double results);

#endif
