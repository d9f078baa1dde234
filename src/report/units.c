/* In: a number and its unit; out: text in a multiple of the unit that fits. */
#include "report/units.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MOST_MULTIPLES = 7 };

static const struct multiples {
    const char *unit;
    struct {
        double size;
        const char *name;
    } of[MOST_MULTIPLES]; /* descending, to the first without a name */
} multiples[] = {
    {"s",
     {{86400, "days"},
      {3600, "h"},
      {1, "s"},
      {1e-3, "ms"},
      {1e-6, "us"},
      {1e-9, "ns"}}},
    {"J",
     {{1e9, "GJ"}, {1e6, "MJ"}, {1e3, "kJ"}, {1, "J"}, {1e-3, "mJ"}, {1e-6, "uJ"}}},
    {"W", {{1e6, "MW"}, {1e3, "kW"}, {1, "W"}, {1e-3, "mW"}}},
    {"B",
     {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}}},
    {"Hz", {{1e9, "GHz"}, {1e6, "MHz"}}},
    {"g", {{1e3, "kg"}, {1, "g"}, {1e-3, "mg"}, {1e-6, "ug"}, {1e-9, "ng"}}},
    {"FLOP",
     {{1e15, "PFLOP"},
      {1e12, "TFLOP"},
      {1e9, "GFLOP"},
      {1e6, "MFLOP"},
      {1e3, "kFLOP"},
      {1, "FLOP"}}},
    {"k", {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}},
};

static int decimals(double v)
{
    v = fabs(v);
    if (v >= 99.95 || v == 0)
        return 0;
    return v >= 9.995 ? 1 : 2;
}

/* In the largest multiple that leaves a number of at least 1; 0 in the unit itself. */
static ft__formatted in_multiple(double v, const struct multiples *m)
{
    ft__formatted t;
    size_t i = 0;
    double n;

    while (m->of[i + 1].name &&
           (v == 0 ? m->of[i].size > 1 : fabs(v) < m->of[i].size * 0.9995))
        i++;
    n = v / m->of[i].size;
    snprintf(t.s, sizeof(t.s), "%.*f%s%s", decimals(n), n, *m->of[i].name ? " " : "",
             m->of[i].name);
    return t;
}

ft__formatted ft__text_in(const char *unit, double v)
{
    ft__formatted t;

    if (isnan(v))
        return (ft__formatted){"-"};
    if (v == (double)INFINITY)
        return (ft__formatted){"unbounded"};
    for (size_t i = 0; i < sizeof(multiples) / sizeof(*multiples); i++)
        if (strcmp(unit, multiples[i].unit) == 0)
            return in_multiple(v, &multiples[i]);
    if (strcmp(unit, "%") == 0)
        snprintf(t.s, sizeof(t.s), "%.1f %%", 100 * v);
    else if (strcmp(unit, "+%") == 0)
        snprintf(t.s, sizeof(t.s), fabs(v) < 0.0005 ? "0.0 %%" : "%+.1f %%", 100 * v);
    else if (strcmp(unit, "1") == 0)
        snprintf(t.s, sizeof(t.s), "%.0f", v);
    else
        snprintf(t.s, sizeof(t.s),
                 fabs(v) >= 1e4 && fabs(v) < 1e9 ? "%.0f%s%.16s" : "%.4g%s%.16s", v,
                 *unit ? " " : "", unit);
    return t;
}

ft__formatted ft__text_counted(uint64_t n, const char *noun)
{
    ft__formatted t;

    snprintf(t.s, sizeof(t.s), "%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
    return t;
}
