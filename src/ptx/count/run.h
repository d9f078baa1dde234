#ifndef PTX_COUNT_RUN_H
#define PTX_COUNT_RUN_H

#include "ptx/count/affine.h"
#include "ptx/count/plan.h"
#include "ptx/eval/lanes.h"

/* Executes the steps of a plan for all threads of one thread block at once. Values are
 * those of that block; affine expressions say how they differ in others and, within a
 * loop summary, rounds ahead of here. */

enum { FT__MOST_THREADS = 1024, FT__SET_WORDS = FT__MOST_THREADS / 64 };
/* Loop summaries within each other, and rounds that one takes together. */
enum { FT__MOST_SUMMARIES = FT__SYMBOLS - FT__FIRST_LOOP, FT__MOST_PERIOD = 64 };
enum { FT__MOST_DEPTH = 200, FT__MOST_CALLS = 24 };
/* Bytes of values kept for loop summaries and ways of splits together. */
enum { FT__MOST_HELD = 1 << 29 };
enum { FT__TRACE_BUCKETS = 256, FT__TRACE_SEEN = 128 };

typedef struct ft__set {
    uint64_t w[FT__SET_WORDS];
} ft__set;

/* Threads that are there for sure, as far as can be guessed, and at most. */
enum { FT__SURE, FT__GUESS, FT__MAYBE, FT__SETS };
typedef struct ft__active {
    ft__set of[FT__SETS]; /* known: only MAYBE, which all are */
    bool known;
} ft__active;

typedef struct ft__lane_value {
    uint64_t base, *lane;  /* of every thread where lane is NULL */
    uint64_t *own, *masks; /* room for lane and unknown; NULL: not yet */
    uint64_t *unknown;     /* threads; NULL: none */
    uint64_t stamp;        /* another one after each change; 0: of no slot */
    uint32_t affine;
    uint32_t from; /* the entry of a trace, and which result of it; 0: of none */
    bool nothing;  /* unknown in every thread */
    bool rough;    /* affine expression is not known: right in this block only */
    bool fresh;    /* never written */
} ft__lane_value;

/* A loop as it was when its header was met last. */
typedef struct ft__loop {
    ft__lane_value *was, *start; /* of part->live, in order */
    uint64_t *count;             /* room for a loop summary's */
    uint32_t first_item, end_item;
    ft__active active;
    uint64_t walk; /* 0: never */
    uint32_t wait, pause;
    uint32_t period; /* rounds that a loop summary takes together */
    uint64_t launch; /* for which that was found */
    bool open;
    bool plain; /* gone round only: there is no room for what it had */
} ft__loop;

typedef struct ft__frame {
    ft__plan_part *part;
    ft__lane_value *value;
    ft__loop **loop;                 /* by block */
    struct ft__frame *caller, *free; /* free: list of those not in use */
    ft__active back, exited;         /* threads that returned, ended, before the end */
    ft__set left;                    /* that may have gone before the function's end */
    ft__set torn;    /* that may return at several places: with which results is
                        unknown */
    ft__set present; /* that came in */
    ft__set here;    /* in the block that is executed */
    uint32_t depth;
} ft__frame;

/* One round of a loop, or some, executed to be counted for many. */
typedef struct ft__summary {
    ft__frame *frame;
    ft__loop *loop;
    uint64_t walk;
    uint32_t block, symbol, left; /* rounds to go */
    uint32_t wanted; /* more rounds, in which quotients would come out even */
    uint64_t *count; /* of the loop's items when it began, then of the barriers */
    ft__lane_value *start;
    ft__set active;
} ft__summary;

/* Thread blocks of earlier launches. */
typedef struct ft__traces {
    struct ft__trace *bucket[FT__TRACE_BUCKETS];
    size_t bytes;
    uint64_t differed, barred; /* words of parameters: between launches; for good */
    uint64_t free;             /* that may differ: differed, not barred */
    uint8_t *last, *key;       /* parameters; of this launch, all that is not free */
    size_t key_size;
    uint64_t hash, seen[FT__TRACE_SEEN]; /* of keys of the last launches */
    uint32_t next_seen;
    ft__lane_value *result;   /* of entries that are repeated */
    uint8_t *periods;         /* of loops, by block */
    uint64_t repeated, steps; /* of this launch: not executed, and what that saved */
    uint64_t recorded, used, failed; /* of all launches */
    bool on;           /* this launch's key is one that was there before */
    bool off, by_grid; /* by_grid: the size of the grid is read */
} ft__traces;

