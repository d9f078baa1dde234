#ifndef FT_PREDICTOR_H
#define FT_PREDICTOR_H

#include "foretell/device.h"
#include "foretell/error.h"
#include "foretell/graph.h"
#include "foretell/learn.h"
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
FT_API const char *ft_basis_name(ft_basis b);

/* low..high is a 90 % interval; NaN where there is none. */
typedef struct ft_estimate {
    double value;
    double low;
    double high;
    ft_basis basis;
    const char *why; /* "" unless unavailable */
} ft_estimate;

/* ---- training ---- */
/* What a regressor's attributes are worth (ft_model_importance()), the most first. */
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
    ft_status (*graph)(void *user, struct ft_graph **g, const char *spec,
                       const char *phase, ft_error *err); /* an ft_networks_graph */
    void *graph_user;
} ft_train_options;

/* FT_ENOTFOUND: the store holds nothing that fits. */
FT_API ft_status ft_predictor_train(ft_predictor **out, ft_store *store,
                                    const ft_train_options *opt, ft_error *err);
FT_API ft_status ft_predictor_save(const ft_predictor *p, const char *path, ft_error *err);
/* FT_EIO: not there; FT_EFORMAT: not a predictor, damaged, or of another version. */
FT_API ft_status ft_predictor_load(ft_predictor **out, const char *path, ft_error *err);
/* The same from memory (8-byte aligned, kept by the caller while in use). */
FT_API ft_status ft_predictor_load_image(ft_predictor **out, const void *image,
                                         size_t len, ft_error *err);
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

/* ---- predicting ---- */
/* A network: sums over operations with counts; memory by part. `time` and
 * `workspace` per unique operation of g in graph order, freed with the rest. */
typedef struct ft_network_estimate {
    ft_estimate time;   /* s per pass, or per training step */
    ft_estimate phase_time[FT_PHASE_COUNT]; /* its parts: forward, backward, optimizer */
    ft_estimate energy; /* J per pass */
    ft_estimate power;  /* W */
    ft_estimate memory; /* B, peak: all parts */
    double part_bytes[FT_PART_COUNT]; /* NaN: not known */
    double context_bytes;             /* of engine and process; NaN: not known */
    double two_largest_bytes;         /* two rules of thumb, see ft_memory */
    double twice_mean_bytes;
    /* Per unique operation of g in graph order, n_ops each: what a measurement of that
     * operation alone in this run mode shows, its launch included where the host makes
     * one, and what of it the device is busy. */
    ft_estimate *op_time;   /* s */
    ft_estimate *op_device; /* s */
    ft_estimate *op_power;  /* W while it is repeated */
    ft_estimate *op_energy; /* J: op_time x op_power */
    ft_estimate *op_memory; /* B, peak, where that was measured of operations */
    ft_estimate *op_workspace; /* B, the same */
    uint32_t n_ops;
    uint32_t n_measured; /* unique operations by basis */
    uint32_t n_learned;
    uint32_t n_scaled;
    uint32_t n_roofline;
    uint32_t n_known; /* measurements of the device that corrected a family's times */
    /* Where host and device were told apart (docs/networks.md), otherwise NaN: what the
     * host needs to issue everything, and what the device needs to execute it. */
    double host_s;
    double busy_s;
    uint32_t n_networks; /* measured whole on the device, that the schedule was fitted to */
    uint32_t graph; /* 1: in run mode graph, so that the host issues nothing */
} ft_network_estimate;

/* A few measurements of devices: every operation of a store with a time. */
typedef struct ft_known ft_known;
FT_API ft_status ft_known_read(ft_known **out, ft_store *store, ft_error *err);
FT_API void ft_known_free(ft_known *k);
/* Operations of the device; of all devices where it is NULL. */
FT_API size_t ft_known_count(const ft_known *k, const char *device);

/* A device, and how it is asked about. */
typedef struct ft_device_use {
    const ft_device *device; /* its file; borrowed. NULL: there is none, and `name` is
                                that of a device a family was trained on */
    const char *setting; /* "clock=1200MHz memory=877MHz power=250W", each as far as it
                            is set; NULL or "": as the device comes */
    const char *policy;  /* on TF32: "ieee" (nowhere), "tf32" (all products); NULL or
                            "default": in convolutions, as PyTorch does */
    const ft_known *known; /* NULL, or what corrects a family's times of this device, of
                              which it holds some; borrowed */
    const char *name;           /* without a file: as datasets name the device */
    const char *engine;         /* as datasets name it ("vllm"); NULL: that of the dataset
                                   that is most like the question */
    const char *engine_version; /* NULL as well */
    const char *run_mode; /* "eager" (the host issues every operation) or "graph" (CUDA
                             graphs: it issues none); NULL: as the dataset was measured,
                             from a data sheet eager */
} ft_device_use;

