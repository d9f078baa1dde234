/* Rows of objectives in; which of them no other dominates out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explore/analysis/front.h"

/* ---- rows in lexicographic order ---- */

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

/* ---- fronts: a row can only be dominated by one before it ---- */

/* The second objective falls along a front; equal rows do not dominate each other. */
static void sweep(unsigned char *on, const struct rows *r, const struct item *item,
                  size_t n)
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
            sweep(on, &r, sorted, known);
    }
    free(a);
    free(b);
    free(front);
    return st;
}
