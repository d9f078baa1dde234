#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "learn/learn_inside.h"
#include "learn/tree/grow.h"
#include "learn_data.h"

/* An oracle: the best-split tree, found the slow way. */

/* Weighted mean and squared error of the rows that are in[]. */
static double error_of(const data *d, const double *w, const bool *in, double *mean)
{
    double sum = 0, all = 0, error = 0;

    for (size_t i = 0; i < d->m.n_rows; i++) {
        sum += in[i] ? w[i] * d->y[i] : 0;
        all += in[i] ? w[i] : 0;
    }
    *mean = sum / all;
    for (size_t i = 0; i < d->m.n_rows; i++)
        error += in[i] ? w[i] * (d->y[i] - *mean) * (d->y[i] - *mean) : 0;
    return error;
}

static size_t above(const data *d, const bool *in, size_t col, float cut, bool *right,
                    bool *left)
{
    size_t n = 0;

    for (size_t i = 0; i < d->m.n_rows; i++) {
        const bool over = d->x[i * d->m.n_cols + col] > cut;

        right[i] = in[i] && over;
        left[i] = in[i] && !over;
        n += right[i];
    }
    return n;
}

/* out[i] for the rows in[] of the tree that minimises the squared error step by
 * step, every value of every column tried as a cut. */
static void slow_tree(const data *d, const double *w, const bool *in, size_t min_leaf,
                      double *out)
{
    const size_t n = d->m.n_rows, cols = d->m.n_cols;
    bool *right = calloc(n, 1), *left = calloc(n, 1);
    double mean, side, best = INFINITY;
    size_t rows = 0, best_col = 0;
    float best_cut = 0;

    if (!right || !left)
        abort();
    for (size_t i = 0; i < n; i++)
        rows += in[i];
    error_of(d, w, in, &mean);
    for (size_t k = 0; k < n * cols; k++) {
        const size_t n_right =
            in[k / cols] ? above(d, in, k % cols, d->x[k], right, left) : 0;

        if (n_right < min_leaf || rows - n_right < min_leaf)
            continue;
        side = error_of(d, w, left, &side) + error_of(d, w, right, &side);
        if (side < best) {
            best = side;
            best_col = k % cols;
            best_cut = d->x[k];
        }
    }
    if (best < INFINITY) {
        above(d, in, best_col, best_cut, right, left);
        slow_tree(d, w, left, min_leaf, out);
        slow_tree(d, w, right, min_leaf, out);
    }
    for (size_t i = 0; best == INFINITY && i < n; i++)
        out[i] = in[i] ? mean : out[i];
    free(right);
    free(left);
}

/* One tree on exactly the rows and weights given, without a bag. */
static void one_tree(const data *d, const double *w, const ft__forest_options *opt,
                     double *out)
{
    ft__tree_training *train;
    ft__grower *g;
    ft__tree t;
    ft__forest *f;

    if (ft__train_new(&train, &d->m, d->y, w, opt->kind, NULL))
        abort();
    g = ft__grower_new(train, opt);
    if (!g)
        abort();
    t = ft__grow(g, train->w, ft__prng_stream(opt->seed, 0));
    if (ft__forest_join(&f, train->n_cols, &t, 1, 0, 1, NULL))
        abort();
    ft__forest_predict_rows(f, d->x, d->m.n_rows, out);
    ft__forest_free(f);
    ft__grower_free(g);
    ft__train_free(train);
}

TEST(a_best_split_tree_is_the_one_found_by_trying_everything)
{
    enum { ROWS = 60, COLS = 3 };
    double w[ROWS], fast[ROWS], slow[ROWS];
    bool all[ROWS];

    for (uint64_t seed = 0; seed < 20; seed++) {
        const ft__forest_options opt = {
            FT_FOREST_RANDOM, 1, 0, (uint32_t)(1 + seed % 5), 1, seed, 1};
        data d = data_new(ROWS, COLS, seed);
        ft__prng rng = ft__prng_stream(seed, 9);

        for (int i = 0; i < ROWS; i++) {
            w[i] = seed % 2 ? 1 + ft__prng_below(&rng, 3) : 1;
            all[i] = true;
        }
        one_tree(&d, w, &opt, fast);
        slow_tree(&d, w, all, opt.min_leaf, slow);
        for (int i = 0; i < ROWS; i++)
            CHECK_NEAR(fast[i], slow[i], 1e-6);
        data_free(&d);
    }
}

