/* Models that are a sum of kernels over vectors: their image written, checked. */
#include "learn/vectors.h"

#include <math.h>
#include <string.h>

size_t ft__vectors_block(const ft__vectors *h)
{
    return FT__LANES * (sizeof(double) + h->n_columns * sizeof(float));
}

static size_t body_bytes(const ft__vectors *h)
{
    return sizeof(*h) + h->n_columns * sizeof(ft__column) +
           h->n_blocks * ft__vectors_block(h);
}

ft_status ft__vectors_write(ft__draft *out, char **blocks, const ft__vectors *h,
                            const ft__column *c, uint32_t n, ft_error *err)
{
    ft__vectors made = *h;
    char *body;

    made.n_blocks = (n + FT__LANES - 1) / FT__LANES;
    body = ft__draft_body(out, body_bytes(&made));
    if (!body)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %u vectors", n);
    memcpy(body, &made, sizeof(made));
    memcpy(body + sizeof(made), c, made.n_columns * sizeof(*c));
    *blocks = body + sizeof(made) + made.n_columns * sizeof(*c);
    return FT_OK;
}

void ft__vectors_put(char *blocks, const ft__vectors *h, uint32_t i, double coef,
                     const float *u)
{
    char *block = blocks + i / FT__LANES * ft__vectors_block(h);
    float *x = (float *)(block + FT__LANES * sizeof(double));

    ((double *)block)[i % FT__LANES] = coef;
    for (uint32_t j = 0; j < h->n_columns; j++)
        x[j * FT__LANES + i % FT__LANES] = u[j];
}

static ft_status check_block(const ft_model *m, const char *at, ft_error *err)
{
    const ft__vectors *h = m->body;
    const double *coef = (const double *)at;
    const float *x = (const float *)(coef + FT__LANES);

    for (uint32_t i = 0; i < FT__LANES; i++)
        if (!isfinite(coef[i]))
            return ft__model_damaged(m, &coef[i], err, "a coefficient is %g", coef[i]);
    for (uint32_t i = 0; i < FT__LANES * h->n_columns; i++)
        if (!isfinite(x[i]))
            return ft__model_damaged(m, &x[i], err, "a vector holds %g", (double)x[i]);
    return FT_OK;
}

ft_status ft__vectors_open(ft_model *m, ft_error *err)
{
    const ft__vectors *h = m->body;
    const ft__column *columns = (const ft__column *)(h + 1);
    ft_status st;

    if (m->len < sizeof(*h) || h->n_columns > m->head->width ||
        h->n_blocks > m->len / sizeof(double) || m->len != body_bytes(h))
        return ft__model_damaged(m, m->body, err, "%zu bytes", m->len);
    if (!isfinite(h->mean) || !isfinite(h->sd) || !isfinite(h->rho) ||
        !(h->scale >= 0 && isfinite(h->scale)))
        return ft__model_damaged(m, h, err, "scale %g, rho %g", h->scale, h->rho);
    st = ft__columns_check(m, columns, h->n_columns, err);
    for (uint32_t i = 0; !st && i < h->n_blocks; i++)
        st = check_block(
            m, (const char *)(columns + h->n_columns) + i * ft__vectors_block(h), err);
    return st;
}
