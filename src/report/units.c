#include "report/units.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

struct unit {
    double size;
    const char *name;
};

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

static int decimals(double v)
{
    v = fabs(v);
    if (v >= 99.95 || v == 0)
        return 0;
    return v >= 9.995 ? 1 : 2;
}

/* In the largest unit that leaves a number of at least 1; units descend. */
static ft__text in_unit(double v, const struct unit *u, size_t n)
{
    ft__text t;
    size_t i = 0;

    if (isnan(v)) {
        snprintf(t.s, sizeof(t.s), "-");
        return t;
    }
    while (i + 1 < n && fabs(v) < u[i].size * 0.9995)
        i++;
    if (v == 0)
        i = n - 1;
    snprintf(t.s, sizeof(t.s), "%.*f%s%s", decimals(v / u[i].size), v / u[i].size,
             *u[i].name ? " " : "", u[i].name);
    return t;
}

ft__text ft__text_seconds(double s)
{
    static const struct unit u[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};

    return in_unit(s, u, N_OF(u));
}

ft__text ft__text_bytes(double b)
{
    static const struct unit u[] = {
        {0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}};

    return in_unit(b, u, N_OF(u));
}

ft__text ft__text_flops(double n)
{
    static const struct unit u[] = {{1e15, "PFLOP"}, {1e12, "TFLOP"}, {1e9, "GFLOP"},
                                    {1e6, "MFLOP"},  {1e3, "kFLOP"},  {1, "FLOP"}};

    return in_unit(n, u, N_OF(u));
}

ft__text ft__text_joules(double j)
{
    static const struct unit u[] = {{1e3, "kJ"}, {1, "J"}, {1e-3, "mJ"}, {1e-6, "uJ"}};

    return in_unit(j, u, N_OF(u));
}

ft__text ft__text_watts(double w)
{
    static const struct unit u[] = {{1, "W"}, {1e-3, "mW"}};

    return in_unit(w, u, N_OF(u));
}

ft__text ft__text_grams(double g)
{
    static const struct unit u[] = {
        {1e3, "kg"}, {1, "g"}, {1e-3, "mg"}, {1e-6, "ug"}, {1e-9, "ng"}};

    return in_unit(g, u, N_OF(u));
}

ft__text ft__text_hertz(double hz)
{
    static const struct unit u[] = {{1e9, "GHz"}, {1e6, "MHz"}};

    return in_unit(hz, u, N_OF(u));
}

ft__text ft__text_plain(double v)
{
    ft__text t;

    snprintf(t.s, sizeof(t.s), isnan(v) ? "-" : "%.4g", v);
    return t;
}

ft__text ft__text_count(double n)
{
    static const struct unit u[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};

    return in_unit(n, u, N_OF(u));
}

ft__text ft__text_percent(double fraction)
{
    ft__text t;

    if (isnan(fraction))
        snprintf(t.s, sizeof(t.s), "-");
    else
        snprintf(t.s, sizeof(t.s), "%.1f %%", 100 * fraction);
    return t;
}

ft__text ft__text_signed(double fraction)
{
    ft__text t;

    if (isnan(fraction))
        snprintf(t.s, sizeof(t.s), "-");
    else if (fabs(fraction) < 0.0005)
        snprintf(t.s, sizeof(t.s), "0.0 %%");
    else
        snprintf(t.s, sizeof(t.s), "%+.1f %%", 100 * fraction);
    return t;
}
