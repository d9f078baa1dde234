#ifndef PTX_COUNT_COUNTER_H
#define PTX_COUNT_COUNTER_H

#include "ptx/ptx_inside.h"
#include "ptx/syntax/module.h"

/* Inside of counting, for tests. */

/* What counting has taken so far: an analysis that has become slow is seen here on any
 * machine. A launch that was counted before takes nothing. */
typedef struct ft__ptx_effort {
    uint64_t blocks;   /* thread blocks that were executed: classes */
    uint64_t repeated; /* and that were not, since an earlier launch had them */
    uint64_t steps;    /* about a nanosecond each */
} ft__ptx_effort;
ft__ptx_effort ft__ptx_counter_effort(const ft__ptx_counter *c);

/* Where `.loc` says that an instruction comes from: the file, NULL for none, and the
 * line in it. */
const char *ft__ptx_source(uint32_t *line, const ft_ptx *m, const ft__ptx_insn *i);

/* Launches that were counted before: networks launch the same kernel the same way again
 * and again. Kept are copies, at most FT__RECALL_BYTES together; where that is not
 * enough, all are dropped and it begins anew. */

enum { FT__RECALL_BYTES = 1 << 24, FT__RECALL_BUCKETS = 256 };

typedef struct ft__recalled {
    struct ft__recalled *next; /* of the same bucket */
    uint64_t hash;
    void *key;
    size_t key_size;
    ft_ptx_counts counts; /* because: NULL, or `why` */
    ft_ptx_tally *item;   /* of the kernel's plan */
    char *why;
} ft__recalled;

typedef struct ft__recall {
    ft__recalled *bucket[FT__RECALL_BUCKETS];
    size_t bytes;
} ft__recall;

/* Borrowed until the next that is kept; NULL: not counted before. */
const ft__recalled *ft__recall_find(const ft__recall *w, const void *key, size_t size);
/* Copies all of it; out of memory it does not. */
void ft__recall_keep(ft__recall *w, const void *key, size_t size,
                     const ft_ptx_counts *counts, const ft_ptx_tally *item,
                     uint32_t n_items);
void ft__recall_free(ft__recall *w);

#endif
