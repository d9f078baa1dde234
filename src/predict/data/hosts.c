/* How long the hosts of measured devices take for what the device waits for. */
#include "predict/data/hosts.h"

#include <math.h>
#include <stdbool.h>

/* Octaves that a host may be slower or faster than estimated, and steps of one. */
enum { HOST_OCTAVES = 3, HOST_STEPS = 8 };
/* Rows that say it is as estimated. */
static const double usual_host_rows = 1.3;

/* What the estimates of n rows err by that wait for a host which takes `times` as long:
 * others say nothing of it. */
static double error_on_host(const ft__terms *t, const ft__physics_row *row, size_t n,
                            uint32_t device, double times)
{
    double sum = usual_host_rows * fabs(log(times));

    for (size_t i = 0; i < n; i++) {
        ft__terms one = t[i];

        if (row[i].group != device || !(one.launch_s > one.busy_s))
            continue;
        ft__physics_with_host(&one, times);
        sum += fabs(log(one.total_s / row[i].time_s));
    }
    return sum;
}

size_t ft__rows_waiting(const ft__physics_row *row, size_t n, uint32_t device,
                        const ft__physics_params *params)
{
    size_t waiting = 0;

    for (size_t i = 0; i < n; i++) {
        ft__terms t = {0};

        if (row[i].group == device)
            ft__physics(&t, row[i].op, row[i].chip, params);
        waiting += t.launch_s > t.busy_s;
    }
    return waiting;
}

double ft__host_of(const ft__physics_row *row, size_t n, uint32_t device,
                   const ft__physics_params *params, ft__terms *t)
{
    double least = INFINITY, best = 1;
    bool any = false;

    for (size_t i = 0; i < n; i++)
        if (row[i].group == device) {
            ft__physics(&t[i], row[i].op, row[i].chip, params);
            any = any || t[i].launch_s > t[i].busy_s;
        }
    for (int k = -HOST_OCTAVES * HOST_STEPS; k <= HOST_OCTAVES * HOST_STEPS; k++) {
        const double times = exp2((double)k / HOST_STEPS);
        const double error = error_on_host(t, row, n, device, times);

        if (error < least) {
            least = error;
            best = times;
        }
    }
    return any ? best : NAN;
}

/* Fewer hosts say nothing of others: their times are their own affair. */
enum { LEAST_HOSTS = 3 };

void ft__relate_hosts(double *host, uint32_t n_hosts)
{
    double sum = 0;
    int n = 0;

    for (uint32_t d = 0; d < n_hosts; d++)
        if (isfinite(host[d])) {
            sum += log(host[d]);
            n++;
        }
    for (uint32_t d = 0; d < n_hosts && n >= LEAST_HOSTS; d++)
        host[d] /= exp(sum / n);
}
