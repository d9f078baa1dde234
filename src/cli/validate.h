#ifndef CLI_VALIDATE_H
#define CLI_VALIDATE_H

#include "cli/slow_ops.h"
#include "foretell/validate.h"

/* What was found about networks. */
typedef struct ft__validations {
    const ft_validated *v;
    size_t n;
    bool datasets; /* of several devices or settings: named at each */
    const ft_kind_effect *kind;
    size_t n_kinds;
    ft_errors errors[FT_QUANTITY_COUNT][FT_ESTIMATOR_COUNT];
    double within; /* fraction that every time must be within; NaN: not asked */
    bool holds;    /* every time is */
    uint64_t top;  /* kinds and operations without a price to list */
} ft__validations;

/* Estimate over measured, less one; NaN: one is not known. */
double ft__validated_error(const ft_validated *v, ft_quantity q, ft_estimator e);
/* In the form that the global options ask for; slow: NULL where it was not asked for.
 * Without networks it is all there is. False: out of memory. */
bool ft__validations_print(const ft__cli *c, const ft__validations *a,
                           const ft__slow_ops *slow);
/* As a page. s: of the machine that measured; NULL: nothing was run. */
int ft__validations_page(ft__cli *c, const char *path, const ft__validations *a,
                         ft_session *s);

#endif
