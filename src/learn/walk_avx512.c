/* Walks of sixteen trees in a vector, several vectors in flight. A cell is fetched
 * whole by one gather; of a row with at most 32 keys none is fetched at all, for its
 * keys fill two registers in which a permutation finds them. */
#include "learn/avx512.h"
#include "learn/walk.h"

#if defined(__x86_64__)

enum {
    LANES = 16,
    IN_PERMUTE = 32, /* keys of a row that two registers hold */
    VECTORS = 7,     /* in flight; 100 trees are seven vectors */
    ROWS = 6,        /* of a block, each with its own keys */
};

/* The keys that the walks of a vector meet. */
struct row {
    __m512i low, high;
    const uint32_t *x;
};

FT__INLINE_AVX512 struct row row_of(const uint32_t *x, bool small)
{
    const __m512i none = _mm512_setzero_si512();

    return (struct row){small ? _mm512_loadu_si512(x) : none,
                        small ? _mm512_loadu_si512(x + LANES) : none, x};
}

FT__INLINE_AVX512 __m512i keys_at(const struct row *r, __m512i link, bool small)
{
    const __m512i col = _mm512_set1_epi32(FT__MAX_WIDTH - 1);

    if (small)
        return _mm512_permutex2var_epi32(r->low, link, r->high);
    return _mm512_i32gather_epi32(_mm512_and_si512(link, col), r->x, sizeof(*r->x));
}

/* One step of sixteen walks; their links. */
FT__INLINE_AVX512 __m512i step(const ft__cell *cell, __m512i *at, const struct row *r,
                               bool small)
{
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    const __m512i a =
        _mm512_i32gather_epi64(_mm512_castsi512_si256(*at), cell, sizeof(*cell));
    const __m512i b =
        _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(*at, 1), cell, sizeof(*cell));
    const __m512i key = _mm512_permutex2var_epi32(a, even, b);
    const __m512i link = _mm512_permutex2var_epi32(a, odd, b);
    const __mmask16 right = _mm512_cmplt_epu32_mask(key, keys_at(r, link, small));

    *at = _mm512_add_epi32(*at, _mm512_srli_epi32(link, FT__LINK_SHIFT));
    *at = _mm512_mask_add_epi32(*at, right, *at, _mm512_set1_epi32(1));
    return link;
}

/* Walk from at[n] to the leaves; the rows are one, or each vector has its own. */
FT__INLINE_AVX512 void walk(const ft__cell *cell, __m512i *at, const struct row *r,
                            int n, int rows, bool small)
{
    const __m512i last = _mm512_set1_epi32(FT__MAX_WIDTH - 1);
    __m512i moving;

    do {
        moving = _mm512_setzero_si512();
#pragma GCC unroll 8
        for (int v = 0; v < n; v++)
            moving = _mm512_or_si512(moving,
                                     step(cell, &at[v], &r[rows > 1 ? v : 0], small));
    } while (_mm512_cmpgt_epu32_mask(moving, last));
}

/* Where sixteen trees begin; lanes past the last stand in the first one's place. */
FT__INLINE_AVX512 __m512i roots(const ft_forest *f, uint32_t tree)
{
    const uint32_t n = f->head->n_trees - tree;
    const __mmask16 there = (__mmask16)(0xffffu >> (n < LANES ? LANES - n : 0));

    return _mm512_slli_epi32(_mm512_maskz_loadu_epi32(there, f->start + tree), 3);
}

/* Add the values of up to sixteen leaves in their order. */
FT__INLINE_AVX512 double add_leaves(double sum, const ft_forest *f, __m512i at,
                                    uint32_t tree)
{
    const uint32_t left = f->head->n_trees - tree, n = left < LANES ? left : LANES;
    float v[LANES];

    _mm512_storeu_ps(v, _mm512_i32gather_ps(at, f->cell, sizeof(*f->cell)));
    for (uint32_t i = 0; i < n; i++)
        sum += (double)v[i];
    return sum;
}

