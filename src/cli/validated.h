#ifndef CLI_VALIDATED_H
#define CLI_VALIDATED_H

#include "cli/cli.h"
#include "foretell/validate.h"

/* What validate says about networks. */
typedef struct ft__verdict {
    const ft_validated *v;
    size_t n;
    const ft_kind_effect *kind;
    size_t n_kinds;
    ft_errors errors[FT_QUANTITY_COUNT][FT_ESTIMATOR_COUNT];
    double within; /* fraction that every time must be within; NaN: not asked */
    uint64_t top;  /* kinds and unpriced operations to list */
    bool datasets; /* more than one: name them */
} ft__verdict;

/* Estimate over measured, less one; NaN: one is not known. */
double ft__verdict_error(const ft_validated *v, ft_quantity q, ft_estimator e);
/* "resnet18", with the dataset where there are several. */
void ft__verdict_label(char *buf, size_t size, const ft__verdict *a,
                       const ft_validated *v);
bool ft__verdict_holds(const ft__verdict *a);
bool ft__verdict_print(const ft__verdict *a);
json_t *ft__verdict_json(const ft__verdict *a);
void ft__verdict_print_csv(const ft__verdict *a);

#endif
