#ifndef DEVICE_METER_H
#define DEVICE_METER_H

#include <pthread.h>
#include <stdbool.h>

#include "device/source.h"

/* One domain as the thread reads it. */
struct ft__lane {
    ft__source *source;
    double period, next; /* between polls; when the next one is due */
    double cost;         /* seconds of an undisturbed call */
    ft_power_reading *r;
    size_t n, cap;
    double last_raw, turns; /* a counter that wraps */
    unsigned failed;        /* polls in a row */
    /* The beginning and the end of a stretch: how many new values are awaited, and
     * until when at most. */
    unsigned fresh;
    double patience;
    double last_watts, last_joules;
};

struct ft_meter {
    ft__sources all;
    ft_domain *domain; /* of the lanes */
    struct ft__lane *lane;
    uint32_t n;
    double period_s; /* the caller's; 0: none */

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool running, stop, settled, short_of_memory;
    bool linger;  /* before it stops: until the end lies between readings */
    bool probing; /* to find the periods */
    double began_s, cpu_s, wall_s;
};

/* Begin and end a thread that reads; it ends once every lane has settled, or at
 * once. */
ft_status ft__meter_begin(ft_meter *m, ft_error *err);
void ft__meter_end(ft_meter *m, bool linger);

#endif
