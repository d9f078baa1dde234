/* Opsets 1 to 6, as far as they write shapes otherwise. */
#include <string.h>

#include "import/onnx/onnx.h"

/* Add and its like matched the second operand with the axes from `axis` on: as
 * broadcasting is now, it has ones behind. */
static void align(ft__onnx_node *n)
{
    bool slope = strcmp(n->rule->op, "PRelu") == 0; /* one for each channel */
    int64_t axis = slope ? 1 : ft__attr_int(n, "axis", -1);
    ft__onnx_value *x = ft__in(n, 0), *y = ft__in(n, 1), *aligned;
    ft_shape s;

    if (!x || !y || axis < 0 || (!slope && !ft__attr_int(n, "broadcast", 0)) ||
        axis >= (int64_t)x->shape.rank - (int64_t)y->shape.rank)
        return;
    s = y->shape;
    for (; axis + s.rank < x->shape.rank; s.rank++)
        s.dim[s.rank] = 1;
    aligned = ft__onnx_temp(n, y);
    if (!aligned)
        return;
    ft__emit_view(n, y, aligned, &s);
    n->in[1] = aligned;
}

void ft__onnx_modernise(ft__onnx_node *n)
{
    if (n->rule->run == ft__rule_binary)
        align(n);
}
