/* Models as text, and what becomes of them as text. */
#ifndef ONNX_CASES_H
#define ONNX_CASES_H

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "foretell/graph.h"
#include "graph/graph_inside.h"
#include "import/graph_inside.h"
#include "onnx_text.h"

/* The model written as text; err may be NULL. */
static inline ft_graph *import(const char *text, const ft_import_options *opt,
                               ft_error *err)
{
    size_t len;
    uint8_t *data = onnx_from_text(text, &len);
    ft_graph *g = NULL;

    CHECK(data != NULL);
    if (data)
        (void)ft__onnx_import(&g, data, len, "m.onnx", opt, err);
    free(data);
    return g;
}

static inline size_t print_dim(char *to, size_t size, const ft_tensor *t, uint32_t i)
{
    if (t->open >> i & 1)
        return (size_t)snprintf(to, size, "%s<=%lld", i ? "," : "",
                                (long long)t->shape.dim[i]);
    return (size_t)snprintf(to, size, "%s%lld", i ? "," : "",
                            (long long)t->shape.dim[i]);
}

/* "fp32 2,<=3; seq(fp32) *": dtype and shape of every result. */
static inline void print_results(const ft_graph *g, char *buf, size_t size)
{
    size_t at = 0;

    for (uint32_t k = 0; k < g->n_outputs; k++) {
        const ft_tensor *t = &g->tensor[g->output[k]];
        const char *how = t->container == 0                       ? "%s%s "
                          : t->container == FT_CONTAINER_SEQUENCE ? "%sseq(%s) "
                          : t->container == FT_CONTAINER_OPTIONAL ? "%sopt(%s) "
                                                                  : "%sopt(seq(%s)) ";

        at += (size_t)snprintf(buf + at, size - at, how, k ? "; " : "",
                               ft_dtype_name(t->dtype));
        if (t->open & FT_OPEN_RANK)
            at += (size_t)snprintf(buf + at, size - at, "*");
        for (uint32_t i = 0; i < t->shape.rank && !(t->open & FT_OPEN_RANK); i++)
            at += print_dim(buf + at, size - at, t, i);
    }
}

/* "3 relu x=... " for every node that computes. */
static inline void print_nodes(const ft_graph *g, char *buf, size_t size)
{
    size_t at = 0;

    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *n = &g->node[i];
        const ft_op *op = &g->op[n->op];
        char spec[512];

        if (op->kind == FT_KIND_view)
            continue;
        ft_op_print(op, spec, sizeof(spec));
        *strstr(spec, " dtype") = '\0';
        at += (size_t)snprintf(buf + at, size - at, "%llu %s\n",
                               (unsigned long long)n->repeat, spec);
    }
}

struct flow {
    const char *why;
    const char *model;
    const char *results;
    const char *nodes; /* NULL: any */
};

static inline void check_flows(const struct flow *cases, size_t n,
                               const ft_import_options *opt)
{
    for (size_t i = 0; i < n; i++) {
        ft_error err = {0};
        char results[1024] = "", nodes[4096] = "";
        ft_graph *g = import(cases[i].model, opt, &err);

        if (g) {
            print_results(g, results, sizeof(results));
            print_nodes(g, nodes, sizeof(nodes));
        }
        if (strcmp(results, cases[i].results) != 0 ||
            (cases[i].nodes && strcmp(nodes, cases[i].nodes) != 0))
            fprintf(stderr, "case \"%s\" gives\n%s\n%s%s\n", cases[i].why, results,
                    nodes, err.msg);
        CHECK(SAME(results, cases[i].results));
        CHECK(!cases[i].nodes || SAME(nodes, cases[i].nodes));
        ft_graph_free(g);
    }
}

/* Besides: nothing is bounded but what depends on data. */
static inline void check_rules(const struct flow *cases, size_t n)
{
    check_flows(cases, n, NULL);
    for (size_t i = 0; i < n; i++) {
        ft_graph *g = import(cases[i].model, NULL, NULL);

        CHECK(g && EQ(!g->n_bounded, !strpbrk(cases[i].results, "<*")));
        ft_graph_free(g);
    }
}

struct misfit {
    const char *model;
    const char *says;
};

static inline void check_misfits(const struct misfit *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ft_error err = {0};
        ft_graph *g = import(cases[i].model, NULL, &err);

        if (g || strcmp(err.msg, cases[i].says) != 0)
            fprintf(stderr, "refused \"%s\" says \"%s\"\n", cases[i].model, err.msg);
        CHECK(!g && SAME(err.msg, cases[i].says));
        ft_graph_free(g);
    }
}

#define CHECK_MISFITS(cases) check_misfits(cases, sizeof(cases) / sizeof(*(cases)))
/* Specs of nodes in order, one a line; those of views where `views` is not 0. */
static inline void print_specs(const ft_graph *g, char *buf, size_t size, int views)
{
    size_t at = 0;

    buf[0] = '\0';
    for (uint32_t i = 0; i < g->n_nodes && at < size; i++) {
        const ft_op *op = &g->op[g->node[i].op];

        if (op->kind == FT_KIND_view && !views)
            continue;
        at += ft_op_print(op, buf + at, size - at);
        at += (size_t)snprintf(buf + at, at < size ? size - at : 0, "\n");
    }
}

struct good {
    const char *why;
    const char *model;
    const char *specs;
};

static inline void check_specs(const struct good *cases, size_t n, int views)
{
    for (size_t i = 0; i < n; i++) {
        ft_error err = {0};
        char specs[4096] = "";
        ft_graph *g = import(cases[i].model, NULL, &err);

        if (g)
            print_specs(g, specs, sizeof(specs), views);
        if (strcmp(specs, cases[i].specs) != 0)
            fprintf(stderr, "case \"%s\" gives\n%s%s\n", cases[i].why, specs, err.msg);
        CHECK(SAME(specs, cases[i].specs));
        ft_graph_free(g);
    }
}

#define CHECK_SPECS(cases, views)                                                      \
    check_specs(cases, sizeof(cases) / sizeof(*(cases)), views)
#define CHECK_RULES(cases) check_rules(cases, sizeof(cases) / sizeof(*(cases)))
#define CHECK_FLOWS(cases, opt)                                                        \
    check_flows(cases, sizeof(cases) / sizeof(*(cases)), opt)

#endif
