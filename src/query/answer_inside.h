#ifndef QUERY_ANSWER_INSIDE_H
#define QUERY_ANSWER_INSIDE_H

#include <stdarg.h>
#include <stdbool.h>

#include "base/arena.h"
#include "query/answer.h"

/* An answer that is being made: for answer.c, and remarks.c, which says it in words. */
struct answer {
    ft_answer a; /* what callers see */
    ft__arena arena;
    ft_graph *imported, *lowered;
    ft_totals asked; /* of the graph that was asked about */
    double *network_w;
    bool bad; /* memory was short: sticky */
};

/* Pieces of it; "" and NULL when memory is short. */
const char *ft__answer_vtext(struct answer *x, const char *fmt, va_list ap);
FT_PRINTF(2, 3)
const char *ft__answer_text(struct answer *x, const char *fmt, ...);
void *ft__answer_piece(struct answer *x, size_t n, size_t size);
const char *ft__answer_spec(struct answer *x, const ft_op *op);

void ft__answer_put_assumptions(struct answer *x, const ft__question *q);
void ft__answer_put_warnings(struct answer *x, const ft__question *q);
/* The command that measures it, or why there is none. */
void ft__answer_put_verify(struct answer *x, const ft__question *q);

#endif
