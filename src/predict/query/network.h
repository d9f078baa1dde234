#ifndef PREDICT_QUERY_NETWORK_H
#define PREDICT_QUERY_NETWORK_H

/* Predictions of networks on a device, by the predictor that src/query selected. */
#include <stdbool.h>

#include "foretell/graph.h"
#include "foretell/predictor.h"

/* Estimates of an operation in ft__network_estimate: op_time[] and what follows it. */
enum { FT__OP_ESTIMATES = 6 };

/* A network: sums over operations with counts; memory by part. `time` and
 * `workspace` per unique operation of g in graph order, freed with the rest. */
typedef struct ft__network_estimate {
    ft_estimate time; /* s per pass, or per training step */
    ft_estimate
        phase_time[FT_PHASE_COUNT];   /* its parts: forward, backward, optimizer */
    ft_estimate energy;               /* J per pass */
    ft_estimate power;                /* W */
    ft_estimate memory;               /* B, peak: all parts */
    double part_bytes[FT_PART_COUNT]; /* NaN: not known */
    double context_bytes;             /* of engine and process; NaN: not known */
    double two_largest_bytes;         /* two rules of thumb, see ft_memory */
    double twice_mean_bytes;
    uint32_t memory_policy; /* bits with which ft_memory_make() counted the parts */
    /* Per unique operation of g in graph order, n_ops each: what a measurement of that
     * operation alone in this run mode shows, its launch included where the host makes
     * one, and what of it the device is busy. FT__OP_ESTIMATES, one after the other in
     * memory. */
    ft_estimate *op_time;      /* s */
    ft_estimate *op_device;    /* s */
    ft_estimate *op_power;     /* W while it is repeated */
    ft_estimate *op_energy;    /* J: op_time x op_power */
    ft_estimate *op_memory;    /* B, peak, where that was measured of operations */
    ft_estimate *op_workspace; /* B, the same */
    double *op_network_w; /* W that `energy` counts while the device is busy with it;
                             NaN: not known. It differs from op_power, which is of the
                             operation repeated alone */
    uint32_t n_ops;
    uint32_t n_measured; /* unique operations by basis */
    uint32_t n_learned, n_scaled, n_roofline;
    uint32_t n_known; /* measurements of the device that corrected a family's times */
    uint32_t n_unused_power; /* readings beside them, which corrected nothing */
    /* Where host and device were distinguished (docs/networks.md), otherwise NaN: what
     * the host needs to issue everything, and what the device needs to execute it. */
    double host_s;
    double busy_s;
    uint32_t
        n_networks; /* measured whole on the device, that the schedule was fitted to */
    uint32_t run_mode; /* FT__RUN_ bits */
} ft__network_estimate;

/* Run modes: who issues launches, whether a compiler fused operations before, and
 * whether weights are copied before each replay, as inputs are. */
enum {
    FT__RUN_EAGER = 0,
    FT__RUN_REPLAYED = 1,
    FT__RUN_FUSED = 2,
    FT__RUN_COPIED = 4,
    FT__NO_RUN_MODE = 8
};
/* "eager", "graph", "compiled", "compiled-graph", "cudagraphs"; "": others. */
const char *ft__run_mode_name(uint32_t bits);
/* FT__NO_RUN_MODE: no run mode is called so. */
uint32_t ft__run_mode_find(const char *name, size_t len);

/* A few measurements of devices: the operations of a store that have a time, and its
 * networks. */
typedef struct ft__calibration_set ft__calibration_set;
ft_status ft__calibration_set_read(ft__calibration_set **out, ft_store *store,
                                   ft_error *err);
void ft__calibration_set_free(ft__calibration_set *k);

/* Cache of answered operations for one device, one predictor and one way of asking, for
 * networks asked about in sequence. NULL: out of memory. */
typedef struct ft__op_answers ft__op_answers;
ft__op_answers *ft__op_answers_new(void);
void ft__op_answers_free(ft__op_answers *a);

