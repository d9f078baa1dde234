#ifndef FT_VALIDATE_H
#define FT_VALIDATE_H

#include "foretell/error.h"
#include "foretell/graph.h"
#include "foretell/learn.h"
#include "foretell/measure.h"
#include "foretell/query.h"
#include "foretell/store.h"

FT_BEGIN_DECLS

/* Sum of measured operations, measured network, and prediction: their errors, and the
 * kinds that contribute most (docs/validate.md). */

typedef enum ft_quantity {
    FT_QUANTITY_TIME,   /* s per pass or step */
    FT_QUANTITY_ENERGY, /* J per pass or step */
    FT_QUANTITY_MEMORY, /* B, peak */
    FT_QUANTITY_COUNT
} ft_quantity;

/* A number with its standard error; value NaN: unknown, and why. sigma NaN: the error is
 * unknown. */
typedef struct ft_figure {
    double value;
    double sigma;
    char why[200];
} ft_figure;

/* Contribution of one kind and phase to the sum. */
typedef struct ft_kind_sum {
    ft_kind kind;
    ft_phase phase;
    uint32_t n_unique;
    double count;
    double time_s;
    double energy_j; /* NaN: not measured for one of them */
} ft_kind_sum;

/* An operation missing from the sum. */
typedef struct ft_unpriced {
    ft_op op;
    uint64_t count;
    char why[200];
} ft_unpriced;

/* One round of the network, between two parts of the operations. */
typedef struct ft_round {
    double begin_s;   /* since validation of this network began */
    double time_s;    /* median of its batches, per pass */
    size_t first;     /* of ft_validated.reading */
    size_t n;
} ft_round;

/* One network in one dataset: device, setting, engine. Freed by
 * ft_validated_free(). */
typedef struct ft_validated {
    char name[160];
    char device[128];
    char setting[64];
    char engine[32];
    char engine_version[32];
    ft_mode mode;
    ft_figure sum[FT_QUANTITY_COUNT];
    ft_figure measured[FT_QUANTITY_COUNT];
    ft_figure predicted[FT_QUANTITY_COUNT];
    double shared; /* relative error common to all operations: scatter of the
                      rounds; NaN: one round */
    uint32_t n_ops;    /* unique operations that run (views do not) */
    uint32_t n_priced; /* of them with a measured time */
    ft_kind_sum *kind; /* by time, most first */
    size_t n_kinds;
    ft_unpriced *unpriced; /* by count, most first */
    size_t n_unpriced;
    ft_round *round;
    size_t n_rounds;
    ft_reading *reading; /* batch times of all rounds; start_s as ft_round.begin_s */
    size_t n_readings;
    ft_reading *power; /* watts while the network ran, start_s likewise; may be none */
    size_t n_power;
} ft_validated;
FT_API void ft_validated_free(ft_validated *v);

typedef struct ft_validate_options {
    double time_s;    /* the network, all rounds together; 0: 2 s */
    double op_time_s; /* each operation; 0: 0.1 s */
    uint32_t rounds;  /* 0: 4 */
    int again;        /* measure operations that the store holds as well */
    /* Predictions: each network is queried with `query`, except for model, step and, with
     * stored datasets, device. NULL: none. */
    ft_data *data;
    const ft_query *query;
    /* 1: by a predictor trained on the store without this network's operations, storing
     * no measured ones; needs `query`. */
    int forget;
    ft_meter *meter; /* energy of every operation and of the network; NULL: none */
    double power_time_s; /* as in ft_measure_options */
    ft_monitor *monitor; /* as in ft_measure_options */
    const char *path; /* the model's file, for engines that run model files; NULL: none */
    const char *command; /* noted in the run */
    const ft_log *log;
} ft_validate_options;

/* On this machine. Operations missing in the store are measured, a part in each round,
 * and the network after each part, so that drift affects both; both are stored. `g` as
 * imported, or its training step.
 *
 * Errors: of different operations they are independent, of one operation's
 * occurrences the same: sigma^2 = sum (count sigma_op)^2 + (shared sum)^2. */
FT_API ft_status ft_validate_network(ft_validated *out, ft_session *s, ft_store *store,
                                     const ft_graph *g, const ft_validate_options *opt,
                                     ft_error *err);

/* Nothing runs: every dataset in the store with a measurement of this network that
 * matches `filter` (device, setting, engine, engine_version; NULL or "": any).
 * *out is the caller's: each is freed, then free(*out). FT_ENOTFOUND: there is
 * none. */
FT_API ft_status ft_validate_stored(ft_validated **out, size_t *n, ft_store *store,
                                    const ft_key *filter, const ft_graph *g,
                                    const ft_validate_options *opt, ft_error *err);


typedef enum ft_estimator { FT_ESTIMATOR_SUM, FT_ESTIMATOR_PREDICTION, FT_ESTIMATOR_COUNT } ft_estimator;

/* Against what was measured, over the networks where both are known. */
FT_API ft_status ft_validated_errors(ft_errors *out, const ft_validated *v, size_t n,
                                     ft_quantity q, ft_estimator e, ft_error *err);

/* A kind's share in the difference between sum and network. */
typedef struct ft_kind_effect {
    ft_kind kind;
    ft_phase phase;
    size_t n_networks;
    double share;  /* of the sum, mean over all networks */
    double factor; /* time in the network over time alone; NaN: fewer than three
                      networks */
    double effect; /* (factor - 1) x share of the measured time, mean: what the kind adds
                      to the difference network - sum; NaN likewise */
} ft_kind_effect;

/* Factors f >= 0 that minimise
 *   sum over networks (1 - sum over kinds f s)^2
 *     + (0.02/0.1)^2 sum over kinds (mean of s) (f - 1)^2
 * where s is a kind's summed time over the network's measured time: non-negative
 * least squares with a ridge penalty towards 1, weaker for small kinds (networks are
 * taken to be known to 0.02). Largest effect first, by share where there is none;
 * free(*out). */
FT_API ft_status ft_validated_kinds(ft_kind_effect **out, size_t *n_out,
                                    const ft_validated *v, size_t n, ft_error *err);

FT_END_DECLS

#endif
