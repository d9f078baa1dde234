/* Views with strides, the copies they cost, and what kernels need besides. */
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "foretell/graph.h"
#include "graph/build.h"
#include "graph/graph_inside.h"
#include "graph/lower.h"
#include "graph/memory.h"

static int64_t place_of(const ft_shape *s, const ft__strides *t, int64_t index)
{
    int64_t at = 0;

    for (uint32_t i = s->rank; i-- > 0;) {
        at += index % s->dim[i] * t->of[i];
        index /= s->dim[i];
    }
    return at;
}

static ft_shape random_shape(ft__prng *rng, int64_t elements)
{
    ft_shape s = {0};

    while (s.rank < 4) {
        int64_t d = 1 + ft__prng_below(rng, 4);

        s.dim[s.rank++] = elements % d == 0 ? d : 1;
        elements /= s.dim[s.rank - 1];
    }
    s.dim[s.rank++] = elements;
    return s;
}

/* Oracle: walk all elements. Strides, if there are any, are the distances between
 * the first element and its neighbours. */
static bool walk(const ft_shape *from, const ft__strides *t, const ft_shape *to)
{
    int64_t n = ft_shape_elements(from), step = 1;
    ft__strides need = {{0}};

    for (uint32_t i = to->rank; i-- > 0;) {
        if (to->dim[i] > 1)
            need.of[i] = place_of(from, t, step);
        step *= to->dim[i];
    }
    for (int64_t i = 0; i < n; i++)
        if (place_of(from, t, i) != place_of(to, &need, i))
            return false;
    return true;
}

TEST(a_reshape_is_a_view_where_some_strides_allow_it)
{
    ft__prng rng = ft__prng_stream(3, 0);
    int views = 0, copies = 0;

    for (int trial = 0; trial < 5000; trial++) {
        ft_shape x = random_shape(&rng, 48), to = random_shape(&rng, 48), p = x;
        ft__strides t = ft__strides_plain(&x), moved = t, out;
        bool is;

        for (uint32_t i = x.rank; i-- > 1;) { /* a random order of axes */
            uint32_t j = ft__prng_below(&rng, i + 1);
            int64_t d = p.dim[i], st = moved.of[i];

            if (ft__prng_below(&rng, 2))
                continue;
            p.dim[i] = p.dim[j], moved.of[i] = moved.of[j];
            p.dim[j] = d, moved.of[j] = st;
        }
        is = ft__strides_view(&p, &moved, &to, &out);
        CHECK_EQ(is, walk(&p, &moved, &to));
        for (int64_t i = 0; is && i < 48; i++)
            CHECK_EQ(place_of(&p, &moved, i), place_of(&to, &out, i));
        views += is;
        copies += !is;
    }
    CHECK(CMP(views, >, 500) && CMP(copies, >, 500));
}

TEST(orders_are_recognised)
{
    ft_shape s = {4, {2, 3, 4, 5}}, one = {4, {2, 1, 4, 5}};
    ft__strides plain = ft__strides_plain(&s), last = ft__strides_channels_last(&s), t;

    CHECK(EQ(plain.of[0], 60) && EQ(plain.of[1], 20) && EQ(plain.of[2], 5));
    CHECK(EQ(last.of[0], 60) && EQ(last.of[1], 1) && EQ(last.of[2], 15) &&
          EQ(last.of[3], 3));
    CHECK(ft__strides_are_plain(&s, &plain) && !ft__strides_are_plain(&s, &last));
    CHECK(ft__strides_are_channels_last(&s, &last));
    CHECK(!ft__strides_are_channels_last(&s, &plain));
    t = ft__strides_channels_last(&one);
    CHECK(ft__strides_are_plain(&one, &t) && !ft__strides_are_channels_last(&one, &t));
    /* A part of a larger tensor, channels inside: the same order without gaps. */
    t = (ft__strides){{240, 1, 60, 12}};
    t = ft__strides_like(&s, &t);
    CHECK(BYTES(&t, &last, sizeof(t)));
}

static uint32_t put(ft__build *b, const char *spec, const uint32_t *in, uint32_t n_in)
{
    uint32_t out[4];
    ft_op op;
    ft_error err;
    int st = ft_op_parse(&op, spec, strlen(spec), &err);

    if (st)
        fprintf(stderr, "%s: %s\n", spec, err.msg);
    CHECK_EQ(st, FT_OK);
    for (uint32_t i = 0; i < ft_op_n_outputs(&op); i++) {
        ft_shape s;
        ft_dtype t;

        ft_op_output(&op, i, &s, &t);
        out[i] = ft__build_tensor(b, "t", 1, FT_ROLE_ACTIVATION, t, &s);
    }
    ft__build_node(b, "n", 1, &op, in, n_in, NULL, 0, out, ft_op_n_outputs(&op));
    return out[0];
}

