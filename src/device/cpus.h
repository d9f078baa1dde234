#ifndef DEVICE_CPUS_H
#define DEVICE_CPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/limits.h"

/* A set of processors. */
typedef struct ft__cpus {
    bool has[FT__MAX_CPUS];
    size_t n;
} ft__cpus;

/* "0-3,8" as Linux writes it. Ranges beyond the limit are cut. False: it is not
 * such a list, or an empty one; the set holds what came before the fault. */
bool ft__cpus_parse(ft__cpus *set, const char *text);
void ft__cpus_put(ft__cpus *set, unsigned cpu, bool has);
/* Cut where it does not fit. */
void ft__cpus_print(const ft__cpus *set, char *text, size_t size);
/* The lowest one; FT__MAX_CPUS: none. */
unsigned ft__cpus_first(const ft__cpus *set);

#endif
