#ifndef PTX_COUNT_PATH_H
#define PTX_COUNT_PATH_H

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

/* From a block up to `stop`; t becomes who gets there. */
typedef void ft__way(ft__run *r, ft__frame *f, uint32_t from, uint32_t stop,
                     ft__active *t);
/* A branch at the end of block b, of which for `open` threads nobody knows; `go`: each
 * of both ways. */
void ft__way_unknown(ft__walk *w, ft__active *yes, ft__active *no,
                     const ft__flow_block *b, const ft__set *open, ft__way *go);
/* A brx.idx of which nobody knows where it leads. */
void ft__way_anywhere(ft__walk *w, const ft__plan_step *s, uint32_t reconvergence);

#endif
