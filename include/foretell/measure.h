#ifndef FT_MEASURE_H
#define FT_MEASURE_H

#include "foretell/choose.h"
#include "foretell/error.h"
#include "foretell/graph.h"
#include "foretell/power.h"
#include "foretell/settings.h"
#include "foretell/store.h"

FT_BEGIN_DECLS

/* Measuring: one operation, a network, or many operations into a store
 * (docs/measuring.md). */

/* An engine opened on this machine. One thread at a time. With one thread the
 * calling thread is pinned to a CPU until the session is closed. */
typedef struct ft_session ft_session;

typedef struct ft_session_options {
    const char *engine;         /* "onednn", "fake", ...: plug-in ft_<engine>.so */
    const char *plugin_dir;     /* where plug-ins lie */
    const char *engine_options; /* the engine's own; NULL: none */
    const char *device;         /* in dataset keys; NULL: this machine's fingerprint */
    const char *dtype_policy;   /* in dataset keys: "tf32", ...; NULL: "default" */
    uint32_t threads;           /* 0: 1 */
    uint64_t seed;
    const ft_log *log; /* may be NULL */
    /* Clocks and caps held while the session is open; NULL: unchanged. */
    const ft_settings *settings;
    const ft_settings_options *settings_options;
} ft_session_options;

/* FT_ENOTFOUND lists the plug-ins there are. */
FT_API ft_status ft_session_open(ft_session **out, const ft_session_options *opt,
                                 ft_error *err);
FT_API void ft_session_close(ft_session *s);
/* The dataset key of its measurements. */
typedef struct ft_session_facts {
    const char *device;  /* this machine's fingerprint, or as it was opened */
    const char *setting; /* "threads=1 clock=1200MHz" */
    const char *engine;
    const char *engine_version;
    uint32_t policy; /* FT_POLICY_ bits: how the engine runs graphs */
} ft_session_facts;
/* Borrowed from the session. */
FT_API const ft_session_facts *ft_session_get(const ft_session *s);
/* Names of the engines whose plug-ins lie in dir, sorted; freed as one with
 * free() (pointers and strings are one block). */
FT_API ft_status ft_engine_names(char ***names, size_t *n, const char *dir,
                                 ft_error *err);

/* Operations of a group are measured in interleaved rounds, so that slow drift shows as
 * scatter between rounds and enters the error (docs/measuring.md). A round disturbed by
 * foreign load, a moving clock or throttling is marked and repeated, at most max_redone
 * times. */
typedef struct ft_measure_options {
    double min_time_s;    /* measured time in all; 0: 0.2 s */
    double warmup_s;      /* 0: a tenth of min_time_s */
    double batch_time_s;  /* least time of one batch; 0: the session's floor */
    uint32_t min_batches; /* 0: 5; over all rounds */
    uint32_t rounds;      /* 0: 5 */
    uint32_t max_redone;  /* 0: as many as rounds, none where it is never undisturbed */
    ft_monitor *monitor;  /* conditions of every round; NULL: foreign load only */
    ft_meter *meter;      /* power and energy too; NULL: neither */
    double power_time_s;  /* loop for the meter, at least ft_domain.least_s; 0: by
                             power_error, 5 s at most */
    double power_error;   /* as in ft_command_options */
    const unsigned char *powered; /* of several operations: [n], 1: power too; NULL: all */
    double error_floor;   /* relative: run-to-run scatter that is invisible within one
                             run; 0: for operations that of the calibration, at least
                             1 %, for networks none; below 0: none */
} ft_measure_options;

/* Power and energy of an operation or a network in one domain of the meter. */
typedef struct ft_energy {
    const char *domain; /* the meter's; "" for the sum of those not part of another */
    ft_measurement power;  /* W, mean; NaN: unknown */
    ft_measurement energy; /* J per iteration: power x time */
    double counter_j;      /* per iteration, by the energy counter; NaN: none */
    double integral_j;     /* per iteration, integrated power; NaN: none */
    ft_reading *readings;  /* watts, NaN where there is none, since the loop began */
    ft_reading *counted;   /* joules since the loop began, same times */
    size_t n_readings;
    uint64_t iterations; /* of the loop */
    double seconds;      /* of the loop */
    char reason[160];    /* why energy is unknown; "" otherwise */
} ft_energy;

/* Statistics of n batch times, those of a round one behind the other: the median of rounds'
 * medians, its error and scatter. Outliers are marked in r. FT_EINVAL: none, or one that is
 * not above 0 s. */
FT_API ft_status ft_measurement_of_times(ft_measurement *out, ft_reading *r, size_t n,
                                         ft_error *err);

/* Shortest duration for which the time of a batch is proportional to its iterations:
 * t = slope n + offset fitted to long batches; floor_s is the shortest duration from
 * which on all points lie within 5 sigma of the line. (Thesis on GPU selection, section
 * on measuring.) */
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

/* A network with random weights: on engines that use our memory activations lie in a
 * planned arena; engines with tensors of their own (ft_engine_values) run it eagerly,
 * training steps included. `g` as imported; it is lowered here. FT_EUNSUPPORTED: the
 * engine does not run this. */
