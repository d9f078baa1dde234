/* Matrix products. */
#include <stdio.h>
#include <stdlib.h>

#include "opencl.h"

static void arg_product(ft_block *b, const ft__product *p)
{
    ft__arg_slot(b, p->a);
    ft__arg_slot(b, p->b);
    ft__arg_slot(b, p->c);
    ft__arg_slot(b, p->bias_slot);
    ft__arg_ints(b, p->bias, p->m, p->n, p->k);
    ft__arg_sizes(b, p->place, 3 * (uint32_t)p->batch);
}

/* Rows and columns of results a work-item makes, as in products.cl. */
enum { ROWS = 4, SIDE = 8 };

static int64_t parts(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

static void launch_kernel(ft_block *b, const ft__product *p)
{
    bool tiles = b->ctx->opt.products == FT__PRODUCTS_TILES;
    char wide[32];

    snprintf(wide, sizeof(wide), " -DWIDE=%u", b->ctx->wide);
    ft__kernel(b, "products",
               tiles         ? "k_product_tiles"
               : p->b_turned ? "k_product_t"
                             : "k_product",
               "float", "float", wide);
    arg_product(b, p);
    if (tiles) {
        ft__arg_ints(b, p->b_turned ? 1 : p->n, p->b_turned ? p->k : 1);
        ft__range3(b, parts(p->n, 4 * SIDE) * SIDE, parts(p->m, 4 * SIDE) * SIDE,
                   p->batch, SIDE, SIDE);
        ft__fixed(b);
        return;
    }
    ft__range3(b, parts(p->n, p->b_turned ? ROWS : b->ctx->wide), parts(p->m, ROWS),
               p->batch, 8, 8);
}

/* The bias into all of C, to which products are added. */
static void launch_bias(ft_block *b, const ft__product *p)
{
    int32_t m = (int32_t)p->m, n = (int32_t)p->n, by_row = p->bias == 1;
    int32_t sizes[24] = {[0] = (int32_t)p->batch, [1] = m,      [2] = n,  [9] = by_row,
                         [10] = !by_row,          [16] = m * n, [17] = n, [18] = 1};

    ft__kernel(b, "move", "k_move", "uint", "uint", "");
    ft__arg_slot(b, p->bias_slot);
    ft__arg_slot(b, p->c);
    ft__arg_ints(b, p->batch * p->m * p->n, 3);
    ft__arg_sizes(b, sizes, 24);
    ft__arg_ints(b, 0, p->place[2]);
    ft__range(b, p->batch * p->m * p->n);
}

static void launch_clblast(ft_block *b, const ft__product *p)
{
    if (p->bias)
        launch_bias(b, p);
    for (int64_t i = 0; i < p->batch; i++) {
        ft__launch *l = ft__launch_new(b);

        if (!l)
            return;
        l->is_sgemm = true;
        l->b_turned = p->b_turned;
        l->adds = p->bias != 0;
        l->m = (size_t)p->m;
        l->n = (size_t)p->n;
        l->k = (size_t)p->k;
        for (int k = 0; k < 3; k++)
            l->from[k] = (size_t)p->place[3 * i + k];
        l->slot[0] = p->a;
        l->slot[1] = p->b;
        l->slot[2] = p->c;
        l->n_slots = 3;
    }
    snprintf(b->implementation, sizeof(b->implementation), "CLBlastSgemm");
}

void ft__product_launch(ft_block *b, const ft__product *p)
{
    if (b->ctx->opt.products == FT__PRODUCTS_CLBLAST)
        launch_clblast(b, p);
    else
        launch_kernel(b, p);
}

void ft__build_linear(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x);
    const int32_t place[3] = {0};
    bool bias = ft_op_at(&b->op, FT_K_bias, 0) != 0;
    ft__product p = {.m = ft__elements(&x, 0, x.rank - 1),
                     .n = ft_op_at(&b->op, FT_K_out, 0),
                     .k = x.dim[x.rank - 1],
                     .batch = 1,
                     .b_turned = true,
                     .bias = bias ? 2 : 0,
                     .place = place,
                     .a = {.kind = FT__SLOT_IN},
                     .b = {.kind = FT__SLOT_IN, .index = 1},
                     .c = {.kind = FT__SLOT_OUT},
                     .bias_slot = {.kind = FT__SLOT_IN, .index = bias ? 2 : 1}};

    if (ft__computes_floats(b))
        ft__product_launch(b, &p);
}

/* Where every matrix of the batch lies in an operand. */
static void set_places(int32_t *place, const ft_shape *s, const ft_shape *out,
                       int64_t batch)
{
    int32_t stride[FT_MAX_RANK];

    ft__strides(stride, s, out);
    for (int64_t i = 0; i < batch; i++) {
        int64_t rest = i, at = 0;

        for (uint32_t d = out->rank - 2; d-- > 0;) {
            at += rest % out->dim[d] * stride[d];
            rest /= out->dim[d];
        }
        place[3 * i] = (int32_t)at;
    }
}

void ft__build_matmul(ft_block *b)
{
    ft_shape x = ft_op_shape(&b->op, FT_K_x), y = ft_op_shape(&b->op, FT_K_y), out;
    ft__product p = {.a = {.kind = FT__SLOT_IN},
                     .b = {.kind = FT__SLOT_IN, .index = 1},
                     .c = {.kind = FT__SLOT_OUT},
                     .bias_slot = {.kind = FT__SLOT_IN}};
    int32_t *place;
    ft_dtype t;

    if (!ft__computes_floats(b))
        return;
    if (ft_op_at(&b->op, FT_K_order, 0) || x.rank < 2 || y.rank < 2) {
        (void)ft__unsupported(b, "operands are matrices in rows");
        return;
    }
    ft_op_output(&b->op, 0, &out, &t);
    p.batch = ft__elements(&out, 0, out.rank - 2);
    p.m = x.dim[x.rank - 2];
    p.k = x.dim[x.rank - 1];
    p.n = y.dim[y.rank - 1];
    place = malloc((size_t)p.batch * 3 * sizeof(*place));
    if (!place) {
        (void)ft__unsupported(b, "no memory to prepare it");
        return;
    }
    set_places(place, &x, &out, p.batch);
    set_places(place + 1, &y, &out, p.batch);
    set_places(place + 2, &out, &out, p.batch);
    p.place = place;
    ft__product_launch(b, &p);
    free(place);
}
