/* Which points of a front are shown, where it has more than can be. */
#include <math.h>
#include <stdlib.h>

#include "cli/explore/explore.h"

/* Values of an objective between 0 and 1 over the points that may be taken, by their
 * logarithms where all are positive. */
struct scale {
    double low, high;
    bool by_log;
};

static struct scale scale_of(const ft__explored *e, const unsigned char *may, size_t k)
{
    struct scale s = {INFINITY, -INFINITY, true};

    for (size_t i = 0; i < e->t.n; i++) {
        if (!may[i])
            continue;
        s.low = fmin(s.low, e->t.v[i].value[k]);
        s.high = fmax(s.high, e->t.v[i].value[k]);
    }
    s.by_log = s.low > 0;
    if (s.by_log) {
        s.low = log(s.low);
        s.high = log(s.high);
    }
    return s;
}

static double place(const struct scale *s, double v)
{
    return s->high > s->low ? ((s->by_log ? log(v) : v) - s->low) / (s->high - s->low)
                            : 0;
}

static double apart(const struct scale *s, const ft_trial *a, const ft_trial *b,
                    size_t n)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++) {
        double d = place(&s[k], a->value[k]) - place(&s[k], b->value[k]);

        sum += d * d;
    }
    return sum;
}

/* A point that may be shown: in the order of the first objective. */
struct pick {
    size_t trial;
    double first;
    double near; /* to the nearest of those taken */
};

static int by_first(const void *a, const void *b)
{
    const struct pick *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->trial > y->trial) - (x->trial < y->trial);
}

static size_t gather(struct pick *all, const ft__explored *e, const unsigned char *may)
{
    const double sign = e->objective[0].maximize ? -1 : 1;
    size_t n = 0;

    for (size_t i = 0; i < e->t.n; i++)
        if (may[i])
            all[n++] = (struct pick){i, sign * e->t.v[i].value[0], INFINITY};
    qsort(all, n, sizeof(*all), by_first);
    return n;
}

/* The best in the first objective, then whichever is farthest from all that were taken:
 * these `most` to the front. */
static void spread(struct pick *all, size_t n, size_t most, const ft__explored *e,
                   const struct scale *s)
{
    for (size_t k = 0; k < most; k++) {
        size_t best = k;
        struct pick taken;

        for (size_t i = k; i < n; i++)
            if (all[i].near > all[best].near ||
                (all[i].near == all[best].near && all[i].first < all[best].first))
                best = i;
        taken = all[best];
        all[best] = all[k];
        all[k] = taken;
        for (size_t i = k + 1; i < n; i++)
            all[i].near =
                fmin(all[i].near, apart(s, &e->t.v[taken.trial], &e->t.v[all[i].trial],
                                        e->n_objectives));
    }
    qsort(all, most, sizeof(*all), by_first);
}

size_t ft__explored_spread(size_t *out, const ft__explored *e, const unsigned char *may,
                           size_t most)
{
    struct scale *s = calloc(e->n_objectives + 1, sizeof(*s));
    struct pick *all = calloc(e->t.n + 1, sizeof(*all));
    size_t n = s && all ? gather(all, e, may) : 0;

    for (size_t k = 0; k < e->n_objectives && n; k++)
        s[k] = scale_of(e, may, k);
    if (most < n) {
        spread(all, n, most, e, s);
        n = most;
    }
    for (size_t k = 0; k < n; k++)
        out[k] = all[k].trial;
    free(s);
    free(all);
    return n;
}
