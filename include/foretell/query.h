#ifndef FT_QUERY_H
#define FT_QUERY_H

#include "foretell/device.h"
#include "foretell/error.h"
#include "foretell/graph.h"
#include "foretell/predictor.h"

FT_BEGIN_DECLS

/* Queries: time, energy and memory of a network on a device. docs/api.md has a complete
 * program. SI units; NaN: unknown. */

/* A data folder and a user's folder. Device files, predictors and measurements that
 * queries need are read once and cached. Threads may share one. */
typedef struct ft_data ft_data;
/* data_dir: device files and shipped predictors; NULL: those installed with the
 * library. user_dir: where `foretell train` writes predictors; NULL: none. Nothing is
 * read before a query needs it. */
FT_API ft_status ft_data_open(ft_data **out, const char *data_dir, const char *user_dir,
                              ft_error *err);
FT_API void ft_data_close(ft_data *d);
/* Path of this machine's predictor in a user's folder; engine NULL: the predictor of
 * several devices; "kernels": that of PTX kernels. Returns the length as snprintf()
 * does. */
FT_API size_t ft_data_predictor_path(char *buf, size_t size, const char *user_dir,
                                     const char *engine, uint64_t threads);

#define FT_DEFAULT_ENGINE "onednn"

/* A network as a list of operations, as ft_import_ops() reads it. */
typedef struct ft_list {
    const char *text;
    size_t len;
} ft_list;

/* Start from FT_QUERY_INIT; 0 or NULL is the default of every field. Texts are borrowed
 * for the call. Fields of 8 bytes are only appended, without padding: a query of an
 * older program is shorter, and its missing fields are 0; one of a newer program is
 * accepted if the fields that this library does not know are 0. */
typedef struct ft_query {
    size_t size;       /* sizeof(ft_query), as the caller knows it */
    const char *model; /* file: ONNX, torch.export or a list of operations */
    const char *list;  /* a list of operations in place of the file; `model` names it */
    size_t list_len;
    const ft_graph *graph; /* what ft_query_import() made of this query, to read it once
                              for many; outlives the answers */
    int64_t batch;         /* as in ft_import_options, these six */
    const ft_dim_value *dims;
    size_t n_dims;
    const ft_input_shape *inputs;
    size_t n_inputs;
    int64_t trips;
    const char *dtype; /* cast to it: "fp16", ...; "amp-bf16", "amp-fp16": mixed
                          precision as torch.autocast runs it; NULL: as in the file */
    const char *mode;  /* as in ft_step_names, these four */
    const char *optimizer;
    const char *loss;
    const char *loss_on;
    const char *device;  /* name, alias ("NVIDIA H100 80GB HBM3") or product ("h100");
                            NULL: "local", this machine */
    const char *setting; /* "clock=1200MHz memory=877MHz power=250W", each optional, and
                            other pairs of the training datasets' settings */
    const char *policy;  /* where TF32 is used: "ieee" (nowhere), "tf32" (all products);
                            NULL or "default": in convolutions, as PyTorch does */
    const char *engine;  /* local: the software that runs it, FT_DEFAULT_ENGINE; other
                            devices: as datasets name it ("vllm"), NULL: the most
                            similar dataset's */
    uint64_t threads;    /* of local: 1 */
    const char *predictor; /* file; NULL: this machine's, or the best match among those
                              trained on several devices */
    const ft_predictor *loaded; /* in place of a file; outlives the answers */
    const char *method;  /* "physics", "roofline" or "paleo": from specifications alone;
                            NULL: by a predictor, without one "physics" */
    const char *correct; /* store or CSV: measurements of the device for few-shot
                            correction of a predictor of other devices */
    uint64_t max_batch;  /* 1: also find the largest batch that fits the device */
    const char *engine_version; /* as datasets name it; NULL: the most similar */
    const char *run_mode; /* "eager" (the host issues every operation), "compiled" (of
                             what torch.compile fused), "graph" (a CUDA graph captured
                             by hand: one launch replays all of it),
                             "compiled-graph", "cudagraphs" (torch.compile's backend,
                             which copies weights); NULL: as the dataset was measured,
                             from specifications eager */
    const char *host;     /* processor that issues launches, as datasets name it
                             ("host=" in their setting); NULL: any */
    uint64_t totals;      /* 1: totals only, for many queries in a row: no operations,
                             FLOPs, element type; of assumptions FT_REMARK_RUN_MODE only */
    const char *const *settings; /* instead of `setting`: the network under each of
                              these, values without intervals (ft_answer.each) */
    size_t n_settings;
    const ft_list
        *lists; /* instead of the model: these networks, values without intervals;
                   times of their operations are cached across queries */
    size_t n_lists;
    double launch_s; /* host time of an operation such as softmax (elementwise ones take
                        0.6 of it), as ft_launch_time() finds it; 0: that of the
                        networks the predictor was fitted to, otherwise a default */
    uint64_t channels_last; /* 1: images of the inputs lie channels-last, as
                               torch.channels_last, and so do results as in PyTorch */
} ft_query;
#ifdef __cplusplus
#define FT_QUERY_INIT                                                                  \
    [] {                                                                               \
        ft_query q = {};                                                               \
        q.size = sizeof(q);                                                            \
        return q;                                                                      \
    }()
