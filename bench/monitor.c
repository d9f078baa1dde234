/* What watching costs: the share of a CPU that a monitor takes while it runs, and a
 * meter (less than a tenth is wanted of either).
 *
 *     bench_monitor [ROOT [DEVICE]]      a recorded machine, to cost other sensors */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "foretell/power.h"
#include "foretell/settings.h"

static double cpu_s(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void wait(void *user)
{
    ft__sleep_s(*(const double *)user);
}

static int tell_meter(void)
{
    const ft_meter_options how = {
        .sources = "command:while :; do echo 60 W; sleep 0.02; done"};
    double from_s, to_s, five = 5;
    ft_meter *m;
    ft_trace t;

    if (ft_meter_open(&m, &how, NULL))
        return 1;
    if (ft_meter_watch(m, wait, &five, &t, &from_s, &to_s, NULL) == FT_OK)
        printf("%zu readings of power in %.1f s take %.3f %% of a CPU\n", t.n[0],
               to_s - from_s, 100 * t.cpu_share);
    ft_trace_free(&t);
    ft_meter_close(m);
    return 0;
}

int main(int argc, char **argv)
{
    const ft_settings_options how = {.root = argc > 1 ? argv[1] : NULL};
    const struct timespec five = {5, 0}, moment = {0, 1000 * 1000};
    const int rounds = 500;
    double begin_s, wall_s, before_s;
    ft_conditions c;
    ft_monitor *m;

    if (ft_monitor_open(&m, argc > 2 ? argv[2] : NULL, &how, NULL))
        return 1;
    before_s = cpu_s();
    begin_s = ft__now_s();
    ft_monitor_start(m);
    nanosleep(&five, NULL);
    ft_monitor_stop(m, &c);
    wall_s = ft__now_s() - begin_s;
    printf("%u samples in %.1f s take %.3f %% of a CPU\n", c.n, wall_s,
           100 * (cpu_s() - before_s) / wall_s);
    before_s = cpu_s();
    for (int i = 0; i < rounds; i++) {
        ft_monitor_start(m);
        nanosleep(&moment, NULL);
        ft_monitor_stop(m, &c);
    }
    printf("start and stop take %.0f us\n", 1e6 * (cpu_s() - before_s) / rounds);
    ft_monitor_close(m);
    return tell_meter();
}
