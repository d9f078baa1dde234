/* Kernels of eight vectors in one register. */
#include "learn/decay.h"
#include "learn/tree/avx512.h"
#include "learn/vectors.h"

#if defined(__x86_64__)

FT__INLINE_AVX512 __mmask8 before_end(__m512d t)
{
    return _mm512_cmp_pd_mask(t, _mm512_set1_pd(ft__decay_end), _CMP_LT_OQ);
}

/* ft__decay() */
FT__INLINE_AVX512 __m512d decay(__m512d t)
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

/* ft__vectors_distances() */
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
    put(t, block, decay(distances(h, block, u)));
}

FT__AVX512 static void wide_matern(double t[FT__LANES], const ft__vectors *h,
                                   const char *block, const float *u)
{
    const __m512d r = _mm512_sqrt_pd(distances(h, block, u));

    put(t, block,
        _mm512_maskz_mul_pd(before_end(r), _mm512_add_pd(_mm512_set1_pd(1), r),
                            decay(r)));
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
