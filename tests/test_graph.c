#include <stdio.h>
#include <string.h>

#include "base/prng.h"
#include "conformance_specs.h"
#include "graph/graph_inside.h"
#include "import/list.h"
#include "nets.h"

TEST(a_canonical_spec_reads_and_writes_itself)
{
    static const char *const texts[] = {
        "conv2d x=32x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32",
        ("conv2d x=1x96x14x14 out=96 kernel=3x3 stride=2x2 pad=0x0x1x1 dilation=2x2 "
         "groups=96 bias=1 dtype=fp32 layout=channels_last"),
        "linear x=1x197x768 out=3072 bias=1 dtype=fp16",
        "matmul x=12x197x64 y=12x64x197 dtype=bf16 phase=backward",
        "cast x=1x128 to=fp32 dtype=int64",
        "concat x=1x64x56x56 axis=1 sizes=64x32x32 dtype=fp32",
        "embedding x=1x128 rows=30522 dim=768 dtype=fp32",
        ("conv1d x=1x8x9 out=4 kernel=3 stride=1 pad=0 to=int32 weights=int8 "
         "dtype=uint8"),
        "linear x=1x64 out=8 weights=int4 block=32 dtype=fp16",
        "generic read=1000 out=1x10 dtype=fp32",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        ft_op op = parse(texts[i]);
        char text[512];

        CHECK_EQ(ft_op_print(&op, text, sizeof(text)), strlen(texts[i]));
        CHECK(SAME(text, texts[i]));
    }
}

TEST(keys_may_come_in_any_order_and_defaults_vanish)
{
    ft_op a =
        parse("conv2d dtype=fp32  pad=1x1 groups=1 dilation=1x1 stride=1x1 out=64 "
              "bias=0 kernel=3x3 x=32x64x56x56");
    ft_op b = parse("conv2d x=32x64x56x56 out=64 kernel=3x3 stride=1x1 pad=1x1");

    CHECK(ft_op_equal(&a, &b) && EQ(ft__op_hash(&a), ft__op_hash(&b)));
}

TEST(bad_specs_name_the_byte)
{
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"", "unknown operation"},
        {"conf2d x=1", "unknown operation \"conf2d\""},
        {"maxpool x=1",
         "unknown operation \"maxpool\"; did you mean maxpool1d, maxpool2d"},
        {"relu", "relu needs x="},
        {"relu x", "byte 5: expected key=value"},
        {"relu x=", "byte 7: expected a number"},
        {"relu x=1xx2", "byte 9: expected a number"},
        {"relu x=1,2", "byte 8: unexpected ','"},
        {"relu x=1 x=2", "byte 9: key x is given twice"},
        {"relu x=1 out=2", "byte 9: relu has no key \"out\""},
        {"relu x=1 dtype=fp33", "unknown dtype \"fp33\""},
        {"relu x=9999999999999999999", "number between 0 and 2^52"},
        {"relu x=1x1x1x1x1x1x1x1x1", "more than 8 dimensions"},
        {"relu x=4503599627370496x2", "more than 2^52 elements"},
        {"conv2d x=1x3x8x8 out=4 kernel=3 stride=1x1 pad=1x1", "one value per axis"},
        {"conv2d x=1x3x8x8 out=4 kernel=3x3 stride=0x1 pad=1x1", "must be 1 to 2^30"},
        {"conv2d x=1x3x8x8 out=4 kernel=9x9 stride=1x1 pad=0x0", "do not fit together"},
        {"conv2d x=1x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 groups=2",
         "groups must divide"},
        {"conv2d x=3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1", "x must be batch"},
        {"matmul x=2x3 y=4x5", "do not fit together"},
        {"add x=2x3 y=2x4", "do not fit together"},
        {"transpose x=2x3 perm=0x0", "every axis"},
        {"softmax x=2x3 axis=2", "outside x"},
        {"relu x=2x3 wrt=x", "wrt is for phase=backward"},
        {"relu x=2x3 phase=backward wrt=xw", "no such gradient"},
        {"relu x=2x3 phase=backward wrt=q", "unknown gradient \"q\""},
        {"argmax x=2x3 axes=1 phase=backward", "has no gradient"},
        {"topk x=2x3 axis=1 size=4", "do not fit together"},
        {"attention x=1x4x9x8 y=1x3x9x8 z=1x3x9x8", "do not fit together"},
        {"concat x=1x3 axis=1 sizes=2x2", "add up"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_op op;
        ft_error err = {0};

        CHECK_EQ(ft_op_parse(&op, cases[i].text, strlen(cases[i].text), &err),
                 FT_EFORMAT);
        if (!strstr(err.msg, cases[i].says))
            fprintf(stderr, "\"%s\" says: %s\n", cases[i].text, err.msg);
        CHECK(HAS(err.msg, cases[i].says));
    }
}

