#ifndef PTX_COUNT_WALK_H
#define PTX_COUNT_WALK_H

#include <string.h>

#include "ptx/count/run.h"

/* What walks through a function (walk.c), its calls (calls.c) and divergence on unknown
 * conditions (fork.c) have in common: each goes on with walks of its own. */

/* Where a walk goes on. */
typedef struct ft__walk {
    ft__run *r;
    ft__frame *f;
    uint32_t block, from, stop;
    uint64_t walk;
    ft__active t, waiting; /* waiting: at `stop` */
} ft__walk;

static inline void ft__walk_on(ft__walk *w, uint32_t block)
{
    w->from = w->block;
    w->block = block;
}

/* From a block up to `stop`; t becomes who gets there. Ways part, and parts of them are
 * ways. */
void ft__walk_go(ft__run *r, ft__frame *f, uint32_t from, uint32_t stop, ft__active *t);
/* Nothing is executed any more, for this reason. */
void ft__walk_give_up(ft__run *r, const ft__frame *f, uint32_t insn, const char *why);
/* Blocks of a part, from the first up to the end, as often as you like. */
void ft__walk_unbound(ft__run *r, const ft__plan_part *part, uint32_t block,
                      uint32_t end);

/* A frame for threads that come into a part; NULL: out of memory. */
ft__frame *ft__frame_begin(ft__run *r, ft__plan_part *part, ft__frame *caller,
                           const ft__active *t);
void ft__frame_end(ft__run *r, ft__frame *f);
/* `t` loses who ends meanwhile. */
void ft__walk_call(ft__run *r, ft__frame *f, const ft__plan_step *s, ft__active *t,
                   const ft__active *on);

/* On unknown conditions threads go both ways. */

/* A branch at the end of block b, whose condition is unknown for `open` threads. */
void ft__walk_fork(ft__walk *w, ft__active *yes, ft__active *no,
                   const ft__flow_block *b, const ft__set *open);
/* A brx.idx whose target is unknown. */
void ft__walk_anywhere(ft__walk *w, const ft__plan_step *s, uint32_t reconvergence);

static inline void ft__active_nobody(ft__active *t)
{
    memset(t, 0, sizeof(*t));
    t->known = true;
}

static inline bool ft__active_any(const ft__run *r, const ft__active *t)
{
    return ft__set_any(r, &t->of[FT__MAYBE]);
}

/* Those for which it holds, and those for which it does not. */
static inline void ft__active_split(const ft__run *r, ft__active *yes, ft__active *no,
                                    const ft__active *t, const ft__lane_condition *c)
{
    yes->known = no->known = t->known && !c->any_open;
    for (uint32_t k = 0; k < r->words; k++) {
        const uint64_t holds = c->holds.w[k], open = c->any_open ? c->open.w[k] : 0;
        const uint64_t maybe = t->of[FT__MAYBE].w[k];

        yes->of[FT__MAYBE].w[k] = maybe & (holds | open);
        no->of[FT__MAYBE].w[k] = maybe & ~holds;
        if (!yes->known) {
            const uint64_t sure = ft__active_set(t, FT__SURE)->w[k];
            const uint64_t guess = ft__active_set(t, FT__GUESS)->w[k];
            const uint64_t every_other = 0x5555555555555555u & open;

            yes->of[FT__SURE].w[k] = sure & holds;
            no->of[FT__SURE].w[k] = sure & ~(holds | open);
            yes->of[FT__GUESS].w[k] = guess & (holds | every_other);
            no->of[FT__GUESS].w[k] = guess & ~(holds | every_other);
        }
    }
}

static inline void ft__active_join(const ft__run *r, ft__active *t,
                                   const ft__active *more)
{
    if (!t->known || !more->known)
        ft__active_spell_out(t);
    for (unsigned set = t->known ? FT__MAYBE : FT__SURE; set < FT__SETS; set++)
        for (uint32_t k = 0; k < r->words; k++)
            t->of[set].w[k] |= ft__active_set(more, set)->w[k];
}

static inline void ft__active_remove(const ft__run *r, ft__active *t,
                                     const ft__active *gone)
{
    /* Who may have gone is no longer there for sure; who has not for sure may be. */
    if (!t->known || !gone->known)
        ft__active_spell_out(t);
    for (uint32_t k = 0; k < r->words; k++) {
        if (!t->known) {
            t->of[FT__SURE].w[k] &= ~gone->of[FT__MAYBE].w[k];
            t->of[FT__GUESS].w[k] &= ~ft__active_set(gone, FT__GUESS)->w[k];
        }
        t->of[FT__MAYBE].w[k] &= ~ft__active_set(gone, FT__SURE)->w[k];
    }
}

#endif
