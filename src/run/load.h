#ifndef RUN_LOAD_H
#define RUN_LOAD_H

/* How busy the machine was besides this process. */
typedef struct ft__load {
    double at_s;
    double
        busy_s; /* CPU seconds of all processes, stolen time included; NaN: not told */
    double own_s; /* of this one */
} ft__load;

ft__load ft__load_now(void);
/* CPUs' worth of others' work between two moments; NaN when they lie too close for
 * the clock ticks that the system counts in, or nothing is told. */
double ft__load_foreign(const ft__load *from, const ft__load *to);

#endif