/* From the specifications of a device that nobody measured: the physical estimate of
 * every operation (docs/physics.md) with default constants, host and device by the
 * schedule (docs/networks.md); of GPUs power and energy, too. The basis is
 * FT_BASIS_SCALED, of operations that the importer could not name FT_BASIS_ROOFLINE;
 * intervals are what devices left out showed. Memory as PyTorch allocates it.
 * FT_ENOTFOUND: the file lacks what is needed, or the clock is above the highest. */
FT_API ft_status ft_predict_network_physics(ft_network_estimate *out,
                                            const ft_device_use *on, const ft_graph *g,
                                            ft_error *err);
/* Share of the unique operations of g of whose kind and element type something was
 * learned. */
FT_API double ft_predictor_covers(const ft_predictor *p, const ft_graph *g);
/* By what was learned of operations, host and device by the schedule. Operations of a
 * device that it was trained on are measured or learned, of others scaled; what was
 * learned in no form is priced from specifications. Memory of a machine of ours: a
 * forward pass lies at the offsets that ft_plan_make() finds; a training step, which our
 * engines do not run, and all of other devices as PyTorch allocates it. What *on does
 * not say is as in what was learned of that device, or of most; without a device and a
 * name it is the machine that was measured. g is lowered with the policy of
 * ft_predictor_get_info(). FT_ENOTFOUND as above. */
FT_API ft_status ft_predict_network_on(ft_network_estimate *out, const ft_predictor *p,
                                       const ft_device_use *on, const ft_graph *g,
                                       ft_error *err);
/* The values of an estimate; NaN: not known. */
typedef struct ft_brief {
    double time_s;
    double energy_j;
    double power_w;
    double memory_bytes;
} ft_brief;
/* A device under many settings, quickly: out[i] is bit for bit what
 * ft_predict_network_on() says of setting[i], or ft_predict_network_physics() where p is
 * NULL; all NaN where that fails of this setting alone, as above its highest clock.
 * on->setting is not looked at. */
FT_API ft_status ft_predict_network_many(ft_brief *out, const ft_predictor *p,
                                         const ft_device_use *on,
                                         const char *const *setting, size_t n,
                                         const ft_graph *g, ft_error *err);
/* ---- many networks, each a list of operations as ft_import_ops() reads it ---- */
/* One device, one setting. What operations take is remembered from list to list:
 * generated networks have most of theirs in common. Not for two threads at once. */
typedef struct ft_pricer ft_pricer;
/* p: a family, or NULL: specifications; on->known is not looked at. All that *on points
 * to outlives the pricer. */
FT_API ft_status ft_pricer_new(ft_pricer **out, const ft_predictor *p,
                               const ft_device_use *on, ft_error *err);
FT_API void ft_pricer_free(ft_pricer *p);
typedef struct ft_listed {
    const char *text;
    size_t len;
    ft_brief brief;
    ft_status status; /* of this list; then all of brief is NaN */
    char why[240];
} ft_listed;
/* Fills brief, status and why of n lists: bit for bit what ft_predict_network_on() or
 * ft_predict_network_physics() says of each, lowered with FT_POLICY_STRIDED_VIEWS.
 * Fails on what is wrong with all of them alone. */
FT_API ft_status ft_pricer_price(ft_pricer *p, ft_listed *list, size_t n, ft_error *err);
/* From a device's specifications alone: every time is the roofline, a lower
 * bound (high is NaN); memory as PyTorch allocates it. */
FT_API ft_status ft_predict_network_roofline(ft_network_estimate *out,
                                             const ft_device_facts *d, const ft_graph *g,
                                             ft_error *err);
/* The same by PALEO (Qi, Sparks, Talwalkar, ICLR 2017; all of the peak rate, one
 * device): an operation reads what it needs, computes, writes what it made, one after
 * the other: time = FLOPs / peak + bytes / bandwidth, and networks are sums. Neither a
 * bound nor an interval: low and high are NaN, the basis is FT_BASIS_ANALYTIC. */
FT_API ft_status ft_predict_network_paleo(ft_network_estimate *out,
                                          const ft_device_facts *d, const ft_graph *g,
                                          ft_error *err);
FT_API void ft_network_estimate_free(ft_network_estimate *e);

FT_END_DECLS

#endif
