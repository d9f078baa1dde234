#ifndef PTX_COUNT_REACH_H
#define PTX_COUNT_REACH_H

#include "ptx/count/run.h"

/* The sectors of global memory that a launch touches, each counted once. In: addresses
 * of an access as blocks of each class execute it; out: strides, of threads, loops and
 * the grid, of which the addresses are sums; and how many sectors these touch. */

enum { FT__MOST_STRIDES = 24 };

typedef struct ft__stride {
    double by, n; /* bytes, more than 0; how many places */
} ft__stride;

typedef struct ft__reach {
    uint64_t launch, executed; /* for which it was found */
    uint64_t at, last;         /* address of the first thread, at first and now */
    double hop;                /* the least change of it; 0: none */
    double bytes;              /* of a request */
    double weight;             /* requests of the class it was found in */
    double most;               /* sectors; where addresses are not known, all */
    uint32_t each, store;      /* bytes of a thread; direction */
    uint32_t affine, warps;
    uint32_t lanes, n_strides; /* the first are those of threads */
    bool unknown;              /* addresses depend on data, or are not affine */
    ft__stride stride[FT__MOST_STRIDES];
} ft__reach;

/* An access of these threads. */
void ft__reach_access(ft__run *r, const ft__plan_step *s, const ft__lane_value *v,
                      const ft__active *on);
/* A loop goes round n times more. */
void ft__reach_rounds(ft__run *r, const ft__summary *t, uint64_t n);
/* to[]: of the class with most requests so far. */
void ft__reach_class(ft__reach *to, ft__run *r, uint64_t blocks);
/* Sectors that are touched, by direction. Sorts reach[]. */
void ft__reach_sum(uint64_t out[2], const ft__count_plan *p, ft__reach *reach,
                   const ft_ptx_tally *item);

#endif