/* Rows 0 .. n-1 of d, row i written times[i] times. */
static data repeated(const data *d, const double *times)
{
    const size_t cols = d->m.n_cols;
    data r;
    size_t n = 0;

    for (size_t i = 0; i < d->m.n_rows; i++)
        n += (size_t)times[i];
    r = data_new(n, cols, 0);
    n = 0;
    for (size_t i = 0; i < d->m.n_rows; i++) {
        for (size_t k = 0; k < (size_t)times[i]; k++) {
            memcpy(r.x + n * cols, d->x + i * cols, cols * sizeof(float));
            r.y[n++] = d->y[i];
        }
    }
    return r;
}

TEST(a_weight_of_k_is_a_row_k_times)
{
    enum { ROWS = 80, COLS = 4 };
    data d = data_new(ROWS, COLS, 5);
    double w[ROWS];

    for (int i = 0; i < ROWS; i++)
        w[i] = i % 4; /* 0 included */
    data r = repeated(&d, w);
    double *one = calloc(ROWS, sizeof(*one)), *many = calloc(r.m.n_rows, sizeof(*many));

    /* Depth stops before the last rows, where ties are drawn by lot. */
    for (int kind = 0; kind < 2; kind++) {
        const ft__forest_options opt = {(ft__forest_kind)kind, 1, 3, 1, 1, 7, 1};
        size_t k = 0;

        one_tree(&d, w, &opt, one);
        one_tree(&r, NULL, &opt, many);
        for (int i = 0; i < ROWS; k += (size_t)w[i++])
            if (w[i] > 0)
                CHECK_NEAR(one[i], many[k], 1e-6);
    }
    free(one);
    free(many);
    data_free(&r);
    data_free(&d);
}

static ft__forest *grown(const ft__matrix *x, const double *y, const double *w,
                         const ft__forest_options *opt)
{
    ft_error err = {0};
    ft__forest *f;

    CHECK_EQ(ft__forest_fit(&f, x, y, w, opt, &err), FT_OK);
    if (!f) {
        fprintf(stderr, "%s\n", err.msg);
        abort();
    }
    return f;
}

static bool same_bytes(const ft__forest *f, const ft__forest *g)
{
    return f->len == g->len && memcmp(f->head, g->head, f->len) == 0;
}

TEST(threads_do_not_show_in_the_image_but_the_seed_does)
{
    data d = data_new(300, 6, 6);

    for (int kind = 0; kind < 2; kind++) {
        ft__forest_options opt = {
            .kind = (ft__forest_kind)kind, .n_trees = 17, .seed = 4};
        ft__forest *one = grown(&d.m, d.y, NULL, &opt), *other;

        for (opt.threads = 2; opt.threads <= 3; opt.threads++) {
            other = grown(&d.m, d.y, NULL, &opt);
            CHECK(same_bytes(one, other));
            ft__forest_free(other);
        }
        opt.seed++;
        other = grown(&d.m, d.y, NULL, &opt);
        CHECK(!same_bytes(one, other));
        ft__forest_free(other);
        ft__forest_free(one);
    }
    data_free(&d);
}

/* FNV-1a. */
static uint64_t hash_of(const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}

/* The numbers were written down once and hold for every compiler and processor; those
 * of the predictions were so when images had another form. */
TEST(image_and_predictions_are_the_same_everywhere)
{
    static const uint64_t expected[2] = {0xbf2d13044c3b0e4au, 0x1f93bf1837b8701eu},
                          said[2] = {0xe83ce030691b43c1u, 0x33c4a6e6ec3df065u};
    data d = data_new(200, 5, 8);
    double w[200], out[200];

    for (int i = 0; i < 200; i++)
        w[i] = 0.1 + i % 3;
    for (size_t i = 0; i < 1000; i += 11)
        d.x[i] = NAN;
    for (int kind = 0; kind < 2; kind++) {
        const ft__forest_options opt = {
            .kind = (ft__forest_kind)kind, .n_trees = 10, .max_features = 0.7};
        ft__forest *f = grown(&d.m, d.y, w, &opt);
        const void *image = f->head;
        const size_t len = f->len;

        ft__forest_predict_rows(f, d.x, 200, out);
        if (hash_of(image, len) != expected[kind] ||
            hash_of(out, sizeof(out)) != said[kind])
            fprintf(stderr, "kind %d: %#" PRIx64 ", %#" PRIx64 "\n", kind,
                    hash_of(image, len), hash_of(out, sizeof(out)));
        CHECK_EQ(hash_of(image, len), expected[kind]);
        CHECK_EQ(hash_of(out, sizeof(out)), said[kind]);
        ft__forest_free(f);
    }
    data_free(&d);
}

