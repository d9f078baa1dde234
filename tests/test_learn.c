#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "learn/learn_inside.h"
#include "learn/tree/forest.h"
#include "learn_data.h"

/* An image written by hand: x0 > 1 ? 30 : 10, and the constant 4. */

enum { HAND_WORDS = 64, HAND_BYTES = 4 * HAND_WORDS };

static uint32_t f32(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof(u));
    return u;
}

static void hand(uint32_t *w)
{
    /* clang-format off */
    const uint32_t begin[] = {
        0x4f465446u, 2, 2, 2, 2, 0,     /* "FTFO", version, width, trees, lines, both */
        0, 0,  0, 0x40000000u,          /* base 0, share 2, as doubles */
    };
    const uint32_t root[] = {
        0xbf800000u, 2u << 10 | 0,      /* cell 0: x0 > 1, children 2 and 3 */
        0, 2,                           /* nothing beside it */
        f32(10.0F), 2,
        f32(30.0F), 2,
    };
    /* clang-format on */
    memset(w, 0, HAND_BYTES);
    memcpy(w, begin, sizeof(begin));
    w[17] = 1; /* tree 1 begins with line 1 */
    for (int i = 33; i < HAND_WORDS; i += 2)
        w[i] = 2;
    memcpy(w + 32, root, sizeof(root));
    w[48] = f32(4.0F);
}

TEST(predicts_the_mean_of_its_trees)
{
    _Alignas(64) uint32_t w[HAND_WORDS];
    ft__forest *f;

    hand(w);
    CHECK_EQ(ft__forest_load(&f, w, sizeof(w), NULL), FT_OK);
    if (!f)
        return;
    CHECK(EQ(f->head->width, 2) && EQ(f->head->n_trees, 2));
    CHECK(EQ((const void *)f->head, w) && EQ(f->len, sizeof(w)));
    CHECK_NEAR(ft__forest_predict(f, (float[]){1.0F, 0}), 7.0, 0); /* not above */
    CHECK_NEAR(ft__forest_predict(f, (float[]){1.5F, 0}), 17.0, 0);
    CHECK_NEAR(ft__forest_predict(f, (float[]){NAN, 0}), 7.0, 0);
    CHECK_NEAR(ft__forest_predict(f, (float[]){INFINITY, NAN}), 17.0, 0);
    ft__forest_free(f);
}

TEST(names_the_bad_byte)
{
    static const struct {
        const char *why;
        unsigned word; /* which word of the image is spoiled */
        uint32_t value;
        uint64_t pos; /* where the loader must point */
    } cases[] = {
        /* clang-format off */
        {"magic",                   0, 7, 0},
        {"version",                 1, 3, 4},
        {"no columns",              2, 0, 8},
        {"too many columns",        2, 1024, 8},
        {"no trees",                3, 0, 12},
        {"more trees than bytes",   3, 65, 12},
        {"trees overflow",          3, 0xffffffffu, 12},
        {"more trees than lines",   3, 3, 68},
        {"more lines than bytes",   4, 3, 16},
        {"fewer lines than bytes",  4, 1, 16},
        {"lines overflow",          4, 0x20000002u, 16},
        {"an unknown flag",         5, 2, 20},
        {"base is NaN",             7, 0x7ff80000u, 24},
        {"share is 0",              9, 0, 24},
        {"a gap before tree 0",    16, 1, 64},
        {"tree 0 is empty",        17, 0, 64},
        {"tree 0 is too long",     17, 3, 64},
        {"tree 1 is empty",        17, 2, 68},
        {"threshold is NaN",       32, 0xffc00000u, 128},
        {"threshold below all",    32, 0x007ffffeu, 128},
        {"column past the keys",   33, 2u << 10 | 3, 128},
        {"column far past them",   33, 2u << 10 | 1023, 128},
        {"splits by no column",    33, 2u << 10 | 2, 128},
        {"child is the node",      33, 0, 128},
        {"right child past end",   33, 7u << 10, 128},
        {"children far past end",  33, 0xfffffc00u, 128},
        {"leaf is NaN",            36, 0x7fc00000u, 144},
        {"leaf is infinite",       38, 0x7f800000u, 152},
        {"leaf of another width",  49, 1, 192},
        {"last node has children", 63, 1u << 10, 248},
        /* clang-format on */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        _Alignas(64) uint32_t w[HAND_WORDS];
        ft_error err = {0};
        ft__forest *f;

        hand(w);
        w[cases[i].word] = cases[i].value;
        CHECK_EQ(ft__forest_load(&f, w, sizeof(w), &err), FT_EFORMAT);
        CHECK(EQ(f, NULL));
        if (err.pos != cases[i].pos || err.status != FT_EFORMAT || !err.msg[0])
            fprintf(stderr, "case \"%s\": pos %llu\n", cases[i].why,
                    (unsigned long long)err.pos);
        CHECK(EQ(err.pos, cases[i].pos) && EQ(err.status, FT_EFORMAT) && err.msg[0]);
    }
}

