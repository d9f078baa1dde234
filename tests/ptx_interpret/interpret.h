#ifndef PTX_INTERPRET_INTERPRET_H
#define PTX_INTERPRET_INTERPRET_H

#include "ptx/ptx_inside.h"
#include "ptx/syntax/module.h"

/* Runs every thread of a launch, memory included: slow, plain, and what the counts are
 * held against. Warps execute in lock step and meet again at the nearest common
 * post-dominator of a split; blocks run one after the other, warps of one in turn from
 * barrier to barrier. */

/* Memory that kernels may touch, at the address they are given as argument. */
typedef struct ft__ptx_memory {
    uint64_t address;
    void *bytes;
    uint64_t size;
} ft__ptx_memory;

typedef struct ft__ptx_run_options {
    const ft__ptx_memory *memory;
    uint32_t n_memory;
    uint64_t most_steps; /* warp instructions; 0: 2^32. Beyond: FT_EUNSUPPORTED */
    /* Times each instruction of the kernel was issued, by warps, by threads, and by
     * those whose guard held; [n_insns] each, NULL: not wanted. */
    uint64_t *warp, *thread, *on;
} ft__ptx_run_options;

/* Runs the launch; counts as ft__ptx_count() gives them, all exact. FT_EUNSUPPORTED: an
 * instruction that it cannot execute, with line; FT_EINVAL: an access outside memory,
 * with line, block and thread. */
ft_status ft__ptx_run(ft_ptx_counts *out, const ft_ptx *m, const ft_ptx_launch *l,
                      const ft__ptx_run_options *opt, ft_error *err);

#endif