/* Whatever values a kind is given: what prints, reads back as itself. */
TEST(every_kind_survives_the_round_trip)
{
    ft__prng rng = ft__prng_stream(3, 0);
    unsigned good = 0;

    for (int k = 0; k < FT_KIND_COUNT; k++)
        for (int trial = 0; trial < 2000; trial++) {
            ft_op op, back;
            ft_key_id key;
            char text[2048];
            uint32_t rank = 1 + ft__prng_below(&rng, 5);

            ft__op_init(&op, (ft_kind)k, (ft_dtype)(1 + ft__prng_below(&rng, 20)));
            op.layout = (ft_layout)ft__prng_below(&rng, 2);
            for (uint32_t i = 0;
                 (key = ft__kind_key((ft_kind)k, i, NULL)) != FT_K_COUNT; i++) {
                int64_t v[FT_MAX_RANK];
                uint32_t n = key == FT_K_x             ? rank
                             : ft__prng_below(&rng, 3) ? (rank > 2 ? rank - 2 : 1)
                                                       : 1 + ft__prng_below(&rng, 4);

                for (uint32_t j = 0; j < n; j++)
                    v[j] = ft__prng_below(&rng, 9);
                CHECK(ft__op_set(&op, key, v, n));
            }
            if (ft_op_check(&op, NULL))
                continue;
            good++;
            ft_op_print(&op, text, sizeof(text));
            CHECK_EQ(ft_op_parse(&back, text, strlen(text), NULL), FT_OK);
            CHECK(ft_op_equal(&op, &back));
        }
    CHECK(CMP(good, >, 10000));
}

