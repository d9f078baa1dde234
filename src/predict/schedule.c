#include "predict/schedule.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

ft__schedule ft__schedule_plain(void)
{
    return (ft__schedule){.scale = 1, .bounded = 1, .dynamic = 1, .cap_w = INFINITY};
}

double ft__schedule_device(const ft__work *w)
{
    if (!isfinite(w->alone_s))
        return w->bare_s;
    return w->alone_s <= w->floor_s ? fmin(w->alone_s, w->bare_s) : w->alone_s;
}

void ft__schedule_load(ft__load *out, const ft__work *work, size_t n)
{
    double silent_s = 0; /* known operations of unknown power */

    *out = (ft__load){0};
    for (size_t i = 0; i < n; i++) {
        const ft__work *w = &work[i];
        double device = w->count * ft__schedule_device(w);

        out->launches += w->count * w->launches;
        if (!isfinite(w->alone_s)) {
            out->bounded_s += device;
        } else if (!isfinite(w->power_w)) {
            out->known_s += device;
            silent_s += w->count * w->alone_s;
        } else {
            out->known_s += device;
            out->alone_s += w->count * w->alone_s;
            out->alone_j += w->count * w->alone_s * w->power_w;
        }
    }
    /* They draw what the others do. */
    out->alone_j *= 1 + silent_s / out->alone_s;
    out->alone_s += silent_s;
}

double ft__schedule_time(const ft__load *l, const ft__schedule *s)
{
    return fmax(s->scale * l->known_s + s->bounded * l->bounded_s,
                s->launch_s * l->launches);
}

double ft__schedule_energy(const ft__load *l, const ft__schedule *s, double time_s)
{
    /* In its loop an operation draws idle power while it waits for the host: what it
     * adds is the same however long it waits. Bounded ones add as much per second. */
    double added = l->alone_j - s->idle_w * l->alone_s;
    double rate = added / l->known_s;

    added += rate * s->bounded * l->bounded_s;
    return fmin(s->idle_w * time_s + s->dynamic * fmax(0, added), s->cap_w * time_s);
}

void ft__schedule_play(ft__pass *out, const ft__work *work, size_t n,
                       const ft__schedule *s)
{
    *out = (ft__pass){0};
    for (size_t i = 0; i < n; i++) {
        const ft__work *w = &work[i];
        double device = ft__schedule_device(w) *
                        (isfinite(w->alone_s) ? s->scale : s->bounded);
        double host = w->launches * s->launch_s, first = out->host_s + host;

        if (!(w->count > 0))
            continue;
        /* The first of them waits for its launch; then whoever is slower sets the
         * pace. */
        out->host_s += w->count * host;
        out->device_s = fmax(fmax(out->device_s, first) + w->count * device,
                             out->host_s + device);
        out->busy_s += w->count * device;
    }
}

/* ---- fitting ---- */

enum { MAX_FITTED = 3 };

/* What is searched, as logarithms of factors to where it started. */
struct search {
    ft__schedule from;
    const ft__known_network *network;
    size_t n;
    double prior;
    bool energy;
};

static void apply(ft__schedule *s, const struct search *q, const double *factor)
{
    *s = q->from;
    if (q->energy) {
        s->dynamic *= exp(factor[0]);
        s->idle_w *= exp(factor[1]);
        return;
    }
    s->scale *= exp(factor[0]);
    s->bounded *= exp(factor[1]);
    s->launch_s *= exp(factor[2]);
}

/* |log(truth / estimate)|; 0 where one of them is not known. */
static double stray(const struct search *q, const ft__schedule *s,
                    const ft__known_network *k)
{
    double truth = q->energy ? k->energy_j : k->time_s;
    double estimate = q->energy ? ft__schedule_energy(&k->load, s, k->time_s)
                                : ft__schedule_time(&k->load, s);

    return truth > 0 && estimate > 0 ? fabs(log(truth / estimate)) : 0;
}

static double loss(const struct search *q, const double *factor)
{
    ft__schedule s;
    double sum = 0;

    apply(&s, q, factor);
    for (size_t i = 0; i < q->n; i++)
        sum += stray(q, &s, &q->network[i]);
    for (int j = 0; j < MAX_FITTED; j++)
        sum += q->prior * factor[j] * factor[j];
    return sum;
}

/* Steps along the axes and their diagonals, halved when none helps: the loss has
 * kinks, and there are three numbers. */
static void descend(double *at, const struct search *q)
{
    double least = loss(q, at);

    for (double step = 0.4; step > 1e-3;) {
        double best[MAX_FITTED], before = least;

        for (int move = 0; move < 27; move++) {
            const int digit[MAX_FITTED] = {move % 3, move / 3 % 3, move / 9};
            double next[MAX_FITTED], l;

            for (int j = 0; j < MAX_FITTED; j++)
                next[j] = at[j] + (digit[j] - 1) * step;
            l = loss(q, next);
            if (l < least) {
                least = l;
                memcpy(best, next, sizeof(best));
            }
        }
        if (least < before)
            memcpy(at, best, sizeof(best));
        else
            step /= 2;
    }
}

static void fit(ft__schedule *s, const ft__known_network *network, size_t n,
                double prior, bool energy)
{
    const struct search q = {*s, network, n, prior, energy};
    double at[MAX_FITTED] = {0};

    descend(at, &q);
    apply(s, &q, at);
}

void ft__schedule_fit(ft__schedule *s, const ft__known_network *network, size_t n,
                      double prior)
{
    fit(s, network, n, prior, false);
    fit(s, network, n, prior, true);
}
