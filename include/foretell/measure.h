#ifndef FT_MEASURE_H
#define FT_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "foretell/error.h"
#include "foretell/graph.h"
#include "foretell/power.h"
#include "foretell/settings.h"
#include "foretell/store.h"

/* Really running things: one operation, a whole network, a set of operations
 * into a store. */

/* An engine opened on this machine. One thread at a time. With one thread the
 * calling thread is pinned to a CPU until the session is closed. */
typedef struct ft_session ft_session;

typedef struct ft_session_options {
    const char *engine;         /* "onednn", "fake", ...: plug-in ft_<engine>.so */
    const char *plugin_dir;     /* where plug-ins lie */
    const char *engine_options; /* the engine's own; NULL: none */
    uint32_t threads;           /* 0: 1 */
    uint64_t seed;
    const ft_log *log; /* may be NULL */
    /* Held while the session is open; NULL: the machine as it is. */
    const ft_settings *settings;
    const ft_settings_options *settings_options;
} ft_session_options;

/* FT_ENOTFOUND lists the plug-ins there are. */
FT_API ft_status ft_session_open(ft_session **out, const ft_session_options *opt,
                                 ft_error *err);
FT_API void ft_session_close(ft_session *s);
FT_API const char *ft_session_engine(const ft_session *s);
FT_API const char *ft_session_engine_version(const ft_session *s);
FT_API uint32_t ft_session_policy(const ft_session *s);
FT_API const char *ft_session_setting(const ft_session *s); /* "threads=1 clock=1200MHz" */
FT_API const char *ft_session_device(const ft_session *s);  /* local fingerprint */
/* Names of the engines whose plug-ins lie in dir, sorted; freed as one with
 * free() (pointers and strings are one block). */
FT_API ft_status ft_engine_names(char ***names, size_t *n, const char *dir,
                                 ft_error *err);

typedef struct ft_measure_options {
    double min_time_s;    /* measured time in all; 0: 0.2 s */
    double warmup_s;      /* 0: a tenth of min_time_s */
    double batch_time_s;  /* least time of one batch; 0: the session's floor */
    uint32_t min_batches; /* 0: 5 */
} ft_measure_options;

/* What was measured; readings are freed by ft_timing_free(). */
typedef struct ft_timing {
    ft_measurement time; /* seconds per iteration: median of batches */
    ft_reading *readings;
    size_t n_readings;
    uint64_t weight_bytes;    /* of one instance as the engine stores it */
    uint64_t workspace_bytes; /* scratch of one instance */
    uint32_t instances;       /* in the block that was looped over */
    char implementation[64];
} ft_timing;
FT_API void ft_timing_free(ft_timing *t);

/* Median, MAD, mean, std and the standard error of the median over batch times;
 * each reading counts per iteration. */
FT_API ft_status ft_measurement_of_times(ft_measurement *out, const ft_reading *r,
                                         size_t n, ft_error *err);

/* One operation (lowered for the session's policy if it is not): a block of
 * instances with weights of their own, visited in turn, so that weights come
 * from where a network's weights come from; one set of input tensors. */
FT_API ft_status ft_measure_op(ft_timing *out, ft_session *s, const ft_op *op,
                               const ft_measure_options *opt, ft_error *err);

/* Below which duration does the time of a batch stop growing in proportion to
 * its iterations? t = slope n + offset fitted to long batches; floor_s is the
 * shortest duration from which on all points lie within 5 sigma of the line.
 * (Thesis on GPU selection, section on measuring.) */
typedef struct ft_linearity {
    double slope_s;
    double offset_s;
    double sigma; /* relative scatter about the line, long batches */
    double floor_s;
    size_t n;
    double duration_s[32];
    double deviation[32]; /* (measured - line) / line */
    uint64_t iterations[32];
} ft_linearity;
FT_API ft_status ft_measure_linearity(ft_linearity *out, ft_session *s, const ft_op *op,
                                      ft_error *err);

/* A whole network in order, activations flowing through the planned arena,
 * random weights. `g` as imported; it is lowered here. */
typedef struct ft_network_timing {
    ft_measurement time; /* seconds per pass */
    ft_reading *readings;
    size_t n_readings;
    uint64_t weight_bytes;     /* allocated by engine and runner */
    uint64_t activation_bytes; /* the arena */
    uint64_t workspace_bytes;
    uint64_t context_bytes;      /* process before the network was loaded */
    uint64_t peak_process_bytes; /* highest resident size of the process */
} ft_network_timing;
FT_API void ft_network_timing_free(ft_network_timing *t);
FT_API ft_status ft_measure_network(ft_network_timing *out, ft_session *s,
                                    const ft_graph *g, const ft_measure_options *opt,
                                    ft_error *err);

/* ---- many operations into a store ---- */
typedef struct ft_collect_options {
    double budget_s;    /* stop after this long; 0: no limit */
    double op_time_s;   /* per operation; 0: shared out from the budget */
    int again;          /* measure also what the store already holds */
    const char *command; /* noted in the run */
    const ft_log *log;
} ft_collect_options;

typedef struct ft_collect_report {
    size_t wanted;   /* operations asked for, after lowering, unique */
    size_t present;  /* already in the store */
    size_t measured;
    size_t refused;  /* the engine does not run them */
    size_t failed;   /* the engine broke on them; named in the log */
    size_t left;     /* not reached within the budget */
    double seconds;
} ft_collect_report;

/* Measure operations, most informative first: far from what is known already,
 * frequent ones before rare ones. count[i] (or NULL: 1) is how often op i
 * occurs. Also measures and stores the machine's facts (peak rate, bandwidth,
 * launch floor, context) when they are missing. What is put in the store is
 * durable: an interrupted collection continues where it stopped. */
FT_API ft_status ft_collect(ft_collect_report *out, ft_session *s, ft_store *store,
                            const ft_op *ops, const uint64_t *count, size_t n,
                            const ft_collect_options *opt, ft_error *err);

#endif
