/* The sections of validate's page that draw what was found: measured, summed and
 * predicted beside each other, over all networks and by clock. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page.h"
#include "report/svg.h"
#include "report/units.h"

static const char *const row_class[] = {"measured", "sum", "predicted"};

static void put_keys(FILE *fp, const ft__validation_page *p)
{
    bool predicted = false;

    for (size_t i = 0; i < p->n; i++)
        predicted |= isfinite(p->v[i].predicted[FT_QUANTITY_TIME].value);
    fprintf(fp,
            "<div class=\"keys\"><span><i style=\"background:var(--measured)\"></i>"
            "measured whole</span><span><i style=\"background:var(--sum)\"></i>"
            "operations summed</span>%s</div>\n",
            predicted ? "<span><i style=\"background:var(--predicted)\"></i>predicted"
                        "</span>"
                      : "");
}

/* ---- bars: one row per estimate, in units of what was measured ---- */

enum { LEFT = 200, WIDE = 760, RIGHT = 150, BAR = 13, GROUP = 3 * BAR + 18, TOP = 34 };

static bool is_drawn(const ft_validated *v, ft_quantity q)
{
    return v->measured[q].value > 0;
}

static double longest(const ft__validation_page *p, ft_quantity q)
{
    double most = 1;

    for (size_t i = 0; i < p->n; i++)
        for (int w = 0; w < 3 && is_drawn(&p->v[i], q); w++) {
            const ft_figure *f = ft__validation_figure(&p->v[i], q, w);
            double sigma = isfinite(f->sigma) ? f->sigma : 0;

            most = fmax(most, (f->value + sigma) / p->v[i].measured[q].value);
        }
    return fmin(most, 3);
}

static void draw_bar(FILE *fp, const ft__axis *x, const ft_figure *f, double one,
                     int which, double y, ft_quantity q)
{
    double ratio = fmin(f->value / one, x->hi), sigma = f->sigma / one;
    double end = ft__axis_at(x, ratio), middle = y + BAR / 2.0, text = end;
    char tip[160];

    if (!isfinite(f->value))
        return;
    snprintf(tip, sizeof(tip), "%s %s, %.3f of what was measured", row_class[which],
             ft__quantity_text(q, f->value).s, f->value / one);
    ft__svg_rect(fp, row_class[which], x->from, y, end - x->from, BAR - 2, tip);
    if (isfinite(sigma) && sigma > 0) {
        double low = ft__axis_at(x, fmax(0, ratio - sigma));
        double high = fmin(ft__axis_at(x, ratio + sigma), x->to);

        ft__svg_line(fp, "under", low, middle - 1, high, middle - 1);
        ft__svg_line(fp, "error", low, middle - 1, high, middle - 1);
        ft__svg_line(fp, "error", low, middle - 4, low, middle + 2);
        ft__svg_line(fp, "error", high, middle - 4, high, middle + 2);
        text = fmax(end, high);
    }
    if (which)
        ft__svg_text(fp, "small", "start", text + 6, y + BAR - 3, "%s, %s",
                     ft__quantity_text(q, f->value).s,
                     ft__text_signed(f->value / one - 1).s);
    else
        ft__svg_text(fp, "small", "start", text + 6, y + BAR - 3, "%s",
                     ft__quantity_text(q, f->value).s);
}

/* Long names keep their end, where sizes and settings are. */
static void draw_end_of(FILE *fp, const char *cls, const char *text, size_t most,
                        double y)
{
    size_t len = strlen(text), from = len > most ? len - most : 0;

    /* Not within a character. */
    while (((unsigned char)text[from] & 0xc0) == 0x80)
        from++;
    ft__svg_text(fp, cls, "end", LEFT - 12, y, "%s%s", from ? "\xe2\x80\xa6" : "",
                 text + from);
}

static void draw_name(FILE *fp, const ft__validation_page *p, const ft_validated *v,
                      double y)
{
    draw_end_of(fp, "label", v->name, 24, y + BAR + (p->datasets ? -4 : 9));
    if (!p->datasets)
        return;
    draw_end_of(fp, "small", v->device, 28, y + 2 * BAR - 4);
    draw_end_of(fp, "small", v->setting, 28, y + 3 * BAR - 4);
}

static void draw_scale(FILE *fp, const ft__axis *x, double bottom)
{
    double tick[FT__MAX_TICKS];
    size_t n = ft__axis_ticks(x, tick);

    for (size_t i = 0; i < n; i++) {
        double at = ft__axis_at(x, tick[i]);

        ft__svg_line(fp, fabs(tick[i] - 1) < 1e-9 ? "one" : "grid", at, TOP - 6, at,
                     bottom);
        ft__svg_text(fp, "small", "middle", at, TOP - 12, "%.4g", tick[i]);
    }
}

