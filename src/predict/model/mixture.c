#include "predict/model/mixture.h"

#include <math.h>
#include <string.h>

#include "base/solve.h"

enum { PARTS = FT__MIXTURE_PARTS, N = PARTS + 1, ROUNDS = 25 };
static const double SMALL = 0.1;  /* errors below count squared */
static const double LONGEST = 1;  /* step of a logarithm */
static const double FREE = 1e-3;  /* pull on a level that is fitted */
static const double FIXED = 1e12; /* on one that is not */

double ft__mixture_estimate(const ft__mixture *m, const double *part)
{
    double sum = 0;

    for (int i = 0; i < PARTS; i++)
        sum += exp(m->weight[i]) * part[i];
    return exp(m->level) * sum;
}

struct equations {
    double a[N * N];
    double b[N];
};

static void add_row(struct equations *q, const double *factor, double level,
                    const ft__mixed *v)
{
    double d[N], sum = 0, miss, weight;

    for (int i = 0; i < PARTS; i++)
        sum += d[i] = factor[i] * v->part[i];
    for (int i = 0; i < PARTS; i++)
        d[i] /= sum;
    d[PARTS] = 1;
    miss = log(v->whole / sum) - level;
    weight = 1 / sqrt(1 + miss / SMALL * (miss / SMALL));
    for (int i = 0; i < N; i++) {
        q->b[i] += weight * d[i] * miss;
        for (int j = 0; j <= i; j++)
            q->a[i * N + j] += weight * d[i] * d[j];
    }
}

void ft__mixture_fit(ft__mixture *m, const ft__mixed *v, size_t n, double pull,
                     int level)
{
    const ft__mixture start = *m;

    for (int round = 0; round < ROUNDS; round++) {
        struct equations q;
        double factor[PARTS], longest = LONGEST;

        memset(&q, 0, sizeof(q));
        for (int i = 0; i < PARTS; i++) {
            factor[i] = exp(m->weight[i]);
            q.a[i * N + i] = pull;
            q.b[i] = pull * (start.weight[i] - m->weight[i]);
        }
        q.a[PARTS * N + PARTS] = level ? FREE : FIXED;
        for (size_t i = 0; i < n; i++)
            add_row(&q, factor, m->level, &v[i]);
        ft__solve(q.a, q.b, N);
        for (int i = 0; i < N; i++)
            longest = fmax(longest, fabs(q.b[i]));
        for (int i = 0; i < PARTS; i++)
            m->weight[i] += q.b[i] * LONGEST / longest;
        if (level)
            m->level += q.b[PARTS] * LONGEST / longest;
    }
}
