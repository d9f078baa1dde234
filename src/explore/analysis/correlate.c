/* Pairs of values in; Pearson's, Spearman's or Kendall's correlation with its interval
 * out. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/explore.h"

enum { LEAST_PAIRS = 4 }; /* of which an interval can be given */

struct pair {
    double a, b;
};

static int by_a(const void *x, const void *y)
{
    const struct pair *p = x, *q = y;

    if (p->a != q->a)
        return p->a > q->a ? 1 : -1;
    return (p->b > q->b) - (p->b < q->b);
}

static int by_b(const void *x, const void *y)
{
    const struct pair *p = x, *q = y;

    return (p->b > q->b) - (p->b < q->b);
}

static double pearson(const struct pair *p, size_t n)
{
    double mean_a = 0, mean_b = 0, ab = 0, aa = 0, bb = 0;

    for (size_t i = 0; i < n; i++) {
        mean_a += p[i].a / (double)n;
        mean_b += p[i].b / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        const double a = p[i].a - mean_a, b = p[i].b - mean_b;

        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    return fmax(-1, fmin(1, ab / (sqrt(aa) * sqrt(bb))));
}

/* Where the values equal to those of pair i end. */
static size_t end_of_a(const struct pair *p, size_t i, size_t n)
{
    size_t end = i + 1;

    while (end < n && p[end].a == p[i].a)
        end++;
    return end;
}

static size_t end_of_b(const struct pair *p, size_t i, size_t n)
{
    size_t end = i + 1;

    while (end < n && p[end].b == p[i].b)
        end++;
    return end;
}

/* The rank of equal values is the mean of theirs. */
static double mean_rank(size_t first, size_t end)
{
    return 0.5 * (double)(first + 1 + end);
}

static double spearman(struct pair *p, size_t n)
{
    size_t end;

    qsort(p, n, sizeof(*p), by_b);
    for (size_t i = 0; i < n; i = end) {
        end = end_of_b(p, i, n);
        for (size_t k = i; k < end; k++)
            p[k].b = mean_rank(i, end);
    }
    qsort(p, n, sizeof(*p), by_a);
    for (size_t i = 0; i < n; i = end) {
        end = end_of_a(p, i, n);
        for (size_t k = i; k < end; k++)
            p[k].a = mean_rank(i, end);
    }
    return pearson(p, n);
}

static double pairs_among(size_t n)
{
    return 0.5 * (double)n * ((double)n - 1);
}

/* Pairs out of order in b; sorts by it. */
static double inversions(struct pair *p, struct pair *room, size_t n)
{
    const size_t half = n / 2;
    size_t i = 0, j = half, k = 0;
    double sum;

    if (n < 2)
        return 0;
    sum = inversions(p, room, half) + inversions(p + half, room, n - half);
    while (i < half && j < n) {
        if (p[j].b < p[i].b) {
            sum += (double)(half - i);
            room[k++] = p[j++];
        } else {
            room[k++] = p[i++];
        }
    }
    memcpy(room + k, p + i, (half - i) * sizeof(*p));
    memcpy(p, room, (k + half - i) * sizeof(*p));
    return sum;
}

/* Tau-b by sorting (Knight 1966). */
static double kendall(struct pair *p, struct pair *room, size_t n)
{
    double all = pairs_among(n), same_a = 0, same_b = 0, same = 0, swaps;
    size_t end;

    qsort(p, n, sizeof(*p), by_a);
    for (size_t i = 0; i < n; i = end) {
        end = end_of_a(p, i, n);
        same_a += pairs_among(end - i);
    }
    for (size_t i = 0; i < n; i = end) {
        for (end = i + 1; end < n && p[end].a == p[i].a && p[end].b == p[i].b;)
            end++;
        same += pairs_among(end - i);
    }
    swaps = inversions(p, room, n);
    for (size_t i = 0; i < n; i = end) {
        end = end_of_b(p, i, n);
        same_b += pairs_among(end - i);
    }
    return (all - same_a - same_b + same - 2 * swaps) /
           (sqrt(all - same_a) * sqrt(all - same_b));
}

/* Variance of Fisher's z: R. A. Fisher 1921; D. G. Bonett, T. A. Wright, Sample size
 * requirements for estimating Pearson, Kendall and Spearman correlations, Psychometrika
 * 65, 2000 (Kendall: Fieller, Hartley, Pearson 1957). */
static void add_interval(ft_correlation *c, ft_correlation_kind kind)
{
    const double n = (double)c->n, z = atanh(c->r);
    double variance = 1 / (n - 3), half;

    if (kind == FT_SPEARMAN)
        variance = (1 + c->r * c->r / 2) / (n - 3);
    else if (kind == FT_KENDALL)
        variance = n > 4 ? 0.437 / (n - 4) : (double)INFINITY;
    half = 1.959963984540054 * sqrt(variance);
    /* at -1 and 1 z is infinite, and so are both ends */
    c->low = isinf(z) ? c->r : tanh(z - half);
    c->high = isinf(z) ? c->r : tanh(z + half);
}

static bool varies(const struct pair *p, size_t n)
{
    bool a = false, b = false;

    for (size_t i = 1; i < n; i++) {
        a |= p[i].a != p[0].a;
        b |= p[i].b != p[0].b;
    }
    return a && b;
}

static size_t take_pairs(struct pair *p, const double *a, const double *b, size_t n)
{
    size_t taken = 0;

    for (size_t i = 0; i < n; i++)
        if (!isnan(a[i]) && !isnan(b[i]))
            p[taken++] = (struct pair){a[i], b[i]};
    return taken;
}

ft_status ft_correlate(ft_correlation *out, ft_correlation_kind kind, const double *a,
                       const double *b, size_t n, ft_error *err)
{
    struct pair *p = malloc((n + 1) * sizeof(*p)), *room = malloc((n + 1) * sizeof(*p));
    ft_status st = FT_OK;

    *out = (ft_correlation){NAN, NAN, NAN, 0};
    if (!p || !room) {
        st = ft_fail(err, FT_ENOMEM, 0, "no memory for %zu pairs", n);
    } else if ((out->n = take_pairs(p, a, b, n)) >= LEAST_PAIRS && varies(p, out->n)) {
        if (kind == FT_PEARSON)
            out->r = pearson(p, out->n);
        else if (kind == FT_SPEARMAN)
            out->r = spearman(p, out->n);
        else
            out->r = kendall(p, room, out->n);
        add_interval(out, kind);
    }
    free(p);
    free(room);
    return st;
}
