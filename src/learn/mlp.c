/* A multi-layer perceptron: ReLU between layers, Adam (Kingma, Ba 2015) with decoupled
 * weight decay (Loshchilov, Hutter 2019), stopped by rows kept apart. Every loop that
 * a compiler may make wide adds to places of their own, so that the bits do not depend
 * on how wide. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/index.h"
#include "base/prng.h"
#include "learn/training_set.h"

enum {
    MAX_UNITS = 1024,
    MAX_LAYERS = 8,
    LANES = 8,       /* partial sums of a dot product */
    BATCH = 64,      /* rows of a step, fewer when there are few rows */
    KEPT_APART = 10, /* one row of so many decides when to stop */
    PATIENCE = 12,   /* epochs without progress until the rate is halved */
    HALVINGS = 4,    /* until that is the end */
};

/* A body: this, columns, weights. Of each layer: in x out weights, out biases; all
 * hidden ones have `units`, the last one unit. */
struct mlp {
    double mean; /* of the target */
    double sd;
    uint32_t n_columns, units;
    uint32_t layers; /* hidden */
    uint32_t zero;
};

static uint32_t inputs_of(const struct mlp *h, uint32_t layer)
{
    return layer ? h->units : h->n_columns;
}

static uint32_t outputs_of(const struct mlp *h, uint32_t layer)
{
    return layer < h->layers ? h->units : 1;
}

static size_t layer_weights(const struct mlp *h, uint32_t layer)
{
    return ((size_t)inputs_of(h, layer) + 1) * outputs_of(h, layer);
}

static size_t count_weights(const struct mlp *h)
{
    size_t n = 0;

    for (uint32_t i = 0; i <= h->layers; i++)
        n += layer_weights(h, i);
    return n;
}

static size_t body_bytes(const struct mlp *h)
{
    const size_t n = count_weights(h);

    return sizeof(*h) + h->n_columns * sizeof(ft__column) + (n + n % 2) * sizeof(float);
}

static const ft__column *columns(const struct mlp *h)
{
    return (const ft__column *)(h + 1);
}

static const float *weights(const struct mlp *h)
{
    return (const float *)(columns(h) + h->n_columns);
}

/* out[n_out] = b + a w; what is 0 (half of the units, mostly) costs nothing. */
static void forward_layer(float *restrict out, const float *a, uint32_t n_in,
                          const float *restrict w, uint32_t n_out)
{
    memcpy(out, w + (size_t)n_in * n_out, n_out * sizeof(*out));
    for (uint32_t i = 0; i < n_in; i++, w += n_out) {
        const float v = a[i];

        if (v == 0)
            continue;
        for (uint32_t j = 0; j < n_out; j++)
            out[j] += v * w[j];
    }
}

/* The answer to one row; what each layer says goes to act[layer][units]. */
static float forward(const struct mlp *h, const float *w, const float *u, float *act)
{
    float *out = act;

    for (uint32_t i = 0; i <= h->layers; i++) {
        const uint32_t n_in = inputs_of(h, i), n_out = outputs_of(h, i);

        out = act + (size_t)i * h->units;
        forward_layer(out, i ? out - h->units : u, n_in, w, n_out);
        for (uint32_t j = 0; i < h->layers && j < n_out; j++)
            out[j] = out[j] > 0 ? out[j] : 0;
        w += layer_weights(h, i);
    }
    return out[0];
}

struct mlp_fit {
    ft__arena room;
    struct mlp h;
    ft__training_set l;
    ft__prng rng;
    uint32_t *order; /* rows learned from, then those that decide when to stop */
    uint32_t n_learn;
    size_t n_weights;
    float *w, *best, *gradient, *momentum, *square;
    float *act, *delta;
    float rate, decay;
    float power1, power2; /* of Adam's two betas, by the number of steps */
};

static ft_status make_room(struct mlp_fit *f, ft_error *err)
{
    const size_t n = f->n_weights = count_weights(&f->h);
    const size_t act = ((size_t)f->h.layers + 1) * f->h.units;

    f->order = ft__arena_need(&f->room, f->l.n_rows, sizeof(*f->order));
    f->w = ft__arena_need(&f->room, n, sizeof(*f->w));
    f->best = ft__arena_need(&f->room, n, sizeof(*f->best));
    f->gradient = ft__arena_need(&f->room, n, sizeof(*f->gradient));
    f->momentum = ft__arena_need(&f->room, n, sizeof(*f->momentum));
    f->square = ft__arena_need(&f->room, n, sizeof(*f->square));
    f->act = ft__arena_need(&f->room, act, sizeof(*f->act));
    f->delta = ft__arena_need(&f->room, act, sizeof(*f->delta));
    return f->room.bad ? ft_fail(err, FT_ENOMEM, 0,
                                 "no memory for a perceptron of %zu weights", n)
                       : FT_OK;
}

