#ifndef PREDICT_DATA_NETWORK_SAMPLES_H
#define PREDICT_DATA_NETWORK_SAMPLES_H

#include "foretell/graph.h"
#include "foretell/networks.h"
#include "foretell/store.h"
#include "predict/data/sample.h"

/* Networks measured whole, with their operations. */

typedef struct ft__network_sample {
    char *spec;             /* "network name=resnet18 x=32x3x224x224 dtype=fp32" */
    char *phase;            /* "forward", "forward_backward", "step" */
    char name[128];         /* in its spec; the spec where that says none */
    char architecture[128]; /* networks alike; where no list says it, the name */
    uint32_t dataset;
    double value[FT__N_METRICS]; /* as the graph has it, by its batch; NaN: not
                                    measured. Time and energy alone */
    double error;                /* relative, of the time; NaN: not known */
    ft_graph *graph;             /* lowered; NULL: nobody listed its operations */
    uint64_t *part; /* ft__op_key() of each as they are listed, ascending */
    size_t n_regressors;
} ft__network_sample;

/* A hash of an operation without its phase, layout and whether it works in place. */
uint64_t ft__op_key(const ft_op *op);

typedef struct ft__network_samples {
    ft__network_sample *v; /* in an order that depends on nothing but them */
    size_t n;
    ft__dataset *dataset;
    uint32_t n_datasets;
} ft__network_samples;

/* Networks with a time that `where` asks for (ft__samples_read()), with their
 * operations: those that find() has, otherwise the store's members. Left out are those
 * whose operations nobody lists, and halves of training steps, of which there are lists
 * of the whole alone. Devices without a file in data_dir have none. */
ft_status ft__network_samples_read(ft__network_samples *out, ft_store *store,
                                   const char *where, ft_networks_find find, void *user,
                                   const char *data_dir, ft_error *err);
void ft__network_samples_free(ft__network_samples *w);

#endif
