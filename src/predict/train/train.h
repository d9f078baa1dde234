#ifndef PREDICT_TRAIN_TRAIN_H
#define PREDICT_TRAIN_TRAIN_H

#include "predict/data/network_samples.h"
#include "predict/model/family.h"
#include "predict/schedule/schedule.h"

/* Training of a predictor: first from operations, then from networks measured whole. */

typedef struct ft__schedules_found {
    uint32_t
        usable; /* networks of a device and engine that operations were learned of */
    uint32_t tried; /* places where there are networks enough */
} ft__schedules_found;

typedef struct ft__family_options {
    ft__model_set_options learn; /* metric, unseen and part_rows are set here */
    size_t most_bytes;           /* of its file, about; 0: 40 MB */
    bool forget;                 /* no templates */
    uint32_t metrics; /* bits 1 << ft__metric that will be asked for, time among them;
                         0: all that were measured */
    bool no_known;    /* nothing will be asked of the devices learned from, */
    bool no_unknown;  /* or of others: their regressors are not made */
    const ft__family *before; /* what rows are added to, or NULL; the first datasets are
                                 its, in its order (ft__samples_order_as()) */
    const ft__samples *workloads;        /* measured at clocks, or NULL */
    const ft__network_samples *networks; /* that schedules are fitted to, and that say
                                   how far off networks of other devices are; or NULL */
    const bool *hidden;         /* of these, nothing is learned from; NULL: of none */
    ft__schedules_found *found; /* NULL, or receives how many were of use */
    const ft_log *log;
} ft__family_options;

/* Of all samples: time and power, and memory and workspace where they were measured;
 * and of opt->workloads. FT_ENOTFOUND: no time is among them, and no workloads. */
ft_status ft__family_train(ft__family *out, const ft__samples *s,
                           const ft__family_options *opt, ft_error *err);

/* The same as a predictor, trained on rows row[n] of s. */
ft_status ft__family_of_rows(ft_predictor **out, const ft__samples *s,
                             const uint32_t *row, size_t n,
                             const ft__family_options *opt, ft_error *err);

ft_status ft__family_of_kernels(ft_predictor **out, const ft__kernel_row *row,
                                const uint32_t *use, size_t n,
                                const ft__kernels_options *opt, ft_error *err);

/* Trains the regressors and templates of operations, and fills the datasets of *out. */
ft_status ft__train_operations(ft__family *out, const ft__samples *s,
                               const ft__family_options *opt, ft_error *err);
/* f->device_schedule: one for every device that operations were learned of, policy,
 * engine and phase of which at least four networks were measured, at the clock and the
 * cap that the device comes with, where it tells those that it was not fitted to better
 * than none. */
ft_status ft__device_schedules_fit(ft__family *f, const ft__network_samples *w,
                                   const ft__family_options *opt,
                                   ft__schedules_found *found, ft_error *err);

typedef struct ft__known_network {
    ft__network_load load;
    double time_s;
    double energy_j; /* NaN: not measured */
    double weight;   /* as so many networks */
} ft__known_network;

/* Least mean of |log(time / estimate)| over the networks, then of energies; drawn to
 * what *s holds before as if `prior` networks had shown it, less where that is known
 * to an order of magnitude only. launch_s and idle_w must
 * not be 0 to be fitted. Without a network *s stays as it is. */
void ft__schedule_fit(ft__schedule *s, const ft__known_network *network, size_t n,
                      double prior);

/* Between which logarithms of measured over estimate nine in ten networks lie,
 * predicted from those of n > 0 others that the schedule was not fitted to. */
ft_status ft__schedule_range(double *low, double *high, const double *residual,
                             size_t n, ft_error *err);

#endif
