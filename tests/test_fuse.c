/* Which operations become one kernel, and what they then move. */
#include "graph/fuse.h"

#include <stdlib.h>

#include "nets.h"

static ft__fused *fused(const ft_graph *g)
{
    ft__fused *f;
    ft_error err = {0};

    if (ft__graph_fuse(&f, g, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        CHECK(0);
        exit(1);
    }
    return f;
}

static const ft__fused *of(const ft__fused *f, const ft_graph *g, ft_kind kind)
{
    uint32_t i = 0;

    while (i < g->n_ops && g->op[i].kind != kind)
        i++;
    CHECK(CMP(i, <, g->n_ops));
    return &f[i];
}

#define X "x=4x8x16x16"

static ft_shape images(void)
{
    return (ft_shape){4, {4, 8, 16, 16}};
}

/* A network of up to three operations. Values are 1 for its input and k + 1 for what
 * operation k gives; what is NAN may be anything. */
struct net {
    const char *why;
    struct {
        const char *spec;
        int x, y; /* operands; y 0: none */
    } op[3];
    struct {
        ft_kind kind;
        double moved, kernels;
    } want[3];
};

#define CONV "conv2d " X " out=8 kernel=1x1 stride=1x1 pad=0x0"

static const struct net nets[] = {
    {"what nobody reads is a result: lists name none",
     {{"relu " X, 1, 0}, {"tanh " X, 1, 0}},
     {{FT_KIND_relu, 1, 1}, {FT_KIND_tanh, 1, 1}}},
    {"of a chain relu reads, softplus stays inside, tanh writes",
     {{"relu " X, 1, 0}, {"softplus " X, 2, 0}, {"tanh " X, 3, 0}},
     {{FT_KIND_relu, 0.5, 1}, {FT_KIND_softplus, 0, 0}, {FT_KIND_tanh, 0.5, 0}}},
    {"one kernel of relu and add would have to run before and after the convolution",
     {{"relu " X, 1, 0}, {CONV, 2, 0}, {"add " X " y=4x8x16x16", 3, 2}},
     {{FT_KIND_relu, 1, NAN}, {FT_KIND_conv2d, 1, 1}, {FT_KIND_add, 1, 1}}},
    {"inputs are copied outside of what is compiled",
     {{"copy " X, 1, 0}, {"relu " X, 2, 0}},
     {{FT_KIND_copy, 1, NAN}, {FT_KIND_relu, 1, 1}}},
    {"the sum is over before anything is divided by it; exp is computed for both",
     {{"reduce_sum " X " axes=1x2x3", 1, 0}, {"div " X " y=4x1x1x1", 1, 2}},
     {{FT_KIND_reduce_sum, NAN, 1}, {FT_KIND_div, 1, 1}}},
    {"what is computed in place stays inside as well",
     {{"relu " X, 1, 0}, {"tanh " X " inplace=1", 2, 0}, {CONV, 3, 0}},
     {{FT_KIND_relu, 0.5, 1}, {FT_KIND_tanh, 0.5, 0}, {FT_KIND_conv2d, 1, 1}}},
    {"both operands of the product are read once, by the first that needs them",
     {{"sigmoid " X, 1, 0}, {"mul " X " y=4x8x16x16", 2, 1}},
     {{FT_KIND_sigmoid, 0.5, NAN}, {FT_KIND_mul, 1. / 3, NAN}}},
    {"norms go on with what follows, pools begin anew",
     {{"softmax " X " axis=3", 1, 0},
      {"relu " X, 2, 0},
      {"avgpool2d " X " kernel=2x2 stride=2x2 pad=0x0", 3, 0}},
     {{FT_KIND_softmax, 0.5, NAN}, {FT_KIND_relu, NAN, 0}, {FT_KIND_avgpool2d, 1, 1}}},
};

static ft_graph *graph_of(const struct net *net)
{
    ft__build *b = ft__build_new("net");
    uint32_t value[5] = {[1] = input(b, images())}, n = 0;

    for (; n < 3 && net->op[n].spec; n++) {
        const char *spec = net->op[n].spec;
        const uint32_t x = value[net->op[n].x];

        value[n + 2] =
            net->op[n].y ? two(b, spec, x, value[net->op[n].y])
            : strcmp(spec, CONV)
                ? one(b, spec, x)
                : with(b, spec, x, weight(b, "w", (ft_shape){4, {8, 8, 1, 1}}));
        if (strstr(spec, "inplace"))
            ft__build_alias(b, value[n + 2], x);
    }
    return finish(b, value[n + 1]);
}

TEST(operations_share_kernels_where_they_can)
{
    for (size_t i = 0; i < sizeof(nets) / sizeof(*nets); i++) {
        ft_graph *g = graph_of(&nets[i]);
        ft__fused *f = fused(g);

        for (int k = 0; k < 3 && nets[i].op[k].spec; k++) {
            const ft__fused *is = of(f, g, nets[i].want[k].kind);
            const double moved = nets[i].want[k].moved;
            const double kernels = nets[i].want[k].kernels;

            if (fabs(is->moved - moved) > 1e-12 ||
                fabs(is->launched + is->generated - kernels) > 0)
                fprintf(stderr, "%s\n", nets[i].why);
            CHECK(isnan(moved) || CMP(fabs(is->moved - moved), <=, 1e-12));
            CHECK(isnan(kernels) || EQ(is->launched + is->generated, kernels));
        }
        free(f);
        ft_graph_free(g);
    }
}

/* A convolution of images between the network's ends: its operand is laid last by a
 * copy of its own, and so is its result back, unless what adds its bias writes it as it
 * is wanted. */
TEST(images_are_copied_where_nothing_generated_does_it)
{
    static const struct {
        const char *conv;
        bool relu, last; /* behind it; a second convolution behind that */
        double in, out, biased;
    } given[] = {
        {"", false, false, 1, 1, 0},          {" bias=1", false, false, 1, 0, 0},
        {"", true, false, 1, 0, 0},           {" bias=1", true, false, 1, 0, 1},
        {"", false, true, 0.5, 0.5, 0}, /* both are one unique operation */
        {" bias=1", true, true, 0.5, 0, 0.5},
    };

    for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
        ft__build *b = ft__build_new("net");
        uint32_t t = input(b, images());
        char spec[128];
        ft_graph *g;
        ft__fused *f;

        snprintf(spec, sizeof(spec),
                 "conv2d " X " out=8 kernel=1x1 stride=1x1 pad=0x0%s dtype=fp32",
                 given[i].conv);
        t = with(b, spec, t, weight(b, "w", (ft_shape){4, {8, 8, 1, 1}}));
        if (given[i].relu)
            t = one(b, "relu " X " dtype=fp32", t);
        if (given[i].last)
            t = with(b, spec, t, weight(b, "v", (ft_shape){4, {8, 8, 1, 1}}));
        g = finish(b, t);
        f = fused(g);
        CHECK_NEAR(of(f, g, FT_KIND_conv2d)->copied_in, given[i].in, 1e-12);
        CHECK_NEAR(of(f, g, FT_KIND_conv2d)->copied_out, given[i].out, 1e-12);
        CHECK_NEAR(of(f, g, FT_KIND_conv2d)->biased, given[i].biased, 1e-12);
        free(f);
        ft_graph_free(g);
    }
}