/* A device, and the conditions asked about. */
typedef struct ft__device_use {
    const ft_device *device; /* its file; borrowed. NULL: there is none, and `name` is
                                that of a device a family was trained on */
    const char *setting; /* "clock=1200MHz memory=877MHz power=250W", each as far as it
                            is set; NULL or "": as the device comes */
    const char *policy;  /* on TF32: "ieee" (nowhere), "tf32" (all products); NULL or
                            "default": in convolutions, as PyTorch does */
    const ft__calibration_set *known; /* NULL, or what corrects a family's times of this
                              device, of which it holds some; borrowed */
    bool no_power_correction;         /* by it */
    const ft__calibration_set *networks; /* NULL, or what corrects networks by those of
                              this device that it holds; borrowed */
    ft__op_answers *answered; /* NULL, or of all else here without `known`; borrowed */
    const char *name;         /* without a file: as datasets name the device */
    const char *engine;       /* as datasets name it ("vllm"); NULL: that of the dataset
                                 that is most like the question */
    const char *engine_version; /* NULL as well */
    double launch_s;            /* host time of one launch; 0: not known */
    const char *run_mode; /* "eager" (the host issues every operation), "compiled" (of
                             what a compiler fused), "graph", "compiled-graph" or
                             "cudagraphs" (CUDA graphs: one launch replays all of it);
                             NULL: as the dataset was measured, from specifications
                             eager */
} ft__device_use;

/* Share of the unique operations of g of whose kind and element type something was
 * learned; 1 where networks of the device, of which no operation was, tell of g. */
double ft__predictor_covers(const ft_predictor *p, const char *device,
                            const ft_graph *g);
/* Does the predictor apply to the device? One learned from GPUs does not to a CPU. */
bool ft__predictor_serves(const ft_predictor *p, const ft_device *device);
/* p NULL, or one that does not serve the device: from the specifications of a device
 * that nobody measured: the physical estimate of every operation (docs/physics.md) with
 * default constants, host and device by the schedule (docs/networks.md); of GPUs power
 * and energy, too. The basis is FT_BASIS_SCALED, of operations that the importer could
 * not name FT_BASIS_ROOFLINE; intervals are what devices left out showed. Memory as
 * PyTorch allocates it. FT_ENOTFOUND: the file lacks what is needed, or the clock is
 * above the highest. Otherwise by what was learned of operations, host and device by
 * the schedule. Operations of a device that it was trained on are measured or learned,
 * of others scaled; what was learned in no form is priced from specifications. Memory
 * of a machine of ours: a forward pass lies at the offsets that ft_plan_make() finds; a
 * training step, which our engines do not run, and all of other devices as PyTorch
 * allocates it. What *on does not say is as in what was learned of that device, or of
 * most; without a device and a name it is the machine that was measured. g is lowered
 * with the policy of ft_predictor_get_info(). FT_ENOTFOUND as above. */
ft_status ft__predict_network(ft__network_estimate *out, const ft_predictor *p,
                              const ft__device_use *on, const ft_graph *g,
                              ft_error *err);
/* A device under many settings, quickly: out[i] is bit for bit what
 * ft__predict_network() says of setting[i]; all NaN where that fails of this setting
 * alone, as above its highest clock. on->setting is not looked at. */
ft_status ft__predict_network_many(ft_brief *out, const ft_predictor *p,
                                   const ft__device_use *on, const char *const *setting,
                                   size_t n, const ft_graph *g, ft_error *err);
/* From a device's specifications alone: every time is the roofline, a lower
 * bound (high is NaN); memory as PyTorch allocates it. */
ft_status ft__predict_network_roofline(ft__network_estimate *out,
                                       const ft_device_facts *d, const ft_graph *g,
                                       ft_error *err);
/* The same by PALEO (Qi, Sparks, Talwalkar, ICLR 2017; all of the peak rate, one
 * device): an operation reads what it needs, computes, writes what it made, one after
 * the other: time = FLOPs / peak + bytes / bandwidth, and networks are sums. Neither a
 * bound nor an interval: low and high are NaN, the basis is FT_BASIS_ANALYTIC. */
ft_status ft__predict_network_paleo(ft__network_estimate *out, const ft_device_facts *d,
                                    const ft_graph *g, ft_error *err);
void ft__network_estimate_free(ft__network_estimate *e);

#endif
