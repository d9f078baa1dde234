/* Movement, the other half of reference.c. */
#include <math.h>
#include <string.h>

#include "reference_job.h"

static double transpose_at(const job *j, const int64_t *at)
{
    int64_t from[FT_MAX_RANK];

    for (uint32_t d = 0; d < j->out.s.rank; d++)
        from[key(j, FT_K_perm, d)] = at[d];
    return value(&j->in[0], from);
}

static double concat_at(const job *j, const int64_t *at)
{
    uint32_t axis = (uint32_t)key(j, FT_K_axis, 0), part = 0;
    int64_t from[FT_MAX_RANK];

    memcpy(from, at, sizeof(from));
    while (from[axis] >= key(j, FT_K_sizes, part))
        from[axis] -= key(j, FT_K_sizes, part++);
    return value(&j->in[part], from);
}

static double split_at(const job *j, uint32_t part, const int64_t *at)
{
    uint32_t axis = (uint32_t)key(j, FT_K_axis, 0);
    int64_t from[FT_MAX_RANK];

    memcpy(from, at, sizeof(from));
    for (uint32_t i = 0; i < part; i++)
        from[axis] += key(j, FT_K_sizes, i);
    return value(&j->in[0], from);
}

static double slice_at(const job *j, const int64_t *at)
{
    int64_t step = key(j, FT_K_step, 0), from[FT_MAX_RANK];

    for (uint32_t d = 0; d < j->out.s.rank; d++)
        from[d] = at[d] * ((j->out.s.dim[d] - 1) * step < j->in[0].s.dim[d] ? step : 1);
    return value(&j->in[0], from);
}

static double pad_at(const job *j, const int64_t *at)
{
    int64_t from[FT_MAX_RANK];

    for (uint32_t d = 0; d < j->out.s.rank; d++) {
        from[d] = at[d] - (j->out.s.dim[d] - j->in[0].s.dim[d]) / 2;
        if (from[d] < 0 || from[d] >= j->in[0].s.dim[d])
            return 0;
    }
    return value(&j->in[0], from);
}

static double tile_at(const job *j, const int64_t *at)
{
    const ft_shape *s = &j->in[0].s;
    int64_t from[FT_MAX_RANK];

    for (uint32_t d = 0; d < s->rank; d++)
        from[d] = at[j->out.s.rank - s->rank + d] % s->dim[d];
    return value(&j->in[0], from);
}

static double depth_to_space_at(const job *j, const int64_t *at)
{
    int64_t s = j->out.s.dim[2] / j->in[0].s.dim[2], c = j->out.s.dim[1];
    int64_t block = at[2] % s * s + at[3] % s;

    return value(&j->in[0],
                 (int64_t[]){at[0], block * c + at[1], at[2] / s, at[3] / s});
}

static double space_to_depth_at(const job *j, const int64_t *at)
{
    int64_t s = j->in[0].s.dim[2] / j->out.s.dim[2], c = j->in[0].s.dim[1];
    int64_t block = at[1] / c;

    return value(&j->in[0], (int64_t[]){at[0], at[1] % c, at[2] * s + block / s,
                                        at[3] * s + block % s});
}

static double tap_weight(int64_t mode, double away)
{
    double t = fabs(away);

    if (mode == 1)
        return fmax(0, 1 - t);
    if (t <= 1)
        return 1.25 * t * t * t - 2.25 * t * t + 1;
    return t < 2 ? -0.75 * (t * t * t - 5 * t * t + 8 * t - 4) : 0;
}

/* The weighted sum over the neighbours along axis d and those after it. */
static double resize_at(const job *j, const int64_t *at, int64_t *from, uint32_t d)
{
    const ft_shape *s = &j->in[0].s;
    int64_t mode = key(j, FT_K_mode, 0);
    double centre, sum = 0;

    if (d == s->rank)
        return value(&j->in[0], from);
    centre = ((double)at[d] + 0.5) * (double)s->dim[d] / (double)j->out.s.dim[d];
    if (mode == 0) {
        from[d] = (int64_t)floor(centre);
        return resize_at(j, at, from, d + 1);
    }
    for (int k = -1; k <= 2; k++) {
        double p = floor(centre - 0.5) + k, w = tap_weight(mode, centre - 0.5 - p);

        from[d] = (int64_t)fmin(fmax(p, 0), (double)s->dim[d] - 1);
        if (w != 0)
            sum += w * resize_at(j, at, from, d + 1);
    }
    return sum;
}

static int64_t wrap(double index, int64_t n)
{
    return (((int64_t)index % n) + n) % n;
}

static double gather_at(const job *j, const int64_t *at)
{
    uint32_t axis = (uint32_t)key(j, FT_K_axis, 0), extra = j->in[1].s.rank;
    int64_t from[FT_MAX_RANK];

    for (uint32_t d = 0; d < j->in[0].s.rank; d++)
        from[d] = d < axis ? at[d] : at[d + extra - (d > axis)];
    from[axis] = wrap(value(&j->in[1], at + axis), j->in[0].s.dim[axis]);
    return value(&j->in[0], from);
}

static double embedding_at(const job *j, const int64_t *at)
{
    int64_t dim = key(j, FT_K_dim, 0);
    int64_t row = wrap(value(&j->in[0], at), key(j, FT_K_rows, 0));

    return j->w[0][row * dim + at[j->in[0].s.rank]];
}

double reference_move(const job *j, uint32_t part, const int64_t *at)
{
    int64_t from[FT_MAX_RANK];

    switch (j->op->kind) {
    case FT_KIND_transpose: return transpose_at(j, at);
    case FT_KIND_concat: return concat_at(j, at);
    case FT_KIND_split: return split_at(j, part, at);
    case FT_KIND_slice: return slice_at(j, at);
    case FT_KIND_pad: return pad_at(j, at);
    case FT_KIND_expand: return broadcast(&j->in[0], at, j->out.s.rank);
    case FT_KIND_tile: return tile_at(j, at);
    case FT_KIND_resize: return resize_at(j, at, from, 0);
    case FT_KIND_depth_to_space: return depth_to_space_at(j, at);
    case FT_KIND_space_to_depth: return space_to_depth_at(j, at);
    case FT_KIND_gather: return gather_at(j, at);
    case FT_KIND_embedding: return embedding_at(j, at);
    case FT_KIND_copy: return value(&j->in[0], at);
    default: return 0; /* fill */
    }
}