TEST(results_have_the_shapes_of_the_textbook)
{
    static const struct {
        const char *spec;
        ft_shape want;
    } cases[] = {
        {"conv2d x=1x3x224x224 out=64 kernel=7x7 stride=2x2 pad=3x3",
         {4, {1, 64, 112, 112}}},
        {"conv2d x=1x3x9x9 out=4 kernel=3x3 stride=2x2 pad=0x0x1x1", {4, {1, 4, 4, 4}}},
        {"conv2d x=1x3x9x9 out=4 kernel=3x3 stride=1x1 pad=0x0 dilation=2x2",
         {4, {1, 4, 5, 5}}},
        {"conv_transpose2d x=1x8x4x4 out=3 kernel=4x4 stride=2x2 pad=1x1",
         {4, {1, 3, 8, 8}}},
        {"maxpool2d x=1x64x55x55 kernel=3x3 stride=2x2 pad=0x0", {4, {1, 64, 27, 27}}},
        {"maxpool2d x=1x64x56x56 kernel=3x3 stride=2x2 pad=0x0 ceil=1",
         {4, {1, 64, 28, 28}}},
        {"maxpool2d x=1x1x5x5 kernel=1x1 stride=4x4 pad=1x1 ceil=1", {4, {1, 1, 2, 2}}},
        {"global_avgpool x=2x512x7x7", {4, {2, 512, 1, 1}}},
        {"linear x=2x197x768 out=10", {3, {2, 197, 10}}},
        {"matmul x=12x5x7 y=2x1x7x3", {4, {2, 12, 5, 3}}},
        {"add x=2x3x4 y=3x1", {3, {2, 3, 4}}},
        {"where x=1 y=4x1 z=5", {2, {4, 5}}},
        {"reduce_mean x=2x3x4 axes=1", {3, {2, 1, 4}}},
        {"reduce_mean x=2x3x4 axes=0x2 keep=0", {1, {3}}},
        {"transpose x=2x3x4 perm=2x0x1", {3, {4, 2, 3}}},
        {"concat x=1x3x2 axis=1 sizes=3x5", {3, {1, 8, 2}}},
        {"gather x=5x6x7 y=2x3 axis=1", {4, {5, 2, 3, 7}}},
        {"embedding x=2x9 rows=100 dim=16", {3, {2, 9, 16}}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_op op = parse(cases[i].spec);
        ft_shape s;
        ft_dtype t;

        ft_op_output(&op, 0, &s, &t);
        if (!ft_shape_equal(&s, &cases[i].want))
            fprintf(stderr, "%s\n", cases[i].spec);
        CHECK(ft_shape_equal(&s, &cases[i].want));
    }
}

TEST(costs_follow_the_formulae)
{
    static const struct {
        const char *spec;
        double flops, read, written, weights;
    } cases[] = {
        {"conv2d x=1x64x56x56 out=128 kernel=3x3 stride=1x1 pad=1x1",
         2.0 * 128 * 56 * 56 * 64 * 9, 4.0 * (64 * 56 * 56 + 128 * 64 * 9),
         4.0 * 128 * 56 * 56, 128 * 64 * 9},
        {"conv2d x=1x32x8x8 out=32 kernel=3x3 stride=1x1 pad=1x1 groups=32 bias=1",
         2.0 * 32 * 64 * 9 + 32 * 64, 4.0 * (32 * 64 + 32 * 9 + 32), 4.0 * 32 * 64,
         32 * 9 + 32},
        {"conv_transpose2d x=1x8x4x4 out=3 kernel=4x4 stride=2x2 pad=1x1",
         2.0 * 8 * 16 * 3 * 16, 4.0 * (8 * 16 + 8 * 3 * 16), 4.0 * 3 * 64, 8 * 3 * 16},
        {"linear x=4x16 out=8 bias=1", 2.0 * 4 * 16 * 8 + 32, 4.0 * (64 + 128 + 8),
         4.0 * 32, 136},
        {"matmul x=2x3x4 y=2x4x5", 2.0 * 2 * 3 * 5 * 4, 4.0 * (24 + 40), 4.0 * 30, 0},
        {"embedding x=1x10 rows=1000 dim=8", 0, 10 * (8 + 32.0), 4.0 * 80, 8000},
        {"view x=2x3 out=6", 0, 0, 0, 0},
        {"linear x=1x64 out=8 weights=int4 block=32 dtype=fp16", 2.0 * 64 * 8,
         64 * 2 + 64 * 8 / 2 + 8 * 2 * 2, 16, 512},
        {"linear x=1x65 out=8 bias=1 weights=int4 block=32 dtype=fp16",
         2.0 * 65 * 8 + 8, 65 * 2 + 65 * 8 / 2 + 8 * 3 * 2 + 16, 16, 528},
        {"linear x=4x16 out=8 bias=1 to=int32 weights=int8 dtype=uint8",
         2.0 * 4 * 16 * 8 + 32, 64 + 128 + 4 * 8, 4.0 * 32, 136},
        {"lstm x=3x1x8 hidden=4 weights=int8", 2.0 * 3 * 4 * 4 * 12 + 30 * 12,
         4 * 3 * 8 + 4 * 4 * 12, 4.0 * (12 + 4 + 4), 192},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_op op = parse(cases[i].spec);
        ft_cost c;

        ft_op_cost(&op, &c);
        CHECK_NEAR(c.flops, cases[i].flops, 0);
        CHECK_NEAR(c.bytes_read, cases[i].read, 0);
        CHECK_NEAR(c.bytes_written, cases[i].written, 0);
        CHECK_NEAR(c.weight_elements, cases[i].weights, 0);
    }
}

static uint32_t append(ft__build *b, const char *name, const char *spec,
                       const uint32_t *in, uint32_t n_in)
{
    ft_op op = parse(spec);
    uint32_t out[8];

    for (uint32_t i = 0; i < ft_op_n_outputs(&op); i++) {
        ft_shape s;
        ft_dtype t;

        ft_op_output(&op, i, &s, &t);
        out[i] = ft__build_tensor(b, name, strlen(name), FT_ROLE_ACTIVATION, t, &s);
    }
    ft__build_node(b, name, strlen(name), &op, in, n_in, NULL, 0, out,
                   ft_op_n_outputs(&op));
    return out[0];
}

TEST(equal_operations_are_counted_once)
{
    ft__build *b = ft__build_new("twice");
    uint32_t t = input(b, (ft_shape){2, {1, 1000}});
    ft_graph *g;

    for (int i = 0; i < 300; i++)
        t = append(b, "r", i % 3 ? "relu x=1x1000" : "tanh x=1x1000", &t, 1);
    g = finish(b, t);
    CHECK(EQ(g->n_nodes, 300) && EQ(g->n_ops, 2));
    CHECK(EQ(g->op_count[0], 100) && EQ(g->op_count[1], 200));
    ft_graph_free(g);
}

/* A product, a view of it, what is added to x: two results of a block, the last its
 * own. */
static uint32_t block(ft__build *b, const char *scope, uint32_t x)
{
    const ft_op linear = parse("linear x=4x8 out=8");
    const ft_shape square = {2, {8, 8}}, rows = {2, {4, 8}};
    const uint32_t w =
        ft__build_tensor(b, "w", 1, FT_ROLE_WEIGHT, FT_DTYPE_fp32, &square);
    uint32_t y = ft__build_tensor(b, "y", 1, FT_ROLE_ACTIVATION, FT_DTYPE_fp32, &rows);
    uint32_t pair[2] = {x};

    ft__build_scope(b, scope, strlen(scope));
    ft__build_node(b, "y", 1, &linear, &x, 1, &w, 1, &y, 1);
    y = append(b, "v", "view x=4x8 out=32", &y, 1);
    y = append(b, "v", "view x=32 out=4x8", &y, 1);
    pair[1] = y;
    return append(b, "add", "add x=4x8 y=4x8", pair, 2);
}

static bool same_numbers(const uint32_t *a, const uint32_t *b, uint32_t n)
{
    return n == 0 || memcmp(a, b, n * sizeof(*a)) == 0;
}

TEST(a_copy_is_what_would_have_been_made)
{
    ft__build *b = ft__build_new("blocks"), *c = ft__build_new("blocks");
    uint32_t in = input(b, (ft_shape){2, {4, 8}}), x = block(b, "layers.9", in), y;
    ft_graph *made, *copied;
    ft__build_mark from, to;

    made = finish(b, block(b, "layers.10", x));
    in = input(c, (ft_shape){2, {4, 8}});
    from = ft__build_here(c);
    x = block(c, "layers.9", in);
    to = ft__build_here(c);
    y = x + ft__build_here(c).n_tensors - from.n_tensors;
    ft__build_copy(c, &from, &to, in, x, "layers.9", "layers.10");
    copied = finish(c, y);
    CHECK(EQ(copied->n_tensors, made->n_tensors) && EQ(copied->n_ops, made->n_ops));
    CHECK(EQ(copied->n_nodes, 8) && EQ(copied->op_count[0], 2));
    for (uint32_t i = 0; i < made->n_tensors; i++) {
        const ft_tensor *t = &made->tensor[i], *u = &copied->tensor[i];

        CHECK(SAME(t->name, u->name) && EQ(t->role, u->role));
        CHECK(EQ(t->producer, u->producer) && EQ(t->storage, u->storage));
        CHECK(EQ(t->is_output, u->is_output));
        CHECK(ft_shape_equal(&t->shape, &u->shape));
    }
    for (uint32_t i = 0; i < made->n_nodes; i++) {
        const ft_node *n = &made->node[i], *o = &copied->node[i];

        CHECK(SAME(n->name, o->name) && SAME(n->scope, o->scope));
        CHECK(EQ(n->op, o->op) && EQ(n->n_in, o->n_in) && EQ(n->n_params, o->n_params));
        CHECK(same_numbers(n->in, o->in, n->n_in));
        CHECK(same_numbers(n->params, o->params, n->n_params));
        CHECK(same_numbers(n->out, o->out, n->n_out));
    }
    ft_graph_free(made);
    ft_graph_free(copied);
}

/* in -> a -> b -> c, and a -> c: a stays alive while b is made. */
TEST(the_plan_keeps_what_is_read_later_and_reuses_the_rest)
{
    ft__build *b = ft__build_new("skip");
    uint32_t in = input(b, (ft_shape){2, {1, 16}}), a, v, c, pair[2];
    ft_graph *g;
    ft_plan p;

    a = append(b, "a", "relu x=1x16", &in, 1);
    v = append(b, "b", "view x=1x16 out=16x1", &a, 1);
    v = append(b, "b", "relu x=16x1", &v, 1);
    v = append(b, "b", "view x=16x1 out=1x16", &v, 1);
    pair[0] = a;
    pair[1] = v;
    c = append(b, "c", "add x=1x16 y=1x16", pair, 2);
    g = finish(b, c);
    CHECK_EQ(ft_plan_make(&p, g, NULL), FT_OK);
    CHECK(EQ(p.lower_bound_bytes, 4 * 64) && EQ(p.arena_bytes, 4 * 64));
    CHECK_EQ(p.offset[v], p.offset[g->tensor[v].storage]);
    ft_plan_free(&p);
    ft_graph_free(g);
}

/* Oracle: simulate the pass and look for two live tensors that overlap. */
TEST(no_two_live_tensors_overlap)
{
    ft__prng rng = ft__prng_stream(11, 0);

    for (int trial = 0; trial < 50; trial++) {
        ft__build *b = ft__build_new("random");
        uint32_t t[64], n = 1, last[80] = {0};
        ft_graph *g;
        ft_plan p;

        t[0] = input(b, (ft_shape){2, {1, 64}});
        for (; n < 40; n++) {
            char spec[64];
            uint32_t from = t[ft__prng_below(&rng, n)];
            ft_shape s = ft__build_get(b, from)->shape;

            snprintf(spec, sizeof(spec), "linear x=1x%d out=%u", (int)s.dim[1],
                     1 + ft__prng_below(&rng, 4000));
            t[n] = append(b, "n", spec, &from, 1);
        }
        g = finish(b, t[n - 1]);
        CHECK_EQ(ft_plan_make(&p, g, NULL), FT_OK);
        CHECK(CMP(p.arena_bytes, >=, p.lower_bound_bytes));
        for (uint32_t i = 0; i < g->n_nodes; i++)
            last[g->node[i].in[0]] = i;
        last[t[n - 1]] = last[t[0]] = n;
        for (uint32_t i = 0; i < g->n_tensors; i++)
            for (uint32_t j = 0; j < i; j++) {
                const ft_tensor *x = &g->tensor[i], *y = &g->tensor[j];
                uint64_t nx = (uint64_t)x->shape.dim[1] * 4,
                         ny = (uint64_t)y->shape.dim[1] * 4;
                int live = x->producer <= last[j] || last[j] == n;

                if (live && p.offset[i] < p.offset[j] + ny &&
                    p.offset[j] < p.offset[i] + nx)
                    CHECK(0 && "two live tensors share memory");
            }
        ft_plan_free(&p);
        ft_graph_free(g);
    }
}

static unsigned count_kind(const ft_graph *g, ft_kind k)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < g->n_nodes; i++)
        n += g->op[g->node[i].op].kind == k;
    return n;
}