static uint32_t input(ft__build *b, ft_shape s)
{
    return ft__build_tensor(b, "x", 1, FT_ROLE_INPUT, FT_DTYPE_fp32, &s);
}

/* Graphs that are not laid out because nothing would change are what would come out. */
static void unchanged(const ft_graph *g, const ft_graph *out)
{
    CHECK_EQ(out->n_ops, g->n_ops);
    CHECK_EQ(out->n_nodes, g->n_nodes);
    CHECK_EQ(out->n_tensors, g->n_tensors);
    for (uint32_t i = 0; i < g->n_ops; i++)
        CHECK(ft_op_equal(&out->op[i], &g->op[i]) &&
              EQ(out->op_count[i], g->op_count[i]));
    for (uint32_t i = 0; i < g->n_tensors; i++)
        CHECK_EQ(out->tensor[i].storage, g->tensor[i].storage);
}

/* Lower; how many copies were added. */
static ft_graph *stride(ft__build *b, unsigned *copies)
{
    ft_graph *g, *out;

    *copies = 0;
    CHECK_EQ(ft__build_finish_take(&g, b, NULL), FT_OK);
    CHECK_EQ(ft__graph_lower(&out, g, FT_POLICY_STRIDED_VIEWS, NULL), FT_OK);
    for (uint32_t i = 0; i < out->n_nodes; i++)
        *copies += out->op[out->node[i].op].kind == FT_KIND_copy;
    if (ft__graph_is_plain(g))
        unchanged(g, out);
    ft_graph_free(g);
    return out;
}

TEST(moves_share_memory_until_order_matters)
{
    static const struct {
        const char *first, *second;
        ft_shape x;
        unsigned copies;
    } c[] = {
        {"transpose x=2x3x4 perm=1x0x2", "relu x=3x2x4", {3, {2, 3, 4}}, 0},
        {"transpose x=2x3x4 perm=1x0x2", "view x=3x2x4 out=6x4", {3, {2, 3, 4}}, 1},
        {"transpose x=2x3x4 perm=1x0x2", "view x=3x2x4 out=3x2x2x2", {3, {2, 3, 4}}, 0},
        {"transpose x=2x3x4 perm=1x0x2", "linear x=3x2x4 out=5", {3, {2, 3, 4}}, 1},
        {"transpose x=2x4 perm=1x0", "linear x=4x2 out=5", {2, {2, 4}}, 1},
        {"slice x=8x6 out=4x6", "linear x=4x6 out=5", {2, {8, 6}}, 0},
        {"slice x=2x8x6 out=2x4x6", "linear x=2x4x6 out=5", {3, {2, 8, 6}}, 1},
        {"expand x=1x6 out=4x6", "add x=4x6 y=1", {2, {1, 6}}, 0},
        {"expand x=1x6 out=4x6", "view x=4x6 out=24", {2, {1, 6}}, 1},
        {"transpose x=2x5x5x3 perm=0x3x1x2",
         "conv2d x=2x3x5x5 out=4 kernel=3x3 stride=1x1 pad=1x1",
         {4, {2, 5, 5, 3}},
         0},
        {"transpose x=2x3x5x5 perm=0x1x3x2",
         "conv2d x=2x3x5x5 out=4 kernel=3x3 stride=1x1 pad=1x1",
         {4, {2, 3, 5, 5}},
         1},
        {"transpose x=2x3x4 perm=0x2x1", "layernorm x=2x4x3 norm=1", {3, {2, 3, 4}}, 1},
    };

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
        ft__build *b = ft__build_new("moves");
        uint32_t x[2] = {input(b, c[i].x), 0}, y;
        unsigned copies;
        ft_graph *g;

        x[0] = y = put(b, c[i].first, x, 1);
        if (!strncmp(c[i].second, "add", 3))
            x[1] = input(b, (ft_shape){1, {1}});
        ft__build_output(b, put(b, c[i].second, x, x[1] ? 2 : 1));
        g = stride(b, &copies);
        if (copies != c[i].copies)
            fprintf(stderr, "%s, %s: %u copies\n", c[i].first, c[i].second, copies);
        CHECK_EQ(copies, c[i].copies);
        CHECK_EQ(g->tensor[y].storage, 0);
        ft_graph_free(g);
    }
}

