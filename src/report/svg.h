#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include <stdbool.h>
#include <stdio.h>

#include "foretell/error.h"

/* Drawings inside an HTML page. Colours, widths and fonts are the page's: every
 * element has a class. Lengths are in the drawing's own units, y downwards. */

/* Text of an element or attribute: what XML keeps for itself is escaped, control
 * characters and bytes that are not UTF-8 become '?'. */
void ft__put_xml(FILE *fp, const char *s);

/* title and desc are read out where pictures cannot be seen. */
void ft__svg_begin(FILE *fp, double width, double height, const char *title,
                   const char *desc);
void ft__svg_end(FILE *fp);
void ft__svg_line(FILE *fp, const char *cls, double x1, double y1, double x2,
                  double y2);
/* A rectangle; `tip` (or NULL) is shown when pointed at. */
void ft__svg_rect(FILE *fp, const char *cls, double x, double y, double w, double h,
                  const char *tip);
void ft__svg_dot(FILE *fp, const char *cls, double x, double y, double r,
                 const char *tip);
/* anchor: "start", "middle" or "end". */
FT_PRINTF(6, 7)
void ft__svg_text(FILE *fp, const char *cls, const char *anchor, double x, double y,
                  const char *fmt, ...);
/* Connected points; y that is not a number breaks the line. */
void ft__svg_path(FILE *fp, const char *cls, const double *x, const double *y,
                  size_t n);

/* A scale from values lo..hi to places from..to. */
typedef struct ft__axis {
    double lo;
    double hi;
    double from;
    double to;
    bool log;
} ft__axis;
typedef enum ft__axis_kind {
    FT__AXIS_LINEAR,
    FT__AXIS_ZERO, /* linear, and 0 is on it */
    FT__AXIS_LOG,  /* base 10; lo above 0 */
} ft__axis_kind;
/* Range widened to round numbers, of a logarithmic one to powers of ten. */
ft__axis ft__axis_over(double lo, double hi, double from, double to,
                       ft__axis_kind kind);
double ft__axis_at(const ft__axis *a, double v);
enum { FT__MAX_TICKS = 12 };
/* Round values on the axis; how many were written. */
size_t ft__axis_ticks(const ft__axis *a, double v[FT__MAX_TICKS]);

#endif
