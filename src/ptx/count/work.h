#ifndef PTX_COUNT_WORK_H
#define PTX_COUNT_WORK_H

#include "ptx/syntax/module.h"

/* What one execution of an instruction does, as far as its words say. */

typedef struct ft__traffic {
    uint8_t space, store; /* FT_PTX_LOADED, FT_PTX_STORED */
    uint32_t operand;     /* which of its addresses, from 0 */
    uint32_t bytes;       /* of a thread; 0: not in the text */
} ft__traffic;

/* Memory it moves: at most 2; how many. Atomics load and store. */
uint32_t ft__ptx_traffic(ft__traffic out[2], const ft__ptx_function *f,
                         const ft__ptx_insn *i);
/* Operations of a thread, in the order of ft_ptx_counts.flops; which: 3: none. */
uint32_t ft__ptx_flops(unsigned *which, const ft__ptx_function *f,
                       const ft__ptx_insn *i);
/* Multiplications and additions of a warp on tensor cores; an instruction of a group
 * of four warps gives each a quarter. */
uint64_t ft__ptx_tensor_flops(const ft__ptx_function *f, const ft__ptx_insn *i);
/* Bytes that it reads through descriptors, of a warp of the group likewise. */
uint64_t ft__ptx_descriptor_bytes(const ft__ptx_function *f, const ft__ptx_insn *i);
/* A barrier of the block that a thread waits at. */
bool ft__ptx_waits(const ft__ptx_function *f, const ft__ptx_insn *i);

#endif
