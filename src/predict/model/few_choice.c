/* Which operations of a device to measure, that others may be corrected by them. */
#include <stdlib.h>

#include "foretell/choose.h"
#include "predict/model/few_covariance.h"

/* Covariances that nothing measured explains, of all pairs. */
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

/* By how much the variances of all fall if i is measured. */
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

/* out[want], of c->n operations. */
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

/* Those that were not looked at, in order. */
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
