#ifndef PTX_COUNT_RECORD_H
#define PTX_COUNT_RECORD_H

#include "ptx/count/run.h"

/* While a block is executed: what a step does goes into the trace (trace.h says what
 * that is). */

enum { FT__TRACE_SOURCES = 5, FT__TRACE_RESULTS = 2 };
/* Bytes of a word of parameters; words that may be free, and entries, at most. */
enum { FT__TRACE_WORD = 4, FT__TRACE_WORDS = 64, FT__TRACE_ENTRIES = 256 };
/* Of an access that is no entry. */
#define FT__NOT_FREE UINT64_MAX

typedef struct ft__trace_entry {
    const ft__plan_step *step;
    const ft__active *on;
    ft__lane_value *source; /* [step->n_source]; with `from`: results of entries */
    ft__lane_value *result; /* [step->n_dest]: of comparisons, as they must be */
    uint64_t words;         /* of parameters, that all this is of */
    uint64_t took[FT__SETS];
} ft__trace_entry;

typedef struct ft__trace {
    struct ft__trace *next; /* of the same bucket */
    uint64_t hash;
    uint8_t *key;
    size_t key_size;
    uint32_t at[3];
    ft__arena arena;
    size_t bytes;
    ft__trace_entry *entry;
    size_t n, most;
    uint64_t *count;         /* without what accesses of entries took */
    struct ft__reach *reach; /* by access of global memory */
    uint64_t *reached;       /* the same: words, or FT__NOT_FREE; 0: not accessed */
    ft__affines affines;
    uint8_t *before, *after; /* by block of instructions: rounds that its loop's summary
                                takes together */
    uint64_t steps;
    bool spoilt;
} ft__trace;

/* Memory of a trace, which is spoilt where there is none: empty, or filled from
 * elsewhere. */
void *ft__trace_room(ft__trace *t, size_t n, size_t size);
void *ft__trace_copy(ft__trace *t, const void *from, size_t n, size_t size);

/* Free words that values come from; 0 also where nothing is recorded. */
uint64_t ft__trace_words(const ft__run *r, const ft__lane_value *v, uint32_t n);
/* These words are free no more. */
void ft__trace_bar(ft__run *r, uint64_t words);
/* A step that is about to read parameters, compute from these values, or access memory
 * there; NULL: it has nothing to do with free words. Valid until the next. */
ft__trace_entry *ft__trace_param(ft__run *r, const ft__frame *f, const ft__plan_step *s,
                                 const ft__set *who);
ft__trace_entry *ft__trace_values(ft__run *r, const ft__frame *f,
                                  const ft__plan_step *s, const ft__lane_value *a,
                                  const ft__set *who);
ft__trace_entry *ft__trace_access(ft__run *r, const ft__frame *f,
                                  const ft__plan_step *s, const ft__lane_value *v,
                                  const ft__active *on);
/* Its kth result; what becomes of `from` there. */
uint32_t ft__trace_result(ft__run *r, ft__trace_entry *e, uint32_t k,
                          const ft__lane_value *v);
/* That result decides: in another launch it must be as it was. */
bool ft__trace_compares(const ft__run *r, const ft__plan_step *s, uint32_t k);

#endif