TEST(lowering_inserts_a_transpose_only_where_bytes_move)
{
    static const struct {
        const char *tail; /* what follows conv and relu on 1x8x6x6 */
        unsigned transposes;
    } cases[] = {
        {"global_avgpool x=1x8x6x6", 0},
        {"view x=1x8x6x6 out=1x288", 1},
        {"transpose x=1x8x6x6 perm=0x2x3x1", 0},
        {"transpose x=1x8x6x6 perm=0x1x3x2", 2},
        {"reduce_mean x=1x8x6x6 axes=2x3 keep=0", 0},
        {"view x=1x8x6x6 out=1x8x36", 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft__build *b = ft__build_new("cnn");
        uint32_t t = input(b, (ft_shape){4, {1, 3, 6, 6}});
        ft_graph *g, *low, *same;

        t = append(b, "conv", "conv2d x=1x3x6x6 out=8 kernel=3x3 stride=1x1 pad=1x1",
                   &t, 1);
        t = append(b, "relu", "relu x=1x8x6x6", &t, 1);
        t = append(b, "tail", cases[i].tail, &t, 1);
        g = finish(b, t);
        CHECK_EQ(ft__graph_lower(&low, g, FT_POLICY_CHANNELS_LAST, NULL), FT_OK);
        CHECK_EQ(low->op[0].layout, FT_LAYOUT_CHANNELS_LAST);
        if (count_kind(low, FT_KIND_transpose) != cases[i].transposes)
            fprintf(stderr, "%s: %u\n", cases[i].tail,
                    count_kind(low, FT_KIND_transpose));
        CHECK_EQ(count_kind(low, FT_KIND_transpose), cases[i].transposes);
        CHECK_EQ(ft__graph_lower(&same, g, 0, NULL), FT_OK);
        CHECK_EQ(same->n_nodes, g->n_nodes);
        CHECK_EQ(same->n_ops, g->n_ops);
        ft_graph_free(low);
        ft_graph_free(same);
        ft_graph_free(g);
    }
}

static int64_t peak_of(const ft_graph *g)
{
    ft_plan plan;
    int64_t bytes;

    CHECK_EQ(ft_plan_make(&plan, g, NULL), FT_OK);
    bytes = (int64_t)plan.arena_bytes;
    ft_plan_free(&plan);
    return bytes;
}

/* What relax fuses: an activation behind a bias, or behind an addition, is none of its
 * own; where the bias is missing, where somebody else reads what is between, and where
 * exponentials are taken, it is. */
TEST(a_compiler_adds_and_activates_where_results_are_written)
{
    static const struct {
        const char *conv, *then, *last;
        uint32_t left; /* operations that are no views */
        bool shared;   /* what the convolution gives is read twice */
        int bias;      /* that the convolution still adds */
    } cases[] = {
        {" bias=1", "relu x=1x8x6x6", "clip x=1x8x6x6", 1, false, 1},
        {"", "relu x=1x8x6x6", "clip x=1x8x6x6", 2, false, 0},
        {" bias=1", "silu x=1x8x6x6", "clip x=1x8x6x6", 2, false, 0},
        {" bias=1", "relu x=1x8x6x6", "softmax x=1x8x6x6 axis=3", 2, false, 1},
        {" bias=1", "relu x=1x8x6x6", "add x=1x8x6x6 y=1x8x6x6", 2, true, 1},
        {" bias=1", "maxpool2d x=1x8x6x6 kernel=3x3 stride=1x1 pad=1x1",
         "relu x=1x8x6x6", 3, false, 1},
        {" bias=1", "silu x=1x8x6x6", "add x=1x8x6x6 y=1x8x6x6", 2, true, 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft__build *b = ft__build_new("fused");
        uint32_t t = input(b, (ft_shape){4, {1, 3, 6, 6}}), n = 0, in[2];
        char conv[128];
        ft_graph *g, *low, *plain;

        snprintf(conv, sizeof(conv),
                 "conv2d x=1x3x6x6 out=8 kernel=3x3 stride=1x1 pad=1x1%s",
                 cases[i].conv);
        in[1] = t = append(b, "conv", conv, &t, 1);
        in[0] = t = append(b, "then", cases[i].then, &t, 1);
        t = append(b, "last", cases[i].last, in, cases[i].shared ? 2 : 1);
        g = finish(b, t);
        CHECK_EQ(ft__graph_lower(&low, g, FT_POLICY_FUSED, NULL), FT_OK);
        CHECK_EQ(ft__graph_lower(&plain, g, 0, NULL), FT_OK);
        for (uint32_t k = 0; k < low->n_nodes; k++)
            n += low->op[low->node[k].op].kind != FT_KIND_view;
        CHECK_EQ(n, cases[i].left);
        CHECK_EQ(ft_op_at(&low->op[low->node[0].op], FT_K_bias, 0), cases[i].bias);
        CHECK_EQ(plain->n_nodes, 3);
        CHECK_EQ(low->n_nodes, 3);
        CHECK_EQ(peak_of(low), peak_of(plain)); /* kernels have both results */
        ft_graph_free(low);
        ft_graph_free(plain);
        ft_graph_free(g);
    }
}

TEST(lowering_keeps_phases_and_takes_nodes_without_operands)
{
    static const char *const texts[] = {"fill out=1x4x8x8 dtype=fp32",
                                        "relu x=1x4x8x8 dtype=fp32 phase=backward"};
    static const ft_phase phases[] = {FT_PHASE_FORWARD, FT_PHASE_BACKWARD};
    ft__build *b = ft__build_new("step");
    ft_graph *g, *low;
    ft_op op;

    for (int i = 0; i < 2; i++) {
        CHECK_EQ(ft_op_parse(&op, texts[i], strlen(texts[i]), NULL), FT_OK);
        ft__build_phase(b, phases[i]);
        ft__list_op(b, "", 0, &op, 1);
    }
    CHECK_EQ(ft__build_finish_take(&g, b, NULL), FT_OK);
    CHECK_EQ(ft__graph_lower(&low, g, FT_POLICY_CHANNELS_LAST, NULL), FT_OK);
    CHECK(low && EQ(low->n_nodes, 2));
    for (uint32_t i = 0; low && i < 2; i++)
        CHECK_EQ(low->node[i].phase, phases[i]);
    CHECK(low && EQ(low->mode, FT_MODE_TRAINING));
    ft_graph_free(low);
    ft_graph_free(g);
}

TEST(writing_over_x_is_another_operation)
{
    static const char over[] = "relu x=2x3x4x5 dtype=fp32 inplace=1";
    static const char *const bad[] = {
        "matmul x=2x3 y=3x4 inplace=1",        /* not elementwise */
        "add x=1x3 y=2x3 inplace=1",           /* the result is larger than x */
        "relu x=2x3 phase=backward inplace=1", /* not forward */
        "relu x=2x3 inplace=2",
    };
    ft_op a = parse(over), b = parse("relu x=2x3x4x5 dtype=fp32"), c;
    char text[128];

    CHECK(EQ(a.in_place, 1) && EQ(b.in_place, 0));
    CHECK(!ft_op_equal(&a, &b) && CMP(ft__op_hash(&a), !=, ft__op_hash(&b)));
    CHECK(EQ(ft_op_print(&a, text, sizeof(text)), strlen(over)) && SAME(text, over));
    c = parse("relu x=2x3x4x5 dtype=fp32 inplace=0");
    CHECK(ft_op_equal(&b, &c));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        CHECK(EQ(ft_op_parse(&c, bad[i], strlen(bad[i]), NULL), FT_EFORMAT) ||
              EQ(ft_op_parse(&c, bad[i], strlen(bad[i]), NULL), FT_EINVAL));
}

static void costs(const char *spec, double flops, double read, double written)
{
    ft_op op = parse(spec);
    ft_cost c;

    ft_op_cost(&op, &c);
    CHECK_NEAR(c.flops, flops, 1e-9 * flops);
    CHECK_NEAR(c.bytes_read, read, 1e-9 * read);
    CHECK_NEAR(c.bytes_written, written, 1e-9 * written);
}

/* By hand. Each of 5 rows goes to 2 of 4 experts: 10 picks of three products of 16 x
 * 12, a gate of 12 (6 each), and 16 results weighted and added. An expert that every
 * row passes by with probability 1/2 is read by 1 - 1/32. Of ep=2 devices one does
 * half, tp=3 leaves 4 of 12 columns. */
TEST(experts_cost_what_is_picked)
{
    costs("moe x=5x16 hidden=12 experts=4 topk=2 dtype=fp32",
          10 * (3 * 2 * 16 * 12 + 6 * 12 + 2 * 16),
          5 * 16 * 4 + 4 * 3 * 16 * 12 * 4 * (1 - 1.0 / 32), 5 * 16 * 4);
    costs("moe x=5x16 hidden=12 experts=4 topk=2 tp=3 ep=2 dtype=fp32",
          5 * (3 * 2 * 16 * 4 + 6 * 4 + 2 * 16),
          5 * 16 * 4 + 2 * 3 * 16 * 4 * 4 * (1 - 1.0 / 32), 5 * 16 * 4);
    costs("moe x=1x16 hidden=12 experts=4 topk=4 to=bf16 block=16 dtype=fp4",
          4 * (3 * 2 * 16 * 12 + 6 * 12 + 2 * 16), 8 + 4 * 3 * 12 * (8 + 1.0), 32);
    costs("moe x=1x16 hidden=32 experts=4 topk=4 weights=fp4 block=32 dtype=bf16",
          4 * (3 * 2 * 16 * 32 + 6 * 32 + 2 * 16), 32 + 4 * 3 * 16 * (16 + 1.0), 32);
}

TEST(what_passes_its_operand_on_costs_nothing)
{
    costs("stochastic_depth x=2x3x4x4 dtype=fp32", 0, 0, 0);
    costs("stochastic_depth x=2x3x4x4 train=1 dtype=fp32", 96, 384, 384);
}

/* A ring: 7/8 of the data is sent twice, once to be added up. */
TEST(a_collective_moves_its_data_around_a_ring)
{
    costs("collective x=800 ranks=8 dtype=fp32", 700, 5600, 5600);
    costs("collective x=800 ranks=1 dtype=fp32", 0, 0, 0);
}

static void weights_add_up(const char *spec)
{
    ft_op op = parse(spec);
    ft_cost c;
    double sum = 0;

    for (uint32_t k = 0; k < ft_op_n_params(&op); k++) {
        ft_param p;

        ft_op_param(&op, k, &p);
        sum += (double)ft_shape_elements(&p.shape);
    }
    ft_op_cost(&op, &c);
    CHECK_NEAR(sum, c.weight_elements, 0);
}

TEST(weights_listed_one_by_one_are_all_weights)
{
    for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++)
        weights_add_up(specs[i]);
    for (size_t i = 0; i < sizeof(optional_specs) / sizeof(*optional_specs); i++)
        weights_add_up(optional_specs[i]);
    weights_add_up("lstm x=5x2x8 hidden=16 directions=2 bias=1");
    weights_add_up("gru x=5x2x8 hidden=16");
}

static ft_graph *listed(const char *text)
{
    ft_graph *g;
    ft_error err = {0};

    CHECK_EQ(ft_import_ops(&g, text, strlen(text), "list", &err), FT_OK);
    return g;
}

TEST(a_cast_changes_what_is_computed_in_and_nothing_else)
{
    ft_graph *g = listed("linear x=1x512 out=100 dtype=fp32 *2\n"
                         "relu x=1x100 dtype=fp32\nrelu x=1x100 dtype=bf16 *3\n"
                         "cast x=1x100 to=fp32 dtype=int64\n"
                         "cast x=1x100 to=bf16 dtype=fp32\n"
                         "cast x=1x100 to=fp16 dtype=fp32\n");
    static const char *const now[] = {
        "linear x=1x512 out=100 dtype=bf16", "relu x=1x100 dtype=bf16",
        "cast x=1x100 to=bf16 dtype=int64", "view x=1x100 out=1x100 dtype=bf16",
        "cast x=1x100 to=fp16 dtype=bf16"};
    static const uint64_t times[] = {2, 4, 1, 1, 1};
    ft_graph *made;
    ft_error err = {0};

    CHECK_EQ(ft__graph_dtype(g), FT_DTYPE_fp32);
    CHECK(EQ(ft__graph_cast(&made, g, FT_DTYPE_int8, &err), FT_EINVAL) && !made);
    CHECK_EQ(ft__graph_cast(&made, g, FT_DTYPE_bf16, &err), FT_OK);
    ft_graph_free(g);
    g = made;
    CHECK_EQ(g->n_assumptions, 1);
    CHECK_EQ(g->n_ops, 5);
    for (uint32_t i = 0; i < 5; i++) {
        char text[256];

        ft_op_print(&g->op[i], text, sizeof(text));
        CHECK(SAME(text, now[i]));
        CHECK_EQ(g->op_count[i], times[i]);
    }
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *n = &g->node[i];
        ft_shape s;
        ft_dtype t;

        ft_op_output(&g->op[n->op], 0, &s, &t);
        CHECK_EQ(g->tensor[n->out[0]].dtype, t);
    }
    ft_graph_free(g);
    g = listed("linear x=1x512 out=100 dtype=int8\n");
    CHECK(EQ(ft__graph_cast(&made, g, FT_DTYPE_fp16, &err), FT_EINVAL) && !made);
    ft_graph_free(g);
}
