#ifndef PTX_EVAL_EVAL_H
#define PTX_EVAL_EVAL_H

#include "ptx/syntax/module.h"

/* What instructions compute, for many threads ("lanes") at once. Values are 64 bits a
 * lane, the register's type in the low bits and zeros above; predicates are 0 or 1. */

/* The instruction can be computed from the values of its sources alone: no memory, no
 * other lane, no carry, no clock. */
bool ft__ptx_computable(const ft__ptx_function *f, const ft__ptx_insn *i);

/* d[r][lane] for each of the destinations (first operand; a pair or vector has more; a
 * sink has a place, too), from a[s][lane] for the sources in the order of the operands,
 * vectors unpacked. `!p` among the sources is done here: a has p. Only of a computable
 * instruction; guards are the caller's business. d may be among a. */
void ft__ptx_eval(uint64_t *const *d, const ft__ptx_function *f, const ft__ptx_insn *i,
                  const uint64_t *const *a, uint32_t lanes);

/* Leaves of the operand tree, as ft__ptx_eval() takes them: REG, INT, FLOAT, SPECIAL,
 * VARIABLE, SINK, FUNCTION of a mov. Destinations into d, sources into s; the
 * counts come back. Addresses are their base, list operands are walked. */
typedef struct ft__ptx_leaves {
    const ft__ptx_operand *d[128], *s[160];
    uint32_t n_d, n_s;
} ft__ptx_leaves;
void ft__ptx_leaves_of(ft__ptx_leaves *out, const ft__ptx_function *f,
                       const ft__ptx_insn *i);

/* The value of a leaf that is INT or FLOAT, as the instruction reads it: floats as bits
 * of its type. */
uint64_t ft__ptx_literal(const ft__ptx_insn *i, const ft__ptx_operand *leaf);

/* Where the spaces lie among generic addresses: cvta adds, cvta.to subtracts. */
#define FT__PTX_WINDOW_GLOBAL ((uint64_t)0)
#define FT__PTX_WINDOW_SHARED ((uint64_t)0xfff1 << 48)
#define FT__PTX_WINDOW_LOCAL ((uint64_t)0xfff2 << 48)
#define FT__PTX_WINDOW_CONST ((uint64_t)0xfff3 << 48)
#define FT__PTX_WINDOW_PARAM ((uint64_t)0xfff4 << 48)
#define FT__PTX_WINDOW_SIZE ((uint64_t)1 << 48)

#endif
