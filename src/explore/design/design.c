/* A space in, the points of a design out: full, fractional, random, Latin, Sobol. */
#include "explore/design/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Latin hypercubes ---- */

/* Spread out: M. D. Morris, T. J. Mitchell, Exploratory designs for
 * computational experiments, J. Stat. Plan. Inference 43, 1995. */
enum {
    ROUNDS = 8,      /* of points that take the place of those dropped */
    WORK = 40000000, /* distances times columns, over a whole design */
    SWAPS = 30,      /* tried for each cell, at most */
};

/* Cell c of column k lies at place[k * n + c] as the parameter sees it: the middle of
 * what its value owns; of a category its index, which is another or the same. */
struct cube {
    size_t n, k;
    uint32_t *cell; /* n x k */
    double *place;
    bool *category; /* k */
};

static void draw_cells(struct cube *c, ft__prng *rng)
{
    for (size_t k = 0; k < c->k; k++)
        for (size_t i = 0; i < c->n; i++) {
            const size_t j = ft__prng_below(rng, (uint32_t)i + 1);

            c->cell[i * c->k + k] = c->cell[j * c->k + k];
            c->cell[j * c->k + k] = (uint32_t)i;
        }
}

static void find_places(struct cube *c, const ft_space *s)
{
    double point[FT__MAX_PARAMS], unit[FT__MAX_PARAMS];

    for (size_t i = 0; i < c->n; i++) {
        for (size_t k = 0; k < c->k; k++)
            point[k] = ft__param_at(&s->param[k], ((double)i + 0.5) / (double)c->n);
        ft__space_to_unit(s, unit, point);
        for (size_t k = 0; k < c->k; k++) {
            c->category[k] = s->param[k].type == FT_PARAM_CATEGORICAL;
            c->place[k * c->n + i] = c->category[k] ? point[k] : unit[k];
        }
    }
}

static double distance2(const struct cube *c, size_t i, size_t j)
{
    const uint32_t *a = c->cell + i * c->k, *b = c->cell + j * c->k;
    double sum = 0;

    for (size_t k = 0; k < c->k; k++) {
        const double *place = c->place + k * c->n;
        const double off = place[a[k]] - place[b[k]];

        sum += c->category[k] ? off != 0 : off * off;
    }
    return sum;
}

/* Their criterion, summed over the pairs of point i: distance^-16, so that the smallest
 * ones count. */
static double crowding(const struct cube *c, size_t i, size_t except)
{
    double sum = 0;

    for (size_t j = 0; j < c->n; j++) {
        double d;

        if (j == i || j == except)
            continue;
        d = distance2(c, i, j) + 1e-9; /* two may coincide */
        d *= d;
        d *= d;
        sum += 1 / (d * d);
    }
    return sum;
}

static void swap(struct cube *c, size_t i, size_t j, size_t k)
{
    const uint32_t kept = c->cell[i * c->k + k];

    c->cell[i * c->k + k] = c->cell[j * c->k + k];
    c->cell[j * c->k + k] = kept;
}

/* Exchange cells of one column between two points while that helps. How far the two are
 * from each other stays the same. */
static void spread(struct cube *c, ft__prng *rng)
{
    const size_t least = WORK / (4 * c->n * c->k), most = SWAPS * c->n * c->k;
    const size_t swaps = least < most ? least : most;

    for (size_t t = 0; c->n > 2 && t < swaps; t++) {
        const size_t i = ft__prng_below(rng, (uint32_t)c->n);
        const size_t j = (i + 1 + ft__prng_below(rng, (uint32_t)c->n - 1)) % c->n;
        const size_t k = ft__prng_below(rng, (uint32_t)c->k);
        const double before = crowding(c, i, j) + crowding(c, j, i);

        swap(c, i, j, k);
        if (crowding(c, i, j) + crowding(c, j, i) > before)
            swap(c, i, j, k);
    }
}

