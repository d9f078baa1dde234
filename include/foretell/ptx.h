#ifndef FT_PTX_H
#define FT_PTX_H

#include "foretell/error.h"

FT_BEGIN_DECLS

/* PTX, the assembly of NVIDIA GPUs: the kernels of a file, and the instructions that a
 * launch executes, counted without a GPU (docs/ptx-counting.md). */

typedef enum ft_ptx_class {
#define FT_PTX_CLASS(e, name, about) FT_PTX_##e,
#include "foretell/ptx_classes.def"
#undef FT_PTX_CLASS
    FT_PTX_CLASSES
} ft_ptx_class;

/* State spaces. Generic addresses count as the space they are derived from, as GENERIC
 * where that is unknown. */
typedef enum ft_ptx_space {
    FT_PTX_GENERIC,
    FT_PTX_GLOBAL,
    FT_PTX_SHARED,
    FT_PTX_LOCAL,
    FT_PTX_CONST,
    FT_PTX_PARAM,
    FT_PTX_TEXTURE,
    FT_PTX_TENSOR_MEMORY, /* tcgen05 */
    FT_PTX_SPACES
} ft_ptx_space;

typedef struct ft_ptx ft_ptx;

typedef struct ft_ptx_param {
    const char *name;
    uint32_t size, align; /* bytes */
    int pointer;          /* 1: declared .ptr, or a 64-bit value used as an address */
} ft_ptx_param;

typedef struct ft_ptx_kernel {
    const char *name;
    const ft_ptx_param *param;
    uint32_t n_params;
    uint32_t required[3], most[3]; /* .reqntid, .maxntid: threads of a block; 0: none */
    uint32_t cluster[3];           /* .reqnctapercluster; 0: none */
    uint32_t blocks_per_sm;        /* .minnctapersm; 0: none */
    uint64_t shared_bytes, local_bytes; /* declared, without what a launch adds */
    uint32_t registers[4];         /* declared: predicates, 16, 32, 64 bits and more */
    uint64_t instructions[FT_PTX_CLASSES]; /* in the text */
    uint32_t line;                 /* where it begins, from 1 */
    const char *source_name;       /* of C++: "nn::softmax<...>"; else name */
} ft_ptx_kernel;
/* Whether a kernel is called `name`: the symbol, or the name in C++, with or without
 * namespace and "<...>". */
FT_API int ft_ptx_is_called(const ft_ptx_kernel *k, const char *name);

/* What a module holds; borrowed from it. */
typedef struct ft_ptx_facts {
    const ft_ptx_kernel *kernel; /* in the order of the text */
    size_t n_kernels;
    uint32_t version;   /* major x 10 + minor */
    const char *target; /* ".target", as written */
    const char *text;
    size_t len;         /* of the text, bytes */
} ft_ptx_facts;
FT_API const ft_ptx_facts *ft_ptx_get(const ft_ptx *m);

/* Estimated registers per thread of kernel i, by liveness (ptxas has the exact number).
 * FT_ENOTFOUND, FT_ENOMEM. */
FT_API ft_status ft_ptx_registers(uint32_t *out, const ft_ptx *m, uint32_t i,
                                  ft_error *err);

/* A scalar's bits, or an address, of which only the alignment matters. Counts that depend
 * on arguments not given are bounds. */
typedef struct ft_ptx_arg {
    const char *name; /* of the parameter; NULL: the one at `index` */
    uint32_t index;
    const void *bytes; /* `size` of them, little endian, borrowed */
    uint32_t size;
} ft_ptx_arg;

typedef struct ft_ptx_launch {
    const char *kernel; /* NULL: the only one */
    uint32_t grid[3], block[3];
    uint32_t cluster[3];      /* 0: none */
    uint32_t dynamic_shared;  /* bytes */
    const ft_ptx_arg *arg;
    uint32_t n_args;
} ft_ptx_launch;

/* Lower bound, estimate, upper bound. All equal: exact. */
typedef struct ft_ptx_tally {
    uint64_t low, value, high;
} ft_ptx_tally;

enum { FT_PTX_LOADED, FT_PTX_STORED };
enum { FT_PTX_WIDTHS = 6 }; /* accesses of 1, 2, 4, 8, 16, 32 bytes a thread */

typedef struct ft_ptx_counts {
    uint64_t blocks, warps, threads; /* of the launch */
    /* Instructions: by warps (smsp__inst_executed of Nsight Compute), by active threads
     * (smsp__thread_inst_executed), and by threads whose guard holds
     * (smsp__thread_inst_executed_pred_on). */
    ft_ptx_tally warp[FT_PTX_CLASSES], thread[FT_PTX_CLASSES], on[FT_PTX_CLASSES];
    ft_ptx_tally bytes[FT_PTX_SPACES][2]; /* by threads whose guard holds; atomics both */
    ft_ptx_tally access[FT_PTX_SPACES][2][FT_PTX_WIDTHS];
    ft_ptx_tally requests[2];   /* of warps to global memory */
    ft_ptx_tally sectors[2];    /* of 32 bytes: 4 per request of contiguous 4-byte words,
                                   up to 32 */
    uint64_t distinct[2];       /* sectors that are touched, each once: an estimate */
    ft_ptx_tally shared[2];     /* requests to shared memory */
    ft_ptx_tally wavefronts[2]; /* cycles of these, bank conflicts included */
    ft_ptx_tally branches, divergent; /* conditional ones of warps; divergent ones */
    ft_ptx_tally barriers;            /* of blocks */
    ft_ptx_tally flops[3];            /* fp32, fp64, fp16: an fma is two */
    ft_ptx_tally tensor_flops;
    ft_ptx_tally descriptor_bytes; /* of shared memory read by wgmma through descriptors,
                                      from its shape and types; not in `bytes` */
    int exact;           /* 1: all of the instruction counts are, and all fit 64 bits */
    const char *because; /* not exact: why, with line; borrowed from the list of
                            launches */
} ft_ptx_counts;

/* A basic block. */
typedef struct ft_ptx_block {
    uint32_t line, last_line;     /* in the PTX file */
    const char *source;           /* file of `.loc`; NULL: none */
    uint32_t source_line;
    const char *label;            /* NULL: none */
    uint32_t instructions;
    ft_ptx_tally warp, thread;    /* times it is entered */
    int exact;
} ft_ptx_block;

/* An instruction that accesses global or shared memory. */
typedef struct ft_ptx_access {
    uint32_t line;          /* in the PTX file */
    const char *source;     /* file of `.loc`; NULL: none */
    uint32_t source_line;
    ft_ptx_space space;
    int stored;             /* FT_PTX_LOADED, FT_PTX_STORED */
    uint32_t bytes;         /* of a thread */
    ft_ptx_tally requests;  /* of warps */
    ft_ptx_tally took;      /* sectors of global memory, wavefronts of shared memory */
} ft_ptx_access;

FT_END_DECLS

#endif