/* Whose channels lie last: what is computed from such a convolution's images, as
 * images; not what a patch convolution's rows become. */
TEST(images_stay_laid_last_to_the_next_product)
{
    static const char conv[] = "conv2d " X " out=8 kernel=1x1 stride=1x1 pad=0x0",
                      softmax[] = "softmax " X " axis=1 dtype=fp32";

    for (int rowed = 0; rowed < 2; rowed++) {
        ft__build *b = ft__build_new("net");
        uint32_t t = one(b, "tanh " X " dtype=fp32", input(b, images()));
        ft_graph *g;
        ft__fused *f;

        t = with(b, conv, t, weight(b, "w", (ft_shape){4, {8, 8, 1, 1}}));
        t = one(b, "relu " X " dtype=fp32", t);
        if (rowed) {
            t = one(b, "transpose x=4x8x256 perm=0x2x1 dtype=fp32", t);
            t = with(b, "linear x=4x256x8 out=8 dtype=fp32", t,
                     weight(b, "v", (ft_shape){2, {8, 8}}));
        }
        g = finish(b, one(b, softmax, t));
        f = fused(g);
        CHECK(EQ(of(f, g, FT_KIND_tanh)->laid_last, 0.));
        CHECK(EQ(of(f, g, FT_KIND_conv2d)->laid_last, 1.));
        CHECK(EQ(of(f, g, FT_KIND_relu)->laid_last, 1.));
        CHECK(EQ(of(f, g, FT_KIND_softmax)->laid_last, rowed ? 0. : 1.));
        free(f);
        ft_graph_free(g);
    }
}

/* Of volumes the bias is added by what follows as well, but their layout stays; the
 * largest of a window is PyTorch's kernel, which adds none and goes on into nothing. */
TEST(volumes_stay_as_they_are)
{
    static const char pool[] =
        "maxpool3d x=2x8x6x6x6 kernel=2x2x2 stride=2x2x2 pad=0x0x0 dtype=fp32";

    for (int relu = 0; relu < 2; relu++) {
        ft__build *b = ft__build_new("net");
        uint32_t t = input(b, (ft_shape){5, {2, 4, 8, 8, 8}});
        ft_graph *g;
        ft__fused *f;

        t = with(b,
                 "conv3d x=2x4x8x8x8 out=8 kernel=3x3x3 stride=1x1x1 pad=0x0x0 bias=1 "
                 "dtype=fp32",
                 t, weight(b, "w", (ft_shape){5, {8, 4, 3, 3, 3}}));
        if (relu)
            t = one(b, "relu x=2x8x6x6x6 dtype=fp32", t);
        t = one(b, "tanh x=2x8x3x3x3 dtype=fp32", one(b, pool, t));
        g = finish(b, t);
        f = fused(g);
        CHECK(EQ(of(f, g, FT_KIND_conv3d)->biased, (double)relu));
        CHECK(EQ(of(f, g, FT_KIND_conv3d)->copied_in, 0.));
        CHECK(EQ(of(f, g, FT_KIND_tanh)->generated, 1.));
        free(f);
        ft_graph_free(g);
    }
}

/* Without statistics a batch norm is elementwise: it goes on into a reduction. */
TEST(a_batch_norm_of_inference_is_elementwise)
{
    static const char *const norm[] = {"batchnorm " X " dtype=fp32",
                                       "batchnorm " X " train=1 dtype=fp32"};

    for (int i = 0; i < 2; i++) {
        ft__build *b = ft__build_new("net");
        const uint32_t n = one(b, norm[i], input(b, images()));
        ft_graph *g = finish(b, one(b, "reduce_sum " X " axes=1x2x3 dtype=fp32", n));
        ft__fused *f = fused(g);

        CHECK_NEAR(of(f, g, FT_KIND_reduce_sum)->generated, i, 0);
        free(f);
        ft_graph_free(g);
    }
}
