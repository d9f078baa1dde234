#ifndef PTX_EVAL_H
#define PTX_EVAL_H

#include "ptx/module.h"

/* What instructions compute, for many threads ("lanes") at once. Values are 64 bits a
 * lane, the register's type in the low bits and zeros above; predicates are 0 or 1. */

/* The instruction can be computed from the values of its sources alone: no memory, no
 * other lane, no clock. */
bool ft__ptx_computable(const ft__ptx_function *f, const ft__ptx_insn *i);

/* d[r][lane] for each of the destinations (first operand; a pair or vector has more),
 * from a[s][lane] for the sources in the order of the operands, vectors unpacked. Only
 * of a computable instruction; guards are the caller's business. d may be among a. */
void ft__ptx_eval(uint64_t *const *d, const ft__ptx_function *f, const ft__ptx_insn *i,
                  const uint64_t *const *a, uint32_t lanes);

/* Leaves of the operand tree, as ft__ptx_eval() takes them: REG, INT, FLOAT, SPECIAL,
 * VARIABLE, SINK. Destinations into d, sources into s; the
 * counts come back. Addresses are their base, list operands are walked. */
typedef struct ft__ptx_leaves {
    const ft__ptx_operand *d[128], *s[160];
    uint32_t n_d, n_s;
} ft__ptx_leaves;
void ft__ptx_leaves_of(ft__ptx_leaves *out, const ft__ptx_function *f,
                       const ft__ptx_insn *i);

#endif
