#ifndef PTX_COUNT_PATH_H
#define PTX_COUNT_PATH_H

#include <string.h>

#include "ptx/count/run.h"

/* Between the files of a walk. */

/* Where a walk goes on. */
typedef struct ft__walk {
    ft__run *r;
    ft__frame *f;
    uint32_t block, from, stop;
    uint64_t walk;
    ft__active t, waiting; /* waiting: at `stop` */
} ft__walk;

static inline bool ft__way_anyone(const ft__run *r, const ft__active *t)
{
    return ft__set_any(r, &t->of[FT__MAYBE]);
}

/* From a block up to `stop`; t becomes who gets there. */
void ft__way_walk(ft__run *r, ft__frame *f, uint32_t from, uint32_t stop,
                  ft__active *t);
/* A branch at the end of block b, of which for `open` threads nobody knows. */
void ft__way_unknown(ft__walk *w, ft__active *yes, ft__active *no,
                     const ft__flow_block *b, const ft__set *open);
/* A brx.idx of which nobody knows where it leads. */
void ft__way_anywhere(ft__walk *w, const ft__plan_step *s, uint32_t reconvergence);

#endif
