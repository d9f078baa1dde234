#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

void ft__ops_free(ft__ops *s)
{
    free(s->op);
    free(s->count);
    *s = (ft__ops){0};
}

static bool reserve(ft__ops *s, size_t more)
{
    size_t cap = s->cap ? s->cap : 256;
    ft_op *op;
    uint64_t *count;

    while (cap < s->n + more)
        cap *= 2;
    op = realloc(s->op, cap * sizeof(*op));
    if (op)
        s->op = op;
    count = realloc(s->count, cap * sizeof(*count));
    if (count)
        s->count = count;
    if (op && count)
        s->cap = cap;
    return op && count;
}

bool ft__ops_has(const ft__ops *s, const ft_op *op)
{
    for (size_t i = 0; i < s->n; i++)
        if (ft_op_equal(&s->op[i], op))
            return true;
    return false;
}

bool ft__ops_append(ft__ops *s, const ft__ops *more)
{
    if (!reserve(s, more->n))
        return false;
    if (more->n) {
        memcpy(s->op + s->n, more->op, more->n * sizeof(*s->op));
        memcpy(s->count + s->n, more->count, more->n * sizeof(*s->count));
    }
    s->n += more->n;
    return true;
}

static bool add_graph(ft__ops *s, const ft_graph *g)
{
    if (!reserve(s, g->n_ops))
        return false;
    for (uint32_t i = 0; i < g->n_ops; i++) {
        s->op[s->n] = g->op[i];
        s->count[s->n++] = g->op_count[i];
    }
    return true;
}

int ft__model_add_ops(ft__cli *c, ft__ops *s, const char *path,
                      const ft__model_options *opt, const ft_step *step,
                      uint32_t policy)
{
    ft_graph *g, *lowered = NULL;
    ft_status st;
    int code = ft__model_read(c, &g, path, opt);

    if (code)
        return code;
    st = ft_step_lower(&lowered, g, policy, step, &c->err);
    if (!st && !add_graph(s, lowered ? lowered : g))
        st = ft_fail(&c->err, FT_ENOMEM, 0, "operations");
    ft_graph_free(lowered);
    ft_graph_free(g);
    return ft__cli_check_asked(c, st);
}
