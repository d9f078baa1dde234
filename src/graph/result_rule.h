#ifndef GRAPH_RESULT_RULE_H
#define GRAPH_RESULT_RULE_H

#include "foretell/op.h"

/* Attributes of windows: small enough that products of two stay in int64_t. */
#define FT__MAX_WINDOW ((int64_t)1 << 30)

/* How the results follow from the keys: the third column of ops.def. */
enum ft__result_rule {
    FT__RULE_SAME,
    FT__RULE_SAME_BOOL,
    FT__RULE_CAST,
    FT__RULE_CONV,
    FT__RULE_CONV_TRANSPOSE,
    FT__RULE_LINEAR,
    FT__RULE_MATMUL,
    FT__RULE_POOL,
    FT__RULE_GLOBAL_POOL,
    FT__RULE_BROADCAST,
    FT__RULE_BROADCAST_BOOL,
    FT__RULE_WHERE,
    FT__RULE_REDUCE,
    FT__RULE_ARG,
    FT__RULE_TRANSPOSE,
    FT__RULE_CONCAT,
    FT__RULE_SPLIT,
    FT__RULE_OUT,
    FT__RULE_GATHER,
    FT__RULE_EMBEDDING,
    FT__RULE_ATTENTION,
    FT__RULE_RNN,
    FT__RULE_LOSS,
    FT__RULE_TOPK,
    FT__RULE_LIKE_Y,
};

extern const enum ft__result_rule ft__result_rules[FT_KIND_COUNT];

/* x with the sum of sizes (part < 0) or one of them along axis. */
ft_shape ft__along_axis(const ft_op *op, int64_t part);

#endif
