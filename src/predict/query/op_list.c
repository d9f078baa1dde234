/* Single operations as a graph that networks' queries take. */
#include "predict/query/op_list.h"

#include "base/buf.h"

ft_status ft__op_list(ft_graph **out, const ft_op *const *op, uint32_t n, ft_error *err)
{
    ft__buf text = {0};
    ft_status st;

    for (uint32_t i = 0; i < n; i++) {
        char spec[1024];

        ft_op_print(op[i], spec, sizeof(spec));
        ft__buf_fmt(&text, "%s\n", spec);
    }
    st = text.bad ? ft_fail(err, FT_ENOMEM, 0, "%u operations", n)
                  : ft_import_ops(out, text.s, text.len, "list", err);
    ft__buf_free(&text);
    if (st || (*out)->n_nodes == n)
        return st;
    st = ft_fail(err, FT_EUNSUPPORTED, 0, "a list of %u operations has %u nodes", n,
                 (*out)->n_nodes);
    ft_graph_free(*out);
    *out = NULL;
    return st;
}
