#ifndef REPORT_UNITS_H
#define REPORT_UNITS_H

#include <stdint.h>

/* Numbers as people read them, three significant digits, with their unit; "-"
 * for NaN. Returned by value: printf("%s", ft__text_seconds(t).s). */
typedef struct ft__formatted {
    char s[48];
} ft__formatted;

/* In a unit that fits, of: "s", "J", "W", "B", "Hz", "g", "FLOP" (GFLOP, ...), "k"
 * (counts: 25.6 M), "1" (whole numbers), "%" (a fraction: 0.123 -> "12.3 %"), "+%"
 * (with its sign). Of any other: four digits, from 10,000 on all
 * before the point, and the unit, which may be "". */
ft__formatted ft__text_in(const char *unit, double v);

/* ns, us, ms, s */
static inline ft__formatted ft__text_seconds(double s)
{
    return ft__text_in("s", s);
}

/* B, KiB, MiB, GiB, TiB */
static inline ft__formatted ft__text_bytes(double b)
{
    return ft__text_in("B", b);
}

/* FLOP, kFLOP ... PFLOP */
static inline ft__formatted ft__text_flops(double n)
{
    return ft__text_in("FLOP", n);
}

/* uJ, mJ, J, kJ */
static inline ft__formatted ft__text_joules(double j)
{
    return ft__text_in("J", j);
}

static inline ft__formatted ft__text_watts(double w)
{
    return ft__text_in("W", w);
}

/* MHz, GHz */
static inline ft__formatted ft__text_hertz(double hz)
{
    return ft__text_in("Hz", hz);
}

/* four digits, no unit */
static inline ft__formatted ft__text_plain(double v)
{
    return ft__text_in("", v);
}

/* "1 run", "2 runs": of a noun whose plural has an s */
ft__formatted ft__text_counted(uint64_t n, const char *noun);

static inline ft__formatted ft__text_percent(double fraction)
{
    return ft__text_in("%", fraction);
}

static inline ft__formatted ft__text_signed(double fraction)
{
    return ft__text_in("+%", fraction);
}

#endif
