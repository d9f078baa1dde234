#ifndef CLI_ESTIMATE_H
#define CLI_ESTIMATE_H

#include "cli/cli.h"
#include "foretell/predictor.h"

/* What is estimated of one network on one device. */

/* Where estimates come from: what a predictor learned, otherwise the data sheet. */
typedef struct ft__source {
    const ft_predictor *predictor; /* or NULL */
    const ft_device_facts *sheet;
    bool paleo; /* the sheet's figures by PALEO; otherwise as a roofline */
} ft__source;

/* A network as it is run, with its estimate. */
typedef struct ft__estimate {
    ft_graph *made; /* freed with the rest; NULL: the graph is the importer's */
    const ft_graph *graph;
    ft_network_estimate e;
} ft__estimate;
ft_status ft__estimate_make(ft__estimate *out, const ft__source *from,
                            const ft_graph *g, const ft__step *step, ft_error *err);
void ft__estimate_free(ft__estimate *x);
/* The largest batch that needs no more than this; 0: none does. */
ft_status ft__estimate_max_batch(int64_t *batch, const ft__source *from,
                                 const char *model, const ft__model_options *how,
                                 const ft__step *step, double limit_bytes,
                                 ft_error *err);
/* Why there is no energy. This machine's sensors are looked up, not watched, so that
 * it is quick. */
void ft__energy_why(char *why, size_t size, const char *device, bool sheet,
                    const ft_network_estimate *e);

/* Of the first input; 0: there is none. */
int64_t ft__graph_batch(const ft_graph *g);
/* The type of the operation with the most arithmetic. */
const char *ft__graph_dtype(const ft_graph *g);
/* Complains where the model computes in another type than asked for; NULL: none was. */
int ft__dtype_check(ft__cli *c, const char *asked, const char *dtype);

#endif
