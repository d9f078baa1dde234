/* Which points of a front are shown, where it has more than can be. */
#include <math.h>
#include <stdlib.h>

#include "cli/explored.h"

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

static double first_of(const ft__explored *e, size_t i)
{
    return (e->objective[0].maximize ? -1 : 1) * e->t.v[i].value[0];
}

/* The farthest from all that were taken; the best in the first objective before that.
 */
static size_t farthest(const ft__explored *e, const unsigned char *may,
                       const double *near)
{
    size_t best = e->t.n;

    for (size_t i = 0; i < e->t.n; i++)
        if (may[i] && (best == e->t.n || near[i] > near[best] ||
                       (near[i] == near[best] && first_of(e, i) < first_of(e, best))))
            best = i;
    return best;
}

static void insert(size_t *out, size_t n, const ft__explored *e, size_t i)
{
    for (; n && first_of(e, out[n - 1]) > first_of(e, i); n--)
        out[n] = out[n - 1];
    out[n] = i;
}

size_t ft__explored_spread(size_t *out, const ft__explored *e, unsigned char *may,
                           size_t most)
{
    struct scale *s = calloc(e->n_objectives + 1, sizeof(*s));
    double *near = malloc((e->t.n + 1) * sizeof(*near));
    size_t n = 0, i;

    for (size_t k = 0; k < e->n_objectives && s; k++)
        s[k] = scale_of(e, may, k);
    for (i = 0; i < e->t.n && near; i++)
        near[i] = INFINITY;
    while (s && near && n < most && (i = farthest(e, may, near)) < e->t.n) {
        insert(out, n++, e, i);
        may[i] = 0;
        for (size_t j = 0; j < e->t.n; j++)
            if (may[j])
                near[j] =
                    fmin(near[j], apart(s, &e->t.v[i], &e->t.v[j], e->n_objectives));
    }
    free(s);
    free(near);
    return n;
}
