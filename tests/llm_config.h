/* A small language model as a config.json, and what becomes of it. */
#ifndef LLM_CONFIG_H
#define LLM_CONFIG_H

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "import/llm/llm.h"

/* With one more field, or none, in the place of %s. */
static const char small[] =
    "{\"model_type\": \"llama\", \"hidden_size\": 64, \"intermediate_size\": 96,"
    " \"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"num_key_value_heads\": 2,"
    " \"vocab_size\": 100, \"torch_dtype\": \"bfloat16\"%s}";

static inline ft_status import(ft_graph **out, const char *text,
                               const ft__llm_beside *beside,
                               const ft_import_options *opt, ft_error *err)
{
    ft__llm m;
    ft_status st = ft__llm_read(&m, text, strlen(text), beside, "config.json", err);

    *out = NULL;
    return st ? st : ft__llm_step_of(out, &m, "config.json", opt, err);
}

static inline ft_graph *imported(const char *fmt, const char *more,
                                 const ft_import_options *opt)
{
    char text[2000];
    ft_error err = {0};
    ft_graph *g;

    snprintf(text, sizeof(text), fmt, more);
    if (import(&g, text, NULL, opt, &err))
        fprintf(stderr, "%s\n", err.msg);
    CHECK(g);
    return g;
}

/* The largest operation of a kind. */
static inline ft_op op_of(const ft_graph *g, ft_kind kind)
{
    ft_op found = {0};
    double most = -1;

    for (uint32_t i = 0; i < g->n_ops; i++) {
        ft_cost c;

        ft_op_cost(&g->op[i], &c);
        if (g->op[i].kind == kind && c.bytes_read > most) {
            most = c.bytes_read;
            found = g->op[i];
        }
    }
    CHECK_EQ(found.kind, kind);
    return found;
}

static inline void fails(const char *more, const ft_import_options *opt, ft_status st,
                         const char *said)
{
    char text[2000];
    ft_error err = {0};
    ft_graph *g;

    snprintf(text, sizeof(text), small, more);
    CHECK_EQ(import(&g, text, NULL, opt, &err), st);
    CHECK(!g && HAS(err.msg, said));
}

#endif
