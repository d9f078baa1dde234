/* One regressor on a plain matrix: what it says of rows, and how sure it is. */
#include "predict/fit.h"

#include <math.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"

enum { N = 200, COLS = 3 };

struct made {
    float x[N * COLS];
    double y[N];
    uint64_t group[N];
    double out[N], spread[N];
};

static void make(struct made *m)
{
    ft__prng p = {7};

    for (int i = 0; i < N; i++) {
        for (int j = 0; j < COLS; j++)
            m->x[i * COLS + j] = (float)ft__prng_unit(&p);
        m->y[i] = sin(6 * (double)m->x[i * COLS]) + (double)m->x[i * COLS + 1];
        m->group[i] = (uint64_t)i;
    }
}

static ft__fit fit_of(struct made *m, const ft__fit_options *o)
{
    const ft_matrix x = {m->x, N, COLS};
    ft__fit f;

    CHECK(ft__fit_make(&f, m->out, m->spread, &x, m->y, m->group, o, NULL) == FT_OK);
    return f;
}

static void without_a_spread_all_rows_have_the_typical_one(void)
{
    static struct made a, b;
    ft__fit_options how = {.methods = 1u << FT_METHOD_EXTRA, .n_trees = 16, .seed = 1};
    ft__fit with, without;

    make(&a);
    make(&b);
    with = fit_of(&a, &how);
    how.no_spread = true;
    without = fit_of(&b, &how);
    CHECK(with.spread && !without.spread);
    CHECK(memcmp(a.out, b.out, sizeof(a.out)) == 0);
    CHECK(without.typical > 0.5 * with.typical && without.typical < 2 * with.typical);
    for (int i = 0; i < N; i++)
        CHECK_NEAR(b.spread[i], without.typical, 0);
    ft__fit_free(&without);
    ft__fit_free(&with);
}

int main(void)
{
    without_a_spread_all_rows_have_the_typical_one();
    CHECK_DONE();
}
