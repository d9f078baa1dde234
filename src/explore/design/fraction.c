/* Two-level fractions of a full design. */
#include "explore/design/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

ft_status ft__fraction_points(ft__points *p, uint32_t resolution, ft_error *err)
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
