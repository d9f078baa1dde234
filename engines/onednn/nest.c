#include "nest.h"

#include "runtime.h"

static void swap_axes(ft__nest *t, uint32_t i, uint32_t j)
{
    int64_t d = t->dim[i];

    t->dim[i] = t->dim[j];
    t->dim[j] = d;
    for (uint32_t k = 0; k < t->n; k++) {
        int64_t s = t->step[k][i];

        t->step[k][i] = t->step[k][j];
        t->step[k][j] = s;
    }
}

/* Longest step of the lead first; where it stands still, the others decide. */
static bool goes_before(const ft__nest *t, uint32_t lead, uint32_t i, uint32_t j)
{
    if (t->step[lead][i] != t->step[lead][j])
        return t->step[lead][i] > t->step[lead][j];
    for (uint32_t k = 0; k < t->n; k++)
        if (t->step[k][i] != t->step[k][j])
            return t->step[k][i] > t->step[k][j];
    return false;
}

static void sort_axes(ft__nest *t, uint32_t lead)
{
    for (uint32_t i = 1; i < t->rank; i++)
        for (uint32_t j = i; j > 0 && goes_before(t, lead, j, j - 1); j--)
            swap_axes(t, j, j - 1);
}

static bool can_merge(const ft__nest *t, uint32_t outer, uint32_t inner)
{
    for (uint32_t k = 0; k < t->n; k++)
        if (t->step[k][outer] != t->step[k][inner] * t->dim[inner])
            return false;
    return true;
}

static void merge_axes(ft__nest *t)
{
    uint32_t last = 0;

    for (uint32_t i = 1; i < t->rank; i++) {
        if (can_merge(t, last, i)) {
            t->dim[i] *= t->dim[last];
            swap_axes(t, last, i);
        } else {
            swap_axes(t, ++last, i);
        }
    }
    t->rank = last + 1;
}

void ft__nest_init(ft__nest *t, const ft__tensor *operands, uint32_t n, uint32_t lead)
{
    *t = (ft__nest){.n = n};
    for (uint32_t i = 0; i < operands[0].rank; i++) {
        if (operands[0].dim[i] == 1)
            continue;
        t->dim[t->rank] = operands[0].dim[i];
        for (uint32_t k = 0; k < n; k++)
            t->step[k][t->rank] = operands[k].stride[i] * ft__tensor_size(&operands[k]);
        t->rank++;
    }
    if (t->rank == 0) {
        t->dim[t->rank++] = 1;
        for (uint32_t k = 0; k < n; k++)
            t->step[k][0] = ft__tensor_size(&operands[k]);
    }
    sort_axes(t, lead);
    merge_axes(t);
}

static void walk(const ft__nest *t, ft__row_fn *row, char **p)
{
    uint32_t inner = t->rank - 1;
    int64_t at[FT__RANK] = {0}, step[FT__OPERANDS];

    for (uint32_t k = 0; k < t->n; k++)
        step[k] = t->step[k][inner];
    for (;;) {
        uint32_t axis = inner;

        row(t->dim[inner], p, step);
        for (;;) {
            if (axis == 0)
                return;
            axis--;
            for (uint32_t k = 0; k < t->n; k++)
                p[k] += t->step[k][axis];
            if (++at[axis] < t->dim[axis])
                break;
            for (uint32_t k = 0; k < t->n; k++)
                p[k] -= t->step[k][axis] * t->dim[axis];
            at[axis] = 0;
        }
    }
}

typedef struct share {
    const ft__nest *t;
    ft__row_fn *row;
    void *const *p;
    uint32_t axis;
} share;

static void walk_share(void *arg, int64_t begin, int64_t end)
{
    const share *s = arg;
    ft__nest part = *s->t;
    char *p[FT__OPERANDS];

    part.dim[s->axis] = end - begin;
    for (uint32_t k = 0; k < part.n; k++)
        p[k] = (char *)s->p[k] + begin * part.step[k][s->axis];
    walk(&part, s->row, p);
}

/* Threads share an axis along which the result advances: no two of them ever
 * write the same element. */
void ft__nest_run(uint32_t threads, const ft__nest *t, ft__row_fn *row, void *const *p)
{
    share s = {t, row, p, 0};
    int64_t elements = 1;

    for (uint32_t i = 0; i < t->rank; i++)
        elements *= t->dim[i];
    if (elements == 0)
        return;
    while (s.axis < t->rank && t->step[0][s.axis] == 0)
        s.axis++;
    if (s.axis == t->rank) {
        s.axis = 0;
        threads = 1;
    }
    ft__parallel(threads, t->dim[s.axis], elements / t->dim[s.axis], walk_share, &s);
}
