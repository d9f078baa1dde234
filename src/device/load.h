#ifndef DEVICE_LOAD_H
#define DEVICE_LOAD_H

/* How much others let a machine's CPUs do. */

/* Up to a moment, in seconds of CPUs. */
typedef struct ft__cpu_load {
    double at_s;
    double busy_s; /* by all, and taken by a host; NaN: unknown */
    double own_s;  /* by this process, and children that it has waited for */
} ft__cpu_load;

/* root: as for sysfs.h; now(): seconds; NULL: the monotonic clock. */
ft__cpu_load ft__load_now(const char *root, double (*now)(void));
/* CPUs' worth of others' work between two moments, mean; NaN when they are too near
 * each other for the kernel's ticks, or nothing is known. */
double ft__load_foreign(const ft__cpu_load *from, const ft__cpu_load *to);

#endif
