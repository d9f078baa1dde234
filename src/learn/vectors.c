/* Models that are a sum of kernels over vectors: their image written, checked, asked.
 */
#include "learn/vectors.h"

#include <math.h>
#include <string.h>

#include "learn/decay.h"
#include "learn/tree/avx512.h"

/* Bytes of a block. */
static size_t block_bytes(const ft__vectors *h)
{
    return FT__LANES * (sizeof(double) + h->n_columns * sizeof(float));
}

static size_t body_bytes(const ft__vectors *h)
{
    return sizeof(*h) + h->n_columns * sizeof(ft__column) +
           h->n_blocks * block_bytes(h);
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
    char *block = blocks + i / FT__LANES * block_bytes(h);
    float *x = (float *)(block + FT__LANES * sizeof(double));

    ((double *)block)[i % FT__LANES] = coef;
    for (uint32_t j = 0; j < h->n_columns; j++)
        x[j * FT__LANES + i % FT__LANES] = u[j];
}

static ft_status check_block(const ft__learn_model *m, const char *at, ft_error *err)
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

ft_status ft__vectors_open(ft__learn_model *m, ft_error *err)
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
        st = check_block(m, (const char *)(columns + h->n_columns) + i * block_bytes(h),
                         err);
    return st;
}

#if defined(__x86_64__)

FT__INLINE_AVX512 __mmask8 before_end(__m512d t)
{
    return _mm512_cmp_pd_mask(t, _mm512_set1_pd(ft__decay_end), _CMP_LT_OQ);
}

/* ft__decay() of each. */
FT__INLINE_AVX512 __m512d decays(__m512d t)
{
    const __mmask8 some = before_end(t);
    const __m256i k = _mm512_maskz_cvttpd_epi32(
        some, _mm512_add_pd(_mm512_mul_pd(t, _mm512_set1_pd(ft__one_by_ln2)),
                            _mm512_set1_pd(0.5)));
    const __m512d whole = _mm512_cvtepi32_pd(k);
    const __m512d r = _mm512_add_pd(
        _mm512_sub_pd(_mm512_mul_pd(whole, _mm512_set1_pd(ft__ln2_high)), t),
        _mm512_mul_pd(whole, _mm512_set1_pd(ft__ln2_low)));
    const __m512i power = _mm512_slli_epi64(
        _mm512_cvtepi32_epi64(_mm256_sub_epi32(_mm256_set1_epi32(1023), k)), 52);
    __m512d sum = _mm512_setzero_pd();

    for (int i = 0; i < FT__DECAY_TERMS; i++)
        sum = _mm512_add_pd(_mm512_mul_pd(sum, r), _mm512_set1_pd(ft__decay_factor[i]));
    return _mm512_maskz_mul_pd(some, sum, _mm512_castsi512_pd(power));
}

/* As ft__vectors_distances(). */
FT__INLINE_AVX512 __m512d distances(const ft__vectors *h, const char *block,
                                    const float *u)
{
    const float *x = (const float *)(block + FT__LANES * sizeof(double));
    __m512d d = _mm512_setzero_pd();

    for (uint32_t j = 0; j < h->n_columns; j++, x += FT__LANES) {
        const __m512d off = _mm512_sub_pd(_mm512_cvtps_pd(_mm256_loadu_ps(x)),
                                          _mm512_set1_pd((double)u[j]));

        d = _mm512_add_pd(d, _mm512_mul_pd(off, off));
    }
    return _mm512_mul_pd(_mm512_set1_pd(h->scale), d);
}

FT__INLINE_AVX512 void put(double t[FT__LANES], const char *block, __m512d kernel)
{
    _mm512_storeu_pd(t, _mm512_mul_pd(_mm512_loadu_pd(block), kernel));
}

FT__AVX512 static void wide_decay(double t[FT__LANES], const ft__vectors *h,
                                  const char *block, const float *u)
{
    put(t, block, decays(distances(h, block, u)));
}

FT__AVX512 static void wide_matern(double t[FT__LANES], const ft__vectors *h,
                                   const char *block, const float *u)
{
    const __m512d r = _mm512_sqrt_pd(distances(h, block, u));

    put(t, block,
        _mm512_maskz_mul_pd(before_end(r), _mm512_add_pd(_mm512_set1_pd(1), r),
                            decays(r)));
}

ft__wide_kernel *ft__wide_decay(void)
{
    return ft__has_avx512() ? wide_decay : NULL;
}

ft__wide_kernel *ft__wide_matern(void)
{
    return ft__has_avx512() ? wide_matern : NULL;
}

#else

ft__wide_kernel *ft__wide_decay(void)
{
    return NULL;
}

ft__wide_kernel *ft__wide_matern(void)
{
    return NULL;
}

#endif

static inline void predict(const ft__learn_model *m, const float *rows, size_t n,
                           double *out, double (*kernel)(double t),
                           ft__wide_kernel *wide)
{
    const ft__vectors *h = m->body;
    const ft__column *columns = (const ft__column *)(h + 1);
    float u[FT__MAX_COLUMNS];

    for (size_t r = 0; r < n; r++) {
        const char *at = (const char *)(columns + h->n_columns);
        double sum = -h->rho;

        ft__columns_apply(u, columns, h->n_columns, rows + r * m->head->width);
        for (uint32_t b = 0; b < h->n_blocks; b++, at += block_bytes(h)) {
            double t[FT__LANES];

            if (wide)
                wide(t, h, at, u);
            else
                ft__vectors_distances(t, h, at, u);
            for (uint32_t i = 0; i < FT__LANES; i++)
                sum += wide ? t[i] : ((const double *)at)[i] * kernel(t[i]);
        }
        out[r] = h->mean + h->sd * sum;
    }
}

void ft__vectors_predict(const ft__learn_model *m, const float *rows, size_t n,
                         double *out, ft__vectors_kernel kernel)
{
    if (kernel == FT__KERNEL_MATERN)
        predict(m, rows, n, out, ft__matern, ft__wide_matern());
    else
        predict(m, rows, n, out, ft__decay, ft__wide_decay());
}
