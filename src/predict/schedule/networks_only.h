#ifndef PREDICT_SCHEDULE_NETWORKS_ONLY_H
#define PREDICT_SCHEDULE_NETWORKS_ONLY_H

#include <assert.h>

#include "predict/data/network_samples.h"
#include "predict/query/network.h"

/* Devices of which only whole networks were measured: the estimates of a network's
 * operations, summed by category, are weighted as the measured networks teach
 * (docs/networks.md). */

struct ft__family;

/* time = level x sum over operation categories of weight x estimate. */
enum { FT__CATEGORY_WEIGHTS = 23 };
typedef struct ft__category_weights {
    double weight[FT__CATEGORY_WEIGHTS]; /* logarithms */
    double level;                        /* likewise */
} ft__category_weights;

/* In a file as it is here: of one dataset, passes or training steps. */
typedef struct ft__alone {
    char device[128], setting[128], engine[32], version[32], policy[32];
    char phase[24];   /* "forward", "step": all others */
    uint32_t n;       /* networks */
    uint32_t bits;    /* of an element of their products */
    double low, high; /* 90 % of log(measured / estimate) of architectures left out */
    ft__category_weights weights;
} ft__alone;
static_assert(sizeof(ft__alone) == 592, "image layout");
/* One more in f->alone, if it can be true: *sound. */
ft_status ft__alone_add(struct ft__family *f, const ft__alone *a, bool *sound,
                        ft_error *err);

enum { FT__LEAST_ARCHITECTURES = 5 };
/* f->alone: one for every dataset of networks w but those that are hidden (or NULL),
 * whose device no operation was learned of; *n: networks that they are made of. Of
 * fewer architectures there is none. */
ft_status ft__alone_fit(struct ft__family *f, const ft__network_samples *w,
                        const bool *hidden, uint32_t *n, ft_error *err);
/* That which is most like what is asked; NULL: none is of the device, phase and width
 * of elements, or operations of the device were learned. */
const ft__alone *ft__alone_find(const struct ft__family *f, const ft__device_use *on,
                                const ft_graph *g);
/* *out, an estimate from the specifications of the device, as its networks say. */
ft_status ft__alone_apply(ft__network_estimate *out, const ft__alone *a,
                          const ft__device_use *on, const ft_graph *g, ft_error *err);

#endif
