/* Volumes by slices: C. M. Fonseca, L. Paquete, M. Lopez-Ibanez, An improved
 * dimension-sweep algorithm for the hypervolume indicator, CEC 2006; beyond three
 * objectives what each point has for itself: L. While, L. Bradstreet, L. Barone, A fast
 * way of calculating exact hypervolumes, IEEE Trans. Evol. Comput. 16, 2012. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explore/analysis/front.h"

/* From here on a point is how far it is below the reference: all are to be large, and
 * what counts is the union of the boxes between 0 and them. */

static int by_first(const void *a, const void *b)
{
    const double *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

/* ---- two objectives: a staircase ---- */

/* Corners with x rising and y falling; what a corner adds to the area below. */
struct stairs {
    double *x, *y;
    size_t n;
};

static double step_up(struct stairs *s, double x, double y)
{
    size_t right = 0, left, end = s->n;
    double added;

    while (right < end) { /* the first corner with no smaller x */
        const size_t middle = (right + end) / 2;

        if (s->x[middle] < x)
            right = middle + 1;
        else
            end = middle;
    }
    if (right < s->n && s->y[right] >= y)
        return 0;
    left = right;
    added = (x - (left ? s->x[left - 1] : 0)) * (y - (right < s->n ? s->y[right] : 0));
    for (; left && s->y[left - 1] <= y; left--)
        added +=
            (s->x[left - 1] - (left > 1 ? s->x[left - 2] : 0)) * (y - s->y[left - 1]);
    memmove(s->x + left + 1, s->x + right, (s->n - right) * sizeof(*s->x));
    memmove(s->y + left + 1, s->y + right, (s->n - right) * sizeof(*s->y));
    s->x[left] = x;
    s->y[left] = y;
    s->n = s->n - (right - left) + 1;
    return added;
}

/* ---- any number ---- */

struct volume_work {
    struct stairs stairs;
    double *limited[FT__MAX_OBJECTIVES]; /* [m]: n points of m objectives */
};

static bool covers(const double *a, const double *b, size_t m)
{
    size_t k = 0;

    while (k < m && a[k] >= b[k])
        k++;
    return k == m;
}

/* Those of n points that no other covers, to the front; how many. */
static size_t keep_front(double *point, size_t n, size_t m)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        const double *p = point + i * m;
        size_t k = 0, left = 0;

        while (k < kept && !covers(point + k * m, p, m))
            k++;
        if (k < kept)
            continue;
        for (k = 0; k < kept; k++)
            if (!covers(p, point + k * m, m))
                memmove(point + left++ * m, point + k * m, m * sizeof(*p));
        memmove(point + left * m, p, m * sizeof(*p));
        kept = left + 1;
    }
    return kept;
}

static double volume(struct volume_work *w, double *point, size_t n, size_t m);

/* Slices between one first objective and the next, the largest first: what lies in a
 * slice are all points met so far, without that objective. */
static double sweep(struct volume_work *w, const double *point, size_t n, size_t m)
{
    double sum = 0, section = 0;

    w->stairs.n = 0;
    for (size_t i = n; i-- > 0;) {
        const double *p = point + i * m;

        if (m == 2)
            section = fmax(section, p[1]);
        else
            section += step_up(&w->stairs, p[1], p[2]);
        sum += section * (p[0] - (i ? p[-(ptrdiff_t)m] : 0));
    }
    return sum;
}

/* The box of a point less what those behind it, which all reach further in the first
 * objective, have of it. */
static double alone(struct volume_work *w, const double *point, size_t n, size_t m)
{
    double *limited = w->limited[m - 1], box = 1;

    for (size_t k = 1; k < m; k++)
        box *= point[k];
    for (size_t i = 1; i < n; i++)
        for (size_t k = 1; k < m; k++)
            limited[(i - 1) * (m - 1) + k - 1] = fmin(point[k], point[i * m + k]);
    n = keep_front(limited, n - 1, m - 1);
    return point[0] * (box - volume(w, limited, n, m - 1));
}

static double volume(struct volume_work *w, double *point, size_t n, size_t m)
{
    double sum = 0;

    qsort(point, n, m * sizeof(*point), by_first);
    if (m == 1)
        return n ? point[n - 1] : 0;
    if (m <= 3)
        return sweep(w, point, n, m);
    for (size_t i = 0; i < n; i++)
        sum += alone(w, point + i * m, n - i, m);
    return sum;
}

/* Points below the reference in everything. */
static size_t take_gains(double *gain, const double *y, size_t n, size_t m,
                         const double *reference)
{
    size_t taken = 0;

    for (size_t i = 0; i < n; i++) {
        size_t k = 0;

        for (; k < m && y[i * m + k] < reference[k]; k++)
            gain[taken * m + k] = reference[k] - y[i * m + k];
        taken += k == m;
    }
    return taken;
}

static ft_status start(struct volume_work *w, size_t n, size_t m, ft_error *err)
{
    bool ok = true;

    for (size_t k = 3; k < m; k++)
        ok &= (w->limited[k] = malloc(n * k * sizeof(double))) != NULL;
    if (m >= 3) {
        w->stairs.x = malloc(n * sizeof(double));
        w->stairs.y = malloc(n * sizeof(double));
        ok &= w->stairs.x && w->stairs.y;
    }
    return ok ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "no memory for a hypervolume");
}

ft_status ft_hypervolume(double *out, const double *y, size_t n, size_t m,
                         const double *reference, ft_error *err)
{
    struct volume_work w = {0};
    double *gain;
    ft_status st;

    *out = NAN;
    if (m == 0 || m > FT__MAX_OBJECTIVES)
        return ft_fail(err, FT_EINVAL, 0, "a hypervolume of %zu objectives: 1 to %d", m,
                       FT__MAX_OBJECTIVES);
    gain = malloc((n + 1) * m * sizeof(*gain));
    if (!gain)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a hypervolume");
    n = take_gains(gain, y, n, m, reference);
    if (m > 3)
        n = keep_front(gain, n, m);
    st = start(&w, n + 1, m, err);
    if (!st)
        *out = volume(&w, gain, n, m);
    for (size_t k = 3; k < m; k++)
        free(w.limited[k]);
    free(w.stairs.x);
    free(w.stairs.y);
    free(gain);
    return st;
}
