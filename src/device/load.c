/* Busy time of the machine minus our own. */
#include "device/load.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/sysfs.h"

/* Ten ticks of the usual hundredth of a second: one tick more or less on each of a
 * few CPUs is then no alarm. */
static const double least_apart_s = 0.1;

/* proc(5): user nice system idle iowait irq softirq steal. What a hypervisor takes
 * away disturbs as much as what another process takes; what a guest of this machine
 * does is in user. */
static double busy_s(const char *root, double tick_s)
{
    double v[8] = {0};
    char text[512];

    ft__sys_text(text, sizeof(text), root, "/proc/stat");
    if (sscanf(text, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &v[0], &v[1], &v[2], &v[3],
               &v[4], &v[5], &v[6], &v[7]) < 7)
        return NAN;
    return (v[0] + v[1] + v[2] + v[5] + v[6] + v[7]) * tick_s;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* Finer than /proc/self/stat, which a recorded machine has. */
static double measured_own_s(void)
{
    struct rusage self, children;

    if (getrusage(RUSAGE_SELF, &self) || getrusage(RUSAGE_CHILDREN, &children))
        return NAN;
    return seconds(self.ru_utime) + seconds(self.ru_stime) +
           seconds(children.ru_utime) + seconds(children.ru_stime);
}

static double recorded_own_s(const char *root, double tick_s)
{
    char text[1024], *at;
    double v[4];

    ft__sys_text(text, sizeof(text), root, "/proc/self/stat");
    at = strrchr(text, ')'); /* a program's name may hold anything */
    if (!at ||
        sscanf(at + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lf %lf %lf %lf",
               &v[0], &v[1], &v[2], &v[3]) != 4)
        return NAN;
    return (v[0] + v[1] + v[2] + v[3]) * tick_s;
}

/* Where others are busy one may be interrupted in between: then again. */
ft__cpu_load ft__load_now(const char *root, double (*now)(void))
{
    enum { TRIES = 4 };
    const double at_once_s = 1e-3, tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    ft__cpu_load l;

    for (int i = 0; i < TRIES; i++) {
        double before_s = now ? now() : ft__now_s(), after_s;

        l.busy_s = busy_s(root, tick_s);
        l.own_s = *root ? recorded_own_s(root, tick_s) : measured_own_s();
        after_s = now ? now() : ft__now_s();
        l.at_s = (before_s + after_s) / 2;
        if (after_s - before_s < at_once_s)
            break;
    }
    return l;
}

double ft__load_foreign(const ft__cpu_load *from, const ft__cpu_load *to)
{
    double apart = to->at_s - from->at_s;
    double others = to->busy_s - from->busy_s - (to->own_s - from->own_s);

    if (apart < least_apart_s || isnan(others))
        return NAN;
    /* Ticks are coarser than our own time: the difference may be below 0. */
    return fmax(0, others / apart);
}
