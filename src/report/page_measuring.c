/* The sections of validate's page that draw how measuring went: proportionality, power
 * over time, rounds laid over each other. */
#include <math.h>
#include <stdlib.h>

#include "report/page.h"
#include "report/svg.h"
#include "report/units.h"

/* Horizontal lines with their values, and the frame's lower edge. */
static void draw_y(FILE *fp, const ft__axis *x, const ft__axis *y,
                   ft__formatted (*name)(double))
{
    double tick[FT__MAX_TICKS];
    size_t n = ft__axis_ticks(y, tick);

    for (size_t i = 0; i < n; i++) {
        double at = ft__axis_at(y, tick[i]);

        ft__svg_line(fp, "grid", x->from, at, x->to, at);
        ft__svg_text(fp, "small", "end", x->from - 6, at + 3, "%s",
                     tick[i] == 0 ? "0" : name(tick[i]).s);
    }
    ft__svg_line(fp, "axis", x->from, y->from, x->to, y->from);
}

static void draw_x(FILE *fp, const ft__axis *x, double bottom,
                   ft__formatted (*name)(double), const char *title)
{
    double tick[FT__MAX_TICKS];
    size_t n = ft__axis_ticks(x, tick);

    for (size_t i = 0; i < n; i++) {
        double at = ft__axis_at(x, tick[i]);

        if (at > x->to + 0.5)
            break;
        ft__svg_line(fp, "axis", at, bottom, at, bottom + 4);
        ft__svg_text(fp, "small", "middle", at, bottom + 16, "%s",
                     tick[i] == 0 ? "0" : name(tick[i]).s);
    }
    ft__svg_text(fp, "small", "middle", (x->from + x->to) / 2, bottom + 34, "%s",
                 title);
}

static ft__formatted signed_percent(double v)
{
    ft__formatted t;

    snprintf(t.s, sizeof(t.s), "%+.3g %%", 100 * v);
    return t;
}

static ft__formatted whole(double v)
{
    ft__formatted t;

    snprintf(t.s, sizeof(t.s), "%.0f", v);
    return t;
}

/* ---- proportionality ---- */

enum { LINE_WIDE = 760, LINE_HIGH = 440, MIDDLE = 250 };

static void draw_durations(FILE *fp, const ft_linearity *l)
{
    size_t last = l->n - 1;
    ft__axis x =
        ft__axis_over(1, (double)l->iterations[last], 80, LINE_WIDE - 20, FT__AXIS_LOG);
    ft__axis y = ft__axis_over(l->duration_s[0], l->duration_s[last], MIDDLE - 50, 20,
                               FT__AXIS_LOG);
    double px[32], py[32];

    draw_y(fp, &x, &y, ft__text_seconds);
    draw_x(fp, &x, MIDDLE - 50, whole, "iterations of a batch");
    for (size_t i = 0; i < l->n; i++) {
        px[i] = ft__axis_at(&x, (double)l->iterations[i]);
        py[i] = ft__axis_at(&y, fmax(y.lo, l->slope_s * (double)l->iterations[i]));
    }
    ft__svg_path(fp, "line fit", px, py, l->n);
    for (size_t i = 0; i < l->n; i++)
        ft__svg_dot(fp, "measured", px[i], ft__axis_at(&y, l->duration_s[i]), 3.5,
                    ft__text_seconds(l->duration_s[i]).s);
    ft__svg_text(fp, "small", "start", 92, 34, "line: %s an iteration",
                 ft__text_seconds(l->slope_s).s);
}

/* A hundredth at least; deviations of very short batches leave the picture. */
static double room(const ft_linearity *l)
{
    return fmax(0.01, 3 * 5 * fmax(l->sigma, 0.002));
}

