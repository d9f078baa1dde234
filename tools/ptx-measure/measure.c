#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stats.h"

enum {
    LEAST_SAMPLES = 7,
    FEWEST_SAMPLES = 3,
    MOST_SAMPLES = 200,
    MOST_IN_ONE = 2000,
    WARM = 3,
    READINGS = 4096
};

/* A sample lasts this long at least: events tell half a microsecond. */
static const double sample_s = 0.002;

typedef struct timer {
    void *begin, *end;
} timer;

/* Seconds that n launches one behind the other take. */
static ft_status run(double *seconds, job *j, const timer *t, uint32_t n, ft_error *err)
{
    const cuda *c = j->c;
    float ms = 0;
    ft_status st = cuda_check(c, c->event_record(t->begin, NULL), "an event", err);

    for (uint32_t i = 0; !st && i < n; i++)
        st = job_launch(j, err);
    st = st ? st : cuda_check(c, c->event_record(t->end, NULL), "an event", err);
    st = st ? st
            : cuda_check(c, c->event_wait(t->end), "the kernel does not end well", err);
    st = st ? st : cuda_check(c, c->event_time(&ms, t->begin, t->end), "a time", err);
    *seconds = (double)ms * 1e-3;
    return st;
}

/* Launches that fill a sample, after some that warm up. */
static ft_status find_length(uint32_t *n, job *j, const timer *t, ft_error *err)
{
    double s = 0;
    ft_status st = run(&s, j, t, WARM, err);

    if (!st && s < 0.1)
        st = run(&s, j, t, WARM, err);
    *n = s > 0 ? (uint32_t)fmin(fmax(1, ceil(sample_s * WARM / s)), MOST_IN_ONE)
               : MOST_IN_ONE;
    return st;
}

static void add_times(json_t *out, double *sample, size_t n, uint32_t in_one)
{
    json_t *all = json_array();
    double median;

    for (size_t i = 0; i < n; i++)
        json_array_append_new(all, json_real(sample[i]));
    median = ft__median(sample, n);
    json_object_set_new(out, "time_s", json_real(median));
    json_object_set_new(out, "mad_s", json_real(ft__mad(sample, n, median)));
    json_object_set_new(out, "launches_a_sample", json_integer(in_one));
    json_object_set_new(out, "samples_s", all);
}

/* Slow kernels get by with few. */
static bool wanted(size_t n, double spent_s, double time_s)
{
    return n < FEWEST_SAMPLES || spent_s < time_s || (n < LEAST_SAMPLES && spent_s < 1);
}

static ft_status measure_time(json_t *out, job *j, const how *h, const timer *t,
                              uint32_t in_one, ft_error *err)
{
    double sample[MOST_SAMPLES], spent = 0;
    size_t n = 0;
    ft_status st = FT_OK;

    while (!st && n < MOST_SAMPLES && wanted(n, spent, h->time_s)) {
        st = run(&sample[n], j, t, in_one, err);
        spent += sample[n];
        sample[n++] /= in_one;
    }
    if (!st)
        add_times(out, sample, n, in_one);
    return st;
}

typedef struct reading {
    double at_s, power_w, energy_j, clock_mhz, memory_mhz;
} reading;

static reading read_sensors(const how *h)
{
    reading r = {ft__now_s(), NAN, NAN, NAN, NAN};
    unsigned v = 0;
    unsigned long long mj = 0;

    if (!FT__NVML_CALL(h->nvml, power_usage, h->gpu, &v))
        r.power_w = v * 1e-3;
    if (!FT__NVML_CALL(h->nvml, total_energy, h->gpu, &mj))
        r.energy_j = (double)mj * 1e-3;
    if (!FT__NVML_CALL(h->nvml, clock, h->gpu, FT__NVML_CLOCK_SM, &v))
        r.clock_mhz = v;
    if (!FT__NVML_CALL(h->nvml, clock, h->gpu, FT__NVML_CLOCK_MEMORY, &v))
        r.memory_mhz = v;
    return r;
}

static void set_known(json_t *out, const char *name, double v)
{
    if (!isnan(v))
        json_object_set_new(out, name, json_real(v));
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Median of the readings of the second half, when sensors have caught up; NaN: none. */
static double settled(const reading *r, size_t n, size_t member)
{
    double v[READINGS];
    size_t have = 0;

    for (size_t i = n / 2; i < n; i++) {
        double x;

        memcpy(&x, (const char *)&r[i] + member, sizeof(x));
        if (!isnan(x))
            v[have++] = x;
    }
    qsort(v, have, sizeof(*v), by_size);
    return have ? v[have / 2] : NAN;
}

static void add_power(json_t *out, const reading *r, size_t n)
{
    json_t *all = json_array();
    double spent = r[n - 1].at_s - r[n / 2].at_s;

    for (size_t i = 0; i < n; i++) {
        json_t *one = json_object();

        set_known(one, "at_s", r[i].at_s - r[0].at_s);
        set_known(one, "power_w", r[i].power_w);
        set_known(one, "energy_j", r[i].energy_j - r[0].energy_j);
        json_array_append_new(all, one);
    }
    json_object_set_new(out, "readings", all);
    set_known(out, "power_w", settled(r, n, offsetof(reading, power_w)));
    if (spent > 0)
        set_known(out, "energy_power_w",
                  (r[n - 1].energy_j - r[n / 2].energy_j) / spent);
    set_known(out, "clock_mhz", settled(r, n, offsetof(reading, clock_mhz)));
    set_known(out, "memory_mhz", settled(r, n, offsetof(reading, memory_mhz)));
}

/* Some 10 ms of launches between readings, so that the GPU hardly waits. */
static ft_status measure_power(json_t *out, job *j, const how *h, const timer *t,
                               uint32_t in_one, ft_error *err)
{
    reading *r = calloc(READINGS, sizeof(*r));
    ft_status st = r ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "readings");
    double seconds, begin = ft__now_s();
    size_t n = 0;

    if (!st)
        r[n++] = read_sensors(h);
    while (!st && n < READINGS && ft__now_s() - begin < h->power_s) {
        st = run(&seconds, j, t, 5 * in_one, err);
        r[n++] = read_sensors(h);
    }
    if (!st)
        add_power(out, r, n);
    free(r);
    return st;
}

ft_status measure(json_t *out, job *j, const how *h, ft_error *err)
{
    const cuda *c = j->c;
    timer t = {0};
    uint32_t in_one = 1;
    ft_status st = cuda_check(c, c->event_create(&t.begin, 0), "an event", err);

    st = st ? st : cuda_check(c, c->event_create(&t.end, 0), "an event", err);
    st = st ? st : find_length(&in_one, j, &t, err);
    st = st ? st : measure_time(out, j, h, &t, in_one, err);
    if (!st && h->nvml && h->power_s > 0)
        st = measure_power(out, j, h, &t, in_one, err);
    if (t.begin)
        c->event_destroy(t.begin);
    if (t.end)
        c->event_destroy(t.end);
    return st;
}