/* Measured, sum and prediction of every network, in units of what was measured. */
static void draw_bars(FILE *fp, const ft__validation_page *p, ft_quantity q)
{
    ft__axis x = ft__axis_linear(0, longest(p, q), LEFT, WIDE - RIGHT, true);
    char title[96], desc[256];
    double y = TOP;
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        n += is_drawn(&p->v[i], q);
    snprintf(title, sizeof(title), "%s: measured, summed, predicted",
             ft_name(FT_NAMES_QUANTITY, q));
    snprintf(
        desc, sizeof(desc),
        "A group of bars for each of %zu networks: %s measured whole, the sum over "
        "its operations, and the prediction, divided by what was measured. Lines "
        "are one sigma.",
        n, ft_name(FT_NAMES_QUANTITY, q));
    ft__svg_begin(fp, WIDE, TOP + (double)(n * GROUP) + 4, title, desc);
    draw_scale(fp, &x, TOP + (double)(n * GROUP));
    for (size_t i = 0; i < p->n; i++) {
        const ft_validated *v = &p->v[i];

        if (!is_drawn(v, q))
            continue;
        draw_name(fp, p, v, y + 4);
        for (int w = 0; w < 3; w++)
            draw_bar(fp, &x, ft__validation_figure(v, q, w), v->measured[q].value, w,
                     y + 6 + w * BAR, q);
        y += GROUP;
    }
    ft__svg_end(fp);
}

static bool is_known(const ft__validation_page *p, ft_quantity q)
{
    for (size_t i = 0; i < p->n; i++)
        if (is_drawn(&p->v[i], q))
            return true;
    return false;
}

static const char *why_not(const ft__validation_page *p, ft_quantity q)
{
    return *p->v[0].measured[q].why ? p->v[0].measured[q].why : p->v[0].sum[q].why;
}

static void put_bars(FILE *fp, const ft__validation_page *p)
{
    for (int q = 0; q < FT_QUANTITY_COUNT; q++) {
        fprintf(fp, "<h2>%c%s</h2>\n",
                ft_name(FT_NAMES_QUANTITY, (ft_quantity)q)[0] - 'a' + 'A',
                ft_name(FT_NAMES_QUANTITY, (ft_quantity)q) + 1);
        if (!is_known(p, (ft_quantity)q)) {
            fputs("<p class=\"soft\">Not known: ", fp);
            ft__put_xml(fp, why_not(p, (ft_quantity)q));
            fputs(".</p>\n", fp);
            continue;
        }
        put_keys(fp, p);
        fputs("<figure>\n", fp);
        draw_bars(fp, p, (ft_quantity)q);
        fputs("<figcaption>In units of what was measured; thin lines are one "
              "sigma.</figcaption></figure>\n",
              fp);
    }
}

/* ---- by clock ---- */

/* A setting's "clock=1200MHz" in Hz; NaN: it names none. */
static double clock_of(const char *setting)
{
    const char *at = strstr(setting, "clock=");
    double hz;
    char *end;

    /* "memory_clock=" is another one. */
    while (at && at != setting && at[-1] != ' ')
        at = strstr(at + 1, "clock=");
    if (!at)
        return NAN;
    hz = strtod(at + strlen("clock="), &end);
    if (strncmp(end, "MHz", 3) == 0)
        return hz * 1e6;
    return strncmp(end, "GHz", 3) == 0 ? hz * 1e9 : NAN;
}

enum { CLOCK_WIDE = 420, CLOCK_HIGH = 260 };

static void draw_clock_axes(FILE *fp, const ft__axis *x, const ft__axis *y,
                            ft_quantity q)
{
    double tick[FT__MAX_TICKS];
    size_t n = ft__axis_ticks(y, tick);

    for (size_t i = 0; i < n; i++) {
        ft__svg_line(fp, "grid", x->from, ft__axis_at(y, tick[i]), x->to,
                     ft__axis_at(y, tick[i]));
        ft__svg_text(fp, "small", "end", x->from - 6, ft__axis_at(y, tick[i]) + 3, "%s",
                     tick[i] == 0 ? "0" : ft__quantity_text(q, tick[i]).s);
    }
    n = ft__axis_ticks(x, tick);
    for (size_t i = 0; i < n; i++)
        ft__svg_text(fp, "small", "middle", ft__axis_at(x, tick[i]), y->from + 16,
                     "%.0f", tick[i] / 1e6);
    ft__svg_text(fp, "small", "middle", (x->from + x->to) / 2, y->from + 32,
                 "core clock in MHz");
}

