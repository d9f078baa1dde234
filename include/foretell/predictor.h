#ifndef FT_PREDICTOR_H
#define FT_PREDICTOR_H

#include "foretell/device.h"
#include "foretell/error.h"
#include "foretell/graph.h"
#include "foretell/learn.h"
#include "foretell/networks.h"
#include "foretell/store.h"

FT_BEGIN_DECLS

/* Physical constants, regressors and schedules trained on any number of datasets (one
 * machine is one dataset), and the training measurements; one memory-mapped file *.ftp.
 * Immutable: threads may share one. docs/predictors.md */
typedef struct ft_predictor ft_predictor;

typedef enum ft_basis {
    FT_BASIS_NONE,     /* it takes no time: a view */
    FT_BASIS_MEASURED, /* this very operation was measured */
    FT_BASIS_LEARNED,  /* a regressor of its kind, inside its training range */
    FT_BASIS_SCALED, /* transfer: another device or kind, or outside the training range
                      */
    FT_BASIS_ROOFLINE,    /* from peak rate and bandwidth alone */
    FT_BASIS_ANALYTIC,    /* from them too, by a model that is not a bound (PALEO) */
    FT_BASIS_UNAVAILABLE, /* value is NaN; `why` says so in words */
    FT_BASIS_COUNT
} ft_basis;

/* low..high is a 90 % interval; NaN where there is none. */
typedef struct ft_estimate {
    double value;
    double low;
    double high;
    ft_basis basis;
    const char *why; /* "" unless unavailable */
} ft_estimate;

/* Values without intervals, one of many (ft_query.settings, lists); NaN: unknown. */
typedef struct ft_brief {
    double time_s;
    double energy_j;
    double power_w;
    double memory_bytes;
    ft_status status; /* FT_OK; FT_ENOTFOUND: no answer, such as above the highest
                         clock; others: not a valid network */
    const char
        *why; /* "" with FT_OK; with many settings set for the first failure only */
} ft_brief;

/* Permutation importance of a regressor's features, descending. */
typedef struct ft_attribute {
    const char *name;
    ft_importance worth;
} ft_attribute;
typedef struct ft_regressor_attributes {
    const char *kind; /* these four as in ft_regressor_info */
    const char *metric;
    const char *phase;
    int unseen;
    const ft_attribute *attribute;
    size_t n;
} ft_regressor_attributes;

typedef struct ft_train_options {
    ft_key filter;        /* which measurements; NULL members match all */
    const char *where;    /* of these: as of ft_evaluate_options */
    const char *data_dir; /* where device files are; NULL: nowhere */
    uint32_t methods;     /* bits 1 << ft_method, candidates of cross-validation; 0: the
                             default ones, stacked */
    int mix;              /* also stack the three best, where that is better */
    int tune;             /* also search hyper-parameters of these methods */
    uint32_t n_trees;     /* 0: 64 */
    uint32_t n_folds;     /* 0: 10 */
    uint64_t seed;
    uint32_t threads;
    const ft_op *without; /* operations to hold out of training */
    size_t n_without;
    int forget; /* 1: store no measured operations: every answer is a regressor's */
    const ft_log *log;
    int single;        /* one regressor for all kinds, instead of one for each */
    size_t most_bytes; /* of the file, about; 0: 40 MB */
    const struct ft_predictor
        *add; /* NULL, or a predictor to extend: regressors whose rows
       did not change are copied byte for byte; physical constants
       stay. FT_ENOTFOUND: the store lacks its training data */
    /* NULL, or called with the permutation importance of each fitted regressor; its
     * argument is borrowed for the call. */
    void (*importance)(void *user, const ft_regressor_attributes *of);
    void *importance_user;
    /* NULL, or which measured networks, in the syntax of `where`: schedules of their
     * devices are fitted to them (docs/networks.md). FT_ENOTFOUND: none, or too few,
     * with known operations. */
    const char *networks;
    ft_networks_find find; /* their operations; NULL, or where it has none: members of
                              the store */
    void *find_user;
    /* NULL, or PTX kernels timed by ptx-measure, "a.jsonl,b.jsonl", one GPU a file
     * (docs/ptx-prediction.md); `where` may select device and kernel. */
    const char *kernels;
    const char *const *without_launches; /* launch files: these launches are held
                                            out */
    size_t n_without_launches;
    int other_boards; /* 1: measured on boards of others, such as published rows:
                      intervals of known devices reach as far as boards of one device
                      differ */
} ft_train_options;