static uint32_t nodes_below(const ft__cell *c)
{
    const uint32_t off = c->link >> 10;

    return off ? 1 + nodes_below(c + off) + nodes_below(c + off + 1) : 1;
}

static const ft__cell *root(const ft__forest *f, uint32_t tree, uint32_t *n)
{
    const ft__forest_header *h = f->head;
    const uint32_t *start = (const uint32_t *)(h + 1);
    const ft__cell *cell =
        (const ft__cell *)h + ((size_t)(h->n_trees + 15) / 16 + 1 + start[tree]) * 8;

    *n = nodes_below(cell);
    return cell;
}

/* Whether a tree splits by this column alone. */
static bool splits_by(const ft__cell *c, uint32_t col)
{
    const uint32_t off = c->link >> 10;

    return !off || ((c->link & 1023) == col && splits_by(c + off, col) &&
                    splits_by(c + off + 1, col));
}

static float cut_of(const ft__cell *c)
{
    const uint32_t bits = c->key & 0x80000000u ? c->key ^ 0x80000000u : ~c->key;
    float cut;

    memcpy(&cut, &bits, sizeof(cut));
    return cut;
}

TEST(a_row_of_weight_nothing_is_not_there)
{
    enum { ROWS = 100, COLS = 3 };
    data d = data_new(ROWS, COLS, 10);
    const ft__matrix half = {d.x, ROWS / 2, COLS};
    double w[ROWS];

    for (int i = 0; i < ROWS; i++)
        w[i] = i < ROWS / 2;
    for (int kind = 0; kind < 2; kind++) {
        const ft__forest_options opt = {.kind = (ft__forest_kind)kind, .n_trees = 5};
        ft__forest *f = grown(&d.m, d.y, w, &opt), *g = grown(&half, d.y, NULL, &opt);

        CHECK(same_bytes(f, g));
        ft__forest_free(f);
        ft__forest_free(g);
    }
    data_free(&d);
}

TEST(targets_of_any_size_grow_the_same_trees)
{
    enum { ROWS = 100, COLS = 3 };
    data d = data_new(ROWS, COLS, 11);
    double tiny[ROWS];

    for (int i = 0; i < ROWS; i++)
        tiny[i] = d.y[i] * 0x1p-100;
    for (int kind = 0; kind < 2; kind++) {
        const ft__forest_options opt = {.kind = (ft__forest_kind)kind, .n_trees = 5};
        ft__forest *f = grown(&d.m, d.y, NULL, &opt);
        ft__forest *g = grown(&d.m, tiny, NULL, &opt);

        for (int i = 0; i < ROWS; i++)
            CHECK_EQ(ft__forest_predict(f, d.x + i * COLS) * 0x1p-100,
                     ft__forest_predict(g, d.x + i * COLS));
        ft__forest_free(f);
        ft__forest_free(g);
    }
    data_free(&d);
}

/* Rows in the leaves and the depth of a tree, from the rows it was grown on. */
TEST(depth_and_leaf_size_are_kept)
{
    enum { ROWS = 200, COLS = 4 };
    data d = data_new(ROWS, COLS, 12);

    for (int kind = 0; kind < 2; kind++) {
        const ft__forest_options opt = {(ft__forest_kind)kind, 1, 6, 9, 1, 3, 1};
        double w[ROWS], out[ROWS];
        uint32_t n;
        ft__forest *f = grown(&d.m, d.y, NULL,
                              &(ft__forest_options){
                                  .kind = (ft__forest_kind)kind,
                                  .n_trees = 20,
                                  .max_depth = 2,
                              });

        for (uint32_t t = 0; t < 20; t++) {
            root(f, t, &n);
            CHECK_EQ(n, 7);
        }
        ft__forest_free(f);
        for (int i = 0; i < ROWS; i++)
            w[i] = 1 + i % 2; /* leaves count rows, not weight */
        one_tree(&d, w, &opt, out);
        for (int i = 0; i < ROWS; i++) {
            int alike = 0;

            for (int k = 0; k < ROWS; k++)
                alike += out[k] == out[i];
            CHECK(CMP(alike, >=, 9) && CMP(alike, <, ROWS));
        }
    }
    data_free(&d);
}