typedef struct ft_network_timing {
    ft_measurement time; /* seconds per pass */
    ft_reading *readings;
    size_t n_readings;
    uint64_t weight_bytes;     /* allocated by engine and runner */
    uint64_t activation_bytes; /* the arena, or the peak held at once */
    uint64_t gradient_bytes; /* of weights; training */
    uint64_t state_bytes;    /* of the optimizer */
    uint64_t workspace_bytes;
    uint64_t context_bytes;      /* process before the network was loaded */
    uint64_t peak_process_bytes; /* highest resident size of the process */
    ft_measurement launch; /* seconds to issue a pass without waiting for its end; NaN for
                              synchronous engines */
    ft_reading *launches;  /* of the same batches; NULL when launch is NaN */
    ft_energy *energy;     /* the sum, then each domain; NULL without a meter */
    uint32_t n_energy;
    ft_conditions conditions; /* over the rounds that count */
    uint32_t rounds;       /* that count */
    uint32_t redone;       /* disturbed and redone */
    uint32_t outliers;     /* batches marked */
    double calibration_s;  /* of the calibration operation beside; NaN: none */
} ft_network_timing;
FT_API void ft_network_timing_free(ft_network_timing *t);
FT_API ft_status ft_measure_network(ft_network_timing *out, ft_session *s,
                                    const ft_graph *g, const ft_measure_options *opt,
                                    ft_error *err);

/* 1: the engine runs the model file at `path` itself, with its own graph optimisations
 * (an ONNX file on ONNX Runtime; a torch.export archive, too, on TVM). */
FT_API int ft_session_runs_whole(const ft_session *s, const char *path);
/* Measure the file that way. `g`: the same file as imported, for input shapes and ranges
 * of indices. Missing weights are random. activation_bytes is the growth of the process
 * besides the weights. FT_EUNSUPPORTED: this engine runs operations only, or does not
 * run this model. */
FT_API ft_status ft_measure_model(ft_network_timing *out, ft_session *s,
                                  const char *path, const ft_graph *g,
                                  const ft_measure_options *opt, ft_error *err);

/* Have the engine prepare an operation (NULL: the session's own probes and calibrations),
 * or the model file at `path` of graph `g`, without running it. An engine that compiles
 * keeps the result, which another session can run. FT_EUNSUPPORTED: the engine does not
 * run such an operation or model. */
FT_API ft_status ft_session_prepare(ft_session *s, const ft_op *op, ft_error *err);
FT_API ft_status ft_session_prepare_model(ft_session *s, const char *path,
                                          const ft_graph *g, ft_error *err);

/* Many operations into a store. */
/* A network to measure whole beside operations. */
typedef struct ft_collect_network {
    const char *name; /* or its file's path, of which the name without ending is used */
    const ft_graph *graph; /* as imported, forward */
} ft_collect_network;

typedef struct ft_collect_options {
    double budget_s;    /* stop after this long, by the engine's clock where it simulates;
                           0: no limit */
    double op_time_s;   /* per operation; 0: from the budget */
    int again;          /* measure also what the store already holds */
    uint32_t group;     /* operations measured in rotation; 0: 6 */
    uint32_t rounds;    /* of each; 0: 5 */
    uint32_t max_redone; /* of each, when disturbed; 0: as many as rounds, fewer where it
                            is never undisturbed */
    double repeat_share; /* share measured again at the end, at least 5 operations;
                            0: 0.03; below 0: none */
    ft_criterion choose; /* order; random: by the session's seed */
    double until_error;  /* stop when the cross-validated MAPE of measured operations is
                            at most this; 0: never */
    int ascending;       /* operations that differ in the first extent only (batch sizes)
                            in ascending order; larger ones are skipped after a
                            failure */
    ft_monitor *monitor; /* as in ft_measure_options; NULL: foreign load only */
    ft_meter *meter;     /* NULL: no power */
    double power_share;  /* share of the operations, the heaviest, whose power is
                            measured; 0: 0.1 */
    double power_time_s; /* as in ft_measure_options */
    const char *command; /* noted in the run */
    const ft_log *log;
    const ft_collect_network *networks; /* some whose operations are among those asked for;
                                           2 s each, a tenth of the budget for all.
                                           Training fits this machine's schedule of
                                           operations to them */
    size_t n_networks;
    const char *const *note; /* "NAME=VALUE", each: among the conditions of every
                                measurement, as where it was taken */
    size_t n_notes;
    int whole; /* networks are measured however long they take, op_time_s each */
} ft_collect_options;

typedef struct ft_collect_report {
    size_t wanted;   /* operations asked for, after lowering, unique */
    size_t present;  /* already in the store */
    size_t measured;
    size_t refused;  /* the engine does not run them */
    size_t failed;   /* the engine failed; named in the log */
    size_t too_large; /* a smaller one of the series ran out of memory */
    size_t skipped;   /* a smaller one of the series failed otherwise */
    size_t left;     /* not reached within the budget */
    size_t repeated; /* measured once more at the end */
    size_t powered;  /* with power and energy */
    size_t disturbed; /* still marked after repeats */
    size_t redone;    /* rounds repeated because of foreign load, clocks */
    size_t outliers;  /* batches marked */
    char why_no_power[1000]; /* "" when power was measured */
    double error; /* cross-validated MAPE at the end; NaN: not requested, or too few
                     operations */
    int reached;  /* 1: error <= until_error */
    double seconds; /* as budget_s */
    size_t networks; /* measured whole */
    size_t doubted;  /* measured again: they disagreed with what others predict */
} ft_collect_report;

/* Measure operations into the store, the most informative first (opt->choose). count[i]
 * (or NULL: 1) is the number of occurrences of op i. Missing facts of the machine (peak
 * rate, bandwidth, launch floor, context) are measured and stored, too. Each measurement
 * is durable: an interrupted collection continues where it stopped. FT_EINVAL: a note
 * without a name of letters, digits and '_', 1 to 63 of them. */
FT_API ft_status ft_collect(ft_collect_report *out, ft_session *s, ft_store *store,
                            const ft_op *ops, const uint64_t *count, size_t n,
                            const ft_collect_options *opt, ft_error *err);

FT_END_DECLS

#endif
