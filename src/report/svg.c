/* Elements of drawings, and scales from values to places. */
#include "report/svg.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>

/* Bytes of the UTF-8 character at s; 0: it is none. */
static size_t character(const unsigned char *s)
{
    size_t n = *s < 0x80                 ? 1
               : *s >= 0xc2 && *s < 0xe0 ? 2
               : *s >= 0xe0 && *s < 0xf0 ? 3
               : *s >= 0xf0 && *s < 0xf5 ? 4
                                         : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* Surrogates, overlong forms, and the two that XML leaves out. */
    if ((n == 3 && *s == 0xe0 && s[1] < 0xa0) ||
        (n == 3 && *s == 0xed && s[1] > 0x9f) ||
        (n == 3 && *s == 0xef && s[1] == 0xbf && s[2] > 0xbd) ||
        (n == 4 && *s == 0xf0 && s[1] < 0x90) || (n == 4 && *s == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

void ft__put_xml(FILE *fp, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;

    while (*s) {
        size_t n = character(s);

        if (n == 0 || *s < 0x20 || *s == 0x7f)
            fputc('?', fp);
        else if (*s == '<')
            fputs("&lt;", fp);
        else if (*s == '>')
            fputs("&gt;", fp);
        else if (*s == '&')
            fputs("&amp;", fp);
        else if (*s == '"')
            fputs("&quot;", fp);
        else
            fwrite(s, 1, n, fp);
        s += n ? n : 1;
    }
}

void ft__svg_begin(FILE *fp, double width, double height, const char *title,
                   const char *desc)
{
    fprintf(fp,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
            "viewBox=\"0 0 %.0f %.0f\" style=\"max-width:%.0fpx\">\n<title>",
            width, height, width);
    ft__put_xml(fp, title);
    fputs("</title>\n<desc>", fp);
    ft__put_xml(fp, desc);
    fputs("</desc>\n", fp);
}

void ft__svg_end(FILE *fp)
{
    fputs("</svg>\n", fp);
}

void ft__svg_line(FILE *fp, const char *cls, double x1, double y1, double x2, double y2)
{
    fprintf(fp,
            "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
            cls, x1, y1, x2, y2);
}

static void finish(FILE *fp, const char *element, const char *tip)
{
    if (!tip) {
        fputs("/>\n", fp);
        return;
    }
    fputs("><title>", fp);
    ft__put_xml(fp, tip);
    fprintf(fp, "</title></%s>\n", element);
}

void ft__svg_rect(FILE *fp, const char *cls, double x, double y, double w, double h,
                  const char *tip)
{
    fprintf(fp,
            "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"",
            cls, x, y, fmax(0, w), fmax(0, h));
    finish(fp, "rect", tip);
}

void ft__svg_dot(FILE *fp, const char *cls, double x, double y, double r,
                 const char *tip)
{
    fprintf(fp, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"", cls, x, y,
            r);
    finish(fp, "circle", tip);
}

void ft__svg_text(FILE *fp, const char *cls, const char *anchor, double x, double y,
                  const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fprintf(fp, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", cls,
            anchor, x, y);
    ft__put_xml(fp, text);
    fputs("</text>\n", fp);
}

void ft__svg_path(FILE *fp, const char *cls, const double *x, const double *y, size_t n)
{
    bool drawing = false;

    fprintf(fp, "<path class=\"%s\" d=\"", cls);
    for (size_t i = 0; i < n; i++) {
        if (isfinite(x[i]) && isfinite(y[i]))
            fprintf(fp, "%s%.1f %.1f", drawing ? "L" : "M", x[i], y[i]);
        drawing = isfinite(x[i]) && isfinite(y[i]);
    }
    fputs("\"/>\n", fp);
}

/* ---- scales ---- */

/* 1, 2 or 5 times a power of ten, at most FT__MAX_TICKS / 2 of them in the span. */
static double step_of(double span)
{
    double p = pow(10, floor(log10(span / (FT__MAX_TICKS / 2))));

    while (span / p > FT__MAX_TICKS / 2.0)
        p *= span / (2 * p) <= FT__MAX_TICKS / 2.0   ? 2
             : span / (5 * p) <= FT__MAX_TICKS / 2.0 ? 5
                                                     : 10;
    return p;
}

static ft__axis log_axis(double lo, double hi, double from, double to)
{
    lo = pow(10, floor(log10(lo)));
    hi = pow(10, ceil(log10(hi)));
    return (ft__axis){lo, hi > lo ? hi : 10 * lo, from, to, true};
}

ft__axis ft__axis_over(double lo, double hi, double from, double to, ft__axis_kind kind)
{
    const bool zero = kind == FT__AXIS_ZERO;
    double step;

    if (kind == FT__AXIS_LOG)
        return log_axis(lo, hi, from, to);
    if (zero)
        lo = fmin(0, lo);
    if (!(hi > lo)) {
        double room = lo == 0 ? 1 : fabs(lo) / 10;

        lo -= zero ? 0 : room;
        hi = lo + 2 * room;
    }
    step = step_of(hi - lo);
    return (ft__axis){floor(lo / step + 1e-9) * step, ceil(hi / step - 1e-9) * step,
                      from, to, false};
}

double ft__axis_at(const ft__axis *a, double v)
{
    double share =
        a->log ? log(v / a->lo) / log(a->hi / a->lo) : (v - a->lo) / (a->hi - a->lo);

    return a->from + share * (a->to - a->from);
}

size_t ft__axis_ticks(const ft__axis *a, double v[FT__MAX_TICKS])
{
    size_t n = 0;

    if (a->log) {
        double decades = round(log10(a->hi / a->lo)), each = ceil(decades / 8);

        for (double k = 0; k <= decades && n < FT__MAX_TICKS; k += each)
            v[n++] = a->lo * pow(10, k);
        return n;
    }
    for (double step = step_of(a->hi - a->lo), k = 0;
         a->lo + k * step <= a->hi + step / 2 && n < FT__MAX_TICKS; k++) {
        double at = a->lo + k * step;

        v[n++] = fabs(at) < step * 1e-9 ? 0 : at;
    }
    return n;
}
