/* What the tests of the store share: a scratch folder, a key, rows as text. */
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "files.h"
#include "foretell/store.h"
#include "scratch.h"
#include "store/store_inside.h"

#define HEAD                                                                           \
    "device,setting,engine,engine_version,spec,phase,dtype_policy,metric,unit,value,"  \
    "error,mad,mean,std,n,iterations,taken_at,run"
#define ROW                                                                            \
    "a30,,onednn,2.6.3,relu x=8 dtype=fp32,forward,default,time,s,1.5,,,,,3,300,"      \
    "1700000000,1"

static const ft_key key = {
    .device = "a30",
    .setting = "threads=1",
    .engine = "onednn",
    .engine_version = "2.6.3",
    .spec = "conv2d x=32x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32",
    .phase = "forward",
    .dtype_policy = "default",
    .metric = "time",
};

/* The result; the caller knows it to be there. */
static inline ft_store *must_open(const char *path, ft_store_mode mode)
{
    ft_error err = {0};
    ft_store *s;

    if (ft_store_open(&s, path, mode, &err) != FT_OK) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    return s;
}

static inline ft_store *fresh(const char *name)
{
    return must_open(in_scratch(name).s, FT_STORE_WRITE);
}

static inline ft_measurement measured(double value)
{
    return (ft_measurement){.unit = "s",
                            .value = value,
                            .error = value / 100,
                            .mad = 0.1,
                            .mean = value * 1.01,
                            .std = NAN,
                            .n = 3,
                            .iterations = 300};
}

static inline void put(ft_store *s, const ft_key *k, double value)
{
    ft_measurement m = measured(value);
    int64_t run;

    CHECK_EQ(ft__store_begin_run(s, &run, "test", "{}", NULL), FT_OK);
    CHECK_EQ(ft__store_put(s, run, k, &m, NULL, 0, NULL), FT_OK);
}

/* Collects rows as text, so that whole results compare at once. */
struct seen {
    char text[1 << 16];
    size_t len;
    size_t n;
    int64_t last_id;
    ft_store *s;
};

static inline void note_readings(struct seen *s, int64_t id)
{
    ft_reading *r;
    size_t n;

    CHECK_EQ(ft__store_readings(s->s, id, &r, &n, NULL), FT_OK);
    for (size_t i = 0; i < n; i++) {
        s->len += (size_t)snprintf(s->text + s->len, sizeof(s->text) - s->len,
                                   " %.17g:%.17g:%llu", r[i].value, r[i].start_s,
                                   (unsigned long long)r[i].iterations);
        if (r[i].round || r[i].marks)
            s->len += (size_t)snprintf(s->text + s->len, sizeof(s->text) - s->len,
                                       ":%u:%u", r[i].round, r[i].marks);
    }
    free(r);
}

static inline int note(void *user, const ft_row *r)
{
    struct seen *s = user;

    s->n++;
    s->last_id = r->id;
    s->len += (size_t)snprintf(
        s->text + s->len, sizeof(s->text) - s->len,
        "%s|%s|%s|%s|%s|%s|%s|%s|%s|%.17g|%.17g|%.17g|%.17g|%.17g|%llu|%llu|%.17g|%s\n",
        r->key.device, r->key.setting, r->key.engine, r->key.engine_version,
        r->key.spec, r->key.phase, r->key.dtype_policy, r->key.metric, r->m.unit,
        r->m.value, r->m.error, r->m.mad, r->m.mean, r->m.std,
        (unsigned long long)r->m.n, (unsigned long long)r->m.iterations,
        r->m.calibration_s, r->m.conditions);
    note_readings(s, r->id);
    return 0;
}

static inline struct seen all(ft_store *s, const ft_key *filter, int latest)
{
    struct seen seen = {.s = s};
    ft_error err = {0};

    CHECK_EQ(ft_store_each(s, filter, latest, note, &seen, &err), FT_OK);
    return seen;
}

static inline int count_all(void *user, const ft_row *row)
{
    (void)row;
    ++*(size_t *)user;
    return 0;
}

#endif
