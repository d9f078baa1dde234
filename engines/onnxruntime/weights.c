/* Weights of an operation: given ones, or random ones that keep activations in
 * their usual range. */
#include <stdlib.h>
#include <string.h>

#include "node.h"
#include "random.h"

static bool make_random(const ft__model *m, void *to, uint32_t i, const ft_param *p,
                        uint64_t n)
{
    uint64_t seed = m->seed ^ (0x9e3779b97f4a7c15u * (i + 1));
    float low, high;

    ft__weight_range(m->op, i, p, &low, &high);
    return ft__is_real(p->dtype) ? ft__random_reals(to, p->dtype, n, low, high, seed)
                                 : ft__random_fill(to, p->dtype, n, 128, seed);
}

/* Elements of parameter i, given or made. `to` lies in a file, at any address. */
static void fill(ft__model *m, void *to, uint32_t i, const ft_param *p)
{
    uint64_t n = (uint64_t)ft_shape_elements(&p->shape);
    uint64_t bytes = (uint64_t)ft_tensor_bytes(&p->shape, p->dtype);
    void *aligned = to ? malloc(bytes + 1) : NULL;

    if (!aligned)
        m->graph.bad = true;
    else if (m->params ? !ft__from_floats(aligned, m->params[i], n, p->dtype)
                       : !make_random(m, aligned, i, p, n))
        m->why = "weights of this type cannot be made";
    else
        memcpy(to, aligned, bytes);
    free(aligned);
}

void ft__weights(ft__model *m)
{
    static const char *const names[] = {"w0", "w1", "w2", "w3"};

    for (uint32_t i = 0; i < ft_op_n_params(m->op) && i < 4; i++) {
        ft_param p;

        ft_op_param(m->op, i, &p);
        fill(m, ft__const_raw(m, names[i], p.dtype, &p.shape), i, &p);
        m->weight_bytes += (uint64_t)ft_tensor_bytes(&p.shape, p.dtype);
    }
}

/* Rows and columns exchanged, elements of any size. */
static void turn(unsigned char *to, const unsigned char *from, int64_t rows,
                 int64_t columns, size_t size)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            memcpy(to + (size_t)(c * rows + r) * size,
                   from + (size_t)(r * columns + c) * size, size);
}

void ft__weights_turned(ft__model *m)
{
    ft_shape turned = {.rank = 2};
    ft_param p;
    void *to, *plain;
    uint64_t bytes;

    ft_op_param(m->op, 0, &p);
    turned.dim[0] = p.shape.dim[1];
    turned.dim[1] = p.shape.dim[0];
    bytes = (uint64_t)ft_tensor_bytes(&p.shape, p.dtype);
    to = ft__const_raw(m, "w0", p.dtype, &turned);
    plain = malloc(bytes + 1);
    if (!plain)
        m->graph.bad = true;
    else if (to) {
        fill(m, plain, 0, &p);
        turn(to, plain, p.shape.dim[0], p.shape.dim[1], ft_dtype_bits(p.dtype) / 8);
    }
    free(plain);
    m->weight_bytes += bytes;
    if (ft_op_n_params(m->op) < 2)
        return;
    ft_op_param(m->op, 1, &p);
    fill(m, ft__const_raw(m, "w1", p.dtype, &p.shape), 1, &p);
    m->weight_bytes += (uint64_t)ft_tensor_bytes(&p.shape, p.dtype);
}

/* Parameters first, first + 1, ... (`parts` of them) of every direction as one. */
static void join_directions(ft__model *m, const char *name, uint32_t first,
                            uint32_t parts)
{
    uint32_t directions = (uint32_t)ft_op_at(m->op, FT_K_directions, 0);
    uint32_t each = ft_op_n_params(m->op) / directions;
    ft_shape s = {.rank = 1, .dim = {directions}};
    unsigned char *to;
    ft_param p;

    ft_op_param(m->op, first, &p);
    for (uint32_t d = 0; d < p.shape.rank; d++)
        s.dim[s.rank++] = p.shape.dim[d];
    s.dim[1] *= parts;
    to = ft__const_raw(m, name, p.dtype, &s);
    m->weight_bytes += (uint64_t)ft_tensor_bytes(&s, p.dtype);
    for (uint32_t d = 0; d < directions && to; d++)
        for (uint32_t k = 0; k < parts; k++) {
            ft_op_param(m->op, d * each + first + k, &p);
            fill(m, to, d * each + first + k, &p);
            to += ft_tensor_bytes(&p.shape, p.dtype);
        }
}

void ft__weights_recurrent(ft__model *m)
{
    join_directions(m, "w0", 0, 1);
    join_directions(m, "w1", 1, 1);
    if (ft_op_at(m->op, FT_K_bias, 0))
        join_directions(m, "w2", 2, 2);
}
