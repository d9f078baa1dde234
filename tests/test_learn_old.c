/* Forest images of version 1, which predictor files of older releases hold. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "learn/forest.h"

/* ---- an image written by hand: x0 > 1 ? 30 : 10, and the constant 4 ---- */

enum { HAND_WORDS = 18, HAND_BYTES = 4 * HAND_WORDS };

static uint32_t f32(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof(u));
    return u;
}

static void hand(uint32_t *w)
{
    /* clang-format off */
    const uint32_t img[HAND_WORDS] = {
        0x4f465446u, 1, 2, 2,           /* "FTFO", version, width, trees */
        0, 0,  3, 0,  4, 0,             /* where trees begin and end */
        f32(1.0F), 1u << 10 | 0,        /* node 0: x0 > 1, children 1 and 2 */
        f32(10.0F), 2,
        f32(30.0F), 2,
        f32(4.0F), 2,                   /* node 3: the second tree */
    };
    /* clang-format on */
    memcpy(w, img, sizeof(img));
}

static void predicts_the_mean_of_its_trees(void)
{
    _Alignas(8) uint32_t w[HAND_WORDS];
    ft_forest *f, *g;
    const void *image;
    size_t len;

    hand(w);
    CHECK(ft_forest_load(&f, w, sizeof(w), NULL) == FT_OK);
    if (!f)
        return;
    CHECK(ft_forest_width(f) == 2 && ft_forest_trees(f) == 2);
    image = ft_forest_image(f, &len);
    CHECK(ft_forest_load(&g, image, len, NULL) == FT_OK);
    CHECK(g && ft_forest_predict(g, (float[]){1.5F, 0}) == 17);
    ft_forest_free(g);
    CHECK_NEAR(ft_forest_predict(f, (float[]){1.0F, 0}), 7.0, 0); /* not above */
    CHECK_NEAR(ft_forest_predict(f, (float[]){1.5F, 0}), 17.0, 0);
    CHECK_NEAR(ft_forest_predict(f, (float[]){NAN, 0}), 7.0, 0);
    CHECK_NEAR(ft_forest_predict(f, (float[]){INFINITY, NAN}), 17.0, 0);
    ft_forest_free(f);
}

static void names_the_bad_byte(void)
{
    static const struct {
        const char *why;
        unsigned word; /* which word of the image is spoiled */
        uint32_t value;
        uint64_t pos; /* where the loader must point */
    } cases[] = {
        /* clang-format off */
        {"magic",                   0, 7, 0},
        {"no columns",              2, 0, 8},
        {"too many columns",        2, 1024, 8},
        {"no trees",                3, 0, 12},
        {"more trees than bytes",   3, 8, 12},
        {"trees overflow",          3, 0xffffffffu, 12},
        {"a gap before tree 0",     4, 1, 16},
        {"tree 0 is empty",         6, 0, 24},
        {"tree 1 is negative",      6, 5, 32},
        {"a tree of 2^32 nodes",    7, 1, 24},
        {"trees end too early",     8, 3, 32},
        {"trees end too late",      8, 5, 32},
        {"threshold is NaN",       10, 0x7fc00000u, 40},
        {"column past the width",  11, 1u << 10 | 2, 44},
        {"column far past it",     11, 1u << 10 | 1023, 44},
        {"child is the node",      11, 0, 44},
        {"right child past end",   11, 2u << 10, 44},
        {"children far past end",  11, 0xfffffc00u, 44},
        {"leaf is NaN",            12, 0x7fc00000u, 48},
        {"leaf is infinite",       14, 0x7f800000u, 56},
        {"leaf of another width",  17, 1, 68},
        {"last node has children", 17, 1u << 10, 68},
        /* clang-format on */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        _Alignas(8) uint32_t w[HAND_WORDS];
        ft_error err = {0};
        ft_forest *f;

        hand(w);
        w[cases[i].word] = cases[i].value;
        CHECK(ft_forest_load(&f, w, sizeof(w), &err) == FT_EFORMAT);
        CHECK(f == NULL);
        if (err.pos != cases[i].pos || err.status != FT_EFORMAT || !err.msg[0])
            fprintf(stderr, "case \"%s\": pos %llu\n", cases[i].why,
                    (unsigned long long)err.pos);
        CHECK(err.pos == cases[i].pos && err.status == FT_EFORMAT && err.msg[0]);
    }
}

static void refuses_every_other_length(void)
{
    /* On the heap and no longer than said, so that ASan sees a look too far. */
    for (size_t len = 0; len <= HAND_BYTES + 16; len++) {
        uint32_t w[HAND_WORDS + 4] = {0}, *copy = malloc(len ? len : 1);
        ft_error err = {0};
        ft_forest *f;

        hand(w);
        if (!copy)
            abort();
        memcpy(copy, w, len);
        if (len != HAND_BYTES) {
            CHECK(ft_forest_load(&f, copy, len, &err) == FT_EFORMAT);
            CHECK(f == NULL && err.pos <= len);
        }
        free(copy);
    }
}

static void refuses_an_image_that_is_not_aligned(void)
{
    _Alignas(8) uint32_t w[HAND_WORDS + 1];
    ft_forest *f;

    hand(w + 1);
    CHECK(ft_forest_load(&f, w + 1, HAND_BYTES, NULL) == FT_EINVAL && f == NULL);
}

/* Nodes of the hand-written tree that share a child, or are nobody's. */
static void refuses_what_is_no_tree(void)
{
    /* clang-format off */
    static const uint32_t shared[] = {
        0x4f465446u, 1, 1, 1,  0, 0,  5, 0,
        0, 1u << 10,
        0, 2u << 10,   /* children 3 and 4 */
        0, 1u << 10,   /* the same */
        0, 1,  0, 1,
    }, lone[] = {
        0x4f465446u, 1, 1, 1,  0, 0,  4, 0,
        0, 2u << 10,   /* children 2 and 3: nobody's child is 1 */
        0, 1,  0, 1,  0, 1,
    };
    /* clang-format on */
    _Alignas(8) uint32_t w[32];
    ft_error err = {0};
    ft_forest *f;

    memcpy(w, shared, sizeof(shared));
    CHECK(ft_forest_load(&f, w, sizeof(shared), &err) == FT_EFORMAT && !f);
    CHECK(err.pos == 32 + 2 * 8 + 4);
    memcpy(w, lone, sizeof(lone));
    CHECK(ft_forest_load(&f, w, sizeof(lone), &err) == FT_EFORMAT && !f);
    CHECK(err.pos == 32 + 8);
}

int main(void)
{
    predicts_the_mean_of_its_trees();
    names_the_bad_byte();
    refuses_every_other_length();
    refuses_an_image_that_is_not_aligned();
    refuses_what_is_no_tree();
    CHECK_DONE();
}
