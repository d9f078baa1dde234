#ifndef SERVE_LLM_MEMORY_H
#define SERVE_LLM_MEMORY_H

#include <stdbool.h>

#include "foretell/llm.h"

/* What a step of a language model says of a server's memory on one of its devices; B.
 */
typedef struct ft__llm_sizes {
    double weights, cache;        /* cache: of a sequence of so many tokens */
    double parameters;            /* how many weights there are */
    double hidden, widest, vocab; /* features of a token; widest: in a layer, in B */
    double ranks;
    int64_t positions; /* as in ft_graph */
} ft__llm_sizes;

/* Of one sequence that decodes with so many tokens in the cache. As ft_query_import().
 */
ft_status ft__llm_memory_sizes(ft__llm_sizes *out, const ft_query *q, double context,
                               ft_error *err);
void ft__llm_memory_of_step(ft__llm_sizes *out, const ft_graph *step);
/* Sequences and tokens of a step of a device with so much memory, as vLLM has them. */
uint64_t ft__llm_step_seqs(double memory_bytes);
uint64_t ft__llm_step_tokens(double memory_bytes);
/* That the largest step takes, with so many tokens and sequences (sorted_logits: to
 * sample from them), ... */
double ft__llm_activations(const ft__llm_sizes *s, double tokens, double seqs,
                           bool sorted_logits);
/* ... and libraries, with CUDA graphs. */
double ft__llm_workspace(const ft__llm_sizes *s, bool graphs);

#endif