/* Equal rows are learned from or kept apart together. */
static uint64_t hash_row(const float *u, uint32_t n, uint64_t seed)
{
    const uint64_t hash = ft__fnv1a(FT__HASH_BEGIN ^ seed, u, n * sizeof(*u));

    return hash ^ hash >> 32;
}

static void keep_some_apart(struct mlp_fit *f, uint64_t seed)
{
    const uint32_t n = f->l.n_rows;
    uint32_t last = n;

    for (uint32_t i = 0; i < n; i++) {
        const float *u = f->l.u + (size_t)i * f->l.n_cols;

        if (hash_row(u, f->l.n_cols, seed) % KEPT_APART == 0)
            f->order[--last] = i;
        else
            f->order[f->n_learn++] = i;
    }
    /* Too few to decide anything, or nothing else: learn from all of them. */
    if (n - f->n_learn < 5 || f->n_learn < 5)
        f->n_learn = n;
}

/* Glorot, Bengio 2010: uniform with variance 2 / (inputs + outputs); biases 0. */
static void draw_weights(struct mlp_fit *f)
{
    float *w = f->w;

    for (uint32_t i = 0; i <= f->h.layers; i++) {
        const uint32_t n_in = inputs_of(&f->h, i), n_out = outputs_of(&f->h, i);
        const double most = sqrt(6.0 / (n_in + n_out));

        for (size_t k = 0; k < (size_t)n_in * n_out; k++)
            w[k] = (float)(most * (2 * ft__prng_unit(&f->rng) - 1));
        w += layer_weights(&f->h, i);
    }
}

static float target(const struct mlp_fit *f, uint32_t row)
{
    return (float)((f->l.y[row] - f->l.mean) / f->l.sd);
}

static float dot(const float *a, const float *b, uint32_t n)
{
    float sum[LANES] = {0}, rest = 0;
    uint32_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (uint32_t j = 0; j < LANES; j++)
            sum[j] += a[i + j] * b[i + j];
    for (; i < n; i++)
        rest += a[i] * b[i];
    for (uint32_t j = 0; j < LANES; j++)
        rest += sum[j];
    return rest;
}

/* Add one row's gradient, whose forward pass has just been made; `slope` is the loss's
 * by the answer. */
static void backward(struct mlp_fit *f, const float *u, float slope)
{
    const struct mlp *h = &f->h;
    size_t at = f->n_weights;

    f->delta[(size_t)h->layers * h->units] = slope;
    for (uint32_t i = h->layers + 1; i-- > 0;) {
        const uint32_t n_in = inputs_of(h, i), n_out = outputs_of(h, i);
        const float *delta = f->delta + (size_t)i * h->units;
        const float *in = i ? f->act + (size_t)(i - 1) * h->units : u;
        float *restrict g;

        at -= layer_weights(h, i);
        g = f->gradient + at;
        for (uint32_t k = 0; k < n_in; k++) {
            float *restrict to = g + (size_t)k * n_out;

            if (i)
                f->delta[(size_t)(i - 1) * h->units + k] =
                    in[k] > 0 ? dot(f->w + at + (size_t)k * n_out, delta, n_out) : 0;
            for (uint32_t j = 0; in[k] != 0 && j < n_out; j++)
                to[j] += in[k] * delta[j];
        }
        for (uint32_t j = 0; j < n_out; j++)
            g[(size_t)n_in * n_out + j] += delta[j];
    }
}

static void adam_step(struct mlp_fit *f)
{
    const float beta1 = 0.9F, beta2 = 0.999F, hair = 1e-8F;
    float *restrict w = f->w, *restrict m = f->momentum, *restrict s = f->square;
    const float *restrict g = f->gradient;
    float rate, keep = 1 - f->rate * f->decay;

    f->power1 *= beta1;
    f->power2 *= beta2;
    rate = f->rate * sqrtf(1 - f->power2) / (1 - f->power1);
    for (size_t i = 0; i < f->n_weights; i++) {
        m[i] = beta1 * m[i] + (1 - beta1) * g[i];
        s[i] = beta2 * s[i] + (1 - beta2) * g[i] * g[i];
        w[i] = keep * w[i] - rate * m[i] / (sqrtf(s[i]) + hair);
    }
}

static void learn_batch(struct mlp_fit *f, uint32_t begin, uint32_t n)
{
    double all = 0;

    memset(f->gradient, 0, f->n_weights * sizeof(*f->gradient));
    for (uint32_t i = begin; i < begin + n; i++)
        all += f->l.w[f->order[i]];
    for (uint32_t i = begin; i < begin + n; i++) {
        const uint32_t row = f->order[i];
        const float *u = f->l.u + (size_t)row * f->l.n_cols;
        const float predicted = forward(&f->h, f->w, u, f->act);

        backward(f, u, (predicted - target(f, row)) * (float)(f->l.w[row] / all));
    }
    adam_step(f);
}