TEST(refuses_every_other_length)
{
    /* On the heap and no longer than said, so that ASan sees a look too far. */
    for (size_t len = 0; len <= HAND_BYTES + 64; len++) {
        uint32_t w[HAND_WORDS + 16] = {0}, *copy = malloc(len ? len : 1);
        ft_error err = {0};
        ft__forest *f;

        hand(w);
        if (!copy)
            abort();
        memcpy(copy, w, len);
        if (len != HAND_BYTES) {
            CHECK_EQ(ft__forest_load(&f, copy, len, &err), FT_EFORMAT);
            CHECK(EQ(f, NULL) && CMP(err.pos, <=, len));
        }
        free(copy);
    }
}

TEST(refuses_an_image_that_is_not_aligned)
{
    _Alignas(8) uint32_t w[HAND_WORDS + 1];
    ft__forest *f;

    hand(w + 1);
    CHECK(EQ(ft__forest_load(&f, w + 1, HAND_BYTES, NULL), FT_EINVAL) && EQ(f, NULL));
}

static ft__forest *grown(const data *d, const double *w, const ft__forest_options *opt)
{
    ft_error err = {0};
    ft__forest *f;

    CHECK_EQ(ft__forest_fit(&f, &d->m, d->y, w, opt, &err), FT_OK);
    if (!f) {
        fprintf(stderr, "%s\n", err.msg);
        abort();
    }
    return f;
}

/* The slow way to predict, straight from the description of the image. */
static double walk(const ft__cell *c, const float *row, uint32_t width)
{
    const uint32_t off = c->link >> 10, col = c->link & 1023;
    uint32_t bits = c->key & 0x80000000u ? c->key ^ 0x80000000u : ~c->key;
    float value, x;

    memcpy(&value, off ? &bits : &c->key, sizeof(value));
    if (off == 0)
        return (double)value;
    x = row[col > width ? col - width - 1 : col];
    return walk(c + off + (isnan(x) ? col > width : x > value), row, width);
}

static double mean_of_walks(const ft__forest *f, const float *row)
{
    const ft__forest_header *h = f->head;
    const uint32_t *start = (const uint32_t *)(h + 1);
    const ft__cell *cell = (const ft__cell *)h + (1 + (h->n_trees + 15) / 16) * 8;
    double sum = 0;

    for (uint32_t t = 0; t < h->n_trees; t++)
        sum += walk(cell + (size_t)start[t] * 8, row, h->width);
    return sum / h->n_trees;
}

/* In every way there is to walk, here: plain, and what this processor does best. */
static void agrees_with_slow_walks(ft__forest *f, const data *d)
{
    static const size_t sizes[] = {0, 1, 5, 6, 7, 8, 9, 25, 100};
    const ft__walks *ways[] = {&ft__walks_plain, ft__walks_here()};
    const size_t cols = d->m.n_cols;
    double out[101], mean[100];

    for (size_t i = 0; i < 100; i++)
        mean[i] = mean_of_walks(f, d->x + i * cols);
    for (size_t k = 0; k < 2 * sizeof(sizes) / sizeof(*sizes); k++) {
        const size_t n = sizes[k / 2];

        f->walks = ways[k % 2];
        out[n] = -1;
        ft__forest_predict_rows(f, d->x, n, out);
        CHECK_EQ(out[n], -1);
        for (size_t i = 0; i < n; i++)
            CHECK(EQ(out[i], mean[i]) &&
                  EQ(ft__forest_predict(f, d->x + i * cols), mean[i]));
    }
}

TEST(batches_single_rows_and_a_plain_walk_agree_to_the_bit)
{
    enum { ROWS = 100 };
    static const uint32_t trees[] = {1, 13, 16, 17, 113, 100};
    static const size_t cols[] = {1, 5, 31, 32, 63, 70};

    for (size_t k = 0; k < sizeof(trees) / sizeof(*trees); k++) {
        data d = data_new(ROWS, cols[k], k);

        for (size_t i = 0; i < ROWS * cols[k]; i += 7)
            d.x[i] = NAN;
        for (int kind = 0; kind < 2; kind++) {
            const ft__forest_options opt = {.kind = (ft__forest_kind)kind,
                                            .n_trees = trees[k]};
            ft__forest *f = grown(&d, NULL, &opt);

            agrees_with_slow_walks(f, &d);
            ft__forest_free(f);
        }
        data_free(&d);
    }
}

