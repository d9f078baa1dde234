/* Weights in a model's file, as the onnxruntime engine looks for them, on files
 * written field by field here. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random.h"
#include "strip.h"

/* model { ir 8; graph { initializer "here" 2 floats; "away" 3x4 floats in a file;
 * "empty" 5 bytes of int8 without data; input } } */
static const unsigned char here[] = {8,   2, 16, 1, 'B', 4,  'h', 'e', 'r', 'e',
                                     'J', 8, 0,  0, 128, 63, 0,   0,   0,   64};
static const unsigned char away[] = {
    10, 2,   3,   4,   16,  1,   'B', 4,   'a', 'w', 'a', 'y', 'j', 15,  10,
    8,  'l', 'o', 'c', 'a', 't', 'i', 'o', 'n', 18,  3,   'w', '.', 'b', 'j',
    12, 10,  6,   'o', 'f', 'f', 's', 'e', 't', 18,  2,   '6', '4', 'j', 12,
    10, 6,   'l', 'e', 'n', 'g', 't', 'h', 18,  2,   '4', '8', 'p', 1};
static const unsigned char empty[] = {8, 5, 16, 3, 'B', 5, 'e', 'm', 'p', 't', 'y'};
static const unsigned char input[] = {10, 1, 'x'};

static ft__pb new_model(void)
{
    ft__pb graph = {0}, model = {0};

    ft__pb_bytes(&graph, 5, here, sizeof(here));
    ft__pb_bytes(&graph, 5, away, sizeof(away));
    ft__pb_bytes(&graph, 5, empty, sizeof(empty));
    ft__pb_bytes(&graph, 11, input, sizeof(input));
    ft__pb_int(&model, 1, 8);
    ft__pb_message_take(&model, 7, &graph);
    return model;
}

TEST(weights_without_data_are_found)
{
    ft__pb model = new_model(), rewritten = {0};
    ft__weights_list l;

    CHECK_EQ(ft__weights_find(&l, &rewritten, model.s, model.len, NULL), FT_OK);
    CHECK(EQ(l.n, 2) && EQ(l.bytes, 2 * 4 + 12 * 4 + 5) && EQ(l.file_bytes, 128));
    CHECK(SAME(l.w[0].name, "away") && EQ(l.w[0].dtype, FT_DTYPE_fp32));
    CHECK(EQ(l.w[0].shape.rank, 2) && EQ(l.w[0].shape.dim[0], 3) &&
          EQ(l.w[0].shape.dim[1], 4));
    CHECK(SAME(l.w[0].location, "w.b") && EQ(l.w[0].need, 112));
    CHECK(SAME(l.w[1].name, "empty") && EQ(l.w[1].dtype, FT_DTYPE_int8));
    CHECK(!l.w[1].location && EQ(l.w[1].offset, 64) && EQ(l.w[1].bytes, 5));
    ft__weights_free(&l);
    ft__pb_free(&rewritten);
    ft__pb_free(&model);
}

static int occurs(const ft__pb *in, const unsigned char *part, size_t n)
{
    int count = 0;

    for (size_t i = 0; i + n <= in->len; i++)
        count += memcmp(in->s + i, part, n) == 0;
    return count;
}

/* The rewritten model says of itself where its weights are; all else is as it was. */
TEST(the_rewritten_model_looks_elsewhere)
{
    ft__pb model = new_model(), once = {0}, twice = {0};
    ft__weights_list l, again;

    CHECK_EQ(ft__weights_find(&l, &once, model.s, model.len, NULL), FT_OK);
    CHECK_EQ(ft__weights_find(&again, &twice, once.s, once.len, NULL), FT_OK);
    CHECK(EQ(again.n, 2) && EQ(again.bytes, l.bytes));
    for (size_t i = 0; i < again.n; i++) {
        CHECK(SAME(again.w[i].location, FT__WEIGHTS_FILE));
        CHECK_EQ(again.w[i].need, l.w[i].offset + l.w[i].bytes);
        CHECK(ft_shape_equal(&again.w[i].shape, &l.w[i].shape));
    }
    CHECK(EQ(once.len, twice.len) && BYTES(once.s, twice.s, once.len));
    CHECK_EQ(occurs(&once, here, sizeof(here)), 1);
    CHECK_EQ(occurs(&once, input, sizeof(input)), 1);
    ft__weights_free(&l);
    ft__weights_free(&again);
    ft__pb_free(&once);
    ft__pb_free(&twice);
    ft__pb_free(&model);
}

TEST(a_damaged_model_is_refused)
{
    ft__pb model = new_model();

    for (size_t len = 0; len < model.len; len++) {
        unsigned char *copy = malloc(len + 1);
        ft__pb rewritten = {0};
        ft__weights_list l;

        memcpy(copy, model.s, len);
        CHECK_EQ(ft__weights_find(&l, &rewritten, copy, len, NULL), FT_EFORMAT);
        CHECK(EQ(l.n, 0) && !l.w);
        ft__pb_free(&rewritten);
        free(copy);
    }
    for (size_t i = 0; i < 8 * model.len; i++) {
        ft__pb rewritten = {0};
        ft__weights_list l;

        model.s[i / 8] ^= (unsigned char)(1u << i % 8);
        ft__weights_find(&l, &rewritten, model.s, model.len, NULL);
        model.s[i / 8] ^= (unsigned char)(1u << i % 8);
        ft__weights_free(&l);
        ft__pb_free(&rewritten);
    }
    ft__pb_free(&model);
}

TEST(numbers_survive_the_wire)
{
    static const int64_t values[] = {0, 1, 127, 128, 300, INT64_MAX, -1, INT64_MIN};
    ft__pb b = {0};
    ft__pb_reader r;
    ft__pb_field f;

    for (uint32_t i = 0; i < 8; i++)
        ft__pb_int(&b, 1 + 1000 * i, values[i]);
    r = (ft__pb_reader){.at = b.s, .end = b.s + b.len};
    for (uint32_t i = 0; i < 8; i++) {
        CHECK(ft__pb_next(&r, &f));
        CHECK(EQ(f.number, 1 + 1000 * i) && EQ((int64_t)f.value, values[i]));
    }
    CHECK(!ft__pb_next(&r, &f) && !r.bad);
    ft__pb_free(&b);
}

TEST(floats_become_halves)
{
    static const struct {
        float f;
        uint16_t half;
        uint16_t brain;
    } cases[] = {
        {0, 0, 0},
        {1, 0x3c00, 0x3f80},
        {-0.5f, 0xb800, 0xbf00},
        {1.0f / 3, 0x3555, 0x3eaa},
        {1e-6f, 0, 0x3586},
        {6.1035156e-5f, 0x0400, 0x3880},
        {1000, 0x63d0, 0x447a},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        CHECK_EQ(ft__half(cases[i].f), cases[i].half);
        CHECK_EQ(ft__brain(cases[i].f), cases[i].brain);
    }
}