static void draw_deviations(FILE *fp, const ft_linearity *l)
{
    double most = room(l), band = 5 * fmax(l->sigma, 0.002);
    ft__axis x = ft__axis_over(l->duration_s[0], l->duration_s[l->n - 1], 80,
                               LINE_WIDE - 20, FT__AXIS_LOG);
    ft__axis y =
        ft__axis_over(-most, most, LINE_HIGH - 50, MIDDLE + 14, FT__AXIS_LINEAR);

    draw_y(fp, &x, &y, signed_percent);
    draw_x(fp, &x, LINE_HIGH - 50, ft__text_seconds, "duration of a batch");
    ft__svg_rect(fp, "band", x.from, ft__axis_at(&y, band), x.to - x.from,
                 ft__axis_at(&y, -band) - ft__axis_at(&y, band),
                 "within five sigma of the line");
    ft__svg_line(fp, "one", ft__axis_at(&x, l->floor_s), MIDDLE + 14,
                 ft__axis_at(&x, l->floor_s), LINE_HIGH - 50);
    ft__svg_text(fp, "small", "start", ft__axis_at(&x, l->floor_s) + 5, MIDDLE + 26,
                 "proportional from %s on", ft__text_seconds(l->floor_s).s);
    for (size_t i = 0; i < l->n; i++) {
        double d = fmax(y.lo, fmin(y.hi, l->deviation[i]));

        ft__svg_dot(fp, fabs(l->deviation[i]) > y.hi ? "measured beyond" : "measured",
                    ft__axis_at(&x, l->duration_s[i]), ft__axis_at(&y, d), 3.5,
                    signed_percent(l->deviation[i]).s);
    }
}

static void draw_proportional(FILE *fp, const ft_linearity *l, const char *spec)
{
    char desc[512];

    snprintf(desc, sizeof(desc),
             "Above, the duration of batches of %.200s against their iterations with "
             "the line fitted to the long ones; below, how far each is from it. "
             "From %s on all are within five sigma.",
             spec, ft__text_seconds(l->floor_s).s);
    ft__svg_begin(fp, LINE_WIDE, LINE_HIGH, "Is time proportional to iterations?",
                  desc);
    draw_durations(fp, l);
    draw_deviations(fp, l);
    ft__svg_end(fp);
}

static void put_line(FILE *fp, const ft__validation_page *p)
{
    fputs("<h2>Proportionality</h2>\n", fp);
    if (!p->line) {
        fputs("<p class=\"soft\">Not measured: ", fp);
        ft__put_xml(fp, p->no_line);
        fputs(".</p>\n", fp);
        return;
    }
    fputs("<figure>\n", fp);
    draw_proportional(fp, p->line, p->spec);
    fputs("<figcaption>Batches of <code>", fp);
    ft__put_xml(fp, p->spec);
    fputs("</code>; the band is five sigma about the line, hollow points lie outside "
          "of the picture. Batches are never measured shorter than the dashed "
          "line.</figcaption></figure>\n",
          fp);
}

/* ---- power over time ---- */

enum { POWER_WIDE = 760, POWER_HIGH = 260 };

/* Mean and standard deviation; of those within three sigma when `mean` and `std`
 * hold the first pass. */
static void moments(double *mean, double *std, const ft_reading *r, size_t n,
                    bool again)
{
    double sum = 0, squares = 0, kept = 0, centre = again ? *mean : 0,
           limit = again ? 3 * *std : INFINITY;

    for (size_t i = 0; i < n; i++)
        if (isfinite(r[i].value) && fabs(r[i].value - centre) <= limit) {
            sum += r[i].value;
            kept++;
        }
    *mean = sum / kept;
    for (size_t i = 0; i < n; i++)
        if (isfinite(r[i].value) && fabs(r[i].value - centre) <= limit)
            squares += pow(r[i].value - *mean, 2);
    *std = kept > 1 ? sqrt(squares / (kept - 1)) : 0;
}

