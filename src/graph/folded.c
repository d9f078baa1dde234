/* Whether a graph was exported for inference: its norms are part of its convolutions.
 */
#include <stdio.h>

#include "foretell/graph.h"

enum bias { OWN, DOUBTFUL, FOLDED };

/* The bias of a module differs from its weight by the word: "conv1.weight" and
 * "conv1.bias", "conv1_w" and "conv1_b". Exporters name what folding made
 * "conv1.weight_bias", or give both a number: "onnx::Conv_498", which others do, too.
 */
static enum bias name_of(const char *weight, const char *bias)
{
    while (*weight && *weight == *bias)
        weight++, bias++;
    if (*bias == 'b' || *bias == 'B')
        return OWN;
    return *weight ? DOUBTFUL : FOLDED;
}

static enum bias bias_of(const ft_graph *g, const ft_node *n)
{
    const ft_op *op = &g->op[n->op];

    if (ft_kind_class(op->kind) != FT_CLASS_CONV || n->phase != FT_PHASE_FORWARD ||
        !ft_op_at(op, FT_K_bias, 0) || n->n_params != 2)
        return OWN;
    return name_of(g->tensor[n->params[0]].name, g->tensor[n->params[1]].name);
}

size_t ft_graph_folded_norms(char *buf, size_t size, const ft_graph *g)
{
    uint32_t found[FOLDED + 1] = {0}, norms = 0, folded;

    if (size)
        *buf = '\0';
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        norms += ft_kind_class(g->op[g->node[i].op].kind) == FT_CLASS_NORM;
        found[bias_of(g, &g->node[i])]++;
    }
    folded = found[FOLDED] + (norms ? 0 : found[DOUBTFUL]);
    if (!folded)
        return 0;
    return (size_t)snprintf(
        buf, size,
        "%u convolutions of %s hold norms that its exporter folded into them for "
        "inference: with its norms the network trains in more memory and time than "
        "this graph; tools/export-pt2 MODULE:FUNCTION --training --input SIZES -o "
        "FILE.pt2 "
        "exports them",
        folded, g->name);
}