TEST(what_lies_in_order_stays_as_it_is)
{
    static const struct {
        const char *spec;
        bool changes;
    } c[] = {
        {"view x=4x6 out=24", false},    {"linear x=4x6 out=5", false},
        {"softmax x=4x6 axis=1", false}, {"transpose x=4x6 perm=1x0", true},
        {"slice x=4x6 out=4x3", true},   {"expand x=4x6 out=2x4x6", true},
    };

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
        ft__build *b = ft__build_new("order");
        uint32_t x = input(b, (ft_shape){2, {4, 6}});
        ft_graph *g, *lowered;

        x = put(b, "relu x=4x6", &x, 1);
        ft__build_output(b, put(b, c[i].spec, &x, 1));
        CHECK_EQ(ft__build_finish_take(&g, b, NULL), FT_OK);
        CHECK_EQ(ft__graph_is_plain(g), !c[i].changes);
        CHECK_EQ(ft__graph_lower(&lowered, g, FT_POLICY_STRIDED_VIEWS, NULL), FT_OK);
        if (!c[i].changes)
            unchanged(g, lowered);
        ft_graph_free(lowered);
        ft_graph_free(g);
    }
}

/* Images that are given channels-last stay so, through what goes element by element. */
TEST(images_of_inputs_may_lie_channels_last)
{
    ft__build *b = ft__build_new("images");
    uint32_t x = input(b, (ft_shape){4, {2, 3, 5, 5}});
    uint32_t keys = input(b, (ft_shape){4, {2, 3, 5, 5}}); /* no images */
    ft_graph *g, *out;

    ft__build_output(b, put(b, "linear x=2x3x5x5 out=4", &keys, 1));
    x = put(b, "relu x=2x3x5x5", &x, 1);
    x = put(b, "conv2d x=2x3x5x5 out=4 kernel=3x3 stride=1x1 pad=1x1", &x, 1);
    x = put(b, "relu x=2x4x5x5", &x, 1);
    ft__build_output(b, put(b, "batchnorm x=2x4x5x5", &x, 1));
    CHECK_EQ(ft__build_finish_take(&g, b, NULL), FT_OK);
    for (uint32_t last = 0; last < 2; last++) {
        const ft_step step = {.mode = FT_MODE_INFERENCE};

        CHECK_EQ(ft_step_lower(&out, g,
                               FT_POLICY_STRIDED_VIEWS |
                                   (last ? FT_POLICY_CHANNELS_LAST : 0),
                               &step, NULL),
                 FT_OK);
        for (uint32_t i = 0; last && i < out->n_nodes; i++) {
            const ft_op *op = &out->op[out->node[i].op];

            CHECK(CMP(op->kind, !=, FT_KIND_copy));
            CHECK_EQ(op->layout, op->kind == FT_KIND_relu || op->kind == FT_KIND_linear
                                     ? FT_LAYOUT_PLAIN
                                     : FT_LAYOUT_CHANNELS_LAST);
        }
        CHECK_EQ(out != NULL, last);
        ft_graph_free(out);
    }
    ft_graph_free(g);
}

TEST(a_channels_last_convolution_is_told_so)
{
    ft__build *b = ft__build_new("nhwc");
    uint32_t x = input(b, (ft_shape){4, {2, 5, 5, 3}});
    unsigned copies;
    ft_graph *g;

    x = put(b, "transpose x=2x5x5x3 perm=0x3x1x2", &x, 1);
    x = put(b, "conv2d x=2x3x5x5 out=4 kernel=3x3 stride=1x1 pad=1x1", &x, 1);
    x = put(b, "relu x=2x4x5x5", &x, 1);
    x = put(b, "transpose x=2x4x5x5 perm=0x2x3x1", &x, 1);
    ft__build_output(b, put(b, "layernorm x=2x5x5x4 norm=1", &x, 1));
    g = stride(b, &copies);
    CHECK_EQ(copies, 0);
    CHECK_EQ(g->op[g->node[1].op].layout, FT_LAYOUT_CHANNELS_LAST);
    ft_graph_free(g);
}

/* The copy of a matrix product's operand is made once and kept; a layer norm's is
 * made each time. */
TEST(copies_of_products_are_kept)
{
    ft__build *b = ft__build_new("kept");
    uint32_t x = input(b, (ft_shape){3, {2, 3, 4}});
    unsigned copies;

    x = put(b, "transpose x=2x3x4 perm=1x0x2", &x, 1);
    put(b, "linear x=3x2x4 out=5", &x, 1);
    put(b, "linear x=3x2x4 out=6", &x, 1);
    ft_graph_free(stride(b, &copies));
    CHECK_EQ(copies, 1);
    b = ft__build_new("again");
    x = input(b, (ft_shape){3, {2, 3, 4}});
    x = put(b, "transpose x=2x3x4 perm=1x0x2", &x, 1);
    put(b, "layernorm x=3x2x4 norm=1", &x, 1);
    put(b, "layernorm x=3x2x4 norm=1", &x, 1);
    ft_graph_free(stride(b, &copies));
    CHECK_EQ(copies, 2);
}

/* Peaks of the allocations inside one operation, less its results, as PyTorch 2.15
 * made them (docs/memory.md). */
