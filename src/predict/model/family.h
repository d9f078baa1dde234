#ifndef PREDICT_MODEL_FAMILY_H
#define PREDICT_MODEL_FAMILY_H

#include "base/buf.h"
#include "predict/file/image.h"
#include "predict/model/dvfs.h"
#include "predict/model/kernels.h"
#include "predict/model/model_set.h"
#include "predict/model/others.h"

/* Regressors for any device with a data sheet, learned from measurements on several. */
typedef struct ft__family {
    ft__dataset *dataset; /* that were learned from; file is NULL */
    uint32_t n_datasets;
    /* Of a metric: for the devices among the datasets, and for others; NULL: nothing of
     * the metric was measured, or of one device alone, whose model set serves others.
     */
    ft__model_set *model_set[FT__N_METRICS][2];
    ft__templates *templates;                    /* of each dataset */
    struct ft__device_schedule *device_schedule; /* schedules of its devices */
    uint32_t n_device_schedules;
    ft__clocked_list clocked; /* workloads measured whole at clocks of devices */
    struct ft__alone *alone;  /* networks of devices without operations
                                 (predict/schedule/networks_only.h) */
    uint32_t n_alone;
    ft__kernel_models *kernels; /* in PTX, or NULL */
    struct ft__unseen *unseen;  /* how far off networks of other devices are, or NULL */
    double between_boards;      /* measured on others' boards: how far one of a known
                                   device may be off, 90 % of the logarithm; or 0 */
    ft__model_set *reading;     /* while a file is opened: whose parts come next */
} ft__family;

void ft__family_free(ft__family *f);

/* The device, setting and run mode of a dataset as a query has them. */
ft__device_use ft__dataset_use(const ft__dataset *d);
/* Is `known` the name asked for? False where none was asked for (NULL). */
bool ft__is_named(const char *asked, const char *known);
/* The index of the dataset with every field of *on; n_datasets: there is none. */
uint32_t ft__family_index(const ft__family *f, const ft__dataset *on);
/* The model set of the metric for the known devices, otherwise the one for others;
 * NULL: none. */
static inline const ft__model_set *ft__family_any(const ft__family *f,
                                                  ft__metric metric)
{
    return f->model_set[metric][0] ? f->model_set[metric][0] : f->model_set[metric][1];
}
/* The dataset of a family of one machine: its roofline was probed, or nothing but what
 * was measured is known of it. NULL: there are others, or a data sheet. */
const ft__dataset *ft__family_machine(const ft__family *f);
/* The number of pairs that two settings have in common. */
int ft__pairs_in_common(const char *a, const char *b);
/* Was the operation's time measured in that dataset? False for n_datasets and above. */
bool ft__family_holds(const ft__family *f, uint32_t dataset, const ft_op *op);
/* log(measured / estimate) of operations on devices other than that of `on`, in the
 * same run mode: out[n][FT__MOST_OTHERS], by a number of the device; NaN: it was not
 * measured there. Of more devices some count for nothing. */
enum { FT__MOST_OTHERS = 32 };
ft_status ft__family_others(double *out, const ft__family *f, const ft__dataset *on,
                            const ft_op *ops, size_t n, ft_error *err);
/* Was the metric measured on the device of `on`? */
bool ft__family_knows(const ft__family *f, ft__metric metric, const ft__dataset *on);
/* Completes *on from the dataset most like it. The setting is in *setting, which the
 * caller frees; setting->bad: out of memory. */
void ft__family_complete(ft__dataset *out, ft__buf *setting, const ft__family *f,
                         const ft__dataset *on);
/* n operations on one device, whose `file` is its data sheet; on->device may be one
 * that is among the datasets or not. What `on` does not say (NULL), and pairs that its
 * setting leaves out, are as in the dataset that is most like it. Energy is power x
 * time. terms[n]: what the physical estimate of the time's model set says, where the
 * device is asked about as it was measured, or NULL. out[n]; FT_ENOTFOUND: the metric
 * was not learned, or a fact of the device is missing (the message names it). */
ft_status ft__family_query(ft__op_answer *out, const ft__family *f, ft__metric metric,
                           const ft__dataset *on, const ft_op *ops,
                           const ft__terms *terms, size_t n, ft_error *err);
/* Likewise, of another metric than energy, of what ft__family_complete() completed. */
ft_status ft__family_ask(ft__op_answer *out, const ft__family *f, ft__metric metric,
                         const ft__dataset *on, const ft_op *ops,
                         const ft__terms *terms, size_t n, ft_error *err);

/* The parts of asking. Which model set answers for the device: NULL: the metric was not
 * learned. Operations on it as samples, of which v and dataset alone are to be freed;
 * index: ft__family_index(). */
const ft__model_set *ft__family_model_set(const ft__family *f, ft__metric metric,
                                          const ft__dataset *on);
ft_status ft__family_samples(ft__samples *s, const ft__family *f, const ft__dataset *on,
                             uint32_t index, const ft_op *ops, size_t n, ft_error *err);

/* Widens or narrows intervals to a factor of `least` to `most` on either side. */
void ft__family_bound(ft__op_answer *out, size_t n, double least, double most);
/* Adjusts predictions and intervals for a device that is not among the training
 * devices. */
void ft__family_fit_to_device(ft__op_answer *out, const ft__family *f,
                              const ft__model_set *l, const ft__dataset *on,
                              const ft__samples *s);

#endif
