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

/* first: of each input its first dimension; 0: it has none, below 0: it is open, or an
 * option says it. The batch that the file fixes where `batch` is another one, with the
 * assumption that this makes; 0: it fixes none, or some input has the one that is asked
 * for. */
int64_t ft__batch_unfix(ft__build *b, int64_t batch, const int64_t *first, uint32_t n);

/* A file, and how it is imported at a batch (0: as it is). */
typedef struct ft__batch_file {
    ft_status (*at)(ft_graph **out, const void *file, int64_t batch, const char *name,
                    ft_error *err);
    const void *file;
    const char *name;
    int64_t batch; /* that is asked for */
    int64_t fixed; /* what ft__batch_unfix() said */
    bool follows;  /* the import finds where views have the batch; else numbers of the
                      file say their shapes, and they are looked at */
} ft__batch_file;

/* After an import with this outcome (st, inner, *out): whether every operation went
 * along with the batch. FT_EINVAL: err names the node that did not, *out is NULL. */
ft_status ft__batch_settle(ft_graph **out, ft_status st, const ft_error *inner,
                           const ft__batch_file *f, ft_error *err);

#endif
