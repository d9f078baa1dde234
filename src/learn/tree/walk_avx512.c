/* Walks of sixteen trees in a vector, several vectors in flight. A cell is fetched
 * whole by one gather; of a row with at most 64 keys none is fetched at all, for its
 * keys fill registers in which a permutation finds them. */
#include "learn/tree/avx512.h"
#include "learn/tree/forest.h"

#if defined(__x86_64__)

enum {
    LANES = 16,
    MOST_HELD = 4, /* registers that hold the keys of a row */
    VECTORS = 7,   /* in flight; 100 trees are seven vectors */
    ROWS = 6,      /* of a block, each with its own keys */
};

/* The keys that the walks of a vector meet: in `held` registers, or in memory. */
struct row {
    __m512i key[MOST_HELD];
    const uint32_t *x;
};

FT__INLINE_AVX512 struct row row_of(const uint32_t *x, int held)
{
    struct row r = {.x = x};

#pragma GCC unroll 4
    for (int i = 0; i < held; i++)
        r.key[i] = _mm512_loadu_si512(x + (size_t)i * LANES);
    return r;
}

FT__INLINE_AVX512 __m512i keys_at(const struct row *r, __m512i link, int held)
{
    const __m512i col = _mm512_set1_epi32(FT__MAX_WIDTH - 1);
    __m512i low;

    if (held == 0)
        return _mm512_i32gather_epi32(_mm512_and_si512(link, col), r->x, sizeof(*r->x));
    low = _mm512_permutex2var_epi32(r->key[0], link, r->key[1]);
    if (held == 2)
        return low;
    return _mm512_mask_blend_epi32(
        _mm512_test_epi32_mask(link, _mm512_set1_epi32(2 * LANES)), low,
        _mm512_permutex2var_epi32(r->key[2], link, r->key[3]));
}

/* One step of sixteen walks; their links. */
FT__INLINE_AVX512 __m512i step(const ft__cell *cell, __m512i *at, const struct row *r,
                               int held)
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
    const __mmask16 right = _mm512_cmplt_epu32_mask(key, keys_at(r, link, held));

    *at = _mm512_add_epi32(*at, _mm512_srli_epi32(link, FT__LINK_SHIFT));
    *at = _mm512_mask_add_epi32(*at, right, *at, _mm512_set1_epi32(1));
    return link;
}

/* Walk from at[n] to the leaves; the rows are one, or each vector has its own. */
FT__INLINE_AVX512 void walk(const ft__cell *cell, __m512i *at, const struct row *r,
                            int n, int rows, int held)
{
    const __m512i last = _mm512_set1_epi32(FT__MAX_WIDTH - 1);
    __m512i moving;

    do {
        moving = _mm512_setzero_si512();
#pragma GCC unroll 8
        for (int v = 0; v < n; v++)
            moving =
                _mm512_or_si512(moving, step(cell, &at[v], &r[rows > 1 ? v : 0], held));
    } while (_mm512_cmpgt_epu32_mask(moving, last));
}

/* Where sixteen trees begin; lanes past the last stand in the first one's place. */
FT__INLINE_AVX512 __m512i roots(const ft__forest *f, uint32_t tree)
{
    const uint32_t n = f->head->n_trees - tree;
    const __mmask16 there = (__mmask16)(0xffffu >> (n < LANES ? LANES - n : 0));

    return _mm512_slli_epi32(_mm512_maskz_loadu_epi32(there, f->start + tree), 3);
}

/* Add the values of up to sixteen leaves in their order. */
FT__INLINE_AVX512 double add_leaves(double sum, const ft__forest *f, __m512i at,
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
FT__INLINE_AVX512 double trees(double sum, const ft__forest *f, uint32_t tree,
                               const struct row *r, int n, int held)
{
    __m512i at[VECTORS];

#pragma GCC unroll 8
    for (int v = 0; v < n; v++)
        at[v] = roots(f, tree + (uint32_t)v * LANES);
    walk(f->cell, at, r, n, 1, held);
#pragma GCC unroll 8
    for (int v = 0; v < n; v++)
        sum = add_leaves(sum, f, at[v], tree + (uint32_t)v * LANES);
    return sum;
}

FT__INLINE_AVX512 double all_trees(const ft__forest *f, const uint32_t *x, int held)
{
    const uint32_t n = f->head->n_trees;
    const struct row r = row_of(x, held);
    double sum = 0;

    for (uint32_t t = 0; t < n; t += LANES * VECTORS) {
        switch ((n - t + LANES - 1) / LANES) {
        case 1: sum = trees(sum, f, t, &r, 1, held); break;
        case 2: sum = trees(sum, f, t, &r, 2, held); break;
        case 3: sum = trees(sum, f, t, &r, 3, held); break;
        case 4: sum = trees(sum, f, t, &r, 4, held); break;
        case 5: sum = trees(sum, f, t, &r, 5, held); break;
        case 6: sum = trees(sum, f, t, &r, 6, held); break;
        default: sum = trees(sum, f, t, &r, VECTORS, held); break;
        }
    }
    return sum;
}

FT__AVX512 static double predict_row(const ft__forest *f, const float *row)
{
    const size_t room = ft__keys_room(f);
    uint32_t x[FT__MAX_WIDTH];

    ft__write_keys(f->head, x, row, 1);
    if (room == 2 * LANES)
        return all_trees(f, x, 2);
    return room == 4 * LANES ? all_trees(f, x, 4) : all_trees(f, x, 0);
}

/* Sixteen trees from `tree` on, n rows of keys, `room` from each other. Sixteen trees
 * stay in a cache, where all rows of a block find them. */
FT__INLINE_AVX512 void sixteen(const ft__forest *f, uint32_t tree, const uint32_t *x,
                               size_t room, size_t n, double *out, int held)
{
    const __m512i root = roots(f, tree);

    for (size_t i = 0; i < n; i += ROWS) {
        const size_t some = n - i < ROWS ? n - i : ROWS;
        __m512i at[ROWS];
        struct row r[ROWS];

#pragma GCC unroll 8
        for (size_t v = 0; v < ROWS; v++) {
            at[v] = root;
            r[v] = row_of(x + (i + (v < some ? v : 0)) * room, held);
        }
        walk(f->cell, at, r, ROWS, ROWS, held);
        for (size_t v = 0; v < some; v++)
            out[i + v] = add_leaves(out[i + v], f, at[v], tree);
    }
}

FT__INLINE_AVX512 void all_rows(const ft__forest *f, const uint32_t *x, size_t room,
                                size_t n, double *out, int held)
{
    for (uint32_t t = 0; t < f->head->n_trees; t += LANES)
        sixteen(f, t, x, room, n, out, held);
}

FT__AVX512 static void predict_rows(const ft__forest *f, uint32_t *x, const float *rows,
                                    size_t n, double *out)
{
    /* A few rows more than full groups are sooner done one by one. */
    const size_t more = n % ROWS, whole = more > ROWS / 2 ? n : n - more;
    const size_t room = ft__keys_room(f);

    for (size_t i = 0; i < whole; i++) {
        ft__write_keys(f->head, x + i * room, rows + i * f->head->width, 1);
        out[i] = 0;
    }
    if (room == 2 * LANES)
        all_rows(f, x, 2 * LANES, whole, out, 2);
    else if (room == 4 * LANES)
        all_rows(f, x, 4 * LANES, whole, out, 4);
    else
        all_rows(f, x, room, whole, out, 0);
    for (size_t i = whole; i < n; i++)
        out[i] = predict_row(f, rows + i * f->head->width);
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
