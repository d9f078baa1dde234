#ifndef CLI_VALIDATE_VALIDATE_H
#define CLI_VALIDATE_VALIDATE_H

#include "cli/cli.h"
#include "foretell/outliers.h"
#include "report/page.h"

/* ---- print.c ---- */
/* Operations of a store that take longer than others like them. */
typedef struct ft__slow {
    ft_slow_op *op; /* the slowest first */
    size_t n;
    uint32_t n_datasets;
} ft__slow;

/* In the form that the global options ask for; slow: NULL where it was not asked for.
 */
bool ft__validation_print(const ft__cli *c, const ft__validation_page *a,
                          const ft__slow *slow);

#endif