/* A Latin hypercube of n points in the unit cube, row-major, spread out (maximin) as
 * the parameters see it. */
static ft_status latin_unit(double *unit, const ft_space *s, size_t n, ft__prng *rng,
                            ft_error *err)
{
    ft__arena room = {0};
    struct cube c = {n, s->n, ft__arena_need(&room, n * s->n, sizeof(*c.cell)),
                     ft__arena_need(&room, n * s->n, sizeof(*c.place)),
                     ft__arena_need(&room, s->n, sizeof(*c.category))};
    ft_status st = FT_OK;

    if (room.bad) {
        st = ft_fail(err, FT_ENOMEM, 0, "no memory for a hypercube of %zu points", n);
    } else {
        draw_cells(&c, rng);
        find_places(&c, s);
        spread(&c, rng);
        for (size_t i = 0; i < n * s->n; i++)
            unit[i] = (c.cell[i] + 0.5) / (double)n;
    }
    ft__arena_free(&room);
    return st;
}

/* A hypercube of as many points as are missing. */
static ft_status add(ft__points *p, size_t missing, ft__prng *rng, ft_error *err)
{
    const size_t k = p->s->n;
    double *unit = malloc(missing * k * sizeof(*unit)), point[FT__MAX_PARAMS];
    ft_status st = unit ? latin_unit(unit, p->s, missing, rng, err)
                        : ft_fail(err, FT_ENOMEM, 0,
                                  "no memory for a hypercube of %zu points", missing);

    for (size_t i = 0; i < missing && !st; i++) {
        bool added;

        ft__space_from_unit(p->s, point, unit + i * k);
        st = ft__points_add(p, point, &added, err);
    }
    free(unit);
    return st;
}

/* Until there are n points, or as many as some rounds find. */
static ft_status latin(ft__points *p, size_t n, ft__prng *rng, ft_error *err)
{
    ft_status st = FT_OK;

    for (int round = 0; round < ROUNDS && p->n < n && !st; round++)
        st = add(p, n - p->n, rng, err);
    return st;
}

/* ---- Sobol's sequence ---- */

/* I. M. Sobol, On the distribution of points in a cube and the approximate evaluation
 * of integrals, 1967, in the order of Gray's code (Antonov, Saleev 1979). Directions of
 * S. Joe and F. Y. Kuo, Constructing Sobol sequences with better two-dimensional
 * projections, SIAM J. Sci. Comput. 30, 2008: the first lines of their file
 * new-joe-kuo-6.21201, from dimension 2: degree s of a primitive polynomial over the
 * integers modulo 2, its inner coefficients as bits, and m[1] .. m[s]. */
