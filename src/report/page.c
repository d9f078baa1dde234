/* The page of validate: tables, and drawings of what was found: measured, summed and
 * predicted beside each other, over all networks and by clock. */
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/svg.h"
#include "report/units.h"

static const char style[] =
    ":root{color-scheme:light dark;--back:#fdfdfb;--ink:#1c1d21;--soft:#5d6069;"
    "--rule:#dcdcd6;--measured:#3c3f48;--sum:#2f6fb3;--predicted:#c76a15;"
    "--band:#2f6fb31c;--bad:#b3261e}\n"
    "@media(prefers-color-scheme:dark){:root{--back:#16171a;--ink:#e8e8e4;"
    "--soft:#a3a6ae;--rule:#34363c;--measured:#c9ccd4;--sum:#6aa8e8;"
    "--predicted:#ef9a4d;--band:#6aa8e826;--bad:#ff8a80}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:2.5rem 1.25rem 4rem;max-width:56rem;"
    "background:var(--back);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .3rem}\n"
    "h2{font-size:1.15rem;margin:2.6rem 0 .4rem}\n"
    "p{margin:.4rem 0 .9rem;max-width:44rem}.soft{color:var(--soft)}\n"
    ".wide{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;"
    "font-size:.875rem;margin:.6rem 0 1rem}\n"
    "th,td{padding:.28rem .8rem .28rem 0;text-align:right;white-space:nowrap;"
    "border-bottom:1px solid var(--rule)}\n"
    "th{font-weight:600;color:var(--soft)}\n"
    "th:first-child,td:first-child{text-align:left}\n"
    "td.why{text-align:left;white-space:normal;color:var(--soft)}\n"
    "code{font-size:.85em;overflow-wrap:anywhere}\n"
    "figure{margin:.8rem 0 1.4rem}figcaption{color:var(--soft);font-size:.875rem;"
    "max-width:44rem}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(24rem,100%),"
    "1fr));"
    "gap:1rem}.cards h3{font-size:.9rem;margin:0}\n"
    "svg{display:block;width:100%;height:auto;font:12px system-ui,-apple-system,"
    "\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
    "text{fill:var(--ink)}text.small{fill:var(--soft);font-size:11px}"
    "text.label{font-weight:600}text.back{paint-order:stroke;stroke:var(--back);"
    "stroke-width:4px}\n"
    "line.grid{stroke:var(--rule)}line.axis{stroke:var(--soft)}"
    "line.one{stroke:var(--soft);stroke-dasharray:4 3}\n"
    "rect.measured,circle.measured{fill:var(--measured)}"
    "rect.sum,circle.sum{fill:var(--sum)}"
    "rect.predicted,circle.predicted{fill:var(--predicted)}"
    "circle.beyond{fill:none;stroke:var(--measured)}\n"
    "rect.band{fill:var(--band)}line.error{stroke:var(--ink);stroke-width:1.2}"
    "line.under{stroke:var(--back);stroke-width:3.5}path.sum{stroke-dasharray:6 3}\n"
    "path.line{fill:none;stroke-width:1.6;stroke-linejoin:round}"
    "path.measured{stroke:var(--measured)}path.sum{stroke:var(--sum)}"
    "path.predicted,path.fit{stroke:var(--predicted)}\n"
    "path.round{stroke-width:1.3}text.key{font-size:11px;font-weight:600}"
    ".r0{stroke:#2f6fb3}.r1{stroke:#c76a15}.r2{stroke:#3a8f5c}.r3{stroke:#a34a9b}"
    ".r4{stroke:#8a7a1f}.r5{stroke:#5b6bd0}\n"
    "text.r0{fill:#2f6fb3}text.r1{fill:#c76a15}text.r2{fill:#3a8f5c}"
    "text.r3{fill:#a34a9b}text.r4{fill:#8a7a1f}text.r5{fill:#5b6bd0}"
    "text.key{stroke:none}\n"
    ".keys{display:flex;flex-wrap:wrap;gap:1.2rem;font-size:.875rem;margin:.3rem 0}"
    ".keys i{display:inline-block;width:.8em;height:.8em;margin-right:.4em;"
    "border-radius:2px}\n";

