#include "predict/model/few_covariance.h"

#include <math.h>
#include <string.h>

#include "predict/data/features.h"

const struct ft__few_scales ft__few_of_time = {.shared = 0.2,
                                               .of_kind = 0.15,
                                               .of_type = 0.3,
                                               .of_type_share = 0.4,
                                               .of_share = 0.3,
                                               .of_size = 0.25,
                                               .noise = 0.2,
                                               .octaves = 3,
                                               .rough = 0.3,
                                               .rough_octaves = 4,
                                               .far = 0.3,
                                               .far_octaves = 8,
                                               .of_other = 0.3,
                                               .of_session = 0.15,
                                               .of_narrow = 0.15,
                                               .of_order = 0.4,
                                               .long_noise = 0.1,
                                               .long_s = 1e-3};
/* A sensor saw a loop or its idle surroundings, depending on how long the loop ran,
 * which went by round numbers of rows: power jumps where time does not. */
const struct ft__few_scales ft__few_of_power = {.shared = 0.2,
                                                .of_kind = 0.15,
                                                .of_share = 0.3,
                                                .of_size = 0.25,
                                                .noise = 0.3,
                                                .long_s = INFINITY,
                                                .octaves = 5,
                                                .rough_octaves = 1,
                                                .far_octaves = 1,
                                                .of_twos = 0.4,
                                                .of_twos_size = 0.4,
                                                .of_order = 1};
/* Octaves of the shorter side: libraries have kernels for single lengths of it. */
static const double narrow_octaves = 0.25;

/* Of products; counted up to the 64 that tiles are multiples of. */
static double twos_in_rows(const ft_op *op)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    int64_t rows = 1;
    int twos = 0;

    if (ft_kind_class(op->kind) != FT_CLASS_MATMUL)
        return 0;
    for (uint32_t i = 0; i + 1 < x.rank; i++)
        rows *= x.dim[i];
    for (; rows > 0 && rows % 2 == 0 && twos < 6; rows /= 2)
        twos++;
    return twos;
}

/* Of the last product that the operation is made of. */
static void set_sides(struct ft__few_point *p, const ft_op *op)
{
    ft_product list[FT_MAX_PRODUCTS];
    const uint32_t n =
        ft_kind_class(op->kind) == FT_CLASS_MATMUL ? ft_op_products(op, list) : 0;
    ft_shape x, y;

    p->is_product = n > 0;
    if (!n) {
        memcpy(p->side, p->size, sizeof(p->side));
        return;
    }
    x = ft_op_shape(&list[n - 1].op, FT_K_x);
    y = ft_op_shape(&list[n - 1].op, FT_K_y);
    for (int k = 0; k < 3; k++)
        p->side[k] = log2(fmax(1, (double)x.dim[k]));
    p->side[3] = log2(fmax(1, (double)y.dim[2]));
    p->narrow = fmin(p->side[1], p->side[3]);
    p->order = ft_op_at(op, FT_K_order, 0);
}

struct ft__few_point ft__few_point_of(const ft_op *op)
{
    static const uint32_t sizes[FT__FEW_SIZES] = {
        FT__F_input_elements, FT__F_output_elements, FT__F_weight_elements, FT__F_flops,
        FT__F_bytes};
    const ft__roof one = ft__flat_roof(1, 1, 0);
    struct ft__few_point p = {.kind = (uint32_t)op->kind * FT_PHASE_COUNT +
                                      (uint32_t)op->phase,
                              .type = op->dtype,
                              .twos = twos_in_rows(op),
                              .session = ""};
    float f[FT__N_FEATURES];
    ft_cost cost;

    ft_op_cost(op, &cost);
    ft__features(f, op, &cost, &one);
    for (int k = 0; k < FT__FEW_SIZES; k++)
        p.size[k] = isfinite(f[sizes[k]]) ? (double)f[sizes[k]] : 0;
    set_sides(&p, op);
    return p;
}

static double square(double v)
{
    return v * v;
}

/* Of two points: 1 where they are alike, next to 0 where they are several `octaves`
 * apart. */
static double similarity(double squared, double octaves)
{
    return exp(-squared / (2 * square(octaves)));
}

static double distance(const double *a, const double *b, int n)
{
    double d = 0;

    for (int k = 0; k < n; k++)
        d += square(a[k] - b[k]);
    return d;
}

/* Of operations of one kind and phase; shares: the product of what bounds them. */
static double covariance_of_kind(const struct ft__few_scales *s,
                                 const struct ft__few_point *a,
                                 const struct ft__few_point *b, double d, double shares)
{
    const double of_twos = similarity(square(a->twos - b->twos), 1);
    const double of_order = a->order == b->order ? 1 : s->of_order;
    const double alike = similarity(d, s->octaves);
    double sum = square(s->of_kind) + square(s->of_size) * alike * of_order +
                 of_twos * (square(s->of_twos) + square(s->of_twos_size) * alike);

    if (a->is_product)
        sum += square(s->of_narrow) * of_order *
               similarity(square(a->narrow - b->narrow), narrow_octaves);
    if (a->type != b->type)
        return sum;
    return sum + square(s->of_type) + square(s->of_type_share) * shares +
           square(s->rough) * of_order *
               exp(-sqrt(distance(a->side, b->side, FT__FEW_SIZES)) / s->rough_octaves);
}

double ft__few_covariance(const struct ft__few_scales *s, const struct ft__few_point *a,
                          const struct ft__few_point *b)
{
    const double d = distance(a->size, b->size, FT__FEW_SIZES);
    double shares = 0, other = 0, sum;

    for (int k = 0; k < FT__FEW_SHARES; k++)
        shares += a->share[k] * b->share[k];
    for (int k = 0; k < FT__MOST_OTHERS; k++)
        other += a->other[k] * b->other[k];
    sum = square(s->shared) + square(s->of_share) * shares +
          square(s->of_other) * other + square(s->far) * similarity(d, s->far_octaves);
    if (strcmp(a->session, b->session) == 0)
        sum += square(s->of_session);
    return a->kind == b->kind ? sum + covariance_of_kind(s, a, b, d, shares) : sum;
}