#else
#define FT_QUERY_INIT                                                                  \
    {                                                                                  \
        .size = sizeof(ft_query)                                                       \
    }
#endif

/* Import and cast the query's model. FT_EINVAL: options do not fit the model; FT_EIO,
 * FT_EFORMAT: its file; FT_ENEEDED: it leaves a dimension open. */
FT_API ft_status ft_query_import(ft_graph **out, const ft_query *q, ft_error *err);

/* Values are stable. */
typedef enum ft_remark_code {
    /* assumptions */
    FT_REMARK_MODEL = 0, /* values assumed for open dimensions */
    FT_REMARK_DEVICE,    /* variant chosen for an ambiguous name; its own host */
    FT_REMARK_RUN,       /* mode, step and element type */
    FT_REMARK_MEMORY,    /* which allocator was assumed */
    FT_REMARK_RUN_MODE,  /* answered in another run mode than was asked for, and why */
    /* warnings */
    FT_REMARK_OTHER_MACHINE = 100, /* the predictor was trained on another machine */
    FT_REMARK_UNNAMED, /* operators without a rule: their times are lower bounds */
    FT_REMARK_OUTSIDE, /* operations outside the training range */
    FT_REMARK_NEVER_MEASURED, /* kinds never measured: lower bounds */
    FT_REMARK_BACKWARD,       /* backward operations never measured: lower bounds */
    FT_REMARK_OTHER_HOST,     /* launch times are another host's */
    FT_REMARK_FOLDED, /* a training step of a graph without its norms, which were folded
                       */
    FT_REMARK_NO_HARDWARE, /* the device does not compute in the network's element type
                            */
    FT_REMARK_DAMAGED, /* a predictor found in a folder is unreadable and not used */
    FT_REMARK_OTHER_ENGINE, /* nothing measured with the asked one is behind it */
} ft_remark_code;
typedef struct ft_remark {
    ft_remark_code code;
    const char *text;
    ft_dtype dtype; /* FT_REMARK_NO_HARDWARE: for which, fp32 is tf32; else none */
    const char *ending; /* of text, there: what becomes of products; else NULL */
} ft_remark;

/* One unique operation. */
typedef struct ft_answer_op {
    const char *spec;
    const char *name; /* of the first node that is it; "" */
    const ft_op *op;
    uint64_t count;   /* in a pass or step */
    double total_s;   /* device time of all of them */
    double share;     /* of the network's time */
    ft_estimate time; /* s, of one alone in this run mode, as it would be measured */
    ft_estimate device_time; /* s, of the device, without the launch */
    ft_estimate power;       /* W while it is repeated */
    ft_estimate energy;      /* J: time x power */
} ft_answer_op;

/* What the answer is based on. */
typedef enum ft_answered_by {
    FT_ANSWERED_BY_DEVICE,        /* a predictor of that very device */
    FT_ANSWERED_BY_FAMILY,        /* a predictor trained on several devices */
    FT_ANSWERED_BY_SPECIFICATION, /* the device's specifications alone */
} ft_answered_by;

/* Made and freed by the library, so that fields can be appended; read only. Texts are
 * never NULL. NaN: not known. */