/* From low to high, with ends. */
static void draw_error(FILE *fp, double x, double low, double high)
{
    enum { HALF = 3 };

    ft__svg_line(fp, "error", x, low, x, high);
    ft__svg_line(fp, "error", x - HALF, low, x + HALF, low);
    ft__svg_line(fp, "error", x - HALF, high, x + HALF, high);
}

/* One network at the clocks it was measured at: the `n` entries v[]. */
static void draw_clocks(FILE *fp, const ft_validated *const *v, size_t n, ft_quantity q)
{
    double low = INFINITY, high = 0, most = 0;
    double *at = calloc(2 * n + 1, sizeof(*at));
    char desc[256];
    ft__axis x, y;

    for (size_t i = 0; i < n; i++) {
        low = fmin(low, clock_of(v[i]->setting));
        high = fmax(high, clock_of(v[i]->setting));
        for (int w = 0; w < 3; w++)
            most = fmax(most, ft__validation_figure(v[i], q, w)->value);
    }
    x = ft__axis_linear(low, high, 70, CLOCK_WIDE - 20, false);
    y = ft__axis_linear(0, most, CLOCK_HIGH - 44, 16, true);
    snprintf(desc, sizeof(desc),
             "%s of %.100s at %zu core clocks: measured, summed, "
             "predicted; lines are one sigma",
             ft_name(FT_NAMES_QUANTITY, q), v[0]->name, n);
    ft__svg_begin(fp, CLOCK_WIDE, CLOCK_HIGH, v[0]->name, desc);
    draw_clock_axes(fp, &x, &y, q);
    for (int w = 0; w < 3 && at; w++) {
        char cls[32];

        for (size_t i = 0; i < n; i++) {
            const ft_figure *f = ft__validation_figure(v[i], q, w);

            at[i] = ft__axis_at(&x, clock_of(v[i]->setting));
            at[n + i] = ft__axis_at(&y, f->value);
            if (isfinite(f->value) && isfinite(f->sigma))
                draw_error(fp, at[i], ft__axis_at(&y, f->value - f->sigma),
                           ft__axis_at(&y, f->value + f->sigma));
            if (isfinite(f->value))
                ft__svg_dot(fp, row_class[w], at[i], at[n + i], w ? 2.5 : 4.5,
                            ft__quantity_text(q, f->value).s);
        }
        snprintf(cls, sizeof(cls), "line %s", row_class[w]);
        ft__svg_path(fp, cls, at, at + n, n);
    }
    free(at);
    ft__svg_end(fp);
}

static bool same_place(const ft_validated *a, const ft_validated *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->device, b->device) == 0 &&
           strcmp(a->engine, b->engine) == 0;
}

static int by_clock(const void *a, const void *b)
{
    double x = clock_of((*(const ft_validated *const *)a)->setting);
    double y = clock_of((*(const ft_validated *const *)b)->setting);

    return (x > y) - (x < y);
}

/* The entries like v[first] with a clock, if it is the first of them; how many. */
static size_t clocks_of(const ft_validated **out, const ft__validation_page *p,
                        size_t first)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++) {
        if (!same_place(&p->v[i], &p->v[first]) || isnan(clock_of(p->v[i].setting)))
            continue;
        if (i < first)
            return 0;
        out[n++] = &p->v[i];
    }
    qsort(out, n, sizeof(*out), by_clock);
    return n;
}

static void put_clocks(FILE *fp, const ft__validation_page *p)
{
    const ft_validated **at = calloc(p->n + 1, sizeof(*at));
    bool begun = false;

    for (size_t i = 0; at && i < p->n; i++) {
        size_t n = clocks_of(at, p, i);

        if (n < 2)
            continue;
        if (!begun) {
            fputs("<h2>By clock</h2>\n", fp);
            put_keys(fp, p);
            fputs("<div class=\"cards\">\n", fp);
        }
        begun = true;
        for (int q = 0; q < FT_QUANTITY_MEMORY; q++) {
            if (!(at[0]->measured[q].value > 0))
                continue;
            fputs("<figure><h3>", fp);
            ft__put_xml(fp, at[0]->name);
            fprintf(fp, ": %s on ", ft_name(FT_NAMES_QUANTITY, (ft_quantity)q));
            ft__put_xml(fp, at[0]->device);
            fputs("</h3>\n", fp);
            draw_clocks(fp, at, n, (ft_quantity)q);
            fputs("</figure>\n", fp);
        }
    }
    if (begun)
        fputs("</div>\n", fp);
    free(at);
}

void ft__page_results(FILE *fp, const ft__validation_page *p)
{
    put_bars(fp, p);
    put_clocks(fp, p);
}
