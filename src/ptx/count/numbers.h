#ifndef PTX_COUNT_NUMBERS_H
#define PTX_COUNT_NUMBERS_H

#include "ptx/count/run.h"
#include "ptx/eval/lanes.h"

/* What the bits of a value are as numbers, of the threads of a set: in 64 bits or less
 * while they go through all lanes, in 128 where ends are put together. */

__extension__ typedef __int128 ft__i128;

static inline ft__i128 ft__number(uint64_t v, uint32_t bits, bool is_signed)
{
    return is_signed ? (ft__i128)ft__ptx_signed(v, bits)
                     : (ft__i128)(v & ft__ptx_mask(bits));
}

/* least > most: nobody is there. Of a value that is the same in all threads nobody has
 * to be. */
void ft__number_ends(const ft__run *r, const ft__lane_value *v, uint32_t bits,
                     bool is_signed, const ft__set *who, ft__i128 *least,
                     ft__i128 *most);
/* The least and the most modulo d, rounded down, and the last thread's number; nothing
 * is written where nobody is there. */
void ft__number_remainders(const ft__run *r, const ft__lane_value *v, uint32_t bits,
                           bool is_signed, const ft__set *who, int64_t d,
                           uint64_t *last, int64_t *least, int64_t *most);
/* a - b thread by thread, or the end of what 64 bits hold; how many. */
uint32_t ft__number_differences(int64_t out[FT__MOST_THREADS], const ft__run *r,
                                const ft__lane_value *a, const ft__lane_value *b,
                                uint32_t bits, bool is_signed, const ft__set *who);

#endif
