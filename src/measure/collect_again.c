/* What a collection measures once more: readings that disagree with what others say,
 * and some at random. */
#include "measure/collection.h"

#include <math.h>
#include <stdlib.h>

#include "base/prng.h"
#include "predict/train/readings.h"

enum { GROUP = 6 };

/* Of the operations measured, at most; each for as long as this; and how often those
 * that stay doubtful. */
static const double doubtful_share = 0.2, doubtful_time_s = 0.2;
enum { DOUBTED_AT_MOST = 2 };

struct doubted {
    size_t at; /* candidate */
    double work_s;
};

static int heaviest_first(const void *a, const void *b)
{
    const struct doubted *x = a, *y = b;

    if (x->work_s != y->work_s)
        return x->work_s < y->work_s ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Candidates come in the order of their hashes. */
static size_t candidate_of(const struct ft__collection *k, uint64_t hash)
{
    size_t low = 0, high = k->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (ft__op_hash(&k->c[middle].op) < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low < k->n && ft__op_hash(&k->c[low].op) == hash ? low : k->n;
}

/* An operation is doubtful while none of its readings is believed. */
static ft_status find_doubtful(struct doubted *out, size_t *n, struct ft__collection *k,
                               ft_error *err)
{
    const ft_key key = ft__session_key(k->session);
    ft__weighed *weighed = NULL;
    ft__samples s = {0};
    ft_status st = ft__samples_read(&s, k->store, &key, NULL, err);

    *n = 0;
    if (!st)
        st = ft__samples_know(&s, NULL, err);
    if (!st && !(weighed = calloc(s.n + 1, sizeof(*weighed))))
        st = ft_fail(err, FT_ENOMEM, 0, "%zu readings", s.n);
    if (!st)
        st = ft__readings_weigh(weighed, &s, 1, 1, err);
    for (size_t i = 0; i < s.n && !st; i++) {
        const size_t at = candidate_of(k, s.v[i].hash);

        if (at < k->n && k->c[at].measured && !weighed[i].doubtful)
            k->c[at].believed = true;
    }
    for (size_t i = 0; i < k->n && !st; i++)
        if (k->c[i].measured && !k->c[i].believed)
            out[(*n)++] = (struct doubted){i, k->c[i].work_s};
    if (*n)
        qsort(out, *n, sizeof(*out), heaviest_first);
    free(weighed);
    ft__samples_free(&s);
    return st;
}

static ft_status measure_those(struct ft__collection *k, const struct doubted *d,
                               size_t n, ft_error *err)
{
    ft_error why[GROUP];
    ft_op ops[GROUP];
    ft_status st = FT_OK;

    for (size_t from = 0; from < n && !st && ft__clock_now(k->clock) < k->end_s;
         from += GROUP) {
        const size_t m = n - from < GROUP ? n - from : GROUP;

        for (size_t i = 0; i < m; i++)
            ops[i] = k->c[d[from + i].at].op;
        st = ft__measure_into_store(k, ops, m, NULL, doubtful_time_s, why, err);
        for (size_t i = 0; i < m && !st; i++)
            k->report->doubted += !why[i].status;
    }
    return st;
}

ft_status ft__measure_doubtful(struct ft__collection *k, ft_error *err)
{
    const bool hasty = k->hasty;
    const size_t most = (size_t)(doubtful_share * (double)k->report->measured);
    struct doubted *d = calloc(k->n + 1, sizeof(*d));
    ft_status st = d ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu operations", k->n);

    k->hasty = false;
    for (int i = 0; i < DOUBTED_AT_MOST && !st && k->opt->repeat_share >= 0; i++) {
        size_t n = 0;

        st = find_doubtful(d, &n, k, err);
        if (st || n == 0)
            break;
        st = measure_those(k, d, n < most ? n : most, err);
    }
    k->hasty = hasty;
    free(d);
    return st;
}

enum { LEAST_REPEATS = 5 };
static const double default_repeat_share = 0.03;

static size_t repeats_wanted(const struct ft__collection *k)
{
    double share =
        k->opt->repeat_share != 0 ? k->opt->repeat_share : default_repeat_share;
    size_t most = k->report->measured;
    double want = fmax(LEAST_REPEATS, ceil(share * (double)most));

    if (share < 0)
        return 0;
    return want < (double)most ? (size_t)want : most;
}

/* Some of what was measured, at random, in the same manner, minutes later: how far
 * they come out apart says how well this machine repeats itself. */
ft_status ft__measure_again(struct ft__collection *k, double time_s, ft_error *err)
{
    ft__prng rng = ft__prng_stream(k->session->seed, (uint64_t)k->run);
    size_t left = repeats_wanted(k), candidates = k->report->measured;
    ft_error why[GROUP];
    ft_op ops[GROUP];
    ft_status st = FT_OK;
    size_t n = 0;

    for (size_t i = 0; i < k->n && left && !st && ft__clock_now(k->clock) < k->end_s;
         i++) {
        if (!k->c[i].measured)
            continue;
        if (ft__prng_below(&rng, (uint32_t)candidates--) < left) {
            ops[n++] = k->c[i].op;
            left--;
        }
        if (n < GROUP && left)
            continue;
        st = ft__measure_into_store(k, ops, n, NULL, time_s, why, err);
        for (size_t j = 0; j < n && !st; j++)
            k->report->repeated += !why[j].status;
        n = 0;
    }
    return st;
}
