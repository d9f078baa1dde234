#ifndef PTX_COUNT_AFFINE_H
#define PTX_COUNT_AFFINE_H

#include <string.h>

#include "ptx/eval/eval.h"

/* One thread block is executed for all that do the same. How a value differs in others
 * is an affine expression, a sum of whole multiples of symbols:
 *
 *   value in another block = value here + a0 * s0 + a1 * s1 + ...   (mod 2^bits)
 *
 * where symbols 0 to 2 are how far the block is away in x, y and z, the next ones other
 * values of a whole block (symbol.kind), the last ones how many rounds a loop is ahead.
 * Whatever is decided on the way bounds affine expressions; a block in which all bounds
 * hold goes the same way. Affine expressions are numbers, 0 is the one without symbols.
 */

enum { FT__SYMBOLS = 16, FT__FIRST_DERIVED = 3, FT__FIRST_LOOP = 11 };

typedef struct ft__affine {
    int64_t a[FT__SYMBOLS];
    int64_t low, high; /* the affine expression is between, where all bounds hold */
    uint32_t symbols;  /* bits of those that are not 0 */
} ft__affine;

typedef struct ft__affine_variable {
    const ft__ptx_function *f;
    const ft__ptx_insn *i; /* what computes it; NULL: source over divisor, down */
    uint64_t source[5], value;
    uint32_t affine[5], source_bits[5], n_source;
    int64_t divisor;
    uint32_t bits;
    bool is_signed;
} ft__affine_variable;

/* A bound that is not held yet. */
typedef struct ft__affine_bound {
    uint32_t affine;
    int64_t low, high;
} ft__affine_bound;

typedef struct ft__affines {
    ft__affine *affine;
    uint32_t *slot, n,
        size; /* a hash table of affine expressions; size is a power of two */
    ft__affine_variable symbol[FT__SYMBOLS];
    uint32_t n_symbols; /* in use from FIRST_DERIVED on, as index behind the last */
    ft__affine_bound *later; /* bounds that ft__affines_hold_later() holds */
    size_t n_later, most_later;
    bool put_off; /* bounds wait for it */
    bool derived; /* set where a symbol is asked for */
    bool short_of_memory;
} ft__affines;

/* None but 0, without any bounds; false: out of memory. From zeros at first. */
bool ft__affines_begin(ft__affines *w);
void ft__affines_free(ft__affines *w);
/* Affine expressions and symbols of another one; false: out of memory. */
bool ft__affines_copy(ft__affines *w, const ft__affines *from);
/* Bounds met while w->put_off hold from now on. */
void ft__affines_hold_later(ft__affines *w);
void ft__affine_put_off(ft__affines *w, uint32_t affine, int64_t low, int64_t high);

/* The one of these factors. */
uint32_t ft__affine_intern(ft__affines *w, const int64_t a[FT__SYMBOLS]);
/* a + factor * b, numbers of so many bits. */
uint32_t ft__affine_sum(ft__affines *w, uint32_t a, uint32_t b, int64_t factor,
                        uint32_t bits);
/* The symbol of what is computed from values of a whole block, as an affine expression.
 * 0: no room.
 */
uint32_t ft__affine_derive(ft__affines *w, const ft__affine_variable *s);

static inline const ft__affine *ft__affine_at(const ft__affines *w, uint32_t affine)
{
    return &w->affine[affine];
}

/* The one of symbol k alone. */
static inline uint32_t ft__affine_symbol(ft__affines *w, uint32_t k)
{
    int64_t a[FT__SYMBOLS] = {0};

    a[k] = 1;
    return ft__affine_intern(w, a);
}

/* Without a symbol. */
static inline uint32_t ft__affine_without(ft__affines *w, uint32_t affine, uint32_t k)
{
    int64_t a[FT__SYMBOLS];

    if (!w->affine[affine].a[k])
        return affine;
    memcpy(a, w->affine[affine].a, sizeof(a));
    a[k] = 0;
    return ft__affine_intern(w, a);
}

static inline bool ft__affine_of_loops(const ft__affines *w, uint32_t affine)
{
    return w->affine[affine].symbols >> FT__FIRST_LOOP != 0;
}

/* From now on low <= affine expression <= high is known to hold; 0 is always between.
 */
static inline void ft__affine_hold(ft__affines *w, uint32_t affine, int64_t low,
                                   int64_t high)
{
    ft__affine *f = &w->affine[affine];

    if (!affine)
        return;
    if (w->put_off) {
        ft__affine_put_off(w, affine, low, high);
        return;
    }
    if (low > f->low)
        f->low = low;
    if (high < f->high)
        f->high = high;
}

static inline void ft__affine_pin(ft__affines *w, uint32_t affine)
{
    ft__affine_hold(w, affine, 0, 0);
}

#endif