/* One row, n vectors of trees from `tree` on. */
FT__INLINE_AVX512 double trees(double sum, const ft_forest *f, uint32_t tree,
                               const struct row *r, int n, bool small)
{
    __m512i at[VECTORS];

#pragma GCC unroll 8
    for (int v = 0; v < n; v++)
        at[v] = roots(f, tree + (uint32_t)v * LANES);
    walk(f->cell, at, r, n, 1, small);
#pragma GCC unroll 8
    for (int v = 0; v < n; v++)
        sum = add_leaves(sum, f, at[v], tree + (uint32_t)v * LANES);
    return sum;
}

FT__INLINE_AVX512 double all_trees(const ft_forest *f, const uint32_t *x, bool small)
{
    const uint32_t n = f->head->n_trees;
    const struct row r = row_of(x, small);
    double sum = 0;

    for (uint32_t t = 0; t < n; t += LANES * VECTORS) {
        switch ((n - t + LANES - 1) / LANES) {
        case 1: sum = trees(sum, f, t, &r, 1, small); break;
        case 2: sum = trees(sum, f, t, &r, 2, small); break;
        case 3: sum = trees(sum, f, t, &r, 3, small); break;
        case 4: sum = trees(sum, f, t, &r, 4, small); break;
        case 5: sum = trees(sum, f, t, &r, 5, small); break;
        case 6: sum = trees(sum, f, t, &r, 6, small); break;
        default: sum = trees(sum, f, t, &r, VECTORS, small); break;
        }
    }
    return sum;
}

FT__AVX512 static double row_few(const ft_forest *f, const float *row)
{
    uint32_t x[IN_PERMUTE];

    ft__write_keys(f->head, x, row, 1);
    return all_trees(f, x, true);
}

FT__AVX512 static double row_many(const ft_forest *f, const float *row)
{
    uint32_t x[FT__MAX_WIDTH];

    ft__write_keys(f->head, x, row, 1);
    return all_trees(f, x, false);
}

FT__AVX512 static double predict_row(const ft_forest *f, const float *row)
{
    return ft__forest_keys(f->head) <= IN_PERMUTE ? row_few(f, row) : row_many(f, row);
}

/* Sixteen trees from `tree` on, n rows of keys, `room` from each other. Sixteen trees
 * stay in a cache, where all rows of a block find them. */
FT__INLINE_AVX512 void sixteen(const ft_forest *f, uint32_t tree, const uint32_t *x,
                               size_t room, size_t n, double *out, bool small)
{
    const __m512i root = roots(f, tree);

    for (size_t i = 0; i < n; i += ROWS) {
        const size_t some = n - i < ROWS ? n - i : ROWS;
        __m512i at[ROWS];
        struct row r[ROWS];

#pragma GCC unroll 8
        for (size_t v = 0; v < ROWS; v++) {
            at[v] = root;
            r[v] = row_of(x + (i + (v < some ? v : 0)) * room, small);
        }
        walk(f->cell, at, r, ROWS, ROWS, small);
        for (size_t v = 0; v < some; v++)
            out[i + v] = add_leaves(out[i + v], f, at[v], tree);
    }
}

FT__AVX512 static void rows_few(const ft_forest *f, const uint32_t *x, size_t n,
                                double *out)
{
    for (uint32_t t = 0; t < f->head->n_trees; t += LANES)
        sixteen(f, t, x, IN_PERMUTE, n, out, true);
}

FT__AVX512 static void rows_many(const ft_forest *f, const uint32_t *x, size_t n,
                                 double *out)
{
    for (uint32_t t = 0; t < f->head->n_trees; t += LANES)
        sixteen(f, t, x, ft__keys_room(f), n, out, false);
}

FT__AVX512 static void predict_rows(const ft_forest *f, uint32_t *x, const float *rows,
                                    size_t n, double *out)
{
    const size_t room = ft__keys_room(f);

    for (size_t i = 0; i < n; i++) {
        ft__write_keys(f->head, x + i * room, rows + i * f->head->width, 1);
        out[i] = 0;
    }
    if (room == IN_PERMUTE)
        rows_few(f, x, n, out);
    else
        rows_many(f, x, n, out);
}

static const ft__walks walks = {predict_row, predict_rows};

const ft__walks *ft__walks_avx512(void)
{
    return ft__has_avx512() ? &walks : NULL;
}

#else

const ft__walks *ft__walks_avx512(void)
{
    return NULL;
}

#endif
