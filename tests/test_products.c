/* Products inside operations, and what backward operations take and give: by
 * hand, from the textbook's matrix calculus. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "foretell/op.h"
#include "graph/op_inside.h"
#include "parse_spec.h"

enum { TEXT = 512 };

/* "2 matmul ...; 1 matmul ...": counts and specs without dtype. */
static void products_of(const char *spec, char *text)
{
    ft_product p[FT_MAX_PRODUCTS];
    ft_op op = parse(spec);
    uint32_t n = ft_op_products(&op, p);
    size_t at = 0;

    text[0] = 0;
    for (uint32_t i = 0; i < n && at < TEXT; i++) {
        char one[TEXT];

        ft_op_print(&p[i].op, one, sizeof(one));
        at += (size_t)snprintf(text + at, TEXT - at, "%s%llu %s", i ? "; " : "",
                               (unsigned long long)p[i].count, one);
    }
}

TEST(products_have_one_form_whatever_the_operation)
{
    static const struct {
        const char *spec, *want;
    } cases[] = {
        {"relu x=2x3", ""},
        {"linear x=8x197x768 out=3072 bias=1",
         "1 matmul x=1x3072x768 y=1x768x1576 dtype=fp32"},
        {"linear x=5x7 out=3 phase=backward",
         "1 matmul x=1x7x3 y=1x3x5 dtype=fp32; 1 matmul x=1x7x5 y=1x5x3 dtype=fp32"},
        {"linear x=5x7 out=3 phase=backward wrt=w",
         "1 matmul x=1x7x5 y=1x5x3 dtype=fp32"},
        {"matmul x=8x12x197x64 y=8x12x64x50",
         "1 matmul x=96x197x64 y=96x64x50 dtype=fp32"},
        {"matmul x=8x12x4x4 y=4x5", "1 matmul x=1x384x4 y=1x4x5 dtype=fp32"},
        {"matmul x=3x4 y=2x5x4x7", "1 matmul x=1x70x4 y=1x4x3 dtype=fp32"},
        {"matmul x=2x3x5 y=2x5x7 phase=backward",
         "1 matmul x=2x5x7 y=2x7x3 dtype=fp32; 1 matmul x=2x7x3 y=2x3x5 dtype=fp32"},
        {"attention x=2x4x9x8 y=2x2x7x8 z=2x2x7x16",
         "1 matmul x=8x9x8 y=8x8x7 dtype=fp32; 1 matmul x=8x16x7 y=8x7x9 dtype=fp32"},
        {"gru x=5x2x7 hidden=9",
         "1 matmul x=1x27x7 y=1x7x10 dtype=fp32; 5 matmul x=1x27x9 y=1x9x2 dtype=fp32"},
        {"conv2d x=2x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 bias=1 "
         "layout=channels_last",
         "1 conv2d x=2x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32"},
        {"conv2d x=2x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 bias=1 phase=backward",
         "1 conv2d x=2x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32 "
         "phase=backward wrt=x; "
         "1 conv2d x=2x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32 "
         "phase=backward wrt=w"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[TEXT];

        products_of(cases[i].spec, text);
        if (strcmp(text, cases[i].want))
            fprintf(stderr, "%s:\n  %s\n  %s\n", cases[i].spec, text, cases[i].want);
        CHECK(SAME(text, cases[i].want));
    }
}

TEST(flops_of_products_are_two_per_multiply_accumulate)
{
    static const struct {
        const char *spec;
        double want;
    } cases[] = {
        {"linear x=5x7 out=3 bias=1", 2. * 5 * 7 * 3},
        {"linear x=5x7 out=3 bias=1 phase=backward", 4. * 5 * 7 * 3},
        {"attention x=1x2x9x8 y=1x2x7x8 z=1x2x7x16", 2. * 2 * 9 * 7 * (8 + 16)},
        {"attention x=1x2x9x8 y=1x2x7x8 z=1x2x7x8 phase=backward",
         2. * 2 * 9 * 7 * 8 * 5},
        {"conv2d x=2x4x8x8 out=6 kernel=3x3 stride=2x2 pad=1x1 groups=2 bias=1",
         2. * 2 * 6 * 16 * 2 * 9},
        {"conv2d x=2x4x8x8 out=6 kernel=3x3 stride=2x2 pad=1x1 groups=2 phase=backward "
         "wrt=w",
         2. * 2 * 6 * 16 * 2 * 9},
        {"lstm x=5x2x7 hidden=9 directions=2 bias=1", 2. * 2 * 5 * 2 * 36 * (7 + 9)},
        {"lstm x=5x2x7 hidden=9 phase=backward wrt=x", 2. * 5 * 2 * 36 * (7 + 9)},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_product p[FT_MAX_PRODUCTS];
        ft_op op = parse(cases[i].spec);
        double sum = 0;

        for (uint32_t j = 0, n = ft_op_products(&op, p); j < n; j++)
            sum += ft_product_flops(&p[j]);
        CHECK_NEAR(sum, cases[i].want, 1e-9);
    }
}

/* "in, in > out, out": shapes of what an operation takes and gives. */
static void signature_of(const char *spec, char *text)
{
    ft_op op = parse(spec);
    uint32_t n_in = ft_op_n_inputs(&op), n_out = ft_op_n_outputs(&op);
    size_t at = 0;

    for (uint32_t i = 0; i < n_in + n_out; i++) {
        ft_shape s;
        ft_dtype t;

        if (i < n_in)
            ft_op_input(&op, i, &s, &t);
        else
            ft_op_output(&op, i - n_in, &s, &t);
        at += (size_t)snprintf(text + at, TEXT - at, "%s",
                               i == 0      ? ""
                               : i == n_in ? " > "
                                           : ", ");
        for (uint32_t d = 0; d < s.rank; d++)
            at +=
                (size_t)snprintf(text + at, TEXT - at, d ? "x%d" : "%d", (int)s.dim[d]);
        if (t != op.dtype)
            at += (size_t)snprintf(text + at, TEXT - at, " %s", ft_dtype_name(t));
    }
}

TEST(backward_takes_what_is_saved_and_gives_gradients)
{
    static const struct {
        const char *spec, *want;
    } cases[] = {
        {"relu x=2x3 phase=backward", "2x3, 2x3 > 2x3"},
        {"conv2d x=2x3x8x8 out=4 kernel=3x3 stride=2x2 pad=1x1 bias=1 phase=backward",
         "2x4x4x4, 2x3x8x8 > 2x3x8x8, 112"},
        {"conv2d x=2x3x8x8 out=4 kernel=3x3 stride=2x2 pad=1x1 phase=backward wrt=w",
         "2x4x4x4, 2x3x8x8 > 108"},
        {"matmul x=2x3 y=3x5 phase=backward", "2x5, 2x3, 3x5 > 2x3, 3x5"},
        {"matmul x=2x3 y=3x5 phase=backward wrt=y", "2x5, 2x3, 3x5 > 3x5"},
        {"embedding x=7 rows=10 dim=4 phase=backward", "7x4, 7 int64 > 40"},
        {"where x=2x3 y=2x3 z=3 phase=backward", "2x3, 2x3 bool > 2x3, 3"},
        {"attention x=1x2x9x8 y=1x2x7x8 z=1x2x7x16 phase=backward",
         "1x2x9x16, 1x2x9x8, 1x2x7x8, 1x2x7x16, 1x2x9x16 > 1x2x9x8, 1x2x7x8, 1x2x7x16"},
        {"softmax x=3x5 axis=1 phase=backward", "3x5, 3x5 > 3x5"},
        {"topk x=3x5 axis=1 size=2", "3x5 > 3x2, 3x2 int64"},
        {"conv2d x=1x3x8x8 out=4 kernel=3x3 stride=1x1 pad=0x0 to=int32 dtype=int8",
         "1x3x8x8 > 1x4x6x6 int32"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[TEXT] = "";

        signature_of(cases[i].spec, text);
        if (strcmp(text, cases[i].want))
            fprintf(stderr, "%s:\n  %s\n  %s\n", cases[i].spec, text, cases[i].want);
        CHECK(SAME(text, cases[i].want));
    }
}

TEST(all_gradients_have_one_spelling)
{
    ft_op a = parse("linear x=5x7 out=3 phase=backward"),
          b = parse("linear x=5x7 out=3 phase=backward wrt=xw");

    CHECK(ft_op_equal(&a, &b) && EQ(ft__op_hash(&a), ft__op_hash(&b)));
    CHECK_EQ(ft_op_wrt(&a), (FT_WRT_X | FT_WRT_WEIGHTS));
    b = parse("linear x=5x7 out=3 phase=backward wrt=w");
    CHECK(!ft_op_equal(&a, &b) && EQ(ft_op_wrt(&b), FT_WRT_WEIGHTS));
}
