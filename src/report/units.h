#ifndef REPORT_UNITS_H
#define REPORT_UNITS_H

/* Numbers as people read them, three significant digits, with their unit; "-"
 * for NaN. Returned by value: printf("%s", ft__text_seconds(t).s). */
typedef struct ft__text {
    char s[48];
} ft__text;

ft__text ft__text_seconds(double s); /* ns, us, ms, s */
ft__text ft__text_bytes(double b);   /* B, KiB, MiB, GiB, TiB */
ft__text ft__text_flops(double n);   /* FLOP, kFLOP ... PFLOP */
ft__text ft__text_joules(double j);  /* uJ, mJ, J, kJ */
ft__text ft__text_watts(double w);
ft__text ft__text_grams(double g);          /* ng, ug, mg, g, kg */
ft__text ft__text_hertz(double hz);         /* MHz, GHz */
ft__text ft__text_plain(double v);          /* four digits, no unit */
ft__text ft__text_count(double n);          /* 25.6 M */
ft__text ft__text_percent(double fraction); /* 0.123 -> "12.3 %" */
ft__text ft__text_signed(double fraction);  /* 0.123 -> "+12.3 %" */

#endif
