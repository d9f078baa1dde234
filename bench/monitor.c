/* What watching costs: the share of a CPU that a monitor takes while it runs.
 *
 *     bench_monitor [ROOT [DEVICE]]      a recorded machine, to cost other sensors */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "foretell/settings.h"

static double cpu_s(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
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
    return 0;
}
