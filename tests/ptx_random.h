#ifndef PTX_RANDOM_H
#define PTX_RANDOM_H

#include <stdint.h>

#include "foretell/ptx.h"

/* Structured PTX programs from a seed: nested branches, loops of many kinds, breaks out
 * of several, returns and exits under guards, indexed branches, calls, predicated
 * instructions, and accesses within one buffer, which is the first argument. They end.
 */

typedef struct ptx_random {
    char *text; /* a module with one kernel; owned */
    ft_ptx_launch launch;
    ft_ptx_arg arg[4];
    uint64_t address; /* of the buffer, PTX_RANDOM_BYTES of it */
    uint32_t number[2];
    int64_t wide;
    int depends; /* 1: branches depend on what the buffer holds */
} ptx_random;

enum { PTX_RANDOM_BYTES = 1 << 16 };

/* `size` statements, more or less. 0: out of memory. */
int ptx_random_make(ptx_random *out, uint64_t seed, uint32_t size, int depends);
void ptx_random_free(ptx_random *p);

#endif
