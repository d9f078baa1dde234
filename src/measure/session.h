#ifndef MEASURE_SESSION_H
#define MEASURE_SESSION_H

#include <stdbool.h>

#include "base/clock.h"
#include "foretell/engine.h"
#include "foretell/measure.h"

/* Calibration operations, measured before and after rounds: bound by arithmetic, by a
 * core's own caches, by memory. */
enum {
    FT__CALIBRATE_PRODUCTS,
    FT__CALIBRATE_CACHES,
    FT__CALIBRATE_MEMORY,
    FT__N_CALIBRATIONS
};

struct ft_session {
    const ft_engine *engine;
    ft_engine_context *context;
    const ft_log *log;
    uint64_t seed;
    uint32_t threads;
    uint64_t before_bytes;  /* data this process held before the engine came */
    uint64_t opened_bytes;  /* and after */
    ft_held_settings *held; /* or NULL */
    ft_session_facts facts;
    char setting[64], dtype_policy[32], device[128];
    struct ft__pin *pin; /* the thread's CPUs before it was pinned; or NULL */
    bool clock_is_real;  /* the engine's; otherwise nothing here disturbs it */
    bool works_itself;   /* all work is that of the calling thread */
    ft__clock simulated; /* the engine's then, and what was waited on it beside */
    double waited_s;
    struct ft__op_job *calibration[FT__N_CALIBRATIONS]; /* made at their first use */
    bool no_calibration[FT__N_CALIBRATIONS];            /* the engine does not run it */
    double calibrations[1024]; /* what it took so far, the latest of them */
    size_t n_calibrations;
    double usual_s; /* what it took in earlier sessions; NaN: not known */
    /* What each takes for what the one of products takes, of a session before or found
     * out at the beginning; NaN: not known. */
    double usual_ratio[FT__N_CALIBRATIONS];
    double calm; /* share of rounds that nothing disturbed, of late */
    bool knows_issuing;
    bool issues_ahead; /* run() returns before the work is done */
};

/* What budgets are spent and recordings played on: the engine's clock where it
 * simulates, so that what is measured does not depend on how fast the simulation is;
 * else NULL. */
const ft__clock *ft__session_clock(const ft_session *s);

/* Bytes of this process in memory: all, those of its own data (no files), and the most
 * there were at a time; 0 where /proc says nothing. */
typedef struct ft__memory_use {
    uint64_t resident, own, peak;
} ft__memory_use;

ft__memory_use ft__memory_now(void);
/* Let the allocator give back what it holds in reserve; new_peak: the most counts from
 * now on, where the system allows it. */
void ft__memory_trim(bool new_peak);

/* What all keys of the session's measurements have in common. */
ft_key ft__session_key(const ft_session *s);

/* The key of one measurement, which holds its spec's text: not to be copied. */
typedef struct ft__op_key {
    ft_key key;
    char spec[2048];
} ft__op_key;

/* op NULL: the engine as a whole. */
void ft__op_key_make(ft__op_key *out, const ft_session *s, const ft_op *op,
                     const char *metric);

/* A thing that can be run over and over: one operation's block, or a network. */
typedef struct ft__job {
    ft_session *session;
    ft_status (*run)(void *self, uint64_t iteration, ft_error *err);
    /* Not NULL: take other memory for the operands; where they lie decides which
     * cache lines meet, and stays so as long as a process lives. */
    ft_status (*move)(void *self, ft_error *err);
    /* Not NULL: bring into the caches what the operation before would have written
     * last, the operands; then it may run in turn with others. */
    void (*touch)(void *self);
    void *self;
    const ft_block_info *info; /* of an operation; how the engine runs it */
} ft__job;

/* Time of one batch of n iterations; without what other processes had the CPU for where
 * the calling thread does all the work. */
ft_status ft__run_batch(double *seconds, const ft__job *job, uint64_t first, uint64_t n,
                        ft_error *err);

#endif
