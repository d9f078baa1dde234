/* Reading the text of a graph, and what it holds, for tests. */
#ifndef PT2_READ_H
#define PT2_READ_H

#include <stdlib.h>
#include <string.h>

#include "import/pt2/pt2.h"
#include "pt2_text.h"

enum { SPECS = 4096 };

static inline ft_status import(ft_graph **g, const pt2_text *t,
                               const ft_import_options *opt, ft_error *err)
{
    char *copy = malloc(t->n ? t->n : 1);
    ft_status st;

    *g = NULL;
    if (!copy)
        return FT_ENOMEM;
    memcpy(copy, t->s, t->n);
    st = ft__import_pt2_text(g, copy, t->n, "net.pt2", opt, err);
    free(copy);
    return st;
}

/* Operations but views, one a line, "N " before those that occur more often. */
static inline void specs_of(const ft_graph *g, char *out, int views)
{
    size_t n = 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < g->n_ops && n < SPECS - 600; i++) {
        char spec[512];

        if (!views && g->op[i].kind == FT_KIND_view)
            continue;
        ft_op_print(&g->op[i], spec, sizeof(spec));
        if (g->op_count[i] > 1)
            n += (size_t)snprintf(out + n, SPECS - n, "%llu ",
                                  (unsigned long long)g->op_count[i]);
        n += (size_t)snprintf(out + n, SPECS - n, "%s\n", spec);
    }
    if (n)
        out[n - 1] = '\0';
}

#endif
