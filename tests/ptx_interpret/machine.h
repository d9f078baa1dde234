#ifndef PTX_INTERPRET_MACHINE_H
#define PTX_INTERPRET_MACHINE_H

#include "ptx/eval/eval.h"
#include "ptx_interpret/interpret.h"

/* What the interpreter is made of. A block's warps, each with a stack of frames (one a
 * call), each with a stack of entries: lanes that go on together from `pc` until they
 * are at `reconvergence`, where the entry below takes over. */

enum { FT__PTX_LANES = 32 };
#define FT__PTX_NOWHERE UINT32_MAX

typedef struct ft__ptx_entry {
    uint32_t pc, reconvergence, mask;
} ft__ptx_entry;

/* What is known of a function before it runs. */
typedef struct ft__ptx_code {
    const ft__ptx_function *f;
    uint32_t
        *reconvergence; /* of each instruction: where its sides meet, if it splits */
    bool *computable;   /* by ft__ptx_eval() */
    uint64_t *warp, *thread, *on;
    uint64_t param_size, shared_base;
} ft__ptx_code;

typedef struct ft__ptx_frame {
    const ft__ptx_code *code;
    const ft__ptx_insn *call; /* in the frame below; NULL: the kernel's own */
    uint64_t *reg;            /* [n_regs][lanes] */
    uint8_t *param, *local;   /* [lanes][size] each */
    ft__ptx_entry *entry;
    size_t n, cap;
    uint32_t mask; /* lanes that came in */
} ft__ptx_frame;

typedef struct ft__ptx_warp {
    ft__ptx_frame *frame;
    size_t n, cap;
    uint32_t number, alive, carry; /* lanes; carry: of add.cc, one bit a lane */
    uint32_t waiting_on;           /* lanes at the barrier */
    const ft__ptx_insn *waiting;   /* NULL: not at a barrier */
    uint32_t barrier, expected;
} ft__ptx_warp;

typedef struct ft__ptx_machine {
    const ft_ptx *m;
    const ft_ptx_launch *l;
    const ft__ptx_run_options *opt;
    ft__ptx_code *code; /* of each function */
    ft__ptx_warp *warp; /* of the block that runs */
    uint32_t n_warps, kernel, threads;
    uint32_t ctaid[3];
    uint32_t arrived[16]; /* threads that arrived without waiting, a barrier each */
    uint8_t *shared, *global, *constant, *params;
    uint64_t shared_size, dynamic_base, global_size, constant_size, steps;
    ft_ptx_counts *count; /* only .value, until the end */
    ft_error *err;
    ft_status st;
} ft__ptx_machine;

/* The instruction that a warp is at. */
typedef struct ft__ptx_step {
    ft__ptx_machine *k;
    ft__ptx_warp *w;
    ft__ptx_frame *frame;
    const ft__ptx_function *f;
    const ft__ptx_insn *i;
    uint32_t here, on; /* lanes there; whose guard holds */
    const ft__ptx_leaves *leaf;
} ft__ptx_step;

/* Where variables of the module's .global space lie. */
#define FT__PTX_GLOBAL_BASE ((uint64_t)0xffe0 << 48)

/* Fails once: what comes later does not replace it. */
FT_PRINTF(3, 4) void ft__ptx_stop(ft__ptx_step *s, int lane, const char *fmt, ...);
FT_PRINTF(2, 3) void ft__ptx_unsupported(ft__ptx_step *s, const char *fmt, ...);

/* Value of a leaf in all lanes: a register as it lies there, else into `own`. */
const uint64_t *ft__ptx_value(const ft__ptx_step *s, const ft__ptx_operand *o,
                              uint64_t own[FT__PTX_LANES]);
/* Into a destination, on the lanes of `mask`; anything but a register takes it
 * silently. */
void ft__ptx_put(const ft__ptx_step *s, const ft__ptx_operand *o, const uint64_t *v,
                 uint32_t mask);

/* Where sides of a split at each instruction meet: FT__PTX_NOWHERE or an index. */
ft_status ft__ptx_reconvergence(uint32_t *reconvergence, const ft__ptx_function *f);
ft_status ft__ptx_enter(ft__ptx_machine *k, ft__ptx_warp *w, uint32_t function,
                        uint32_t mask, const ft__ptx_insn *call);
void ft__ptx_leave(ft__ptx_warp *w);
void ft__ptx_do_branch(ft__ptx_step *s);
void ft__ptx_do_call(ft__ptx_step *s);
void ft__ptx_do_return(ft__ptx_step *s);
void ft__ptx_do_exit(ft__ptx_warp *w, uint32_t lanes);
/* What the callee left goes to the caller; its frame goes. */
void ft__ptx_finish_call(ft__ptx_machine *k, ft__ptx_warp *w);

void ft__ptx_do_barrier(ft__ptx_step *s);
/* Lets those go who wait at a barrier that is complete. False: it is not. */
bool ft__ptx_release(ft__ptx_machine *k, uint32_t id);

/* One access of a warp: the lanes of `mask`, `size` bytes each. */
typedef struct ft__ptx_access {
    uint64_t address[FT__PTX_LANES];
    uint32_t mask, size;
    uint8_t space; /* ft_ptx_space; GENERIC: the address says */
    bool loads, stores;
} ft__ptx_access;

/* Addresses of an ADDRESS operand, and the space that it means. */
void ft__ptx_addresses(ft__ptx_step *s, const ft__ptx_operand *o, ft__ptx_access *a);
/* The bytes at an address; NULL: stopped. */
uint8_t *ft__ptx_bytes_at(ft__ptx_step *s, unsigned space, int lane, uint64_t address,
                          uint32_t size);
void ft__ptx_count_access(ft__ptx_step *s, const ft__ptx_access *a);
void ft__ptx_do_load(ft__ptx_step *s);
void ft__ptx_do_store(ft__ptx_step *s);
void ft__ptx_do_atomic(ft__ptx_step *s);
void ft__ptx_do_copy(ft__ptx_step *s);

void ft__ptx_do_warp(ft__ptx_step *s);
void ft__ptx_do_carry(ft__ptx_step *s);
void ft__ptx_do_matrix(ft__ptx_step *s); /* ldmatrix, stmatrix, movmatrix */
void ft__ptx_do_mma(ft__ptx_step *s);
void ft__ptx_do_wmma(ft__ptx_step *s);

/* FLOPs of an issued instruction. */
void ft__ptx_count_flops(ft__ptx_step *s);

/* Of a frame of the function; the module's lie in the first frame of a warp. */
static inline uint64_t ft__ptx_local_bytes(const ft__ptx_machine *k,
                                           const ft__ptx_function *f)
{
    return f->local_bytes > k->m->local_bytes ? f->local_bytes : k->m->local_bytes;
}

static inline int ft__ptx_lowest(uint32_t mask)
{
    int at = 0;

    while (at < 32 && !(mask >> at & 1))
        at++;
    return at;
}

static inline uint32_t ft__ptx_count_lanes(uint32_t mask)
{
    uint32_t n = 0;

    for (; mask != 0; mask &= mask - 1)
        n++;
    return n;
}

#endif
