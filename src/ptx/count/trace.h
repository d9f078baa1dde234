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

/* Bytes of traces, of a kernel and of a counter's kernels together. */
enum { FT__MOST_TRACED = 1 << 26 };

/* Of a launch, before its first block. */
void ft__trace_launch(ft__run *r);
/* What ft__run_block() does, or the same from a trace. */
void ft__trace_block(ft__run *r);
void ft__trace_forget(ft__traces *w); /* all of them */
void ft__trace_free(ft__run *r);

#endif
