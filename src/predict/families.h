#ifndef PREDICT_FAMILIES_H
#define PREDICT_FAMILIES_H

#include "foretell/networks.h"

/* ft_networks_evaluate() of FT_LEAVE_FAMILY: no operation was measured, only networks.
 * Their operations' estimates from specifications, added up by sort, are the parts of a
 * mixture (mixture.h) whose weights other families teach. */
ft_status ft__families_evaluate(ft_networks *out, ft_store *store,
                                const ft_networks_options *opt, ft_error *err);
void ft__families_free(void *memory);

#endif
