#ifndef PTX_MEASURE_BLOCKS_H
#define PTX_MEASURE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "foretell/ptx.h"

/* A counter in front of every basic block of a module, so that a GPU itself counts what
 * it executes. */

typedef struct block {
    const char *function; /* of the module */
    uint32_t line, instructions;
} block;

typedef struct blocks {
    char *text; /* of the module with its counters */
    block *at;
    uint32_t n;
    uint32_t per; /* counters of a block: threads, and warps where the ISA can tell */
} blocks;

/* The counters are the array `foretell_counters` of n x per 64-bit integers in global
 * memory. Warps count as often as a group of their threads comes along together. */
ft_status blocks_insert(blocks *out, const ft_ptx *m, ft_error *err);
void blocks_free(blocks *b);

#endif
