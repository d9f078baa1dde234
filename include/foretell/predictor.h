#ifndef FT_PREDICTOR_H
#define FT_PREDICTOR_H

#include "foretell/device.h"
#include "foretell/error.h"
#include "foretell/graph.h"
#include "foretell/learn.h"
#include "foretell/networks.h"
#include "foretell/store.h"

FT_BEGIN_DECLS

/* Physical constants, regressors and schedules learned from any number of datasets (one
 * machine is one), with what they were trained on; one file *.ftp, mapped into memory.
 * Immutable: threads may share one. */
typedef struct ft_predictor ft_predictor;

typedef enum ft_basis {
    FT_BASIS_MEASURED,    /* this very operation was measured */
    FT_BASIS_LEARNED,     /* a regressor of its kind, inside what it has seen */
    FT_BASIS_SCALED,      /* carried over: a related kind, or outside the range */
    FT_BASIS_ROOFLINE,    /* from peak rate and bandwidth alone */
    FT_BASIS_ANALYTIC,    /* from them too, by a model that is no bound (PALEO) */
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

/* Values without intervals, of one of many questions; NaN: not known. */
typedef struct ft_brief {
    double time_s;
    double energy_j;
    double power_w;
    double memory_bytes;
    ft_status status; /* FT_OK; FT_ENOTFOUND: there is no answer, as above the highest clock;
                         others: what is asked about is no network */
    const char *why;  /* "" of FT_OK; of many settings that of the first without an answer,
                         "" of the others */
} ft_brief;

/* ---- training ---- */
/* What a regressor's attributes are worth (ft__model_importance()), the most first. */
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
    uint32_t methods;     /* bits 1 << ft_method to choose from by cross-validation; 0: the
                             usual ones, mixed */
    int mix;              /* mixtures of the three best, too, where they are better */
    int tune;             /* try more hyper-parameters of these methods */
    uint32_t n_trees;     /* 0: 64 */
    uint32_t n_folds;     /* 0: 10 */
    uint64_t seed;
    uint32_t threads;
    const ft_op *without; /* operations to leave out of training */
    size_t n_without;
    int forget;           /* 1: keep no measured values, so that every answer is learned */
    const ft_log *log;
    int single;           /* one regressor for all kinds, instead of one for each */
    size_t most_bytes;    /* of the file, about; 0: 40 MB */
    const struct ft_predictor *add; /* NULL, or what the store's new measurements are added
                             to: regressors whose rows are as they were are copied byte for
                             byte, and what times are relative to stays. FT_ENOTFOUND: the
                             store lacks what it was made of */
    /* NULL, or told of each regressor that is fitted what its attributes are worth;
     * what it gets is borrowed for the call. */
    void (*importance)(void *user, const ft_regressor_attributes *of);
    void *importance_user;
    /* NULL, or networks that were measured whole, as `where` asks for operations:
     * schedules of their devices are fitted to them (docs/networks.md).
     * FT_ENOTFOUND: there are none whose operations are known, or too few. */
    const char *networks;
    ft_networks_find find; /* their operations; NULL, and of what it does not have: members
                              of the store */
    void *find_user;
    /* NULL, or kernels in PTX that ptx-measure timed, "a.jsonl,b.jsonl", each file of one
     * GPU (docs/ptx-prediction.md); `where` may ask for device and kernel. */
    const char *kernels;
    const char *const *without_launches; /* launch files: of these launches none is
                                            learned from */
    size_t n_without_launches;
} ft_train_options;

/* store NULL: from kernels alone. FT_ENOTFOUND: there is nothing that fits. */
FT_API ft_status ft_predictor_train(ft_predictor **out, ft_store *store,
                                    const ft_train_options *opt, ft_error *err);
FT_API ft_status ft_predictor_save(const ft_predictor *p, const char *path, ft_error *err);
/* FT_EIO: not there; FT_EFORMAT: not a predictor, damaged, or of another version. */
FT_API ft_status ft_predictor_load(ft_predictor **out, const char *path, ft_error *err);
/* The same from memory (8-byte aligned, kept by the caller while in use). */
FT_API void ft_predictor_free(ft_predictor *p);

typedef struct ft_predictor_info {
    /* Of one machine, which it answers for alone: its roofline was probed, or it has no
     * data sheet. Otherwise the texts are "" and the figures NaN. */
    const char *device;
    const char *setting;
    const char *engine;
    const char *engine_version;
    double peak_flops;    /* of the roofline, FLOP/s */
    double bandwidth;     /* B/s */
    double launch_s;      /* least time of one operation */
    double context_bytes; /* process and engine; operations add to it */
    uint32_t policy;      /* FT_POLICY_ bits: how graphs are lowered that it is asked of */
    uint32_t n_regressors;
    uint32_t n_measured;  /* operations whose measured values it holds */
    uint32_t n_datasets;  /* learned from */
    uint32_t n_schedules; /* fitted to networks of its devices */
    uint32_t n_chips;     /* that were left out of training in turn, and whose networks say
                             how far off those of other devices are; 0: none */
    uint64_t n_launches;  /* of kernels in PTX learned from; 0: it has none */
    double unseen_part;   /* interval of such a network, as a part of the mean interval of
                             its operations (logarithms); NaN */
} ft_predictor_info;
FT_API void ft_predictor_get_info(const ft_predictor *p, ft_predictor_info *out);

/* What it was learned from; i < n_datasets. */
typedef struct ft_predictor_dataset {
    const char *device;
    const char *setting;
    const char *engine;
    const char *engine_version;
    const char *policy; /* on dtypes */
    uint64_t n;         /* operations measured */
} ft_predictor_dataset;
FT_API void ft_predictor_get_dataset(const ft_predictor *p, uint32_t i,
                                     ft_predictor_dataset *out);

/* What networks measured whole showed of a device; i < n_schedules. */
typedef struct ft_predictor_schedule {
    const char *device;
    const char *policy;
    const char *engine;
    const char *phase;   /* "forward", "forward_backward", "step" */
    uint64_t n;          /* networks */
    double convolutions; /* what they take in a network, for once alone; and so on */
    double products;
    double others;
    double relaid;       /* in a layout that they were not measured in */
    double bounded;      /* of kinds that were not measured, for once estimated */
    double launch_s;     /* of the host */
    double idle_w;
    double dynamic;      /* the same of energy above idle */
    double error;        /* mean relative error of networks left out */
    double without;      /* the same without a schedule */
    double interval_low; /* 90 %: truth / predicted of networks left out */
    double interval_high;
} ft_predictor_schedule;
FT_API void ft_predictor_get_schedule(const ft_predictor *p, uint32_t i,
                                      ft_predictor_schedule *out);

/* One regressor and how good it was in grouped cross-validation. */
typedef struct ft_regressor_info {
    const char *kind;   /* a kind, or a class ("unary") that serves rare kinds */
    const char *metric; /* "time", "workspace" */
    const char *phase;  /* "forward", ... */
    int unseen;         /* for devices that are not among its datasets */
    const char *choice; /* the method that was best: "extra leaf 3", or a mixture */
    ft_errors forest;   /* its errors */
    ft_errors constant; /* always the median ratio to the physical estimate */
    ft_errors roofline; /* the physical estimate itself; of a machine its roofline */
    double interval_low; /* 90 %, typical row: truth / predicted lies between */
    double interval_high;
} ft_regressor_info;
FT_API void ft_predictor_regressor(const ft_predictor *p, uint32_t i,
                                   ft_regressor_info *out);

FT_END_DECLS

#endif
