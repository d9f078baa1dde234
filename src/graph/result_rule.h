#ifndef GRAPH_RESULT_RULE_H
#define GRAPH_RESULT_RULE_H

#include "foretell/op.h"

/* Attributes of windows: small enough that products of two stay in int64_t. */
#define MAX_STEP ((int64_t)1 << 30)

/* How the results follow from the keys: the third column of ops.def. */
enum result_rule {
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
};

extern const enum result_rule ft__result_rules[FT_KIND_COUNT];

/* x with the sum of sizes (part < 0) or one of them along axis. */
ft_shape ft__along_axis(const ft_op *op, int64_t part);

#endif