TEST(a_missing_value_is_parted_from_every_present_one)
{
    enum { ROWS = 40 };
    float x[ROWS];
    double y[ROWS];
    const ft__matrix m = {x, ROWS, 1};

    for (int i = 0; i < ROWS; i++) {
        x[i] = i % 2 ? NAN : (float)(i - 10);
        y[i] = i % 2 ? 5 : 1;
    }
    for (int kind = 0; kind < 2; kind++) {
        const ft__forest_options opt = {.kind = (ft__forest_kind)kind, .n_trees = 20};
        ft__forest *f = grown(&m, y, NULL, &opt);

        CHECK_NEAR(ft__forest_predict(f, (float[]){NAN}), 5, 0);
        CHECK_NEAR(ft__forest_predict(f, (float[]){3}), 1, 0);
        /* Far below everything seen, yet not missing. */
        CHECK_NEAR(ft__forest_predict(f, (float[]){-1e30F}), 1, 0);
        ft__forest_free(f);
    }
}

TEST(a_column_that_is_all_missing_or_constant_is_never_asked)
{
    enum { ROWS = 50, COLS = 3 };
    data d = data_new(ROWS, COLS, 13);

    for (int i = 0; i < ROWS; i++) {
        d.x[i * COLS] = NAN;
        d.x[i * COLS + 2] = 4;
    }
    for (int kind = 0; kind < 2; kind++) {
        const ft__forest_options opt = {.kind = (ft__forest_kind)kind, .n_trees = 5};
        ft__forest *f = grown(&d.m, d.y, NULL, &opt);

        for (uint32_t t = 0; t < 5; t++) {
            uint32_t n;

            CHECK(splits_by(root(f, t, &n), 1));
        }
        ft__forest_free(f);
    }
    data_free(&d);
}

/* What chance must look like. */

TEST(among_equal_splits_every_column_is_taken_alike)
{
    enum { COLS = 8, TREES = 4000 };
    float x[2 * COLS];
    const ft__matrix m = {x, 2, COLS};
    int kind, taken[COLS];

    for (int j = 0; j < COLS; j++) {
        x[j] = (float)j;
        x[COLS + j] = (float)(j % 2 ? j + 1 : j - 1); /* up and down */
    }
    for (kind = 0; kind < 2; kind++) {
        const ft__forest_options opt = {.kind = (ft__forest_kind)kind,
                                        .n_trees = TREES};
        ft__forest *f = grown(&m, (double[]){1, 2}, NULL, &opt);
        int trees = 0;

        memset(taken, 0, sizeof(taken));
        for (uint32_t t = 0; t < TREES; t++) {
            uint32_t n;
            const ft__cell *node = root(f, t, &n);

            trees += n == 3; /* a bag may hold one row twice: a lone leaf */
            if (n == 3)
                taken[node->link & 1023]++;
        }
        CHECK(kind == FT_FOREST_EXTRA ? EQ(trees, TREES)
                                      : CMP(trees, >, TREES * 4 / 10));
        for (int j = 0; j < COLS; j++)
            CHECK_NEAR((double)taken[j] / trees, 1.0 / COLS, 0.025);
        ft__forest_free(f);
    }
}