static void put_cell(FILE *fp, const char *s)
{
    fputs("<td>", fp);
    ft__put_xml(fp, s);
    fputs("</td>", fp);
}

/* ---- parts ---- */

static void put_head(FILE *fp, const ft__validation_page *p)
{
    const ft_validated *v = &p->v[0];

    fprintf(fp,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
            "<meta name=\"viewport\" content=\"width=device-width, "
            "initial-scale=1\"/>\n<title>foretell validate</title>\n<style>\n%s"
            "</style>\n</head>\n<body>\n<h1>Summed, measured, predicted</h1>\n<p "
            "class=\"soft\">%zu %s, %s",
            style, p->n,
            p->datasets ? "measurements"
            : p->n == 1 ? "network"
                        : "networks",
            v->mode == FT_MODE_TRAINING ? "one training step" : "one forward pass");
    if (!p->datasets) {
        char text[320];

        snprintf(text, sizeof(text), ", %s %s, %s, %s", v->engine, v->engine_version,
                 v->setting, v->device);
        ft__put_xml(fp, text);
    }
    fputs(".</p>\n", fp);
}

static void put_summary(FILE *fp, const ft__validation_page *p)
{
    fputs("<h2>How far off</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>against "
          "measured</th><th>networks</th><th>MAPE</th><th>median</th><th>max</th><th>"
          "bias</th><th>R2</th></tr></thead>\n<tbody>\n",
          fp);
    for (int q = 0; q < FT_QUANTITY_COUNT; q++)
        for (int e = 0; e < FT_ESTIMATOR_COUNT; e++) {
            const ft_errors *x = &p->errors[q][e];

            if (!x->n)
                continue;
            fprintf(fp, "<tr><td>%s, %s</td><td>%zu</td>",
                    ft_name(FT_NAMES_QUANTITY, (ft_quantity)q),
                    ft_name(FT_NAMES_ESTIMATOR, (ft_estimator)e), x->n);
            put_cell(fp, ft__text_percent(x->mape).s);
            put_cell(fp, ft__text_percent(x->median_ape).s);
            put_cell(fp, ft__text_percent(x->max_ape).s);
            put_cell(fp, ft__text_signed(x->bias).s);
            put_cell(fp, ft__text_plain(x->r2).s);
            fputs("</tr>\n", fp);
        }
    fputs("</tbody></table></div>\n", fp);
}

/* ---- drawings ---- */

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
    ft__axis x = ft__axis_over(0, longest(p, q), LEFT, WIDE - RIGHT, FT__AXIS_ZERO);
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
    x = ft__axis_over(low, high, 70, CLOCK_WIDE - 20, FT__AXIS_LINEAR);
    y = ft__axis_over(0, most, CLOCK_HIGH - 44, 16, FT__AXIS_ZERO);
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

/* ---- tables ---- */

