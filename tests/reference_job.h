#ifndef REFERENCE_JOB_H
#define REFERENCE_JOB_H

/* What the two files of the reference share: operands by index. */
#include "reference.h"

typedef struct operand {
    ft_shape s;
    ft_dtype t;
    void *p;
} operand;

/* One run: its operation, operands and first result. */
typedef struct job {
    const ft_op *op;
    operand in[FT_OP_MAX_OPERANDS];
    operand out;
    const float *const *w;
} job;

static inline int64_t flat(const ft_shape *s, const int64_t *at)
{
    int64_t i = 0;

    for (uint32_t d = 0; d < s->rank; d++)
        i = i * s->dim[d] + at[d];
    return i;
}

static inline double value(const operand *o, const int64_t *at)
{
    return reference_get(o->t, o->p, flat(&o->s, at));
}

static inline void unflat(const ft_shape *s, int64_t i, int64_t *at)
{
    for (uint32_t d = s->rank; d-- > 0; i /= s->dim[d])
        at[d] = i % s->dim[d];
}

/* The element of o that lines up with position `at` of a shape of `rank` axes. */
static inline double broadcast(const operand *o, const int64_t *at, uint32_t rank)
{
    int64_t own[FT_MAX_RANK];

    for (uint32_t d = 0; d < o->s.rank; d++)
        own[d] = o->s.dim[d] == 1 ? 0 : at[rank - o->s.rank + d];
    return value(o, own);
}

static inline int64_t key(const job *j, ft_key_id k, uint32_t i)
{
    return ft_op_at(j->op, k, i);
}

static inline int has_axis(const ft_op *op, ft_key_id k, uint32_t axis)
{
    uint32_t n;
    const int64_t *v = ft_op_get(op, k, &n);

    for (uint32_t i = 0; i < n; i++)
        if (v[i] == (int64_t)axis)
            return 1;
    return 0;
}

/* Result element `at` of an operation that moves elements; part: of a split. */
double reference_move(const job *j, uint32_t part, const int64_t *at);

#endif
