/* The inner loops of growing with AVX-512, to the same bits as split.c. */
#include "learn/tree/avx512.h"
#include "learn/tree/split.h"

#if defined(__x86_64__)

enum { GROUP = 4, CUTS = 8 }; /* blocks in one pass; columns in one pass */

static_assert(sizeof(ft__key) == 8 && sizeof(ft__row_sum) == 16, "fetched by gathers");

/* ft__gain() where `there`, else -1. */
FT__INLINE_AVX512 __m512d gain_of(__mmask8 there, __m512d y, __m512d w, __m512d all)
{
    const __mmask8 parted = _mm512_mask_cmp_pd_mask(
        _mm512_mask_cmp_pd_mask(there, w, _mm512_setzero_pd(), _CMP_GT_OQ), w, all,
        _CMP_LT_OQ);
    const __m512d below = _mm512_mul_pd(w, _mm512_sub_pd(all, w));

    return _mm512_mask_div_pd(_mm512_set1_pd(-1), parted, _mm512_mul_pd(y, y), below);
}

FT__INLINE_AVX512 void ranges_of(const float *x, size_t apart, const uint32_t *row,
                                 uint32_t n, float *lo, float *hi, int blocks)
{
    __m256 least[GROUP], greatest[GROUP];

#pragma GCC unroll 4
    for (int b = 0; b < blocks; b++)
        least[b] = greatest[b] =
            _mm256_loadu_ps(x + (size_t)b * apart + (size_t)row[0] * FT__BLOCK);
    for (uint32_t i = 1; i < n; i++) {
#pragma GCC unroll 4
        for (int b = 0; b < blocks; b++) {
            const __m256 v =
                _mm256_loadu_ps(x + (size_t)b * apart + (size_t)row[i] * FT__BLOCK);

            least[b] = _mm256_min_ps(v, least[b]);
            greatest[b] = _mm256_max_ps(v, greatest[b]);
        }
    }
#pragma GCC unroll 4
    for (int b = 0; b < blocks; b++) {
        _mm256_storeu_ps(lo + b * FT__BLOCK, least[b]);
        _mm256_storeu_ps(hi + b * FT__BLOCK, greatest[b]);
    }
}

FT__AVX512 static void ranges(const ft__tree_training *d, const uint32_t *row,
                              uint32_t n, float *lo, float *hi)
{
    const size_t apart = (size_t)d->n_rows * FT__BLOCK;

    for (uint32_t j = 0; j < d->n_cols; j += GROUP * FT__BLOCK) {
        const float *x = ft__train_at(d, j, 0);

        switch ((d->n_cols - j + FT__BLOCK - 1) / FT__BLOCK) {
        case 1: ranges_of(x, apart, row, n, lo + j, hi + j, 1); break;
        case 2: ranges_of(x, apart, row, n, lo + j, hi + j, 2); break;
        case 3: ranges_of(x, apart, row, n, lo + j, hi + j, 3); break;
        default: ranges_of(x, apart, row, n, lo + j, hi + j, GROUP); break;
        }
    }
}

/* One run of rows, added to sums[]; see gain_of() in split.c. */
FT__INLINE_AVX512 void sum_run(const float *x, size_t apart, const uint32_t *row,
                               uint32_t n, const float *cut, const float *yw,
                               __m512d *above_y, __m512d *above_w, int blocks)
{
    __m256 at[GROUP], y[GROUP], w[GROUP];

#pragma GCC unroll 4
    for (int b = 0; b < blocks; b++) {
        at[b] = _mm256_loadu_ps(cut + b * FT__BLOCK);
        y[b] = w[b] = _mm256_setzero_ps();
    }
    for (uint32_t i = 0; i < n; i++) {
        const __m256 yi = _mm256_set1_ps(yw[2 * i]), wi = _mm256_set1_ps(yw[2 * i + 1]);

#pragma GCC unroll 4
        for (int b = 0; b < blocks; b++) {
            const __m256 v =
                _mm256_loadu_ps(x + (size_t)b * apart + (size_t)row[i] * FT__BLOCK);
            const __mmask8 right = _mm256_cmp_ps_mask(v, at[b], _CMP_GT_OQ);

            y[b] = _mm256_mask_add_ps(y[b], right, y[b], yi);
            w[b] = _mm256_mask_add_ps(w[b], right, w[b], wi);
        }
    }
#pragma GCC unroll 4
    for (int b = 0; b < blocks; b++) {
        above_y[b] = _mm512_add_pd(above_y[b], _mm512_cvtps_pd(y[b]));
        above_w[b] = _mm512_add_pd(above_w[b], _mm512_cvtps_pd(w[b]));
    }
}

FT__INLINE_AVX512 void gains_of(const float *x, size_t apart, const uint32_t *row,
                                uint32_t n, const float *cut, const float *yw,
                                double all, float *gain, int blocks)
{
    __m512d y[GROUP], w[GROUP];

#pragma GCC unroll 4
    for (int b = 0; b < blocks; b++)
        y[b] = w[b] = _mm512_setzero_pd();
    for (uint32_t i = 0; i < n; i += FT__RUN)
        sum_run(x, apart, row + i, n - i < FT__RUN ? n - i : FT__RUN, cut, yw + 2 * i,
                y, w, blocks);
#pragma GCC unroll 4
    for (int b = 0; b < blocks; b++)
        _mm256_storeu_ps(
            gain + b * FT__BLOCK,
            _mm512_cvtpd_ps(gain_of(0xff, y[b], w[b], _mm512_set1_pd(all))));
}

