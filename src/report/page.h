#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "foretell/validate.h"

/* What validate found as one HTML page: figures are drawings in the text, nothing
 * is fetched, nothing runs; light and dark. Well-formed XML. */
typedef struct ft__page {
    const ft_validated *v;
    size_t n;
    bool datasets; /* of several devices or settings: named at each */
    const ft_kind_effect *kind;
    size_t n_kinds;
    const ft_errors (*errors)[FT_ESTIMATOR_COUNT]; /* by quantity */
    const ft_linearity *line;                      /* NULL: not measured, and why */
    const char *no_line;
    const char *spec; /* of the operation whose proportionality it is */
} ft__page;

void ft__page_write(FILE *fp, const ft__page *p);

/* ---- figures ---- */
void ft__page_label(char *buf, size_t size, const ft__page *p, const ft_validated *v);
/* Measured, sum and prediction of every network, in units of what was measured. */
void ft__figure_bars(FILE *fp, const ft__page *p, ft_quantity q);
/* One network at the clocks it was measured at: the `n` entries v[]. */
void ft__figure_clocks(FILE *fp, const ft_validated *const *v, size_t n, ft_quantity q);
/* A setting's "clock=1200MHz" in Hz; NaN: it names none. */
double ft__clock_of(const char *setting);
void ft__figure_proportional(FILE *fp, const ft_linearity *l, const char *spec);
void ft__figure_power(FILE *fp, const ft__page *p, const ft_validated *v);
void ft__figure_rounds(FILE *fp, const ft__page *p, const ft_validated *v);

#endif
