#ifndef IMPORT_OPTIONS_H
#define IMPORT_OPTIONS_H

#include "graph/build.h"

/* What the options of an import mean whatever the file is; each fails the build. */

/* Batch and dimensions are sizes. False: the build has failed. */
bool ft__options_are_sizes(ft__build *b, const ft_import_options *opt);
/* An input whose first dimension the file fixes. */
typedef struct ft__fixed_batch {
    const char *input;
    size_t length;
    int64_t size;
} ft__fixed_batch;

/* Names of the dimensions that --dim sets, each once, for messages; zeroed to begin
 * with. */
typedef struct ft__dim_names {
    char text[256];
    size_t n;
    bool more; /* than fit */
} ft__dim_names;

void ft__dim_names_add(ft__dim_names *d, const char *name, size_t len);

/* All that was given is one of the model's. used: one for each dimension; fixed: where
 * the file fixes a batch that was given to be another (NULL: nowhere). */
void ft__options_are_used(ft__build *b, const ft_import_options *opt, const bool *used,
                          const ft__dim_names *there, const ft__fixed_batch *fixed);

/* The same file, which fixes a batch, at two others (rebatch.c). FT_EINVAL: names the
 * node that does not go along. */
ft_status ft__batch_goes_along(const ft_graph *a, const ft_graph *b, int64_t batch_a,
                               int64_t batch_b, ft_error *err);

#endif
