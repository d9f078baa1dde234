#ifndef CPU_TIME_H
#define CPU_TIME_H

#include <time.h>

/* Seconds of processor time that this process has taken. */
static inline double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