static const struct sobol_dimension {
    uint32_t degree, inner;
    uint32_t m[9];
} line[FT__SOBOL_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
    {7, 19, {1, 3, 1, 5, 27, 61, 31}},
    {7, 21, {1, 1, 5, 11, 19, 41, 61}},
    {7, 28, {1, 3, 5, 3, 3, 13, 69}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1}},
    {7, 32, {1, 3, 7, 5, 13, 19, 59}},
    {7, 37, {1, 1, 3, 9, 25, 29, 41}},
    {7, 41, {1, 3, 5, 13, 23, 1, 55}},
    {7, 42, {1, 3, 7, 3, 13, 59, 17}},
    {7, 50, {1, 3, 1, 3, 5, 53, 69}},
    {7, 55, {1, 1, 5, 5, 23, 33, 13}},
    {7, 56, {1, 1, 7, 7, 1, 61, 123}},
    {7, 59, {1, 1, 7, 9, 13, 61, 49}},
    {7, 62, {1, 3, 3, 5, 3, 55, 33}},
    {8, 14, {1, 3, 1, 15, 31, 13, 49, 245}},
    {8, 21, {1, 3, 5, 15, 31, 59, 63, 97}},
    {8, 22, {1, 3, 1, 11, 11, 11, 77, 249}},
    {8, 38, {1, 3, 1, 11, 27, 43, 71, 9}},
    {8, 47, {1, 1, 7, 15, 21, 11, 81, 45}},
    {8, 49, {1, 3, 7, 3, 25, 31, 65, 79}},
    {8, 50, {1, 3, 1, 1, 19, 11, 3, 205}},
    {8, 52, {1, 1, 5, 9, 19, 21, 29, 157}},
    {8, 56, {1, 3, 7, 11, 1, 33, 89, 185}},
    {8, 67, {1, 3, 3, 3, 15, 9, 79, 71}},
    {8, 70, {1, 3, 7, 11, 15, 39, 119, 27}},
    {8, 84, {1, 1, 3, 1, 11, 31, 97, 225}},
    {8, 97, {1, 1, 1, 3, 23, 43, 57, 177}},
    {8, 103, {1, 3, 7, 7, 17, 17, 37, 71}},
    {8, 115, {1, 3, 1, 5, 27, 63, 123, 213}},
    {8, 122, {1, 1, 3, 5, 11, 43, 53, 133}},
    {9, 8, {1, 3, 5, 5, 29, 17, 47, 173, 479}},
    {9, 13, {1, 3, 3, 11, 3, 1, 109, 9, 69}},
    {9, 16, {1, 1, 1, 5, 17, 39, 23, 5, 343}},
    {9, 22, {1, 3, 1, 5, 25, 15, 31, 103, 499}},
    {9, 25, {1, 1, 1, 11, 11, 17, 63, 105, 183}},
    {9, 44, {1, 1, 5, 11, 9, 29, 97, 231, 363}},
    {9, 47, {1, 1, 5, 15, 19, 45, 41, 7, 383}},
    {9, 52, {1, 3, 7, 7, 31, 19, 83, 137, 221}},
    {9, 55, {1, 1, 1, 3, 23, 15, 111, 223, 83}},
    {9, 59, {1, 1, 5, 13, 31, 15, 55, 25, 161}},
    {9, 62, {1, 1, 3, 13, 25, 47, 39, 87, 257}},
};

static void directions(uint32_t *v, const struct sobol_dimension *l)
{
    const uint32_t s = l->degree;

    for (uint32_t i = 0; i < FT__SOBOL_BITS; i++) {
        if (i < s) {
            v[i] = l->m[i] << (31 - i);
            continue;
        }
        v[i] = v[i - s] ^ (v[i - s] >> s);
        for (uint32_t k = 1; k < s; k++)
            if (l->inner >> (s - 1 - k) & 1)
                v[i] ^= v[i - k];
    }
}

ft_status ft__sobol_start(ft__sobol *s, size_t dimensions, const uint32_t *shift,
                          ft_error *err)
{
    if (dimensions > FT__SOBOL_DIMENSIONS)
        return ft_fail(err, FT_EINVAL, 0,
                       "Sobol's sequence is known here for %d parameters, not %zu: "
                       "take a Latin hypercube",
                       FT__SOBOL_DIMENSIONS, dimensions);
    s->dimensions = (uint32_t)dimensions;
    s->index = 0;
    for (uint32_t k = 0; k < s->dimensions; k++) {
        s->at[k] = shift ? shift[k] : 0;
        for (uint32_t i = 0; k == 0 && i < FT__SOBOL_BITS; i++)
            s->direction[0][i] = UINT32_C(1) << (31 - i);
        if (k)
            directions(s->direction[k], &line[k - 1]);
    }
    return FT_OK;
}

void ft__sobol_next(ft__sobol *s, double *unit)
{
    uint32_t free_bit = 0;

    for (uint32_t k = 0; k < s->dimensions; k++)
        unit[k] = s->at[k] * 0x1p-32;
    while (free_bit < FT__SOBOL_BITS - 1 && s->index >> free_bit & 1)
        free_bit++;
    s->index++;
    for (uint32_t k = 0; k < s->dimensions; k++)
        s->at[k] ^= s->direction[k][free_bit];
}

