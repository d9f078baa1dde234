#ifndef PTX_COUNT_TRACE_H
#define PTX_COUNT_TRACE_H

#include "ptx/count/run.h"

/* Most parameters decide less than it seems: the n of `i < n` decides who takes part,
 * nothing else. A trace is what one thread block did, and, in order, the steps whose
 * values come from parameters that are free to differ. In another launch the block at
 * that place repeats these steps alone. If its comparisons give what they gave, all
 * else is as it was:
 *
 *   free words -> value -> value -> comparison: must be as it was
 *                                -> address: the access is measured anew
 *
 * Words of parameters are free until more comes from them: what changes in a loop or
 * is accessed there, quotients that are symbols, values of some threads only. */

enum { FT__TRACE_SOURCES = 5, FT__TRACE_RESULTS = 2 };
/* Bytes of traces, of a kernel and of a counter's kernels together. */
enum { FT__MOST_TRACED = 1 << 26 };

typedef struct ft__trace_entry {
    const ft__plan_step *step;
    const ft__active *on;
    ft__lane_value *source; /* [step->n_source]; with `from`: results of entries */
    ft__lane_value *result; /* [step->n_dest]: of comparisons, as they must be */
    uint64_t words;         /* of parameters, that all this is of */
    uint64_t took[FT__SETS];
} ft__trace_entry;

/* Of a launch, before its first block. */
void ft__trace_launch(ft__run *r);
/* What ft__run_block() does, or the same from a trace. */
void ft__trace_block(ft__run *r);
void ft__trace_forget(ft__traces *w); /* all of them */
void ft__trace_free(ft__run *r);

/* ---- while a block is executed: what a step does goes into the trace ---- */

/* Free words that values come from; 0 also where nothing is recorded. */
uint64_t ft__trace_words(const ft__run *r, const ft__lane_value *v, uint32_t n);
/* These words are free no more. */
void ft__trace_bar(ft__run *r, uint64_t words);
/* A step that is about to read parameters, compute from these values, or access memory
 * there; NULL: it has nothing to do with free words. Valid until the next. */
ft__trace_entry *ft__trace_param(ft__run *r, const ft__frame *f, const ft__plan_step *s,
                                 const ft__set *who);
ft__trace_entry *ft__trace_values(ft__run *r, const ft__frame *f,
                                  const ft__plan_step *s, const ft__lane_value *a,
                                  const ft__set *who);
ft__trace_entry *ft__trace_access(ft__run *r, const ft__frame *f,
                                  const ft__plan_step *s, const ft__lane_value *v,
                                  const ft__active *on);
/* Its kth result; what becomes of `from` there. */
uint32_t ft__trace_result(ft__run *r, ft__trace_entry *e, uint32_t k,
                          const ft__lane_value *v);

#endif