TEST(many_rows_predict_what_single_ones_do)
{
    enum { ROWS = 5000, COLS = 3 };
    data d = data_new(ROWS, COLS, 4);
    ft__forest *f =
        grown(&d, NULL, &(ft__forest_options){.n_trees = 3, .max_depth = 5});
    static double out[ROWS];

    ft__forest_predict_rows(f, d.x, ROWS, out);
    for (size_t i = 0; i < ROWS; i++)
        CHECK_EQ(out[i], ft__forest_predict(f, d.x + i * COLS));
    ft__forest_free(f);
    data_free(&d);
}

TEST(missing_values_go_where_a_node_sends_them)
{
    ft__node by_first[] = {{0.5F, 1, 0, 1}, {10, 0, 0, 0}, {20, 0, 0, 0}},
             by_second[] = {{-0.0F, 1, 1, 0}, {1, 0, 0, 0}, {2, 0, 0, 0}};
    const ft__tree trees[] = {{by_first, 3}, {by_second, 3}};
    const ft__walks *ways[] = {&ft__walks_plain, ft__walks_here()};
    ft__forest *f;

    CHECK_EQ(ft__forest_join(&f, 2, trees, 2, 100, 1, NULL), FT_OK);
    for (int k = 0; f && k < 2; k++) {
        const float rows[] = {NAN, NAN, 0.5F, 0, 1, -1, INFINITY, 1, -INFINITY, -0.0F};
        double out[5];

        f->walks = ways[k];
        ft__forest_predict_rows(f, rows, 5, out);
        CHECK(EQ(out[0], 121) && EQ(out[1], 111) && EQ(out[2], 121) &&
              EQ(out[3], 122) && EQ(out[4], 111));
        CHECK_EQ(ft__forest_predict(f, rows), 121);
    }
    ft__forest_free(f);
}

TEST(a_forest_too_wide_for_an_image_is_refused)
{
    ft__node node[] = {{0.5F, 1, 511, 1}, {10, 0, 0, 0}, {20, 0, 0, 0}};
    const ft__tree tree = {node, 3};
    ft__forest *f;

    CHECK(EQ(ft__forest_join(&f, 512, &tree, 1, 0, 1, NULL), FT_EINVAL) && !f);
    node[0].missing_right = 0;
    CHECK_EQ(ft__forest_join(&f, 512, &tree, 1, 0, 1, NULL), FT_OK);
    ft__forest_free(f);
}

TEST(a_stored_image_predicts_the_same)
{
    data d = data_new(50, 3, 2);
    ft__forest *f = grown(&d, NULL, &(ft__forest_options){.n_trees = 5}), *g;

    CHECK_EQ(ft__forest_load(&g, f->head, f->len, NULL), FT_OK);
    for (size_t i = 0; g && i < 50; i++)
        CHECK_EQ(ft__forest_predict(f, d.x + 3 * i),
                 ft__forest_predict(g, d.x + 3 * i));
    ft__forest_free(g);
    ft__forest_free(f);
    data_free(&d);
}

/* Whatever is wrong with an image, it is refused with a place inside it or
 * predicts without leaving it (which ASan watches). */
TEST(every_spoiled_byte_is_refused_or_harmless)
{
    data d = data_new(40, 3, 3);
    ft__forest *f = grown(&d, NULL, &(ft__forest_options){.n_trees = 4}), *g;
    const size_t len = f->len;
    size_t refused = 0;
    unsigned char *copy = malloc(len);
    double out[16];

    for (size_t i = 0; copy && i < 8 * len; i++) {
        ft_error err = {0};

        memcpy(copy, f->head, len);
        copy[i / 8] ^= (unsigned char)(1u << i % 8);
        if (ft__forest_load(&g, copy, len, &err) == FT_OK) {
            /* Rows of the image's own idea of width: it may have changed. */
            if (g->head->width <= 6)
                ft__forest_predict_rows(g, d.x, 16, out);
            ft__forest_free(g);
        } else {
            refused++;
            CHECK(CMP(err.pos, <, len));
        }
    }
    CHECK(CMP(refused, >, 0));
    free(copy);
    ft__forest_free(f);
    data_free(&d);
}