/* The same. */
static ft_status sobol(ft__points *p, size_t n, uint64_t seed, ft_error *err)
{
    double unit[FT__SOBOL_DIMENSIONS], point[FT__SOBOL_DIMENSIONS];
    uint32_t shift[FT__SOBOL_DIMENSIONS];
    ft__prng rng = ft__prng_stream(seed, 0);
    ft__sobol s;
    ft_status st;

    for (int k = 0; k < FT__SOBOL_DIMENSIONS; k++)
        shift[k] = (uint32_t)ft__prng_u64(&rng);
    st = ft__sobol_start(&s, p->s->n, shift, err);
    /* Of a space of few points the sequence meets each again and again. */
    for (uint64_t i = 0; p->n < n && i < 64 * (uint64_t)n && !st; i++) {
        bool added;

        ft__sobol_next(&s, unit);
        ft__space_from_unit(p->s, point, unit);
        st = ft__points_add(p, point, &added, err);
    }
    return st;
}

/* ---- two-level fractions ---- */

/* Of 2^k: G. E. P. Box, J. S. Hunter, The 2^(k-p) fractional factorial designs,
 * Technometrics 3, 1961. */
enum {
    MAX_BITS = 24,
    STARTS = 40,            /* of the exchange */
    MOST_STEPS = 300000000, /* that all of them may take */
    MAX_EXACT = 50,         /* factors of which words are counted without rounding */
};

static uint32_t parity(uint32_t v)
{
    return (uint32_t)__builtin_parity(v);
}

/* ---- two-level fractions: enough factors in few runs ---- */

/* Sums of fewer columns than the resolution must not be 0: a column is free while it is
 * no sum of up to resolution - 2 others. */
struct frame {
    uint32_t bits, resolution;
    uint32_t *column;
    size_t n;
    bool *taken; /* 2^bits */
};

static void take(struct frame *f, uint32_t c)
{
    f->taken[c] = true;
    for (size_t i = 0; f->resolution > 3 && i < f->n; i++) {
        f->taken[c ^ f->column[i]] = true;
        for (size_t j = 0; f->resolution > 4 && j < i; j++)
            f->taken[c ^ f->column[i] ^ f->column[j]] = true;
    }
    f->column[f->n++] = c;
}

static void clear(struct frame *f)
{
    memset(f->taken, 0, ((size_t)1 << f->bits) * sizeof(*f->taken));
    f->taken[0] = true;
    f->n = 0;
}

/* The least free column each time (a lexicographic code: Conway, Sloane 1986), which
 * takes a basis on its way; false: no room for all factors. */
static bool take_in_order(struct frame *f, size_t factors)
{
    clear(f);
    for (uint32_t c = 1; c >> f->bits == 0 && f->n < factors; c++)
        if (!f->taken[c])
            take(f, c);
    return f->n == factors;
}

/* A basis, then free columns in the order of a lottery. */
static bool take_at_random(struct frame *f, size_t factors, uint32_t *lot,
                           ft__prng *rng)
{
    const uint32_t size = (uint32_t)1 << f->bits;

    clear(f);
    for (uint32_t b = 0; b < f->bits; b++)
        take(f, UINT32_C(1) << b);
    for (uint32_t i = 0; i < size; i++) {
        const uint32_t j = ft__prng_below(rng, i + 1);

        lot[i] = lot[j];
        lot[j] = i;
    }
    for (uint32_t i = 0; i < size && f->n < factors; i++)
        if (!f->taken[lot[i]])
            take(f, lot[i]);
    return f->n == factors;
}

/* ---- two-level fractions: few short words ---- */

/* Words of each length from how many factors are high in each run: the two are weights
 * of a code and of its dual (MacWilliams 1963; Krawtchouk's polynomials by their
 * recurrence). */
