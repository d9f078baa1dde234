#ifndef FT_OUTLIERS_H
#define FT_OUTLIERS_H

#include "foretell/error.h"
#include "foretell/op.h"
#include "foretell/store.h"

FT_BEGIN_DECLS

/* Operations that take longer than similar ones: badly tuned, or measured while
 * something else ran. */
typedef struct ft_slow_op {
    ft_op op;
    char device[128];
    char setting[160];
    char engine[32];
    char engine_version[64];
    double time_s;
    double slower;    /* factor over the prediction from similar operations */
    double isolation; /* isolation forest score; near 1: few similar operations */
} ft_slow_op;

/* Find them in every dataset (device, setting, engine, dtype policy) that `where` selects
 * (syntax of evaluate.h); data_dir has the device files (NULL: none). Each operation is
 * compared with out-of-fold predictions from its dataset. *out, the slowest first, is
 * released by free(). *n_datasets: those with enough operations. */
FT_API ft_status ft_slow_ops_find(ft_slow_op **out, size_t *n, uint32_t *n_datasets,
                                  ft_store *store, const char *where,
                                  const char *data_dir, uint64_t seed, ft_error *err);

FT_END_DECLS

#endif
