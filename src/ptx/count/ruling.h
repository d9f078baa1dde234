#ifndef PTX_COUNT_RULING_H
#define PTX_COUNT_RULING_H

#include "ptx/count/run.h"

/* What the rules for affine expressions share. */

/* An instruction whose result wants an affine expression. */
typedef struct ft__ruling {
    ft__run *r;
    const ft__ptx_function *f;
    const ft__ptx_insn *i;
    const ft__lane_value *a;
    const ft__set *who;
    uint32_t n, bits;
    bool is_signed, hard;
    bool sign; /* only the sign of the result is ever read */
} ft__ruling;

static inline bool ft__ruling_has(const ft__ruling *w, unsigned mod)
{
    return ft__ptx_has(w->f, w->i, mod);
}

static inline bool ft__ruling_is_constant(const ft__lane_value *v)
{
    return !v->affine && !v->lane && !v->rough;
}

/* Numbers as they are kept in 32 or 64 bits with a sign: as they are, or where there
 * are as many bits and no sign, less 2^31 or 2^63. */
typedef struct ft__number_keys {
    uint64_t mask, flip, less;
} ft__number_keys;

static inline ft__number_keys ft__number_keys_of(uint32_t bits, bool is_signed,
                                                 uint32_t width)
{
    const uint64_t top = (uint64_t)1 << (bits - 1);

    return (ft__number_keys){ft__ptx_mask(bits), is_signed || bits == width ? top : 0,
                             is_signed ? top : 0};
}

/* Keys of a value, of the threads of `who` in order; one where all have the same. */
uint32_t ft__number_keys_in(int64_t out[FT__MOST_THREADS], const ft__run *r,
                            const ft__lane_value *v, const ft__number_keys *how,
                            const ft__set *who);
/* The ends of a value's numbers; least > most: nobody is there. Of a value that is the
 * same in all threads nobody has to be. */
void ft__number_ends(const ft__run *r, const ft__lane_value *v, uint32_t bits,
                     bool is_signed, const ft__set *who, ft__i128 *least,
                     ft__i128 *most);
/* An affine expression that numbers between these have: they stay numbers of so many
 * bits. */
void ft__ruling_hold_inside(ft__run *r, uint32_t affine, uint32_t bits, bool is_signed,
                            ft__i128 least, ft__i128 most);
/* Bounds so that source k, a number of so many bits, stays between its ends. */
void ft__ruling_no_wrap(const ft__ruling *w, uint32_t k, uint32_t bits, bool is_signed);

/* As ft__rule(). */
bool ft__ruling_select(const ft__ruling *w, uint32_t *affine);
bool ft__ruling_compare(const ft__ruling *w, uint32_t *affine);
bool ft__ruling_least_or_most(const ft__ruling *w, uint32_t *affine); /* min, max */
/* Source k stays a number, and negative or not. */
void ft__ruling_keep_sign(const ft__ruling *w, uint32_t k);

#endif