static void words_of(double *word, const double *runs, size_t k, size_t up_to)
{
    for (size_t i = 0; i <= up_to; i++)
        word[i] = 0;
    for (size_t w = 0; w <= k; w++) {
        const double x = (double)k - 2 * (double)w;
        double p = 1, next = x, before = 0;

        for (size_t i = 0; i <= up_to && runs[w] != 0; i++) {
            word[i] += runs[w] * p;
            before = p;
            p = next;
            next = (x * p - (double)(k - i) * before) / (double)(i + 2);
        }
    }
}

static void count_runs(double *runs, const uint32_t *high, size_t k, uint32_t bits)
{
    for (size_t w = 0; w <= k; w++)
        runs[w] = 0;
    for (uint32_t r = 0; r >> bits == 0; r++)
        runs[high[r]]++;
}

void ft__fraction_words(double *word, const uint32_t *column, size_t factors,
                        uint32_t bits)
{
    double runs[FT__MAX_PARAMS + 1] = {0};

    for (uint32_t r = 0; r >> bits == 0; r++) {
        size_t high = 0;

        for (size_t i = 0; i < factors; i++)
            high += parity(r & column[i]);
        runs[high] += ldexp(1, -(int)bits);
    }
    words_of(word, runs, factors, factors);
}

/* What an exchange works on. */
struct exchange {
    uint32_t bits;
    size_t factors;
    uint32_t *column;
    uint32_t *high;       /* of each run, factors that are high */
    double *best, *tried; /* word counts, as ft__fraction_words() but for 2^bits */
};

static void add_column(struct exchange *e, uint32_t c, uint32_t by)
{
    for (uint32_t r = 0; r >> e->bits == 0; r++)
        e->high[r] += by * parity(r & c);
}

static bool is_fewer(const double *a, const double *b, size_t n)
{
    for (size_t i = 1; i <= n; i++)
        if (a[i] != b[i])
            return a[i] < b[i];
    return false;
}

static void count_words(struct exchange *e, double *word)
{
    double runs[FT__MAX_PARAMS + 1];

    count_runs(runs, e->high, e->factors, e->bits);
    words_of(word, runs, e->factors, e->factors);
}

/* Replace factor i by the column that leaves the fewest short words. */
static bool better_column(struct exchange *e, size_t i)
{
    const uint32_t old = e->column[i];
    uint32_t now = old;

    for (uint32_t c = 1; c >> e->bits == 0; c++) {
        add_column(e, now, UINT32_MAX);
        add_column(e, c, 1);
        count_words(e, e->tried);
        e->column[i] = c;
        now = c;
        if (is_fewer(e->tried, e->best, e->factors)) {
            memcpy(e->best, e->tried, (e->factors + 1) * sizeof(*e->best));
            return true;
        }
    }
    add_column(e, now, UINT32_MAX);
    add_column(e, old, 1);
    e->column[i] = old;
    return false;
}

/* Until no exchange helps: the first `bits` columns are a basis and stay. */
static void improve(struct exchange *e)
{
    size_t since = 0, i = e->bits;

    memset(e->high, 0, ((size_t)1 << e->bits) * sizeof(*e->high));
    for (size_t k = 0; k < e->factors; k++)
        add_column(e, e->column[k], 1);
    count_words(e, e->best);
    while (since < e->factors - e->bits) {
        since = better_column(e, i) ? 0 : since + 1;
        i = i + 1 < e->factors ? i + 1 : e->bits;
    }
}

