/* The covariance of log residuals, and which operations to measure by it. */
#include "predict/model/few_covariance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/choose.h"
#include "predict/data/features.h"

const struct ft__few_scales ft__few_of_time = {.shared = 0.1,
                                               .of_kind = 0.15,
                                               .of_type = 0.3,
                                               .of_type_share = 0.4,
                                               .of_share = 0.3,
                                               .of_host = 0.26,
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

/* The power of two in the rows of a product, up to the 64 that tiles are multiples of.
 */
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

/* Sets the sides of the operation's last product. */
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

/* How much what all of the device takes longer lengthens an operation: nothing where
 * the host is waited for. */
static double of_device(const struct ft__few_scales *s, const struct ft__few_point *p)
{
    return s->of_host > 0 ? 1 - square(fmin(p->share[FT__FEW_HOST], 1)) : 1;
}

/* Of operations of one kind and phase; shares: the product of what bounds them;
 * device: of of_device(). */
static double covariance_of_kind(const struct ft__few_scales *s,
                                 const struct ft__few_point *a,
                                 const struct ft__few_point *b, double d, double shares,
                                 double device)
{
    const double of_twos = similarity(square(a->twos - b->twos), 1);
    const double of_order = a->order == b->order ? 1 : s->of_order;
    const double alike = similarity(d, s->octaves);
    double sum = device * square(s->of_kind) + square(s->of_size) * alike * of_order +
                 of_twos * (square(s->of_twos) + square(s->of_twos_size) * alike);

    if (a->is_product)
        sum += square(s->of_narrow) * of_order *
               similarity(square(a->narrow - b->narrow), narrow_octaves);
    if (a->type != b->type)
        return sum;
    return sum + device * square(s->of_type) + square(s->of_type_share) * shares +
           square(s->rough) * of_order *
               exp(-sqrt(distance(a->side, b->side, FT__FEW_SIZES)) / s->rough_octaves);
}

static ft_class class_of(const struct ft__few_point *p)
{
    return ft_kind_class((ft_kind)(p->kind / FT_PHASE_COUNT));
}

double ft__few_covariance(const struct ft__few_scales *s, const struct ft__few_point *a,
                          const struct ft__few_point *b)
{
    const double d = distance(a->size, b->size, FT__FEW_SIZES);
    const double device = of_device(s, a) * of_device(s, b);
    double level = square(s->shared), shares = 0, other = 0, sum;

    for (int k = 0; k < FT__FEW_SHARES; k++)
        shares += a->share[k] * b->share[k];
    for (int k = 0; k < FT__MOST_OTHERS; k++)
        other += a->other[k] * b->other[k];
    if (class_of(a) == class_of(b))
        level += square(s->far) * similarity(d, s->far_octaves);
    sum = device * level + square(s->of_share) * shares + square(s->of_other) * other +
          square(s->of_host) * a->share[FT__FEW_HOST] * b->share[FT__FEW_HOST];
    if (strcmp(a->session, b->session) == 0)
        sum += square(s->of_session);
    return a->kind == b->kind ? sum + covariance_of_kind(s, a, b, d, shares, device)
                              : sum;
}

/* The posterior covariance of all pairs, given the operations chosen so far. */
struct choosing {
    uint32_t n;
    float *left; /* n x n */
    float noise;
};

static void choosing_start(struct choosing *c, const struct ft__few_point *at)
{
    const struct ft__few_scales *s = &ft__few_of_time;

    c->noise = (float)(s->noise * s->noise);
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t j = 0; j <= i; j++)
            c->left[(size_t)i * c->n + j] = c->left[(size_t)j * c->n + i] =
                (float)ft__few_covariance(s, &at[i], &at[j]);
}

/* The reduction of the sum of variances if i is measured. */
static float gain_of(const struct choosing *c, uint32_t i)
{
    const float *row = c->left + (size_t)i * c->n;
    float sum = 0;

    for (uint32_t j = 0; j < c->n; j++)
        sum += row[j] * row[j];
    return sum / (row[i] + c->noise);
}

/* `row`: n, scratch. */
static void measure(struct choosing *c, uint32_t i, float *row)
{
    const float *of = c->left + (size_t)i * c->n;
    const float whole = of[i] + c->noise;

    for (uint32_t j = 0; j < c->n; j++)
        row[j] = of[j];
    for (uint32_t a = 0; a < c->n; a++) {
        float *to = c->left + (size_t)a * c->n, part = row[a] / whole;

        for (uint32_t j = 0; j < c->n; j++)
            to[j] -= part * row[j];
    }
}

static void choose(uint32_t *out, struct choosing *c, bool *known, float *row,
                   uint32_t want)
{
    for (uint32_t k = 0; k < want; k++) {
        float most = -1;
        uint32_t best = 0;

        for (uint32_t i = 0; i < c->n; i++) {
            const float gain = known[i] ? -1 : gain_of(c, i);

            if (gain > most) {
                most = gain;
                best = i;
            }
        }
        out[k] = best;
        known[best] = true;
        measure(c, best, row);
    }
}

static uint32_t place_of(const struct choosing *c, uint32_t i, uint32_t n)
{
    return (uint32_t)((uint64_t)i * n / c->n);
}

/* Appends the operations beyond FT_CHOOSE_MOST, in order. */
static void add_rest(uint32_t *out, const struct choosing *c, uint32_t n, uint32_t want)
{
    uint32_t k = c->n;

    for (uint32_t i = 0, at = 0; i < n && k < want; i++)
        if (at < c->n && place_of(c, at, n) == i)
            at++;
        else
            out[k++] = i;
}

ft_status ft_choose_few(uint32_t *out, uint32_t *n_chosen, const ft_op *ops, uint32_t n,
                        uint32_t want, ft_error *err)
{
    struct choosing c = {.n = n < FT_CHOOSE_MOST ? n : FT_CHOOSE_MOST};
    const size_t all = c.n + 1u;
    const uint32_t few = want < c.n ? want : c.n;
    struct ft__few_point *at = calloc(all, sizeof(*at));
    bool *known = calloc(all, sizeof(*known));
    float *row = calloc(all, sizeof(*row));
    ft_status st = FT_OK;

    *n_chosen = 0;
    c.left = calloc(all * all, sizeof(*c.left));
    if (!at || !known || !row || !c.left)
        st = ft_fail(err, FT_ENOMEM, 0, "%u operations", n);
    for (uint32_t i = 0; i < c.n && !st; i++)
        at[i] = ft__few_point_of(&ops[place_of(&c, i, n)]);
    if (!st) {
        choosing_start(&c, at);
        choose(out, &c, known, row, few);
        for (uint32_t k = 0; k < few; k++)
            out[k] = place_of(&c, out[k], n);
        *n_chosen = want < n ? want : n;
        add_rest(out, &c, n, *n_chosen);
    }
    free(at);
    free(known);
    free(row);
    free(c.left);
    return st;
}
