/* Busy time of the machine minus our own. */
#include "run/load.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

/* Ten ticks of the usual hundredth of a second: one tick more or less on each of a
 * few CPUs is then no alarm. */
static const double least_apart_s = 0.1;

/* proc(5): user nice system idle iowait irq softirq steal. What a hypervisor takes
 * away disturbs as much as what another process takes. */
static double busy_s(void)
{
    unsigned long long user, nice, system, idle, wait, irq, soft, steal = 0;
    FILE *fp = fopen("/proc/stat", "r");
    int n;

    if (!fp)
        return NAN;
    n = fscanf(fp, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
               &idle, &wait, &irq, &soft, &steal);
    fclose(fp);
    if (n < 7)
        return NAN;
    return (double)(user + nice + system + irq + soft + steal) /
           (double)sysconf(_SC_CLK_TCK);
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

ft__load ft__load_now(void)
{
    ft__load l = {.at_s = ft__now_s(), .busy_s = busy_s()};
    struct rusage u;

    l.own_s =
        getrusage(RUSAGE_SELF, &u) ? NAN : seconds(u.ru_utime) + seconds(u.ru_stime);
    return l;
}

double ft__load_foreign(const ft__load *from, const ft__load *to)
{
    double apart = to->at_s - from->at_s;

    if (apart < least_apart_s)
        return NAN;
    return fmax(0, (to->busy_s - from->busy_s - (to->own_s - from->own_s)) / apart);
}
