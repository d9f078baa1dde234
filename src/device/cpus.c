/* Sets of processors as text. */
#include "device/cpus.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ft__cpus_put(ft__cpus *set, unsigned cpu, bool has)
{
    if (set->has[cpu] && !has)
        set->n--;
    if (!set->has[cpu] && has)
        set->n++;
    set->has[cpu] = has;
}

bool ft__cpus_parse(ft__cpus *set, const char *text)
{
    const char *p = text;

    memset(set, 0, sizeof(*set));
    while (isdigit((unsigned char)*p)) {
        char *end;
        unsigned long from = strtoul(p, &end, 10), to = from;

        if (*end == '-') {
            if (!isdigit((unsigned char)end[1]))
                return false;
            to = strtoul(end + 1, &end, 10);
        }
        for (; from <= to && from < FT__MAX_CPUS; from++)
            ft__cpus_put(set, (unsigned)from, true);
        if (*end != ',')
            return set->n && !*end;
        p = end + 1;
    }
    return false;
}

void ft__cpus_print(const ft__cpus *set, char *text, size_t size)
{
    size_t len = 0;

    *text = '\0';
    for (unsigned i = 0, to; i < FT__MAX_CPUS; i = to + 1) {
        for (to = i; set->has[i] && to + 1 < FT__MAX_CPUS && set->has[to + 1]; to++)
            ;
        if (!set->has[i] || len >= size)
            continue;
        len += (size_t)snprintf(text + len, size - len, to > i ? "%s%u-%u" : "%s%u",
                                len ? "," : "", i, to);
    }
}

unsigned ft__cpus_first(const ft__cpus *set)
{
    unsigned i = 0;

    while (i < FT__MAX_CPUS && !set->has[i])
        i++;
    return i;
}
