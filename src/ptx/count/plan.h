#ifndef PTX_COUNT_PLAN_H
#define PTX_COUNT_PLAN_H

#include <stdlib.h>

#include "ptx/count/flow.h"
#include "ptx/eval/eval.h"

/* What of a kernel has to be executed to know how often everything is. The values that
 * guards, branches, calls and addresses come from, backwards, get slots; what writes a
 * slot, and what is counted apart from its block, is a step:
 *
 *   plan -> part[]  a function: blocks, slots
 *             -> step[]  per block, in order
 *                  -> source[], dest[]
 *
 * Values that decide what is executed are hard; those that addresses alone come from
 * are soft: they may be rough without a count being wrong. */

#define FT__NO_SLOT UINT32_MAX
enum { FT__SOFT = 1, FT__HARD = 2 };

typedef enum ft__source_kind {
    FT__SOURCE_SLOT,
    FT__SOURCE_CONSTANT,
    FT__SOURCE_SPECIAL, /* index: ft__ptx_sreg */
} ft__source_kind;

typedef struct ft__step_source {
    uint8_t kind;
    uint32_t index;
    uint64_t bits;
} ft__step_source;

typedef enum ft__step_kind {
    FT__STEP_EVAL,    /* dest = what the instruction makes of source */
    FT__STEP_COPY,    /* dest[k] = source[k]: cells */
    FT__STEP_PARAM,   /* dest[k] = the kernel's parameter at `at`, `bytes` each */
    FT__STEP_CONST,   /* dest[k] = memory of .const at source[0] + at */
    FT__STEP_LANES,   /* vote, activemask, elect, shfl */
    FT__STEP_UNKNOWN, /* dest becomes unknown */
    FT__STEP_ON,      /* items: threads with the guard on, warps with one of these */
    FT__STEP_ACCESS,  /* items: requests; sectors or wavefronts. source[0] + at */
    FT__STEP_BARRIER,
    FT__STEP_BRANCH, /* items: jumps, splits; the last of its block, as all below */
    FT__STEP_INDEX,  /* items: jumps, splits; source[0]: the index */
    FT__STEP_LEAVE,
    FT__STEP_CALL, /* `call`: which of the part's */
} ft__step_kind;

typedef struct ft__plan_step {
    uint8_t kind, need; /* FT__SOFT, FT__HARD */
    bool guard_not;
    bool sign;            /* only the sign of what it writes is ever read */
    uint8_t space, store; /* of ACCESS */
    uint32_t bytes;       /* of a thread */
    uint32_t matrix;      /* lanes whose addresses count; 0: all */
    uint32_t guard;       /* slot; NO_SLOT: none */
    uint32_t insn, item, call;
    uint32_t reach; /* of ACCESS: its number among those of global memory */
    uint32_t dest, n_dest, source, n_source;
    uint64_t at;
} ft__plan_step;

/* A place in memory of the function's own: .param of calls, .local. */
typedef struct ft__memory_cell {
    uint32_t variable, slot;
    uint64_t offset, bytes;
} ft__memory_cell;

typedef struct ft__plan_call {
    uint32_t *part; /* what may be called */
    uint32_t n_parts;
    uint32_t pointer; /* slot of the address; NO_SLOT: called by name */
    bool nowhere;     /* only declared, or anything */
    bool noreturn;
    const ft__ptx_operand *result, *arg; /* of the caller's function */
    uint32_t n_results, n_args;
} ft__plan_call;

typedef struct ft__plan_part {
    const ft__ptx_function *f;
    uint32_t function;
    ft__flow flow;
    ft__ptx_operand const **ref; /* leaves of instructions: destinations, sources */
    uint32_t *refs, *ref_s;      /* first of each, first source */
    bool *read;                  /* by register: a source of some instruction */
    uint8_t *need;               /* by register */
    uint32_t *slot;              /* by register */
    uint32_t n_slots;
    uint8_t *bits; /* by slot */
    bool *hard;    /* by slot */
    bool *within;  /* by slot: never read in another block than the one that wrote it */
    bool *signs;   /* by slot: only its sign is ever read */
    ft__memory_cell *cell;
    uint32_t n_cells;
    ft__plan_step *step;
    uint32_t *steps;     /* by block */
    uint32_t first_step; /* number of the first among all parts' */
    ft__step_source *source;
    uint32_t *dest, n_sources, n_dests, n_steps;
    ft__plan_call *call;
    uint32_t n_calls;
    uint32_t *item; /* by block: the first of its items: by warps, by threads, steps' */
    uint32_t **live; /* by block: slots that live where it begins, NO_SLOT last;
                        NULL: no header, or there is no room for the list */
    bool calls;      /* something, anywhere */
    struct ft__origin *origin;
} ft__plan_part;