static void put_networks(FILE *fp, const ft__validation_page *p)
{
    fputs("<h2>Networks</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>network</th>"
          "<th></th><th>measured</th><th>sum</th><th>error</th><th>predicted</th><th>"
          "error</th><th>operations priced</th></tr></thead>\n<tbody>\n",
          fp);
    for (size_t i = 0; i < p->n; i++)
        for (int q = 0; q < FT_QUANTITY_COUNT; q++) {
            const ft_validated *v = &p->v[i];
            char label[600];

            if (isnan(v->measured[q].value) && isnan(v->sum[q].value))
                continue;
            ft__validation_label(label, sizeof(label), p, v);
            fputs("<tr>", fp);
            put_cell(fp, q ? "" : label);
            put_cell(fp, ft_name(FT_NAMES_QUANTITY, (ft_quantity)q));
            put_cell(fp, ft__quantity_text((ft_quantity)q, v->measured[q].value).s);
            put_cell(fp, ft__quantity_text((ft_quantity)q, v->sum[q].value).s);
            put_cell(fp, ft__text_signed(
                             ft__validation_error(v, (ft_quantity)q, FT_ESTIMATOR_SUM))
                             .s);
            put_cell(fp, ft__quantity_text((ft_quantity)q, v->predicted[q].value).s);
            put_cell(fp, ft__text_signed(ft__validation_error(v, (ft_quantity)q,
                                                              FT_ESTIMATOR_PREDICTION))
                             .s);
            if (q == FT_QUANTITY_TIME)
                fprintf(fp, "<td>%u of %u</td>", v->n_priced, v->n_ops);
            else
                put_cell(fp, "");
            fputs("</tr>\n", fp);
        }
    fputs("</tbody></table></div>\n", fp);
}

static void put_kinds(FILE *fp, const ft__validation_page *p)
{
    enum { MOST = 20 };
    bool fitted = p->n_kinds && isfinite(p->kind[0].factor);

    fprintf(
        fp,
        "<h2>Kinds</h2>\n<p>%s</p>\n<div class=\"wide\"><table>\n<thead><tr><th>kind"
        "</th><th>networks</th><th>share of sum</th>%s</tr></thead>\n<tbody>\n",
        fitted
            ? "Which kinds explain the difference: how long each takes in the "
              "networks over how long it takes alone (non-negative least squares, "
              "held at 1 where the networks say nothing), and what that adds."
            : "Shares of the sum. Which kinds explain the difference is computed from "
              "three networks on.",
        fitted ? "<th>in the network/alone</th><th>adds to the difference</th>" : "");
    for (size_t i = 0; i < p->n_kinds && i < MOST; i++) {
        const ft_kind_effect *k = &p->kind[i];

        fprintf(fp, "<tr><td>%s%s%s</td><td>%zu</td><td>%.1f %%</td>",
                ft_kind_name(k->kind), k->phase == FT_PHASE_FORWARD ? "" : " ",
                k->phase == FT_PHASE_FORWARD ? "" : ft_phase_name(k->phase),
                k->n_networks, 100 * k->share);
        if (fitted) {
            fprintf(fp, "<td>%.3f</td>", k->factor);
            put_cell(fp, ft__text_signed(k->effect).s);
        }
        fputs("</tr>\n", fp);
    }
    fputs("</tbody></table></div>\n", fp);
}

static void put_unpriced(FILE *fp, const ft__validation_page *p)
{
    enum { MOST = 20 };
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        n += p->v[i].n_unpriced;
    if (!n)
        return;
    fputs("<h2>Not in the sums</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>"
          "operation</th><th>count</th><th>network</th><th>why</th></tr></thead>\n"
          "<tbody>\n",
          fp);
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->v[i].n_unpriced && j < MOST; j++) {
            const ft_unpriced *u = &p->v[i].unpriced[j];
            char spec[2048];

            ft_op_print(&u->op, spec, sizeof(spec));
            fputs("<tr><td class=\"why\"><code>", fp);
            ft__put_xml(fp, spec);
            fprintf(fp, "</code></td><td>%llu</td>", (unsigned long long)u->count);
            put_cell(fp, p->v[i].name);
            fputs("<td class=\"why\">", fp);
            ft__put_xml(fp, u->why);
            fputs("</td></tr>\n", fp);
        }
    fputs("</tbody></table></div>\n", fp);
}

void ft__page_write(FILE *fp, const ft__validation_page *p)
{
    put_head(fp, p);
    put_summary(fp, p);
    put_bars(fp, p);
    put_clocks(fp, p);
    put_networks(fp, p);
    put_kinds(fp, p);
    put_unpriced(fp, p);
    ft__page_measuring(fp, p);
    fputs("</body>\n</html>\n", fp);
}
