/* Operators that have a rule. Every rules_*.c has a table of its own; a rule is found
 * by domain and name through an index that lies in the import's arena. rule_ms_...
 * are of com.microsoft; where it has bytes for reals, scales and zero points are
 * operands, and what they scale is an operation on bytes. */
#include <string.h>

#include "import/onnx/onnx.h"

const ft__rule_table *const ft__rule_tables[] = {
    &ft__rules_control,      &ft__rules_layer,     &ft__rules_math,
    &ft__rules_matmul,       &ft__rules_ml,        &ft__rules_move,
    &ft__rules_ms_attention, &ft__rules_ms_layers, &ft__rules_ms_products,
    &ft__rules_pick,         &ft__rules_seq,       &ft__rules_shape,
    &ft__rules_signal,       &ft__rules_window,    NULL,
};

static uint32_t domain_of(const ft__operator_rule *rule)
{
    return rule->traits & FT__DOMAIN;
}

/* Where the rule of an operator stands in the index, or is to stand. */
static const ft__operator_rule **slot_of(const ft__rule_index *x, uint32_t domain,
                                         ft__str op)
{
    uint32_t at = ((uint32_t)ft__str_hash(op) + domain) & x->mask;

    while (x->slot[at] &&
           (domain_of(x->slot[at]) != domain || !ft__str_is(op, x->slot[at]->op)))
        at = (at + 1) & x->mask;
    return &x->slot[at];
}

static bool index_rules(ft__onnx *o)
{
    uint32_t n = 0, size = 64;

    for (size_t i = 0; ft__rule_tables[i]; i++)
        n += ft__rule_tables[i]->n;
    while (size < 2 * n)
        size *= 2;
    o->rules.slot = ft__onnx_alloc(o, size, sizeof(*o->rules.slot));
    o->rules.mask = size - 1;
    for (size_t i = 0; o->rules.slot && ft__rule_tables[i]; i++)
        for (uint32_t k = 0; k < ft__rule_tables[i]->n; k++) {
            const ft__operator_rule *r = &ft__rule_tables[i]->rule[k];

            *slot_of(&o->rules, domain_of(r), (ft__str){r->op, strlen(r->op)}) = r;
        }
    return o->rules.slot != NULL;
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

    if (!o->rules.slot && !index_rules(o))
        return NULL;
    for (size_t i = 0; i < sizeof(domains) / sizeof(*domains); i++)
        if (ft__str_is(domain, domains[i].name))
            return *slot_of(&o->rules, domains[i].domain, op);
    return NULL;
}
