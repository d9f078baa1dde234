#ifndef PTX_COUNT_FLOW_H
#define PTX_COUNT_FLOW_H

#include "ptx/syntax/module.h"

/* The control-flow graph of a function, as docs/ptx-counting.md has it: where blocks
 * begin, what follows on what, where threads that part meet again. */

#define FT__FLOW_NONE UINT32_MAX

typedef struct ft__flow_block {
    uint32_t first, end;    /* instructions [first, end), never empty */
    uint32_t next;          /* fallen through to; n: the end; NONE: nothing */
    uint32_t jump;          /* of a bra; n: behind the last instruction; NONE: no bra */
    uint32_t reconvergence; /* nearest post-dominator; n: the end */
    uint32_t component;     /* of blocks that reach each other: its number */
    bool header;            /* a back edge leads here */
} ft__flow_block;

typedef struct ft__flow {
    ft__flow_block *block;
    uint32_t n;
    uint32_t *of;           /* [n_insns + 1]: block of each instruction; the last: n */
    uint32_t *edge, *edges; /* block b leads to edge[edges[b]] ..., n among them */
    uint32_t *component_first, *component_last; /* blocks of a strongly connected
                                                   component lie between these */
    uint32_t n_components;
} ft__flow;

/* FT_ENOMEM. */
ft_status ft__flow_make(ft__flow *out, ft__arena *a, const ft_ptx *m,
                        const ft__ptx_function *f, ft_error *err);

/* How an instruction ends a block. */
typedef enum ft__flow_kind {
    FT__FLOW_ON,     /* not at all */
    FT__FLOW_BRANCH, /* bra */
    FT__FLOW_INDEX,  /* brx.idx */
    FT__FLOW_LEAVE,  /* ret, exit, trap */
    FT__FLOW_CALL,
} ft__flow_kind;

static inline ft__flow_kind ft__flow_kind_of(const ft__ptx_insn *i)
{
    switch (i->opcode) {
    case FT__PTX_BRA: return FT__FLOW_BRANCH;
    case FT__PTX_BRX: return FT__FLOW_INDEX;
    case FT__PTX_RET:
    case FT__PTX_EXIT:
    case FT__PTX_TRAP: return FT__FLOW_LEAVE;
    case FT__PTX_CALL: return FT__FLOW_CALL;
    default: return FT__FLOW_ON;
    }
}

/* What a brx.idx or a call through a register lists; NULL: nothing. */
const ft__ptx_targets *ft__flow_targets(const ft__ptx_function *f,
                                        const ft__ptx_insn *i);

#endif