static void draw_readings(FILE *fp, const ft__axis *x, const ft__axis *y,
                          const ft_validated *v, double centre, double limit)
{
    for (size_t i = 0; i < v->n_power; i++)
        if (isfinite(v->power[i].value))
            ft__svg_dot(fp,
                        fabs(v->power[i].value - centre) <= limit ? "measured"
                                                                  : "measured beyond",
                        ft__axis_at(x, v->power[i].start_s),
                        ft__axis_at(y, v->power[i].value), 2.5,
                        ft__text_watts(v->power[i].value).s);
}

static void draw_power(FILE *fp, const ft__validation_page *p, const ft_validated *v)
{
    double centre, first, mean, std, most = 0, end = 0, begin = INFINITY;
    char title[512], desc[256];
    ft__axis x, y;

    for (size_t i = 0; i < v->n_power; i++) {
        most = fmax(most, v->power[i].value);
        end = fmax(end, v->power[i].start_s);
        begin = fmin(begin, v->power[i].start_s);
    }
    moments(&centre, &first, v->power, v->n_power, false);
    mean = centre;
    std = first;
    moments(&mean, &std, v->power, v->n_power, true);
    x = ft__axis_over(begin, end, 70, POWER_WIDE - 20, FT__AXIS_LINEAR);
    y = ft__axis_over(0, fmax(most, centre + 3 * first), POWER_HIGH - 50, 20,
                      FT__AXIS_ZERO);
    ft__validation_label(title, sizeof(title), p, v);
    snprintf(desc, sizeof(desc),
             "Power over time: %zu readings, the channel of three sigma about their "
             "mean, and the mean of what lies in it, %s with a scatter of %s",
             v->n_power, ft__text_watts(mean).s, ft__text_watts(std).s);
    ft__svg_begin(fp, POWER_WIDE, POWER_HIGH, title, desc);
    ft__svg_rect(fp, "band", x.from, ft__axis_at(&y, fmin(y.hi, centre + 3 * first)),
                 x.to - x.from,
                 ft__axis_at(&y, fmax(0, centre - 3 * first)) -
                     ft__axis_at(&y, fmin(y.hi, centre + 3 * first)),
                 "three sigma about the mean");
    draw_y(fp, &x, &y, ft__text_watts);
    draw_x(fp, &x, POWER_HIGH - 50, ft__text_seconds, "time since measuring began");
    draw_readings(fp, &x, &y, v, centre, 3 * first);
    ft__svg_line(fp, "one", x.from, ft__axis_at(&y, mean), x.to, ft__axis_at(&y, mean));
    ft__svg_text(fp, "small back", "end", x.to - 4, 14, "mean %s, scatter %s",
                 ft__text_watts(mean).s, ft__text_watts(std).s);
    ft__svg_end(fp);
}

static void put_power(FILE *fp, const ft__validation_page *p)
{
    bool any = false;

    fputs("<h2>Power over time</h2>\n", fp);
    for (size_t i = 0; i < p->n; i++) {
        char label[600];

        if (p->v[i].n_power < 2)
            continue;
        any = true;
        ft__validation_label(label, sizeof(label), p, &p->v[i]);
        fputs("<figure>\n", fp);
        draw_power(fp, p, &p->v[i]);
        fputs("<figcaption>", fp);
        ft__put_xml(fp, label);
        fputs(": readings outside of the channel of three sigma (hollow) are start-up "
              "and outliers.</figcaption></figure>\n",
              fp);
    }
    if (!any)
        fputs("<p class=\"soft\">No readings of power in the store for these "
              "networks.</p>\n",
              fp);
}

/* ---- rounds ---- */

enum { ROUND_WIDE = 420, ROUND_HIGH = 230 };

static double per_pass(const ft_reading *r)
{
    return r->value / (double)r->iterations;
}

