#ifndef PTX_COUNT_AFFINE_H
#define PTX_COUNT_AFFINE_H

#include "ptx/eval/eval.h"

/* One thread block is executed for all that do the same. How a value differs in others
 * is a form, a sum of whole multiples of symbols:
 *
 *   value in another block = value here + a0 * s0 + a1 * s1 + ...   (mod 2^bits)
 *
 * where symbols 0 to 2 are how far the block is away in x, y and z, the next ones other
 * values of a whole block (symbol.kind), the last ones how many rounds a loop is ahead.
 * Whatever is decided on the way bounds forms; a block in which all bounds hold goes
 * the same way. Forms are numbers, 0 is the one without symbols. */

enum { FT__SYMBOLS = 16, FT__FIRST_DERIVED = 3, FT__FIRST_LOOP = 11 };

typedef struct ft__form {
    int64_t a[FT__SYMBOLS];
    int64_t low, high; /* the form is between, where all bounds hold */
    uint32_t symbols;  /* bits of those that are not 0 */
} ft__form;

typedef struct ft__symbol {
    const ft__ptx_function *f;
    const ft__ptx_insn *i; /* what computes it; NULL: source over divisor, down */
    uint64_t source[5], value;
    uint32_t form[5], source_bits[5], n_source;
    int64_t divisor;
    uint32_t bits;
    bool is_signed;
} ft__symbol;

typedef struct ft__forms {
    ft__form *form;
    uint32_t *slot, n, size; /* a hash table of forms; size is a power of two */
    ft__symbol symbol[FT__SYMBOLS];
    uint32_t n_symbols; /* in use from FIRST_DERIVED on, as index behind the last */
    bool short_of_memory;
} ft__forms;

bool ft__forms_new(ft__forms *w);
void ft__forms_clear(ft__forms *w);
void ft__forms_free(ft__forms *w);

static inline const ft__form *ft__form_at(const ft__forms *w, uint32_t form)
{
    return &w->form[form];
}

/* The one of symbol k alone. */
uint32_t ft__form_symbol(ft__forms *w, uint32_t k);
/* a + factor * b, numbers of so many bits. */
uint32_t ft__form_sum(ft__forms *w, uint32_t a, uint32_t b, int64_t factor,
                      uint32_t bits);
/* factor times the form has factors of less than 62 bits. */
bool ft__form_fits(const ft__forms *w, uint32_t form, int64_t factor);
/* Without a symbol. */
uint32_t ft__form_without(ft__forms *w, uint32_t form, uint32_t k);
/* factors over d: only where it divides them all. */
bool ft__form_divides(const ft__forms *w, uint32_t form, int64_t d);
uint32_t ft__form_over(ft__forms *w, uint32_t form, int64_t d);
bool ft__form_of_loops(const ft__forms *w, uint32_t form);

/* From now on low <= form <= high is known to hold; 0 is always between. */
void ft__form_hold(ft__forms *w, uint32_t form, int64_t low, int64_t high);
void ft__form_pin(ft__forms *w, uint32_t form);

/* Rounds that a loop may be ahead with all bounds holding; UINT64_MAX: any. */
uint64_t ft__form_rounds(const ft__forms *w, uint32_t k);
/* Symbol k has been from 0 to n, and is no more. */
void ft__form_close(ft__forms *w, uint32_t k, uint64_t n);

/* The symbol of what is computed from values of a whole block, as a form. 0: no room.
 */
uint32_t ft__form_derive(ft__forms *w, const ft__symbol *s);

#endif