static void keep_fewest(struct frame *f, struct exchange *e, uint32_t *lot,
                        double *fewest, uint32_t *column)
{
    const size_t n = e->factors;
    ft__prng rng = {1};
    /* a sweep tries each column for each factor, over all runs */
    const double sweep = ldexp((double)(n - f->bits), 2 * (int)f->bits + 1);
    const double starts = MOST_STEPS / (4 * sweep);

    for (int s = 0; s < STARTS && s < starts; s++) {
        if (!take_at_random(f, n, lot, &rng))
            continue;
        improve(e);
        if (is_fewer(e->best, fewest, n)) {
            memcpy(fewest, e->best, (n + 1) * sizeof(*fewest));
            memcpy(column, f->column, n * sizeof(*column));
        }
    }
}

/* Fewer short words in as many runs, where factors are few enough to look for them. */
static ft_status reduce_words(uint32_t *column, size_t factors, uint32_t bits,
                              uint32_t resolution, ft_error *err)
{
    const size_t size = (size_t)1 << bits;
    double best[FT__MAX_PARAMS + 1], tried[FT__MAX_PARAMS + 1];
    double fewest[FT__MAX_PARAMS + 1];
    uint32_t own[FT__MAX_PARAMS];
    struct frame f = {bits, resolution, own, 0, malloc(size * sizeof(bool))};
    struct exchange e = {bits, factors, own, malloc(size * sizeof(*e.high)),
                         best, tried};
    uint32_t *lot = malloc(size * sizeof(*lot));
    ft_status st = FT_OK;

    if (!f.taken || !e.high || !lot) {
        st = ft_fail(err, FT_ENOMEM, 0, "no memory for a fraction of %zu runs", size);
    } else {
        ft__fraction_words(fewest, column, factors, bits);
        for (size_t i = 0; i <= factors; i++)
            fewest[i] = ldexp(fewest[i], (int)bits);
        keep_fewest(&f, &e, lot, fewest, column);
    }
    free(f.taken);
    free(e.high);
    free(lot);
    return st;
}

ft_status ft__fraction_find(uint32_t *column, uint32_t *bits, size_t factors,
                            uint32_t resolution, ft_error *err)
{
    struct frame f = {.resolution = resolution, .column = column};
    bool found = false;

    if (resolution < 3 || resolution > 5)
        return ft_fail(err, FT_EINVAL, 0, "a fraction of resolution %u: 3, 4 or 5",
                       resolution);
    if (factors == 0 || factors > FT__MAX_PARAMS)
        return ft_fail(err, FT_EINVAL, 0, "a fraction of %zu factors", factors);
    for (f.bits = 1; !found && f.bits <= MAX_BITS; f.bits += !found) {
        free(f.taken);
        f.taken = malloc(((size_t)1 << f.bits) * sizeof(*f.taken));
        if (!f.taken)
            return ft_fail(err, FT_ENOMEM, 0, "no memory for a fraction");
        found = take_in_order(&f, factors);
    }
    free(f.taken);
    if (!found)
        return ft_fail(err, FT_EINVAL, 0,
                       "%zu parameters need more than 2^%d runs for resolution %u",
                       factors, MAX_BITS, resolution);
    *bits = f.bits;
    if (factors == f.bits || factors > MAX_EXACT)
        return FT_OK;
    return reduce_words(column, factors, f.bits, resolution, err);
}

/* ---- two-level fractions: runs as points ---- */

static ft_status add_runs(ft__points *p, const uint32_t *column, uint32_t bits,
                          ft_error *err)
{
    double point[FT__MAX_PARAMS];
    ft_status st = FT_OK;

    for (uint32_t r = 0; r >> bits == 0 && !st; r++) {
        size_t factor = 0;
        bool added;

        for (size_t k = 0; k < p->s->n; k++) {
            const ft_parameter *param = &p->s->param[k];
            const double low = ft__param_least(param);
            const double high = ft__param_greatest(param);

            point[k] = low < high && parity(r & column[factor++]) ? high : low;
        }
        ft__space_settle(p->s, point);
        st = ft__points_add(p, point, &added, err);
    }
    return st;
}

