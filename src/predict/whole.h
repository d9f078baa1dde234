#ifndef PREDICT_WHOLE_H
#define PREDICT_WHOLE_H

#include "foretell/graph.h"
#include "foretell/store.h"
#include "predict/sample.h"

/* Networks that were measured whole, and the operations they consist of. */

/* An operation in its forward form, with what belongs to it in a training step: its
 * backward operations, as many as there are. */
typedef struct ft__piece {
    ft_op op;    /* no layout, not in place, forward; of what has no forward form
                    here (an optimizer's step) as it is */
    bool relaid; /* the network has it in another layout than the plain one */
    double count;
    /* Times that its backward forms run; of the gradients of all operands, and of the
     * weights alone. */
    double backward;
    double weights_only;
} ft__piece;

typedef struct ft__whole {
    char *spec;  /* "network name=resnet18 x=32x3x224x224 dtype=fp32" */
    char *phase; /* "forward", "forward_backward", "step" */
    uint32_t dataset;
    double time_s;   /* median of its measurements */
    double energy_j; /* NaN: not measured */
    ft__piece *part; /* NULL: nobody listed its operations */
    size_t n_parts;
} ft__whole;

/* Is it the forward or the backward pass of a training step, measured under `setting`?
 * Its operations are in the step's list. */
bool ft__whole_of_step(const ft__whole *w, const char *setting);

/* op without layout and place, in its forward form if it is a backward one: what it is
 * learned under. */
ft_op ft__part_key(const ft_op *op);

typedef struct ft__wholes {
    ft__whole *v;
    size_t n;
    ft__dataset *dataset;
    uint32_t n_datasets;
} ft__wholes;

/* The operations of a whole, as a graph that the caller frees, or NULL in *g: not
 * known, so that the store's members are taken. */
typedef ft_status (*ft__graph_of)(void *user, ft_graph **g, const char *spec,
                                  const char *phase, ft_error *err);

/* Networks that `where` asks for (ft__samples_read()), without their operations. */
ft_status ft__wholes_list(ft__wholes *out, ft_store *store, const char *where,
                          ft_error *err);
/* Those with a time and operations, with them. */
ft_status ft__wholes_read(ft__wholes *out, ft_store *store, const char *where,
                          ft__graph_of graph_of, void *user, ft_error *err);
void ft__wholes_free(ft__wholes *w);

#endif
