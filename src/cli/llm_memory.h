#ifndef CLI_LLM_MEMORY_H
#define CLI_LLM_MEMORY_H

#include <jansson.h>
#include <stdbool.h>

#include "foretell/foretell.h"

/* What a server's cache of a language model holds; known: it was asked and is one. */
typedef struct ft__server_memory {
    bool known;
    ft_llm_limits limits;
    ft_llm_memory memory;
} ft__server_memory;

/* For requests of the query's context, as many as its batch. Networks that are no
 * language models stay unknown. */
ft_status ft__server_memory_ask(ft__server_memory *out, const ft_query *q,
                                double memory_bytes, ft_error *err);
void ft__server_memory_print(const ft__server_memory *s);
json_t *ft__server_memory_json(const ft__server_memory *s);

/* Keys, values and states that a step of a language model writes into, which are among
 * its inputs; 0: there are none. */
double ft__cache_bytes(const ft_graph *g);

#endif
