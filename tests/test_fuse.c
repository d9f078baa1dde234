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

/* relu reads, softplus stays inside, tanh writes. */
static void a_chain_is_one_kernel(void)
{
    ft__build *b = ft__build_new("net");
    const uint32_t x = input(b, images());
    const uint32_t r = one(b, "relu " X " dtype=fp32", x);
    const uint32_t s = one(b, "softplus " X " dtype=fp32", r);
    ft_graph *g = finish(b, one(b, "tanh " X " dtype=fp32", s));
    ft__fused *f = fused(g);

    CHECK_NEAR(of(f, g, FT_KIND_relu)->moved, 0.5, 1e-12);
    CHECK_NEAR(of(f, g, FT_KIND_relu)->launched, 1, 0);
    CHECK_NEAR(of(f, g, FT_KIND_softplus)->moved, 0, 1e-12);
    CHECK_NEAR(of(f, g, FT_KIND_softplus)->launched, 0, 0);
    CHECK_NEAR(of(f, g, FT_KIND_tanh)->moved, 0.5, 1e-12);
    CHECK_NEAR(of(f, g, FT_KIND_tanh)->launched, 0, 0);
    free(f);
    ft_graph_free(g);
}

/* relu feeds the convolution and what comes after it: one kernel would have to run both
 * before and after the convolution. */
static void kernels_never_wait_for_themselves(void)
{
    ft__build *b = ft__build_new("net");
    const uint32_t x = input(b, images());
    const uint32_t w = weight(b, "w", (ft_shape){4, {8, 8, 1, 1}});
    const uint32_t r = one(b, "relu " X " dtype=fp32", x);
    const uint32_t c =
        with(b, "conv2d " X " out=8 kernel=1x1 stride=1x1 pad=0x0 dtype=fp32", r, w);
    ft_graph *g = finish(b, two(b, "add " X " y=4x8x16x16 dtype=fp32", c, r));
    ft__fused *f = fused(g);

    CHECK_NEAR(of(f, g, FT_KIND_relu)->moved, 1, 1e-12);
    CHECK_NEAR(of(f, g, FT_KIND_conv2d)->moved, 1, 1e-12);
    CHECK_NEAR(of(f, g, FT_KIND_conv2d)->launched, 1, 0);
    CHECK_NEAR(of(f, g, FT_KIND_add)->moved, 1, 1e-12);
    CHECK_NEAR(of(f, g, FT_KIND_add)->launched, 1, 0);
    free(f);
    ft_graph_free(g);
}

/* Inputs are copied outside of what is compiled. */
static void copies_of_inputs_are_nobodys_kernel(void)
{
    ft__build *b = ft__build_new("net");
    const uint32_t c = one(b, "copy " X " dtype=fp32", input(b, images()));
    ft_graph *g = finish(b, one(b, "relu " X " dtype=fp32", c));
    ft__fused *f = fused(g);

    CHECK_NEAR(of(f, g, FT_KIND_copy)->moved, 1, 1e-12);
    CHECK_NEAR(of(f, g, FT_KIND_relu)->moved, 1, 1e-12);
    CHECK_NEAR(of(f, g, FT_KIND_relu)->launched, 1, 0);
    free(f);
    ft_graph_free(g);
}

/* The sum is over before anything is divided by it; exp is computed for both. */
static void a_sum_that_spreads_ends_its_kernel(void)
{
    ft__build *b = ft__build_new("net");
    const uint32_t x = input(b, images());
    const uint32_t s = one(b, "reduce_sum " X " axes=1x2x3 dtype=fp32", x);
    ft_graph *g = finish(b, two(b, "div " X " y=4x1x1x1 dtype=fp32", x, s));
    ft__fused *f = fused(g);

    CHECK_NEAR(of(f, g, FT_KIND_reduce_sum)->launched, 1, 0);
    CHECK_NEAR(of(f, g, FT_KIND_div)->launched, 1, 0);
    CHECK_NEAR(of(f, g, FT_KIND_div)->moved, 1, 1e-12);
    free(f);
    ft_graph_free(g);
}

/* Both operands of the product are read once, by the first that needs them. */
static void what_a_kernel_has_read_it_keeps(void)
{
    ft__build *b = ft__build_new("net");
    const uint32_t x = input(b, images());
    const uint32_t s = one(b, "sigmoid " X " dtype=fp32", x);
    ft_graph *g = finish(b, two(b, "mul " X " y=4x8x16x16 dtype=fp32", s, x));
    ft__fused *f = fused(g);

    CHECK_NEAR(of(f, g, FT_KIND_sigmoid)->moved, 0.5, 1e-12);
    CHECK_NEAR(of(f, g, FT_KIND_mul)->moved, 1. / 3, 1e-12);
    free(f);
    ft_graph_free(g);
}

/* Norms go on with what follows; pools begin anew. */
static void norms_end_in_what_follows_and_pools_begin(void)
{
    ft__build *b = ft__build_new("net");
    const uint32_t x = input(b, images());
    const uint32_t n = one(b, "softmax " X " axis=3 dtype=fp32", x);
    const uint32_t r = one(b, "relu " X " dtype=fp32", n);
    const uint32_t p =
        one(b, "avgpool2d " X " kernel=2x2 stride=2x2 pad=0x0 dtype=fp32", r);
    ft_graph *g = finish(b, p);
    ft__fused *f = fused(g);

    CHECK_NEAR(of(f, g, FT_KIND_softmax)->moved, 0.5, 1e-12);
    CHECK_NEAR(of(f, g, FT_KIND_relu)->launched, 0, 0);
    CHECK_NEAR(of(f, g, FT_KIND_avgpool2d)->launched, 1, 0);
    CHECK_NEAR(of(f, g, FT_KIND_avgpool2d)->moved, 1, 1e-12);
    free(f);
    ft_graph_free(g);
}

/* A convolution of images between the network's ends: its operand is laid last by a
 * copy of its own, and so is its result back, unless what adds its bias writes it as it
 * is wanted. */
static void images_are_copied_where_nothing_generated_does_it(void)
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

/* Without statistics a batch norm is elementwise: it goes on into a reduction. */
static void a_batch_norm_of_inference_is_elementwise(void)
{
    static const char *const norm[] = {"batchnorm " X " dtype=fp32",
                                       "batchnorm " X " train=1 dtype=fp32"};

    for (int i = 0; i < 2; i++) {
        ft__build *b = ft__build_new("net");
        const uint32_t n = one(b, norm[i], input(b, images()));
        ft_graph *g = finish(b, one(b, "reduce_sum " X " axes=1x2x3 dtype=fp32", n));
        ft__fused *f = fused(g);

        CHECK_NEAR(of(f, g, FT_KIND_reduce_sum)->launched, i, 0);
        free(f);
        ft_graph_free(g);
    }
}

int main(void)
{
    images_are_copied_where_nothing_generated_does_it();
    a_batch_norm_of_inference_is_elementwise();
    a_chain_is_one_kernel();
    kernels_never_wait_for_themselves();
    copies_of_inputs_are_nobodys_kernel();
    a_sum_that_spreads_ends_its_kernel();
    what_a_kernel_has_read_it_keeps();
    norms_end_in_what_follows_and_pools_begin();
    CHECK_DONE();
}