typedef struct ft_answer {
    const char *model;
    const ft_graph *graph; /* as it is executed */
    const char *mode;      /* "inference", "training" */
    const char *step;      /* "one forward pass" */
    const char
        *dtype;    /* of the operations with most FLOPs, or mixed precision as asked */
    int64_t batch; /* 0: there is no input */
    const char *device;   /* "local", or the name of its file */
    const char *title;    /* "NVIDIA A30", or this machine's fingerprint */
    const char *setting;  /* "": the device's default */
    const char *engine;   /* "onednn 2.6.3"; "" unless by FT_ANSWERED_BY_DEVICE */
    const char *run_mode; /* as in ft_query; "" of settings and lists */
    const char *host;     /* whose launches are in it: "cpu-amd-epyc-2c-1a2b3c4d", "not
                             known"; "" where there are none */

    ft_estimate time;              /* s per pass, or per training step */
    ft_estimate energy;            /* J */
    ft_estimate power;             /* W */
    ft_estimate memory;            /* B, peak */
    const ft_estimate *phase_time; /* s; [FT_PHASE_COUNT] */
    const double *part_bytes;      /* of the peak; [FT_PART_COUNT] */
    double context_bytes;          /* of driver, engine and process */
    double two_largest_bytes;      /* two rules of thumb, see ft_memory */
    double twice_mean_bytes;
    double limit_bytes; /* memory of the device */
    int64_t max_batch;  /* 0: not even 1 fits; -1: not asked */
    double flops;
    double
        host_s; /* host: to issue everything; NaN: host and device are not separate */
    double busy_s; /* device: to execute everything */

    ft_answered_by by;
    const char *predictor;   /* file; "" without one */
    const char *method;      /* "learned", "physics", "roofline", "paleo" */
    uint32_t among;          /* 1: the device is in the predictor's training data */
    uint32_t lower_bound;    /* 1: times are lower bounds, not expectations */
    uint32_t memory_planned; /* 1: at offsets planned ahead; 0: as PyTorch allocates */
    uint32_t n_ops; /* unique; then by basis. Lists of operations are NULL where
                       the query wants totals alone */
    uint32_t n_measured;
    uint32_t n_learned;
    uint32_t n_scaled;
    uint32_t n_roofline;
    uint32_t n_known;    /* measurements used for few-shot correction */
    uint32_t n_networks; /* that the schedule of host and device was fitted to */

    const ft_remark *const *assumption;
    size_t n_assumptions;
    const ft_remark *const *warning;
    size_t n_warnings;
    const char *const
        *unmodelled; /* nodes without a rule: lower bound by bytes moved */
    size_t n_unmodelled;
    const ft_answer_op *const *op;       /* in the order of ft_graph.op */
    const ft_answer_op *const *heaviest; /* the same by share, descending */
    const char *verify; /* command that measures it; "": none of this library does */
    const ft_brief
        *each; /* of settings or lists, in their order; the estimates above are
                  then unavailable; with lists graph is NULL and model "" */
    size_t n_each;
    uint32_t memory_policy; /* FT_POLICY_ bits with which ft_memory_make() counts the
                               parts */
    const char *unverified; /* why there is no command that measures it: "to verify it:
                               no engine ..."; otherwise "" */
    uint32_t half; /* 1: a language model in bf16, computed in fp16, for the device has
                      units for that alone and the query names no type */
} ft_answer;

/* *out is freed by ft_answer_free(); it outlives d and q, but not q->graph and
 * q->loaded. FT_EINVAL: the query is malformed or does not fit the model; FT_EIO,
 * FT_EFORMAT: a file; FT_ENEEDED: the model leaves a value open (says which);
 * FT_ENOTFOUND: no such device, no predictor for this machine, or the device file lacks
 * a fact. */
FT_API ft_status ft_query_ask(ft_answer **out, ft_data *d, const ft_query *q,
                              ft_error *err);
FT_API void ft_answer_free(ft_answer *a);

/* *launch_s, s: the host's time of one launch, fitted to models timed on that host
 * (least sum of |log(predicted / measured)|). `file`: CSV with columns model (a path,
 * relative to the file's folder) and time_s (a pass, until its end); a few short models
 * are enough. With a column spec in place of model each row is one operation, repeated
 * alone. model, graph and launch_s of *q are not read. FT_EIO, FT_EFORMAT: the
 * file, or a model; FT_EINVAL: no time in it depends on the host, as in run modes
 * without launches; otherwise as ft_query_ask(). */
FT_API ft_status ft_launch_time(double *launch_s, ft_data *d, const ft_query *q,
                                const char *file, ft_error *err);

FT_END_DECLS

#endif
