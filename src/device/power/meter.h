#ifndef DEVICE_POWER_METER_H
#define DEVICE_POWER_METER_H

#include <pthread.h>
#include <stdbool.h>

#include "device/power/source.h"

/* One domain as the thread reads it. */
struct ft__lane {
    ft__power_source *source;
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
    bool plays;      /* a recording */

    /* The thread reads by the monotonic clock. Where all.clock is another one, there is
     * none: whoever lets time pass on it reads what is due (ft__meter_pass). */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool running, stop, settled, short_of_memory;
    bool linger;   /* before it stops: until the end lies between readings */
    bool probing;  /* to find the periods */
    double next_s; /* when the next lane is due */
    double began_s, cpu_s, wall_s;
};

/* As ft_meter_open(); everything a meter does then goes by `clock`. */
ft_status ft__meter_open(ft_meter **out, const ft_meter_options *opt,
                         const ft__clock *clock, ft_error *err);
/* Let time pass; 0: what is due is read, where no thread does. The time then. */
double ft__meter_pass(ft_meter *m, double seconds);

/* Seconds to loop what is short for a domain: asked_s; 0: until two updates, those at
 * the ends, of which it is not known what part belongs to the loop, are less than the
 * share `error` of it (0: 0.02), 5 s at most. Never less than ft_domain.least_s. */
double ft__meter_loop_s(const ft_meter *m, uint32_t domain, double asked_s,
                        double error);

/* Read all lanes for so long as if nothing were known of them. */
ft_status ft__meter_try(ft_meter *m, double seconds, ft_error *err);
/* Returns once every domain has brought two new values (where its period is not known,
 * been read twice), or 0.5 s or two periods have passed, so that the stretch that
 * follows has a beginning; stop lingers likewise for its end. */
ft_status ft__meter_start(ft_meter *m, ft_error *err);
ft_status ft__meter_stop(ft_meter *m, ft_trace *out, ft_error *err);
/* ft_meter_watch() with a step that is run again and again, for so many seconds at
 * least or until it returns false. A recording is played on `clock` meanwhile (NULL:
 * its own); other sources keep to theirs. */
ft_status ft__meter_loop(ft_meter *m, const ft__clock *clock, double seconds,
                         bool (*step)(void *user), void *user, ft_trace *out,
                         double *from_s, double *to_s, ft_error *err);
/* Watts while nothing runs: the median of what quiet_s seconds bring, for every
 * domain (watts[ft_meter_n_domains()]); NaN where it is unknown. */
ft_status ft__meter_idle(ft_meter *m, double quiet_s, double *watts, ft_error *err);

#endif