TEST(kernels_need_what_was_measured)
{
    static const struct {
        const char *spec;
        uint64_t bytes;
    } c[] = {
        {"conv2d x=8x64x56x56 out=256 kernel=1x1 stride=1x1 pad=0x0", 0},
        {"conv2d x=16x96x56x56 out=24 kernel=1x1 stride=1x1 pad=0x0", 20885504},
        {"conv2d x=8x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1", 6569984},
        {"conv2d x=8x3x224x224 out=64 kernel=7x7 stride=2x2 pad=3x3", 25690112},
        {"conv2d x=8x20x56x56 out=30 kernel=3x3 stride=1x1 pad=1x1", 3448832},
        {"conv2d x=8x512x7x7 out=512 kernel=3x3 stride=1x1 pad=1x1", 10240000},
        {"conv2d x=8x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 phase=backward",
         12845056},
        {"conv2d x=8x128x56x56 out=128 kernel=3x3 stride=2x2 pad=1x1 phase=backward",
         25100288},
        {"conv2d x=8x64x56x56 out=256 kernel=1x1 stride=1x1 pad=0x0 phase=backward", 0},
        {"batchnorm x=8x64x64x64 train=1 phase=backward", 8388608},
        {"adamw x=1048576 phase=optimizer", 8388608},
        {"sgd x=1048576 phase=optimizer", 0},
    };

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
        ft_op op;
        ft_error err;
        int st = ft_op_parse(&op, c[i].spec, strlen(c[i].spec), &err);

        if (st)
            fprintf(stderr, "%s: %s\n", c[i].spec, err.msg);
        CHECK_EQ(st, FT_OK);
        if (ft__scratch_of(&op, 0).bytes != c[i].bytes)
            fprintf(stderr, "%s: %llu\n", c[i].spec,
                    (unsigned long long)ft__scratch_of(&op, 0).bytes);
        CHECK_EQ(ft__scratch_of(&op, 0).bytes, c[i].bytes);
    }
}

/* Within one percent of the blocks that were seen. */
TEST(buffers_of_products_are_near_the_measured_ones)
{
    static const struct {
        const char *spec;
        double bytes;
    } c[] = {
        {"linear x=1024x768 out=3072 bias=1", 9513730},
        {"linear x=1024x768 out=768", 5974786},
        {"linear x=1024x768 out=30522", 20132659},
        {"linear x=8x2048 out=1000", 0},
        {"matmul x=64x64 y=64x64", 0},
        {"matmul x=4x1024x1024 y=4x1024x1024", 6417285},
        {"conv2d x=4x64x56x56 out=384 kernel=1x1 stride=1x1 pad=0x0", 6023712},
        {"conv2d x=4x256x28x28 out=256 kernel=1x1 stride=1x1 pad=0x0", 5302816},
        {"conv2d x=4x1024x14x14 out=512 kernel=1x1 stride=1x1 pad=0x0", 5163552},
        {"conv2d x=4x256x13x13 out=256 kernel=1x1 stride=1x1 pad=0x0", 0},
        {"conv2d x=16x256x28x28 out=256 kernel=1x1 stride=1x1 pad=0x0", 0},
    };

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
        ft_op op;

        CHECK_EQ(ft_op_parse(&op, c[i].spec, strlen(c[i].spec), NULL), FT_OK);
        CHECK_NEAR((double)ft__scratch_of(&op, 0).buffer, c[i].bytes,
                   0.012 * c[i].bytes);
    }
}

/* Blocks that were seen on an AMD EPYC. */
TEST(buffers_of_avx2_products_are_the_measured_ones)
{
    static const struct {
        const char *spec;
        uint64_t bytes;
    } c[] = {
        {"linear x=2x512 out=512", 0},
        {"linear x=8x512 out=512", 422560},
        {"linear x=64x512 out=512", 508576},
        {"linear x=512x512 out=512", 1000096},
        {"matmul x=64x64 y=64x64", 115360},
        {"matmul x=64x64 y=64x8", 0},
        {"matmul x=64x64 y=64x12", 90784},
        {"matmul x=256x150 y=150x256", 477856},
        {"matmul x=256x200 y=200x256", 324256},
        {"matmul x=256x300 y=300x256", 477856},
        {"matmul x=1024x512 y=512x9000", 5522080},
        {"matmul x=8x128x64 y=8x64x128", 213664},
        {"conv2d x=4x64x56x56 out=128 kernel=1x1 stride=1x1 pad=0x0", 1753760},
    };

    for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
        ft_op op;

        CHECK_EQ(ft_op_parse(&op, c[i].spec, strlen(c[i].spec), NULL), FT_OK);
        CHECK_EQ(ft__scratch_of(&op, FT_POLICY_MKL_AVX2).buffer, c[i].bytes);
    }
}