FT__AVX512 static void gains(const ft__tree_training *d, const uint32_t *row,
                             uint32_t n, const float *cut, const float *yw, double all,
                             float *gain)
{
    const size_t apart = (size_t)d->n_rows * FT__BLOCK;

    for (uint32_t j = 0; j < d->n_cols; j += GROUP * FT__BLOCK) {
        const float *x = ft__train_at(d, j, 0), *c = cut + j;

        switch ((d->n_cols - j + FT__BLOCK - 1) / FT__BLOCK) {
        case 1: gains_of(x, apart, row, n, c, yw, all, gain + j, 1); break;
        case 2: gains_of(x, apart, row, n, c, yw, all, gain + j, 2); break;
        case 3: gains_of(x, apart, row, n, c, yw, all, gain + j, 3); break;
        default: gains_of(x, apart, row, n, c, yw, all, gain + j, GROUP); break;
        }
    }
}

FT__INLINE_AVX512 __m512i fetch(__m512i address)
{
    return _mm512_i64gather_epi64(address, NULL, 1);
}

/* Eight columns at once; see best_cut() in split.c. */
FT__INLINE_AVX512 void cut_eight(__m512i key, uint32_t n, const ft__row_sum *sum,
                                 double all, uint32_t min_leaf, double gains[CUTS],
                                 uint64_t lefts[CUTS])
{
    const __m512d all8 = _mm512_set1_pd(all);
    __m512d best = _mm512_set1_pd(-1), y = _mm512_setzero_pd(), w = y;
    __m512i left = _mm512_setzero_si512(), k = fetch(key);

    for (uint32_t i = 1; i + min_leaf <= n; i++) {
        const __m512i next =
            fetch(_mm512_add_epi64(key, _mm512_set1_epi64((int64_t)i * 8)));
        const __m512i at = _mm512_slli_epi64(_mm512_srli_epi64(k, 32), 1);
        const __mmask8 differ = _mm256_cmp_ps_mask(
            _mm256_castsi256_ps(_mm512_cvtepi64_epi32(next)),
            _mm256_castsi256_ps(_mm512_cvtepi64_epi32(k)), _CMP_GT_OQ);
        __mmask8 better;
        __m512d gain;

        y = _mm512_add_pd(y, _mm512_i64gather_pd(at, &sum->y, sizeof(double)));
        w = _mm512_add_pd(w, _mm512_i64gather_pd(at, &sum->w, sizeof(double)));
        gain = gain_of(i >= min_leaf ? differ : 0, y, w, all8);
        better = _mm512_cmp_pd_mask(gain, best, _CMP_GT_OQ);
        best = _mm512_mask_mov_pd(best, better, gain);
        left = _mm512_mask_mov_epi64(left, better, _mm512_set1_epi64(i));
        k = next;
    }
    _mm512_storeu_pd(gains, best);
    _mm512_storeu_si512(lefts, left);
}

FT__AVX512 static void best_cuts(ft__cut *cut, uint32_t n_cuts, uint32_t n,
                                 const ft__row_sum *sum, double all, uint32_t min_leaf)
{
    for (uint32_t c = 0; c < n_cuts; c += CUTS) {
        const uint32_t some = n_cuts - c < CUTS ? n_cuts - c : CUTS;
        uint64_t key[CUTS], left[CUTS];
        double gain[CUTS];

        for (uint32_t j = 0; j < CUTS; j++)
            key[j] = (uintptr_t)cut[c + (j < some ? j : 0)].key;
        cut_eight(_mm512_loadu_si512(key), n, sum, all, min_leaf, gain, left);
        for (uint32_t j = 0; j < some; j++) {
            cut[c + j].gain = gain[j];
            cut[c + j].n_left = (uint32_t)left[j];
        }
    }
}

FT__AVX512 static void part(ft__key *k, uint32_t n, const uint8_t *right,
                            ft__key *spare)
{
    uint32_t n_left = 0, n_right = 0;

    for (uint32_t i = 0; i < n; i += 8) {
        const __mmask8 there = (__mmask8)(0xffu >> (n - i < 8 ? 8 - (n - i) : 0));
        const __m512i key = _mm512_maskz_loadu_epi64(there, k + i);
        const __m256i row = _mm512_cvtepi64_epi32(_mm512_srli_epi64(key, 32));
        const __mmask8 to_right =
            there &
            _mm256_test_epi32_mask(_mm256_i32gather_epi32((const int *)right, row, 1),
                                   _mm256_set1_epi32(1));
        const __mmask8 to_left = there & (__mmask8)~to_right;
        const uint32_t lefts = (uint32_t)__builtin_popcount(to_left);

        /* What lies in k from n_left to i + 8 has been read. */
        _mm512_mask_storeu_epi64(k + n_left, (__mmask8)((1u << lefts) - 1),
                                 _mm512_maskz_compress_epi64(to_left, key));
        _mm512_storeu_si512(spare + n_right,
                            _mm512_maskz_compress_epi64(to_right, key));
        n_left += lefts;
        n_right += (uint32_t)__builtin_popcount(to_right);
    }
    memcpy(k + n_left, spare, n_right * sizeof(*k));
}

static const ft__kernels kernels = {ranges, gains, best_cuts, part};

const ft__kernels *ft__kernels_avx512(void)
{
    return ft__has_avx512() ? &kernels : NULL;
}

#else

const ft__kernels *ft__kernels_avx512(void)
{
    return NULL;
}

#endif