TEST(random_cuts_are_uniform_over_the_range_of_the_rows)
{
    enum { ROWS = 20, TREES = 4000 };
    data d = data_new(ROWS, 1, 14);
    const ft__forest_options opt = {.kind = FT_FOREST_EXTRA, .n_trees = TREES};
    ft__forest *f;
    int bin[10] = {0};

    d.x[3] = -2;
    d.x[4] = 8;
    f = grown(&d.m, d.y, NULL, &opt);
    for (uint32_t t = 0; t < TREES; t++) {
        uint32_t n;
        const float cut = cut_of(root(f, t, &n));

        CHECK(CMP(cut, >=, -2) && CMP(cut, <, 8));
        bin[(int)(cut + 2)]++;
    }
    for (int i = 0; i < 10; i++)
        CHECK_NEAR((double)bin[i] / TREES, 0.1, 0.025);
    ft__forest_free(f);
    data_free(&d);
}

TEST(a_share_of_the_columns_lets_every_column_begin)
{
    enum { COLS = 10, TREES = 2000 };
    data d = data_new(100, COLS, 15);

    for (int kind = 0; kind < 2; kind++) {
        const ft__forest_options opt = {
            .kind = (ft__forest_kind)kind, .n_trees = TREES, .max_features = 0.1};
        ft__forest *f = grown(&d.m, d.y, NULL, &opt);
        int first[COLS] = {0};

        for (uint32_t t = 0; t < TREES; t++) {
            uint32_t n;

            first[root(f, t, &n)->link & 1023]++;
        }
        for (int j = 0; j < COLS; j++)
            CHECK_NEAR((double)first[j] / TREES, 0.1, 0.035);
        ft__forest_free(f);
    }
    data_free(&d);
}

/* Fully grown, a tree has a leaf for each different row of its bag. */
TEST(a_bag_holds_two_thirds_of_the_rows_and_extra_trees_all)
{
    data d = data_new(1000, 3, 16);

    for (int kind = 0; kind < 2; kind++) {
        const ft__forest_options opt = {.kind = (ft__forest_kind)kind, .n_trees = 20};
        ft__forest *f = grown(&d.m, d.y, NULL, &opt);
        double leaves = 0;

        for (uint32_t t = 0; t < 20; t++) {
            uint32_t n;

            root(f, t, &n);
            leaves += (n + 1) / 2 / 20.0;
        }
        CHECK_NEAR(leaves, kind == FT_FOREST_EXTRA ? 1000 : 632, 15);
        ft__forest_free(f);
    }
    data_free(&d);
}

TEST(says_what_is_wrong_with_the_input)
{
    static const float good[4] = {1, 2, 3, 4}, infinite[4] = {1, 2, 3, -INFINITY};
    static const double y[2] = {1, 2}, nan_y[2] = {1, NAN}, huge_y[2] = {1e300, 1},
                        none[2] = {0, 0}, negative[2] = {1, -1}, nan_w[2] = {1, NAN};
    static const struct {
        const char *says;
        ft__matrix x;
        const double *y;
        const double *w;
        ft__forest_options opt;
    } cases[] = {
        {"nothing to learn", {good, 0, 2}, y, NULL, {0}},
        {"nothing to learn", {good, 2, 0}, y, NULL, {0}},
        {"columns are too many", {good, 1, 1024}, y, NULL, {0}},
        {"rows are too many", {good, (1u << 20) + 1, 1}, y, NULL, {0}},
        {"row 1, column 1", {infinite, 2, 2}, y, NULL, {0}},
        {"target 1", {good, 2, 2}, nan_y, NULL, {0}},
        {"target 0", {good, 2, 2}, huge_y, NULL, {0}},
        {"every row", {good, 2, 2}, y, none, {0}},
        {"weight 1", {good, 2, 2}, y, negative, {0}},
        {"weight 1", {good, 2, 2}, y, nan_w, {0}},
        {"kind 7", {good, 2, 2}, y, NULL, {.kind = (ft__forest_kind)7}},
        {"max_features", {good, 2, 2}, y, NULL, {.max_features = 1.5}},
        {"max_features", {good, 2, 2}, y, NULL, {.max_features = NAN}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_error err = {0};
        ft__forest *f;

        CHECK_EQ(ft__forest_fit(&f, &cases[i].x, cases[i].y, cases[i].w, &cases[i].opt,
                                &err),
                 FT_EINVAL);
        CHECK(EQ(f, NULL) && HAS(err.msg, cases[i].says));
        if (!strstr(err.msg, cases[i].says))
            fprintf(stderr, "case %zu (%s): \"%s\"\n", i, cases[i].says, err.msg);
    }
}
