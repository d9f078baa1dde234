/* Operators that have a rule. Every rules_*.c has a table of its own; a rule is found
 * by domain and name: those of the import's last operators at once, others by a search
 * of all tables. rule_ms_...
 * are of com.microsoft; where it has bytes for reals, scales and zero points are
 * operands, and what they scale is an operation on bytes. */

#include "import/onnx/onnx.h"

const ft__rule_table *const ft__rule_tables[] = {
    &ft__rules_control,      &ft__rules_layer,     &ft__rules_math,
    &ft__rules_matmul,       &ft__rules_ml,        &ft__rules_move,
    &ft__rules_ms_attention, &ft__rules_ms_layers, &ft__rules_ms_products,
    &ft__rules_pick,         &ft__rules_seq,       &ft__rules_shape,
    &ft__rules_signal,       &ft__rules_window,    NULL,
};

static bool is_of(const ft__operator_rule *rule, uint32_t domain, ft__str op)
{
    return (rule->traits & FT__DOMAIN) == domain && op.n && *rule->op == *op.s &&
           ft__str_is(op, rule->op);
}

static const ft__operator_rule *search(uint32_t domain, ft__str op)
{
    for (size_t i = 0; ft__rule_tables[i]; i++)
        for (uint32_t k = 0; k < ft__rule_tables[i]->n; k++)
            if (is_of(&ft__rule_tables[i]->rule[k], domain, op))
                return &ft__rule_tables[i]->rule[k];
    return NULL;
}

const ft__operator_rule *ft__onnx_rule(ft__onnx *o, ft__str domain, ft__str op)
{
    static const struct {
        const char *name;
        uint32_t domain;
    } domains[] = {
        {"", 0},
        {"ai.onnx", 0},
        {"com.microsoft", FT__MICROSOFT},
        {"ai.onnx.ml", FT__ML},
        {"ai.onnx.preview", FT__PREVIEW},
        {"ai.onnx.preview.training", FT__TRAINING},
    };

    for (size_t i = 0; i < sizeof(domains) / sizeof(*domains); i++)
        if (ft__str_is(domain, domains[i].name)) {
            const ft__operator_rule **slot =
                &o->rules_seen[(ft__str_hash(op) + domains[i].domain) % FT__RULES_SEEN];

            if (!*slot || !is_of(*slot, domains[i].domain, op))
                *slot = search(domains[i].domain, op);
            return *slot;
        }
    return NULL;
}