typedef struct ft__run {
    ft__count_plan *p;
    ft__arena arena;
    ft__affines affines;
    uint32_t threads, words, warps;
    uint32_t grid[3], block[3], at[3]; /* at: of the block that is executed */
    uint32_t cluster[3], dynamic_shared;
    const uint8_t *param, *param_known; /* bytes; which are */
    uint64_t param_bytes;
    ft__set all;
    uint64_t *tid[3], *special[FT__PTX_SREGS];
    uint64_t *count; /* [n_items][FT__SETS] */
    bool *unbounded; /* by item: as often as you like */
    uint64_t *in[5], *out[16];
    struct ft__measured **measured; /* by step of all parts */
    struct ft__memo **memo;         /* by step of all parts */
    struct ft__reach *reach;        /* [p->n_reaches] */
    uint64_t stamps;                /* the last that was given */
    ft__frame **pool;               /* by part: frames not in use */
    ft__summary summary[FT__MOST_SUMMARIES];
    uint32_t n_summaries;
    uint64_t walks, steps, most_steps;
    uint64_t launch;         /* number of this one */
    uint64_t executed;       /* thread blocks, of this launch */
    uint64_t held;           /* bytes that loops and ways of splits keep of values */
    struct ft__trace *trace; /* that is recorded; NULL: none */
    ft__traces traces;
    bool crowded; /* some loop is plain */
    bool stopped, short_of_memory;
    const char *why; /* counts are not exact: the first reason */
    uint32_t why_line, depth;
} ft__run;

static inline bool ft__set_any(const ft__run *r, const ft__set *s)
{
    uint64_t any = 0;

    for (uint32_t k = 0; k < r->words; k++)
        any |= s->w[k];
    return any != 0;
}

static inline bool ft__set_same(const ft__run *r, const ft__set *a, const ft__set *b)
{
    uint64_t other = 0;

    for (uint32_t k = 0; k < r->words; k++)
        other |= a->w[k] ^ b->w[k];
    return other == 0;
}

static inline bool ft__set_has(const uint64_t *w, uint32_t thread)
{
    return w[thread / 64] >> thread % 64 & 1;
}

static inline const ft__set *ft__active_set(const ft__active *t, unsigned which)
{
    return &t->of[t->known ? FT__MAYBE : which];
}

/* What is known of a condition, thread by thread. */
typedef struct ft__lane_condition {
    ft__set holds, open; /* open: unknown; not in holds */
    bool any_open;
} ft__lane_condition;

/* All three sets stand there by themselves. */
static inline void ft__active_spell_out(ft__active *t)
{
    if (t->known) {
        t->of[FT__SURE] = t->of[FT__GUESS] = t->of[FT__MAYBE];
        t->known = false;
    }
}

bool ft__active_same(const ft__run *r, const ft__active *a, const ft__active *b);

/* *to += n * times, at most all bits. */
static inline void ft__add_times(uint64_t *to, uint64_t n, uint64_t times)
{
    uint64_t more;

    if (__builtin_mul_overflow(n, times, &more) ||
        __builtin_add_overflow(*to, more, to))
        *to = UINT64_MAX;
}

void ft__run_count(ft__run *r, uint32_t item, const uint64_t n[FT__SETS]);
/* Once for each warp with an active thread, or for each thread. */
typedef enum ft__unit { FT__WARPS, FT__THREADS } ft__unit;
void ft__run_tally(ft__run *r, uint32_t item, const ft__active *t, ft__unit unit);
/* Room for values that are kept; false: there is none left. */
static inline bool ft__run_hold(ft__run *r, uint64_t bytes)
{
    const bool fits = bytes <= FT__MOST_HELD && r->held <= FT__MOST_HELD - bytes;

    r->held += fits ? bytes : 0;
    return fits;
}
/* Remembers the first reason why counts are not exact. */
void ft__run_inexact(ft__run *r, const ft__frame *f, uint32_t insn, const char *why);

