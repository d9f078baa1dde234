#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "foretell/validate.h"
#include "report/units.h"

/* What validate found about networks. */
typedef struct ft__validation_page {
    const ft_validated *v;
    size_t n;
    bool datasets; /* of several devices or settings: named at each */
    const ft_kind_effect *kind;
    size_t n_kinds;
    ft_errors errors[FT_QUANTITY_COUNT][FT_ESTIMATOR_COUNT];
    double within; /* fraction that every time must be within; NaN: not asked */
    uint64_t top;  /* kinds and operations without a price to list */
    /* For the page: */
    const ft_linearity *line; /* NULL: not measured, and why */
    const char *no_line;
    const char *spec; /* of the operation whose proportionality it is */
} ft__validation_page;

/* As one HTML page: figures are drawings in the text, nothing is fetched, nothing runs;
 * light and dark. Well-formed XML. */
void ft__page_write(FILE *fp, const ft__validation_page *p);

/* ---- figures ---- */
/* "resnet18", with the dataset where there are several. */
void ft__validation_label(char *buf, size_t size, const ft__validation_page *p,
                          const ft_validated *v);
/* Estimate over measured, less one; NaN: one is not known. */
double ft__validation_error(const ft_validated *v, ft_quantity q, ft_estimator e);
/* In the quantity's unit. */
ft__formatted ft__quantity_text(ft_quantity q, double v);
/* 0: measured, 1: the sum of operations, 2: predicted. */
const ft_figure *ft__validation_figure(const ft_validated *v, ft_quantity q, int which);
/* Measured, sum and prediction of every network, in units of what was measured. */
void ft__figure_bars(FILE *fp, const ft__validation_page *p, ft_quantity q);
/* One network at the clocks it was measured at: the `n` entries v[]. */
void ft__figure_clocks(FILE *fp, const ft_validated *const *v, size_t n, ft_quantity q);
/* A setting's "clock=1200MHz" in Hz; NaN: it names none. */
double ft__clock_of(const char *setting);
void ft__figure_proportional(FILE *fp, const ft_linearity *l, const char *spec);
void ft__figure_power(FILE *fp, const ft__validation_page *p, const ft_validated *v);
void ft__figure_rounds(FILE *fp, const ft__validation_page *p, const ft_validated *v);

#endif
