#ifndef QUERY_ANSWER_H
#define QUERY_ANSWER_H

#include "foretell/version.h"
#include "query/select.h"

/* What many settings or lists take; texts are owned. */
typedef struct ft__many_asked {
    ft_brief *each;
    char **why; /* of each, or NULL */
    size_t n;
} ft__many_asked;

/* A query, and all that was found out. */
typedef struct ft__question {
    ft_query q;
    ft_step step;
    const ft_graph *graph; /* as imported: the query's, or: */
    ft_graph *imported;
    ft_graph *lowered; /* NULL: it is the imported one */
    bool half;         /* the graph was cast from bf16 to fp16 */
    ft__selection s;
    ft__network_estimate e;
    const char
        *no_sensors; /* of this machine, where it is asked about; NULL: of none */
    int64_t max_batch;
    ft__many_asked many;
} ft__question;

/* Takes a->imported and a->lowered when it succeeds. */
ft_status ft__answer_make(ft_answer **out, ft__question *a, ft_error *err);
/* Of each of its operations, W while a network's device is busy with it; NaN: not
 * known. */
const double *ft__answer_network_w(const ft_answer *a);

#endif
