/* A graph as a file for engines that run networks whole. */
#include "measure/graph_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put_tensor(FILE *f, const ft_tensor *t)
{
    const char *role = t->role == FT_ROLE_INPUT    ? "in"
                       : t->role == FT_ROLE_WEIGHT ? "weight"
                                                   : "made";

    fprintf(f, "tensor\t%s %s %s", role, ft_dtype_name(t->dtype),
            t->shape.rank ? "" : "-");
    for (uint32_t d = 0; d < t->shape.rank; d++)
        fprintf(f, "%s%lld", d ? "x" : "", (long long)t->shape.dim[d]);
    fprintf(f, " %s\n", t->name);
}

static void put_list(FILE *f, const uint32_t *tensor, uint32_t n)
{
    fputc('\t', f);
    for (uint32_t i = 0; i < n; i++)
        fprintf(f, "%s%u", i ? " " : "", tensor[i]);
}

static ft_status put_node(FILE *f, const ft_graph *g, const ft_node *n, ft_error *err)
{
    char spec[2048];

    if (n->repeat != 1)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "%s runs %llu times: no engine runs loops whole", n->name,
                       (unsigned long long)n->repeat);
    ft_op_print(&g->op[n->op], spec, sizeof(spec));
    fprintf(f, "op\t%s", spec);
    put_list(f, n->in, n->n_in);
    put_list(f, n->params, n->n_params);
    put_list(f, n->out, n->n_out);
    fputc('\n', f);
    return FT_OK;
}

static ft_status put_all(FILE *f, const ft_graph *g, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < g->n_tensors; i++)
        put_tensor(f, &g->tensor[i]);
    for (uint32_t i = 0; i < g->n_nodes && !st; i++)
        st = put_node(f, g, &g->node[i], err);
    fputs("results", f);
    put_list(f, g->output, g->n_outputs);
    fputc('\n', f);
    return st;
}

ft_status ft__graph_file_write(char path[FT__GRAPH_FILE], const ft_graph *g,
                               ft_error *err)
{
    int fd = mkstemp(strcpy(path, "/tmp/foretell-graph-XXXXXX"));
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    ft_status st = f ? put_all(f, g, err) : FT_OK;

    if (!f || (fclose(f) && !st))
        st = ft_fail(err, FT_EIO, 0, "cannot write %s", path);
    if (!f && fd >= 0)
        close(fd);
    if (st && fd >= 0)
        unlink(path);
    return st;
}
