/* Training steps made of small networks, and what they consist of. */
#ifndef TRAIN_STEP_H
#define TRAIN_STEP_H

#include "graph/graph_inside.h"
#include "nets.h"

enum { TEXT = 4096 };

static inline ft_graph *train(ft_graph *g, ft_optimizer optimizer, ft_loss loss)
{
    const ft_step_options opt = {.optimizer = optimizer, .loss = loss};
    ft_graph *step = NULL;
    ft_error err = {0};

    if (g && ft__graph_train(&step, g, &opt, &err))
        fprintf(stderr, "%s\n", err.msg);
    CHECK(step != NULL);
    ft_graph_free(g);
    return step;
}

/* The specs of a phase without dtype, one a line. */
static inline void text_of(const ft_graph *g, ft_phase phase, char *text)
{
    size_t at = 0;

    text[0] = 0;
    for (uint32_t i = 0; g && i < g->n_nodes && at < TEXT; i++) {
        const ft_node *n = &g->node[i];
        char spec[512], *dtype;

        if (n->phase != phase)
            continue;
        ft_op_print(&g->op[n->op], spec, sizeof(spec));
        dtype = strstr(spec, " dtype=fp32");
        if (dtype)
            memmove(dtype, dtype + 11, strlen(dtype + 11) + 1);
        at += (size_t)snprintf(text + at, TEXT - at, "%s\n", spec);
    }
}

static inline void expect(const ft_graph *g, ft_phase phase, const char *want)
{
    char text[TEXT];

    text_of(g, phase, text);
    if (strcmp(text, want))
        fprintf(stderr, "--- got\n%s--- want\n%s", text, want);
    CHECK(SAME(text, want));
}

/* The loss is taken as given: no node of its own. */
static inline void expect_backward(ft__build *b, uint32_t output, const char *want)
{
    ft_graph *g = train(finish(b, output), FT_OPTIMIZER_NONE, FT_LOSS_NONE);

    expect(g, FT_PHASE_BACKWARD, want);
    ft_graph_free(g);
}

static inline uint32_t count_role(const ft_graph *g, ft_role role)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_tensors; i++)
        n += g->tensor[i].role == role && g->tensor[i].storage == i;
    return n;
}

#endif