static void learn_epoch(struct mlp_fit *f)
{
    const uint32_t few = f->n_learn / 4;
    const uint32_t batch = few < 8 ? 8 : few < BATCH ? few : BATCH;

    ft__prng_shuffle(&f->rng, f->order, f->n_learn);
    for (uint32_t i = 0; i < f->n_learn; i += batch)
        learn_batch(f, i, f->n_learn - i < batch ? f->n_learn - i : batch);
}

/* Mean absolute error on the rows kept apart; on all of them, where none are. */
static double error_now(struct mlp_fit *f)
{
    const uint32_t begin = f->n_learn < f->l.n_rows ? f->n_learn : 0;
    double sum = 0, all = 0;

    for (uint32_t i = begin; i < f->l.n_rows; i++) {
        const uint32_t row = f->order[i];
        const float *u = f->l.u + (size_t)row * f->l.n_cols;
        const float off = forward(&f->h, f->w, u, f->act) - target(f, row);

        sum += f->l.w[row] * fabs((double)off);
        all += f->l.w[row];
    }
    return sum / all;
}

static void learn(struct mlp_fit *f, uint32_t epochs)
{
    double least = INFINITY;
    uint32_t since = 0, halved = 0;

    for (uint32_t i = 0; i < epochs && halved <= HALVINGS; i++) {
        double error;

        learn_epoch(f);
        error = error_now(f);
        if (error < least) {
            least = error;
            since = 0;
            memcpy(f->best, f->w, f->n_weights * sizeof(*f->w));
        } else if (++since == PATIENCE) {
            f->rate /= 2;
            halved++;
            since = 0;
        }
    }
}

static ft_status write_body(ft__draft *out, const struct mlp_fit *f, ft_error *err)
{
    struct mlp *h = ft__draft_body(out, body_bytes(&f->h));
    ft__column *c;

    if (!h)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a perceptron");
    *h = f->h;
    c = (ft__column *)(h + 1);
    memcpy(c, f->l.column, h->n_columns * sizeof(*c));
    memcpy(c + h->n_columns, f->best, f->n_weights * sizeof(*f->best));
    return FT_OK;
}

static ft_status mlp_fit(ft__draft *out, const ft__task *t, ft_error *err)
{
    const ft__learn_model_options *o = t->opt;
    struct mlp_fit f = {.rate = (float)ft__or(o->rate, 1e-2),
                        .decay = (float)ft__or(o->penalty, 1e-4),
                        .rng = ft__prng_stream(o->seed, 0),
                        .power1 = 1,
                        .power2 = 1};
    ft_status st;

    f.h.units = ft__or_u32(o->width, 64);
    f.h.layers = 2;
    if (f.h.units > MAX_UNITS)
        return ft_fail(err, FT_EINVAL, 0, "layers of %u units: at most %d", f.h.units,
                       MAX_UNITS);
    st = ft__training_set_new(&f.l, t, err);
    if (st)
        return st;
    f.h.n_columns = f.l.n_cols;
    f.h.mean = f.l.mean;
    f.h.sd = f.l.sd;
    st = make_room(&f, err);
    if (!st) {
        keep_some_apart(&f, o->seed);
        draw_weights(&f);
        learn(&f, ft__or_u32(o->rounds, 300));
        st = write_body(out, &f, err);
    }
    ft__arena_free(&f.room);
    ft__training_set_free(&f.l);
    return st;
}

static ft_status mlp_open(ft__learn_model *m, ft_error *err)
{
    const struct mlp *h = m->body;
    size_t n;
    ft_status st;

    if (m->len < sizeof(*h) || h->n_columns > m->head->width || h->units == 0 ||
        h->units > MAX_UNITS || h->layers == 0 || h->layers > MAX_LAYERS ||
        m->len != body_bytes(h))
        return ft__model_damaged(m, m->body, err, "%zu bytes", m->len);
    if (!isfinite(h->mean) || !isfinite(h->sd))
        return ft__model_damaged(m, h, err, "targets of %g, sigma %g", h->mean, h->sd);
    st = ft__columns_check(m, columns(h), h->n_columns, err);
    n = count_weights(h);
    for (size_t i = 0; !st && i < n; i++)
        if (!isfinite(weights(h)[i]))
            st = ft__model_damaged(m, &weights(h)[i], err, "a weight is %g",
                                   (double)weights(h)[i]);
    return st;
}

static void mlp_predict(const ft__learn_model *m, const float *rows, size_t n,
                        double *out)
{
    const struct mlp *h = m->body;
    float u[FT__MAX_COLUMNS], act[(MAX_LAYERS + 1) * MAX_UNITS];

    for (size_t i = 0; i < n; i++) {
        ft__columns_apply(u, columns(h), h->n_columns, rows + i * m->head->width);
        out[i] = h->mean + h->sd * (double)forward(h, weights(h), u, act);
    }
}

const ft__method_ops ft__method_mlp = {NULL, mlp_fit, mlp_open, mlp_predict};