/* One of the counts has `amount` for each time of an item. */
typedef struct ft__due {
    uint32_t item, at; /* at: where in ft_ptx_counts the tally is */
    uint64_t amount;
} ft__due;

typedef struct ft__count_plan {
    ft__arena arena;
    const ft_ptx *m;
    ft__plan_part *part; /* the kernel's first */
    uint32_t n_parts;
    bool calls;                           /* the kernel does */
    uint32_t first_variable, n_variables; /* those of its parts are among them */
    uint8_t *need;                        /* by variable, from the first on */
    bool *escaped; /* the same: its address goes where it is not followed */
    uint32_t n_steps;
    uint32_t *reach_item, n_reaches; /* by access of global memory */
    uint32_t n_items, barrier;       /* items of the barriers of warps 0 .. 31 */
    ft__due *due;
    size_t n_dues, most_dues;
    bool *reads;         /* by byte of the kernel's parameters: a step reads it */
    ft_ptx_block *block; /* of all parts; NULL: not yet */
    size_t n_blocks;
    ft_ptx_access *access; /* of all parts; NULL: not yet */
    size_t n_accesses;
} ft__count_plan;

/* Of a variable that is a part's own. */
static inline uint8_t *ft__plan_need(const ft__count_plan *p, uint32_t variable)
{
    return &p->need[variable - p->first_variable];
}

ft_status ft__ptx_plan_make(ft__count_plan **out, const ft_ptx *m, uint32_t function,
                            ft_error *err);

static inline void ft__ptx_plan_free(ft__count_plan *p)
{
    if (!p)
        return;
    ft__arena_free(&p->arena);
    free(p->due);
    free(p);
}

/* The slot of a cell; NO_SLOT: there is none. */
uint32_t ft__plan_cell(const ft__plan_part *part, uint32_t variable, uint64_t offset,
                       uint64_t bytes);

/* Element e of what a call passes or gets: of a vector register its components; NULL:
 * there are no more. */
static inline const ft__ptx_operand *
ft__plan_passed(const ft__ptx_function *f, const ft__ptx_operand *o, uint32_t e)
{
    if (o->kind != FT__PTX_VECTOR)
        return e ? NULL : o;
    return e < o->n ? &f->operand[o->index + e] : NULL;
}

/* Registers of the module that two functions know: the first of both. */
static inline uint32_t ft__plan_shared_regs(const ft__plan_part *a,
                                            const ft__plan_part *b)
{
    return a->f->n_module_regs < b->f->n_module_regs ? a->f->n_module_regs
                                                     : b->f->n_module_regs;
}

/* Between the files that make a plan. */

/* A register that always holds the address of a variable, plus something. */
typedef struct ft__origin {
    bool known;
    uint32_t variable;
    uint64_t offset;
} ft__origin;

/* Where a load or store goes to. */
typedef enum ft__memory {
    FT__MEMORY_OTHER,
    FT__MEMORY_PARAM, /* a parameter of the kernel, at one place */
    FT__MEMORY_CELLS, /* one cell per element of memory that is followed */
} ft__memory;
ft__memory ft__plan_memory(ft__origin *at, const ft__count_plan *p,
                           const ft__plan_part *part, const ft__ptx_insn *i);

/* The address among an instruction's operands, `nth` from 0; NULL: none. */
static inline const ft__ptx_operand *
ft__plan_address(const ft__ptx_function *f, const ft__ptx_insn *i, uint32_t nth)
{
    for (uint32_t k = 0; k < i->n_operands; k++) {
        const ft__ptx_operand *o = &f->operand[i->operands + k];

        if (o->kind == FT__PTX_ADDRESS && !nth--)
            return o;
    }
    return NULL;
}

/* In a loop, where a summary may count it for many. */
static inline bool ft__plan_in_loop(const ft__plan_part *part, const ft__plan_step *s)
{
    const ft__flow *flow = &part->flow;
    const ft__flow_block *b = &flow->block[flow->of[s->insn]];

    return b->header ||
           flow->component_first[b->component] != flow->component_last[b->component];
}

static inline uint64_t ft__element_bytes(const ft__ptx_insn *i)
{
    return (ft__ptx_type_bits(i->type[0]) + 7) / 8;
}

/* Parts of a plan, what of them is needed, slots for that; false: out of memory. */
bool ft__plan_slice(ft__count_plan *p, uint32_t kernel);
/* Their steps, items and dues; false: out of memory. */
bool ft__plan_steps(ft__count_plan *p);

#endif
