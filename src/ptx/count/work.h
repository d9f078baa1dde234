#ifndef PTX_COUNT_WORK_H
#define PTX_COUNT_WORK_H

#include "ptx/syntax/module.h"

/* What one execution of an instruction moves and computes. */

typedef struct ft__work_traffic {
    uint8_t space, store; /* FT_PTX_LOADED, FT_PTX_STORED */
    uint32_t operand;     /* which of its addresses, from 0 */
    uint32_t bytes;       /* of a thread; 0: not in the text */
} ft__work_traffic;

/* Memory it moves: at most 2; how many. Atomics load and store. read: by register, of
 * the whole function. */
uint32_t ft__work_moved(ft__work_traffic out[2], const ft__ptx_function *f,
                        const ft__ptx_insn *i, const bool *read);
/* Operations of a thread, in the order of ft_ptx_counts.flops; which: 3: none. */
uint32_t ft__work_flops(unsigned *which, const ft__ptx_insn *i);
/* Multiplications and additions of a warp on tensor cores; an instruction of a group
 * of four warps gives each a quarter. */
uint64_t ft__work_tensor_flops(const ft__ptx_insn *i);
/* Bytes that it reads through descriptors, of a warp of the group likewise: 64 rows of
 * A, unless that is in registers, and the columns of B, each of k elements; of a sparse
 * A half are there. */
uint64_t ft__work_descriptor_bytes(const ft__ptx_function *f, const ft__ptx_insn *i);

#endif