static inline void ft__value_touch(ft__run *r, ft__lane_value *v)
{
    v->stamp = ++r->stamps;
}

/* `now` becomes the slot's for the threads of `who`. */
void ft__value_put(ft__run *r, ft__frame *f, uint32_t slot, const ft__lane_value *now,
                   const ft__set *who, bool hard);
void ft__value_forget(ft__run *r, ft__lane_value *v, const ft__set *who);
/* A source as value; lanes are borrowed. */
void ft__value_get(ft__run *r, ft__lane_value *out, ft__frame *f,
                   const ft__step_source *s);
bool ft__value_own(ft__run *r, ft__lane_value *v); /* lanes of its own, filled */
/* The guard of a step. */
void ft__run_guard(ft__run *r, ft__lane_condition *c, ft__frame *f, uint32_t slot,
                   bool negated);

/* What the bits of a value are as numbers, of the threads of a set: in 64 bits or less
 * while they go through all lanes, in 128 where ends are put together. */

__extension__ typedef __int128 ft__i128;

static inline ft__i128 ft__number(uint64_t v, uint32_t bits, bool is_signed)
{
    return is_signed ? (ft__i128)ft__ptx_signed(v, bits)
                     : (ft__i128)(v & ft__ptx_mask(bits));
}

/* Or the end of what 64 bits hold. */
static inline int64_t ft__held(ft__i128 v)
{
    return v < INT64_MIN ? INT64_MIN : v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static inline uint64_t ft__magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* A step that stays in its block, for those who take part; c: what is known of that. */
void ft__run_step(ft__run *r, ft__frame *f, const ft__plan_step *s,
                  const ft__active *on, const ft__lane_condition *c);

/* How the affine expression of a result comes from those of its sources; false: not
 * simply. */
bool ft__rule(ft__run *r, uint32_t *affine, const ft__plan_part *part,
              const ft__plan_step *s, const ft__lane_value *a, const ft__set *who);
/* Loop summaries. arrive: at a header, from block `from`; false: those there go round
 * for ever.
 */
bool ft__summary_arrive(ft__run *r, ft__frame *f, uint32_t block, uint32_t from,
                        uint64_t walk, const ft__active *t);
/* All loop summaries of a walk, and what began after them, are over. */
void ft__summary_leave(ft__run *r, uint64_t walk);

/* A parameter's value. */
void ft__step_param(ft__run *r, ft__lane_value *out, const ft__plan_part *part,
                    const ft__plan_step *s, uint32_t k);
/* What an instruction makes of values that are known: r->out[], and in *out what all
 * its results have in common. */
void ft__step_eval(ft__run *r, ft__lane_value *out, const ft__plan_part *part,
                   const ft__plan_step *s, const ft__lane_value *a, const ft__set *who);
/* A step that accesses memory, for those who take part. */
void ft__step_access(ft__run *r, ft__frame *f, const ft__plan_step *s,
                     const ft__active *on);
/* Sectors or wavefronts of an access. */
void ft__step_measure(ft__run *r, uint64_t total[FT__SETS], const ft__plan_step *s,
                      const ft__lane_value *v, const ft__active *on);
/* ft__value_put() for these threads puts all of the slot. */
bool ft__value_is_whole(const ft__run *r, const ft__frame *f, uint32_t slot,
                        const ft__set *who);

/* Executes the block at r->at: counts[] and affine expressions' bounds are of it then.
 */
void ft__run_block(ft__run *r);

/* *r, if it is for blocks of that size and has not run out of memory, or a new one. */
ft_status ft__run_for(ft__run **r, ft__count_plan *p, const uint32_t block[3],
                      ft_error *err);
/* Of a new launch, for the blocks that follow: bytes of its parameters, and which of
 * them are known. */
void ft__run_launch(ft__run *r, const ft_ptx_launch *l, const uint8_t *param,
                    const uint8_t *known);
void ft__run_free(ft__run *r);

#endif