/* Adds all of its points. */
static ft_status fractional(ft__points *p, uint32_t resolution, ft_error *err)
{
    uint32_t column[FT__MAX_PARAMS] = {0}, bits = 0;
    size_t factors = 0;
    ft_status st = FT_OK;

    for (size_t k = 0; k < p->s->n; k++)
        factors +=
            ft__param_least(&p->s->param[k]) < ft__param_greatest(&p->s->param[k]);
    if (factors)
        st = ft__fraction_find(column, &bits, factors, resolution, err);
    return st ? st : add_runs(p, column, bits, err);
}

/* ---- designs ---- */

enum { LEVELS = 5, RESOLUTION = 4 };

/* Points of a walk are all different: they only have to be kept. */
static ft_status keep(void *user, const double *point, ft_error *err)
{
    ft__points *p = user;
    const size_t width = p->s->n;
    double *row = ft__list_grow(p->row, p->n, &p->cap, width * sizeof(*row));

    if (!row)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for %zu points", p->n + 1);
    p->row = row;
    memcpy(row + p->n++ * width, point, width * sizeof(*row));
    return FT_OK;
}

static ft_status full(ft__points *p, const ft_design_options *opt, ft_error *err)
{
    return ft__space_walk(p->s, opt->levels ? opt->levels : LEVELS, keep, p, err);
}

/* n of the points, drawn at random, in their order: the first ones would all have the
 * same value of most parameters. */
static void thin(ft__points *p, size_t n, ft__prng *rng)
{
    const size_t width = p->s->n;
    size_t kept = 0;

    for (size_t i = 0; kept < n && i < p->n; i++) {
        const double need = (double)(n - kept), left = (double)(p->n - i);

        if (ft__prng_unit(rng) * left < need)
            memmove(p->row + kept++ * width, p->row + i * width,
                    width * sizeof(double));
    }
    p->n = n;
}

static ft_status draw(ft__points *p, const ft_design_options *opt, ft__prng *rng,
                      ft_error *err)
{
    const double size = p->s->size;
    const size_t n = (double)opt->n < size ? opt->n : (size_t)size;
    ft_status st = FT_OK;

    if (opt->n == 0 || opt->n > FT__MAX_POINTS)
        return ft_fail(err, FT_EINVAL, 0, "a design of %zu points: 1 to %d", opt->n,
                       FT__MAX_POINTS);
    if (opt->design == FT_DESIGN_LATIN)
        st = latin(p, n, rng, err);
    else if (opt->design == FT_DESIGN_SOBOL)
        st = sobol(p, n, opt->seed, err);
    return st ? st : ft__points_fill(p, n, rng, err);
}

static ft_status make(ft__points *p, const ft_design_options *opt, ft_error *err)
{
    ft__prng rng = ft__prng_stream(opt->seed, 1);
    ft_status st;

    if (opt->design == FT_DESIGN_FULL)
        st = full(p, opt, err);
    else if (opt->design == FT_DESIGN_FRACTIONAL)
        st = fractional(p, opt->resolution ? opt->resolution : RESOLUTION, err);
    else
        st = draw(p, opt, &rng, err);
    if (!st && p->n == 0)
        return ft_fail(err, FT_EINVAL, 0,
                       "no point of the design is allowed: see what is forbidden");
    if (!st && opt->n && p->n > opt->n)
        thin(p, opt->n, &rng);
    return st;
}

ft_status ft_design_make(double **out, size_t *n, const ft_space *s,
                         const ft_design_options *opt, ft_error *err)
{
    ft__points p = {.s = s};
    ft_status st;

    *out = NULL;
    *n = 0;
    if ((unsigned)opt->design >= FT_DESIGN_COUNT)
        return ft_fail(err, FT_EINVAL, 0, "there is no design %d", (int)opt->design);
    st = make(&p, opt, err);
    if (!st) {
        *out = p.row;
        *n = p.n;
        p.row = NULL;
    }
    ft__points_free(&p);
    return st;
}
