#ifndef FT_OUTLIERS_H
#define FT_OUTLIERS_H

#include "foretell/error.h"
#include "foretell/op.h"
#include "foretell/store.h"

FT_BEGIN_DECLS

/* Operations that take longer than others like them: badly tuned, or measured while
 * something else ran. */
typedef struct ft_slow_op {
    ft_op op;
    char device[128];
    char setting[160];
    char engine[32];
    double time_s;
    double slower;    /* times what operations like it take there */
    double isolation; /* near 1: there are hardly any like it (ft__isolation_scores()) */
} ft_slow_op;

/* Look for them in every dataset (device, setting, engine, dtype policy) that `where`
 * asks for, as evaluate.h has it; data_dir knows the devices (NULL: nobody). Each is
 * compared with the others of its dataset by ft__outliers_find(). *out, the slowest
 * first, is the caller's to free(). *n_datasets: those with operations enough to
 * compare; others say nothing. */
FT_API ft_status ft_slow_ops_find(ft_slow_op **out, size_t *n, uint32_t *n_datasets,
                                  ft_store *store, const char *where,
                                  const char *data_dir, uint64_t seed, ft_error *err);

FT_END_DECLS

#endif
