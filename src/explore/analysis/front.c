/* Rows of objectives in; which of them no other dominates, and the volume that these
 * dominate, out. */
#include "explore/analysis/front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct item {
    double first; /* the first objective, at hand for comparing */
    size_t row;
};

struct rows {
    const double *y;
    size_t m;
};

static bool goes_after(const struct rows *r, const struct item *a, const struct item *b)
{
    const double *p = r->y + a->row * r->m, *q = r->y + b->row * r->m;

    if (a->first != b->first)
        return a->first > b->first;
    for (size_t k = 1; k < r->m; k++)
        if (p[k] != q[k])
            return p[k] > q[k];
    return false;
}

static void merge(const struct rows *r, struct item *to, const struct item *a,
                  size_t n_a, const struct item *b, size_t n_b)
{
    while (n_a && n_b) {
        if (goes_after(r, a, b)) {
            *to++ = *b++;
            n_b--;
        } else {
            *to++ = *a++;
            n_a--;
        }
    }
    memcpy(to, a, n_a * sizeof(*a));
    memcpy(to + n_a, b, n_b * sizeof(*b));
}

/* Runs of 1, 2, 4 ... merged to and fro between both arrays; the one that ends up
 * sorted. */
static struct item *sort(const struct rows *r, struct item *a, struct item *b, size_t n)
{
    for (size_t run = 1; run < n; run *= 2) {
        struct item *kept = a;

        for (size_t at = 0; at < n; at += 2 * run) {
            const size_t n_a = n - at < run ? n - at : run;
            const size_t rest = n - at - n_a;

            merge(r, b + at, a + at, n_a, a + at + n_a, rest < run ? rest : run);
        }
        a = b;
        b = kept;
    }
    return a;
}

/* A row can only be dominated by one before it. */

/* The second objective falls along a front; equal rows do not dominate each other. */
static void mark_falling(unsigned char *on, const struct rows *r,
                         const struct item *item, size_t n)
{
    double least = INFINITY, first = -INFINITY;

    for (size_t i = 0; i < n; i++) {
        const double second = r->m > 1 ? r->y[item[i].row * r->m + 1] : 0;

        if (i && !(second < least) && (item[i].first != first || second != least))
            continue;
        on[item[i].row] = 1;
        least = second;
        first = item[i].first;
    }
}

bool ft__dominates(const double *a, const double *b, size_t m)
{
    bool better = false;

    for (size_t k = 0; k < m; k++) {
        if (a[k] > b[k])
            return false;
        better |= a[k] < b[k];
    }
    return better;
}

/* What has just dominated a row is likely to dominate the next, and goes to the front
 * of the list. */
static void compare(unsigned char *on, const struct rows *r, const struct item *item,
                    size_t n, size_t *front)
{
    size_t n_front = 0;

    for (size_t i = 0; i < n; i++) {
        const double *y = r->y + item[i].row * r->m;
        size_t k = 0;

        while (k < n_front && !ft__dominates(r->y + front[k] * r->m, y, r->m))
            k++;
        if (k < n_front) {
            const size_t hit = front[k];

            memmove(front + 1, front, k * sizeof(*front));
            front[0] = hit;
        } else {
            on[item[i].row] = 1;
            front[n_front++] = item[i].row;
        }
    }
}

static size_t list_rows(struct item *item, const double *y, size_t n, size_t m)
{
    size_t known = 0;

    for (size_t i = 0; i < n; i++) {
        size_t k = 0;

        while (k < m && !isnan(y[i * m + k]))
            k++;
        if (k == m)
            item[known++] = (struct item){y[i * m], i};
    }
    return known;
}

ft_status ft_pareto(unsigned char *on, const double *y, size_t n, size_t m,
                    ft_error *err)
{
    struct item *a = malloc((n + 1) * sizeof(*a)), *b = malloc((n + 1) * sizeof(*b));
    size_t *front = m > 2 ? malloc((n + 1) * sizeof(*front)) : NULL;
    const struct rows r = {y, m};
    ft_status st = FT_OK;

    if (!a || !b || (m > 2 && !front)) {
        st = ft_fail(err, FT_ENOMEM, 0, "no memory for a front of %zu rows", n);
    } else if (m == 0) {
        st = ft_fail(err, FT_EINVAL, 0, "a front of no objectives");
    } else {
        const size_t known = list_rows(a, y, n, m);
        const struct item *sorted = sort(&r, a, b, known);

        memset(on, 0, n);
        if (m > 2)
            compare(on, &r, sorted, known, front);
        else
            mark_falling(on, &r, sorted, known);
    }
    free(a);
    free(b);
    free(front);
    return st;
}

/* By slices: C. M. Fonseca, L. Paquete, M. Lopez-Ibanez, An improved
 * dimension-sweep algorithm for the hypervolume indicator, CEC 2006; beyond three
 * objectives what each point has for itself: L. While, L. Bradstreet, L. Barone, A fast
 * way of calculating exact hypervolumes, IEEE Trans. Evol. Comput. 16, 2012.
 * From here on a point is how far it is below the reference: all are to be large, and
 * what counts is the union of the boxes between 0 and them. */

int ft__by_first(const void *a, const void *b)
{
    const double *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

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

    qsort(point, n, m * sizeof(*point), ft__by_first);
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