/* Ranges of all rounds, relative to the figure that is used. */
static void ranges(const ft_validated *v, double *low, double *high, double *long_s)
{
    double one = v->measured[FT_QUANTITY_TIME].value;

    *low = -0.01;
    *high = 0.01;
    *long_s = 0;
    for (size_t k = 0; k < v->n_rounds; k++)
        for (size_t i = 0; i < v->round[k].n; i++) {
            const ft_reading *r = &v->reading[v->round[k].first + i];

            *low = fmin(*low, per_pass(r) / one - 1);
            *high = fmax(*high, per_pass(r) / one - 1);
            *long_s = fmax(*long_s, r->start_s + r->value - v->round[k].begin_s);
        }
    /* One batch that was interrupted would press all others flat. */
    *high = fmin(*high, 0.25);
}

static void draw_round(FILE *fp, const ft_validated *v, size_t k, const ft__axis *x,
                       const ft__axis *y)
{
    const ft_round *round = &v->round[k];
    double one = v->measured[FT_QUANTITY_TIME].value;
    double *at = calloc(2 * round->n + 1, sizeof(*at));
    char cls[32];

    for (size_t i = 0; at && i < round->n; i++) {
        const ft_reading *r = &v->reading[round->first + i];

        at[i] = ft__axis_at(x, r->start_s - round->begin_s + r->value / 2);
        at[round->n + i] = ft__axis_at(y, fmin(y->hi, per_pass(r) / one - 1));
    }
    snprintf(cls, sizeof(cls), "line round r%zu", k % 6);
    if (at)
        ft__svg_path(fp, cls, at, at + round->n, round->n);
    free(at);
    snprintf(cls, sizeof(cls), "key r%zu", k % 6);
    if (k < 6)
        ft__svg_text(fp, cls, "start", x->from + 4 + 56 * (double)k, 12, "round %zu",
                     k + 1);
}

static void draw_rounds(FILE *fp, const ft__validation_page *p, const ft_validated *v)
{
    double low, high, long_s;
    char title[512], desc[256];
    ft__axis x, y;

    ranges(v, &low, &high, &long_s);
    x = ft__axis_over(0, long_s, 70, ROUND_WIDE - 16, FT__AXIS_ZERO);
    x.hi = long_s;
    y = ft__axis_over(low, high, ROUND_HIGH - 44, 22, FT__AXIS_LINEAR);
    ft__validation_label(title, sizeof(title), p, v);
    snprintf(desc, sizeof(desc),
             "Time of a pass in %zu rounds laid over each other, relative to their "
             "median %s",
             v->n_rounds, ft__text_seconds(v->measured[FT_QUANTITY_TIME].value).s);
    ft__svg_begin(fp, ROUND_WIDE, ROUND_HIGH, title, desc);
    draw_y(fp, &x, &y, signed_percent);
    draw_x(fp, &x, ROUND_HIGH - 44, ft__text_seconds, "since the round began");
    for (size_t k = 0; k < v->n_rounds; k++)
        draw_round(fp, v, k, &x, &y);
    ft__svg_end(fp);
}

static void put_rounds(FILE *fp, const ft__validation_page *p)
{
    bool begun = false;

    for (size_t i = 0; i < p->n; i++) {
        char label[600];

        if (!p->v[i].n_rounds || !(p->v[i].measured[FT_QUANTITY_TIME].value > 0))
            continue;
        if (!begun)
            fputs(
                "<h2>Runs laid over each other</h2>\n<p class=\"soft\">Every batch of "
                "every round, relative to the median of all; between the rounds "
                "operations were measured.</p>\n<div class=\"cards\">\n",
                fp);
        begun = true;
        ft__validation_label(label, sizeof(label), p, &p->v[i]);
        fputs("<figure><h3>", fp);
        ft__put_xml(fp, label);
        fputs("</h3>\n", fp);
        draw_rounds(fp, p, &p->v[i]);
        fputs("</figure>\n", fp);
    }
    if (begun)
        fputs("</div>\n", fp);
}

void ft__page_measuring(FILE *fp, const ft__validation_page *p)
{
    put_line(fp, p);
    put_power(fp, p);
    put_rounds(fp, p);
}
