#include "predict/schedule/schedule.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "foretell/learn.h"
#include "learn/learn_inside.h"

ft__task_group ft__task_group_of(const ft_op *op)
{
    switch (ft_kind_class(op->kind)) {
    case FT_CLASS_CONV: return FT__TASK_CONV;
    case FT_CLASS_MATMUL: return FT__TASK_MATMUL;
    default: return FT__TASK_OTHER;
    }
}

ft__schedule ft__schedule_plain(void)
{
    return (ft__schedule){.scale = {1, 1, 1, 1}, .bounded = 1, .dynamic = 1};
}

double ft__schedule_device(const ft__op_task *w)
{
    if (!isfinite(w->alone_s))
        return w->bare_s;
    return w->alone_s <= w->floor_s ? fmin(w->alone_s, w->bare_s) : w->alone_s;
}

static bool waited_for_host(const ft__op_task *w)
{
    return w->alone_s <= w->floor_s;
}

ft__network_load ft__schedule_no_load(void)
{
    return (ft__network_load){.typical_w = NAN, .cap_w = INFINITY};
}

void ft__schedule_load_add(ft__network_load *l, const ft__op_task *w)
{
    double device = w->count * ft__schedule_device(w);

    l->launches += w->count * w->launches;
    if (!isfinite(w->alone_s)) {
        l->unmodelled_s += device;
        return;
    }
    l->known_s[w->group] += device;
    if (isfinite(w->power_w) && !waited_for_host(w)) {
        l->alone_s += w->count * w->alone_s;
        l->alone_j += w->count * w->alone_s * w->power_w;
    }
}

void ft__schedule_load(ft__network_load *out, const ft__op_task *task, size_t n)
{
    *out = ft__schedule_no_load();
    for (size_t i = 0; i < n; i++)
        ft__schedule_load_add(out, &task[i]);
}

double ft__schedule_busy(const ft__network_load *l, const ft__schedule *s)
{
    double sum = s->bounded * l->unmodelled_s;

    for (int g = 0; g < FT__N_TASK_GROUPS; g++)
        sum += s->scale[g] * l->known_s[g];
    return sum;
}

double ft__schedule_time(const ft__network_load *l, const ft__schedule *s)
{
    return fmax(ft__schedule_busy(l, s), s->launch_s * l->launches);
}

double ft__schedule_energy(const ft__network_load *l, const ft__schedule *s,
                           double time_s)
{
    double busy_w = l->alone_s > 0 ? l->alone_j / l->alone_s : l->typical_w;
    double added = s->dynamic * (busy_w - s->idle_w) * ft__schedule_busy(l, s);

    if (!isfinite(busy_w))
        return NAN;
    return fmin(s->idle_w * time_s + fmax(0, added), l->cap_w * time_s);
}

/* ---- fitting ---- */

enum { MAX_FITTED = FT__N_TASK_GROUPS + 2 };

/* What is searched, as logarithms of factors to where it started. */
struct schedule_search {
    ft__schedule from;
    const ft__known_network *network;
    size_t n;
    double prior;
    bool energy;
};

static void apply(ft__schedule *s, const struct schedule_search *q,
                  const double *factor)
{
    *s = q->from;
    if (q->energy) {
        s->dynamic *= exp(factor[0]);
        s->idle_w *= exp(factor[1]);
        return;
    }
    s->launch_s *= exp(factor[0]);
    s->bounded *= exp(factor[1]);
    for (int g = 0; g < FT__N_TASK_GROUPS; g++)
        s->scale[g] *= exp(factor[2 + g]);
}

/* Weight x |log(measured / estimate)|; 0 where one of them is not known. */
static double residual(const struct schedule_search *q, const ft__schedule *s,
                       const ft__known_network *k)
{
    double truth = q->energy ? k->energy_j : k->time_s;
    double estimate = q->energy ? ft__schedule_energy(&k->load, s, k->time_s)
                                : ft__schedule_time(&k->load, s);

    return truth > 0 && estimate > 0 ? k->weight * fabs(log(truth / estimate)) : 0;
}

/* Where a search for the time of a launch, or for idle power, begins is known to an
 * order of magnitude only; what an operation takes in another layout hardly better. */
static const double rough = 0.05, loose = 0.2;

/* How much a factor is held to 1. */
static double hold(const struct schedule_search *q, int j)
{
    if (q->energy || j == 0)
        return rough;
    return j == 2 + FT__TASK_RELAID ? loose : 1;
}

static double loss(const struct schedule_search *q, const double *factor)
{
    ft__schedule s;
    double sum = 0;

    apply(&s, q, factor);
    for (size_t i = 0; i < q->n; i++)
        sum += residual(q, &s, &q->network[i]);
    for (int j = 0; j < MAX_FITTED; j++)
        sum += q->prior * hold(q, j) * factor[j] * factor[j];
    return sum;
}

/* One of 9 n (n - 1) / 2 moves: of a pair of numbers each by -1, 0 or 1 step. */
static void move_by(double *to, const double *at, int move, double step)
{
    int pair = move / 9, high = 1;

    for (; pair >= high; high++)
        pair -= high;
    memcpy(to, at, MAX_FITTED * sizeof(*to));
    to[pair] += (move % 3 - 1) * step;
    to[high] += (move / 3 % 3 - 1) * step;
}

/* Steps along the axes and the diagonals between two of them, halved when none helps:
 * the loss has kinks, and there are few numbers. */
static void descend(double *at, const struct schedule_search *q)
{
    const int n = q->energy ? 2 : MAX_FITTED, moves = 9 * n * (n - 1) / 2;
    double least = loss(q, at);

    for (double step = 0.4; step > 0.005;) {
        double best[MAX_FITTED], next[MAX_FITTED], before = least;

        for (int move = 0; move < moves; move++) {
            double l;

            move_by(next, at, move, step);
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
    const struct schedule_search q = {*s, network, n, prior, energy};
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

/* ---- log residuals of networks ---- */

/* Student's t, 95 %, of 1, 2, ... degrees of freedom. */
static const double student[] = {6.314, 2.920, 2.353, 2.132, 2.015, 1.943,
                                 1.895, 1.860, 1.833, 1.812, 1.796, 1.782,
                                 1.771, 1.761, 1.753, 1.746, 1.740, 1.734};
enum { FEW = sizeof(student) / sizeof(*student) };

double ft__student(size_t n)
{
    assert(n > 0);
    return student[(n < FEW ? n : FEW) - 1];
}

ft_status ft__schedule_range(double *low, double *high, const double *residual,
                             size_t n, ft_error *err)
{
    ft_status st = ft__conformal(low, high, residual, n, 0.9, err);
    double sum = 0, width;

    if (st || n > FEW)
        return st;
    /* Another one lies between the extremes of n with probability (n - 1) / (n + 1)
     * only, which is less than nine in ten: then their size says more. */
    for (size_t i = 0; i < n; i++)
        sum += residual[i] * residual[i];
    width = ft__student(n) * sqrt(sum / (double)n);
    *low = fmin(*low, -width);
    *high = fmax(*high, width);
    return FT_OK;
}
