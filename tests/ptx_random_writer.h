#ifndef PTX_RANDOM_WRITER_H
#define PTX_RANDOM_WRITER_H

#include <stdint.h>

#include "base/buf.h"
#include "base/prng.h"

/* Registers by what they hold:
 *   %r0 .. %r11  ids, sizes and parameters, never written again
 *   %v0 .. %v9   variables, computed from these
 *   %c0 .. %c5   counters of the loops around
 *   %l0 .. %l3   variables of 64 bits
 *   %d0 .. %d5   what came out of memory; conditions use it only where they may
 *   %f0 .. %f5   floats, %h0 .. %h3 pairs of halves, %g floats of conditions
 *   %t, %p, %a   each written once: conditions, predicates, addresses */
enum {
    FIXED = 12,
    VARIABLES = 10,
    COUNTERS = 6,
    WIDE = 4,
    DATA = 6,
    FLOATS = 6,
    HALVES = 4
};

typedef struct loop {
    uint32_t end; /* label behind it */
    int breaks;   /* some lanes may leave early */
    int at;       /* its counter; -1: none */
} loop;

typedef struct writer {
    ft__prng r;
    ft__buf body;
    uint32_t t, p, a, labels, functions, left, lists;
    uint32_t depth, n_loops;
    loop loops[COUNTERS];
    int in_function, depends, uniform;
} writer;

static inline uint32_t below(writer *w, uint32_t n)
{
    return ft__prng_below(&w->r, n);
}

static inline int chance(writer *w, uint32_t percent)
{
    return below(w, 100) < percent;
}

#define ADD(...) ft__buf_fmt(&w->body, __VA_ARGS__)

/* Up to n statements, of what registers hold and what may stand where w is; the bodies
 * of what they open included. */
void ptx_random_statements(writer *w, uint32_t n);

#endif
