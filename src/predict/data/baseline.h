#ifndef PREDICT_DATA_BASELINE_H
#define PREDICT_DATA_BASELINE_H

#include "physics/physics.h"
#include "predict/data/sample.h"

/* What a time is predicted relative to, fitted on training rows alone. In this order,
 * as far as a dataset allows:
 *   1. the roofline that its probes measured (this machine)
 *   2. the physical estimate from the device's file, constants fitted to the rows
 *   3. a roofline fitted to the rows: rates that the best of them reach; of all the
 *      rows, where the dataset has none */
/* Operations that constants are fitted to together: classes, but products of less than
 * 16 bits, mixtures of experts and attention, whose kernels are others, by themselves.
 */
enum {
    FT__GROUP_NARROW = FT_CLASS_COUNT,
    FT__GROUP_MIXTURE,
    FT__GROUP_ATTENTION,
    FT__N_GROUPS
};
bool ft__is_narrow(const ft_op *op);
uint32_t ft__group_of(const ft_op *op);
const char *ft__group_name(uint32_t group);

/* What one chip alone shows is in part its own affair: so much of it is taken to
 * others. */
#define FT__ONE_CHIP_SHARE 0.5

/* What holds of the rows of one group and dataset, in training alone. */
typedef struct ft__own_base {
    ft__physics_params without; /* constants that rows of its chip had no part in */
    /* How many times as long as estimated its host takes: by the group's constants, and
     * by those. */
    double host, host_without;
} ft__own_base;

typedef struct ft__base {
    ft__physics_params params[FT__N_GROUPS]; /* a group with rows enough has its own, as
                                                far as they serve chips left out */
    ft__roof *roof; /* per dataset and whether gradients are taken, then of all rows */
    uint32_t n_datasets;
    ft__own_base *own; /* of each group and dataset; not in files: NULL */
} ft__base;

/* Layers of TensorFlow 1 of which all that is known of hosts is Session.run()'s. */
static inline bool ft__is_session(const ft_op *op, bool tensorflow)
{
    return tensorflow && op->kind == FT_KIND_linear;
}

/* row[n]: indices into s->v, times known. */
ft_status ft__base_fit(ft__base *out, const ft__samples *s, const uint32_t *row,
                       size_t n, uint64_t seed, ft_error *err);
/* The same constants and rooflines; of datasets behind old->n_datasets rooflines are
 * fitted to the rows. */
ft_status ft__base_extend(ft__base *out, const ft__base *old, const ft__samples *s,
                          const uint32_t *row, size_t n, ft_error *err);
void ft__base_free(ft__base *b);
/* out->total_s is the base of sample i; the other members are NaN where it is a
 * roofline. */
void ft__base_terms(const ft__base *b, ft__terms *out, const ft__samples *s,
                    uint32_t i);
/* The base of sample i as it would be beside the host that it was measured beside: what
 * rows say of their hosts they say of no other's. */
void ft__base_terms_on_host(const ft__base *b, ft__terms *out, const ft__samples *s,
                            uint32_t i);
/* The same had its chip not been among the rows; NaN: that is not known. */
double ft__base_without_chip(const ft__base *b, const ft__samples *s, uint32_t i);
/* With other constants than those of its group. */
void ft__base_terms_by(const ft__base *b, const ft__physics_params *params,
                       ft__terms *out, const ft__samples *s, uint32_t i);

#endif
