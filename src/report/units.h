#ifndef REPORT_UNITS_H
#define REPORT_UNITS_H

/* Numbers as people read them, three significant digits, with their unit; "-"
 * for NaN. Returned by value: printf("%s", ft__text_seconds(t).s). */
typedef struct ft__formatted {
    char s[48];
} ft__formatted;

/* In a unit that fits, of: "s", "J", "W", "B", "Hz", "g", "FLOP" (GFLOP, ...), "k"
 * (counts: 25.6 M), "1" (whole numbers), "%" (a fraction: 0.123 -> "12.3 %"), "+%"
 * (with its sign). Of any other: four digits and the unit, which may be "". */
ft__formatted ft__text_in(const char *unit, double v);

ft__formatted ft__text_seconds(double s); /* ns, us, ms, s */
ft__formatted ft__text_bytes(double b);   /* B, KiB, MiB, GiB, TiB */
ft__formatted ft__text_flops(double n);   /* FLOP, kFLOP ... PFLOP */
ft__formatted ft__text_joules(double j);  /* uJ, mJ, J, kJ */
ft__formatted ft__text_watts(double w);
ft__formatted ft__text_hertz(double hz); /* MHz, GHz */
ft__formatted ft__text_plain(double v);  /* four digits, no unit */
ft__formatted ft__text_percent(double fraction);
ft__formatted ft__text_signed(double fraction);

#endif