/* store NULL: kernels alone. FT_ENOTFOUND: no matching data. */
FT_API ft_status ft_predictor_train(ft_predictor **out, ft_store *store,
                                    const ft_train_options *opt, ft_error *err);
FT_API ft_status ft_predictor_save(const ft_predictor *p, const char *path,
                                   ft_error *err);
/* FT_EIO: not there; FT_EFORMAT: not a predictor, damaged, or of another version. */
FT_API ft_status ft_predictor_load(ft_predictor **out, const char *path, ft_error *err);
FT_API void ft_predictor_free(ft_predictor *p);

typedef struct ft_predictor_info {
    /* These eight of a predictor of one machine (its roofline was probed, or it has no
     * device file); otherwise the texts are "" and the figures NaN. */
    const char *device;
    const char *setting;
    const char *engine;
    const char *engine_version;
    double peak_flops;    /* of the roofline, FLOP/s */
    double bandwidth;     /* B/s */
    double launch_s;      /* least time of one operation */
    double context_bytes; /* resident memory of process and engine */
    uint32_t policy;      /* FT_POLICY_ bits: how queried graphs are lowered */
    uint32_t n_regressors;
    uint32_t n_measured;  /* stored measured operations */
    uint32_t n_datasets;  /* of training */
    uint32_t n_schedules; /* fitted to networks of its devices */
    uint32_t n_chips;     /* left out in turn, whose networks calibrate the intervals of
                             networks on other devices; 0: none */
    uint64_t n_launches;  /* of PTX kernels in training; 0: none */
    double unseen_part;   /* log width of such a network's interval over the mean log
                             width of its operations' intervals; NaN: none */
} ft_predictor_info;
FT_API void ft_predictor_get_info(const ft_predictor *p, ft_predictor_info *out);

/* A training dataset; i < n_datasets. */
typedef struct ft_predictor_dataset {
    const char *device;
    const char *setting;
    const char *engine;
    const char *engine_version;
    const char *policy; /* on dtypes */
    uint64_t n;         /* measurements, repeats of an operation among them */
} ft_predictor_dataset;
FT_API void ft_predictor_get_dataset(const ft_predictor *p, uint32_t i,
                                     ft_predictor_dataset *out);

/* A schedule fitted to networks of a device (docs/networks.md); i < n_schedules. */
typedef struct ft_predictor_schedule {
    const char *device;
    const char *policy;
    const char *engine;
    const char *phase; /* "forward", "forward_backward", "step" */
    uint64_t n;        /* networks */
    double
        convolutions; /* scale: time in a network over time alone; likewise the next */
    double products;
    double others;
    double relaid;   /* run in another layout than measured */
    double bounded;  /* of kinds without measurements, over the estimate */
    double launch_s; /* host time of a launch */
    double idle_w;
    double dynamic;      /* scale of the energy above idle */
    double error;        /* leave-one-network-out, mean relative */
    double without;      /* the same without a schedule */
    double interval_low; /* 90 %: measured / predicted of networks left out */
    double interval_high;
} ft_predictor_schedule;
FT_API void ft_predictor_get_schedule(const ft_predictor *p, uint32_t i,
                                      ft_predictor_schedule *out);

/* One regressor and its errors in grouped cross-validation. */
typedef struct ft_regressor_info {
    const char *kind;   /* a kind, or a class ("unary") for rare kinds */
    const char *metric; /* "time", "workspace" */
    const char *phase;  /* "forward", ... */
    int unseen;         /* 1: for devices not in training */
    const char *choice; /* selected method: "extra leaf 3", or a stack of several */
    ft_errors forest;   /* its errors */
    ft_errors constant; /* baseline: median ratio to the physical estimate */
    ft_errors roofline; /* baseline: the physical estimate; of a machine its roofline */
    double interval_low; /* 90 %, of a typical row: measured / predicted */
    double interval_high;
} ft_regressor_info;
FT_API void ft_predictor_regressor(const ft_predictor *p, uint32_t i,
                                   ft_regressor_info *out);

FT_END_DECLS

#endif
