#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "foretell/names.h"
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
    bool holds;    /* every time is */
    uint64_t top;  /* kinds and operations without a price to list */
    /* For the page: */
    const ft_linearity *line; /* NULL: not measured, and why */
    const char *no_line;
    const char *spec; /* of the operation whose proportionality it is */
} ft__validation_page;

/* As one HTML page: figures are drawings in the text, nothing is fetched, nothing runs;
 * light and dark. Well-formed XML. */
void ft__page_write(FILE *fp, const ft__validation_page *p);

/* Its last section: how the networks were measured, as drawings. */
void ft__page_measuring(FILE *fp, const ft__validation_page *p);

/* ---- what is said of a network, on the page and elsewhere ---- */

/* "resnet18", with the dataset where there are several. */
static inline void ft__validation_label(char *buf, size_t size,
                                        const ft__validation_page *p,
                                        const ft_validated *v)
{
    if (p->datasets)
        snprintf(buf, size, "%s, %s, %s, %s", v->name, v->device, v->engine,
                 v->setting);
    else
        snprintf(buf, size, "%s", v->name);
}

/* Estimate over measured, less one; NaN: one is not known. */
static inline double ft__validation_error(const ft_validated *v, ft_quantity q,
                                          ft_estimator e)
{
    const ft_figure *f = e == FT_ESTIMATOR_SUM ? &v->sum[q] : &v->predicted[q];

    return f->value / v->measured[q].value - 1;
}

/* 0: measured, 1: the sum of operations, 2: predicted. */
static inline const ft_figure *ft__validation_figure(const ft_validated *v,
                                                     ft_quantity q, int which)
{
    return which == 0 ? &v->measured[q] : which == 1 ? &v->sum[q] : &v->predicted[q];
}

/* In the quantity's unit. */
static inline ft__formatted ft__quantity_text(ft_quantity q, double v)
{
    return ft__text_in(ft_name(FT_NAMES_UNIT, q), v);
}

#endif
