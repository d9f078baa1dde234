#ifndef EVALUATE_LISTED_NETWORKS_H
#define EVALUATE_LISTED_NETWORKS_H

#include <stdbool.h>

#include "foretell/store.h"

/* Networks as lists of operations. */
typedef struct ft__network_ops {
    char name[160];
    uint64_t *hash; /* of its operations, ascending when all are read */
    size_t n;
} ft__network_ops;

typedef struct ft__listed_networks {
    ft__network_ops *v;
    uint32_t n;
} ft__listed_networks;

/* Those of a store's members, by the name in their spec whatever their input; only:
 * this one alone, or NULL. */
ft_status ft__listed_networks_read(ft__listed_networks *out, ft_store *store,
                                   const char *only, ft_error *err);
void ft__listed_networks_free(ft__listed_networks *n);
bool ft__network_has(const ft__network_ops *n, uint64_t hash);

#endif
