/* Training steps in mixed precision, and those that are replayed as CUDA graphs. */
#include "train_step.h"

/* Two layers with one weight behind a norm, a product of both, its softmax, and a sum
 * with what the norm read: torch.autocast casts the weight once, activations wherever a
 * product reads them, and lets a softmax read fp16, but not bf16. */
static ft_graph *mixed(ft_dtype narrow)
{
    ft__build *b = ft__build_new("mixed");
    uint32_t x = input(b, (ft_shape){2, {4, 4}}), w, h, n, q, k;
    ft_graph *g, *made = NULL;

    w = weight(b, "w", (ft_shape){2, {4, 4}});
    h = one(b, "relu x=4x4",
            with(b, "linear x=4x4 out=4", x, weight(b, "v", (ft_shape){2, {4, 4}})));
    n = with(b, "layernorm x=4x4 norm=1", h, weight(b, "s", (ft_shape){1, {4}}));
    q = with(b, "linear x=4x4 out=4", n, w);
    k = with(b, "linear x=4x4 out=4", n, w);
    q = one(b, "softmax x=4x4 axis=1", two(b, "matmul x=4x4 y=4x4", q, k));
    g = finish(b, with(b, "linear x=4x4 out=3", two(b, "add x=4x4 y=4x4", h, q),
                       weight(b, "u", (ft_shape){2, {3, 4}})));
    if (g)
        CHECK_EQ(ft__graph_amp(&made, g, narrow, NULL), FT_OK);
    ft_graph_free(g);
    return made;
}

TEST(mixed_precision_casts_what_autocast_does)
{
    ft_graph *g = mixed(FT_DTYPE_bf16);
    int64_t bytes = 0;

    expect(g, FT_PHASE_FORWARD,
           "cast x=4x4 to=bf16\n"
           "cast x=4x4 to=bf16\n"
           "linear x=4x4 out=4 dtype=bf16\n"
           "relu x=4x4 dtype=bf16\n"
           "cast x=4x4 to=fp32 dtype=bf16\n"
           "layernorm x=4x4 norm=1\n"
           "cast x=4x4 to=bf16\n"
           "cast x=4x4 to=bf16\n"
           "linear x=4x4 out=4 dtype=bf16\n"
           "cast x=4x4 to=bf16\n"
           "linear x=4x4 out=4 dtype=bf16\n"
           "matmul x=4x4 y=4x4 dtype=bf16\n"
           "cast x=4x4 to=fp32 dtype=bf16\n"
           "softmax x=4x4 axis=1\n"
           "add x=4x4 y=4x4\n"
           "cast x=4x4 to=bf16\n"
           "cast x=3x4 to=bf16\n"
           "linear x=4x4 out=3 dtype=bf16\n");
    for (uint32_t i = 0; g && i < g->n_tensors; i++)
        if (g->tensor[i].role == FT_ROLE_WEIGHT)
            bytes += ft_tensor_bytes(&g->tensor[i].shape, g->tensor[i].dtype);
    CHECK_EQ(bytes, 4 * (16 + 16 + 4 + 12));
    ft_graph_free(g);
}

/* Gradients of weights come in 16 bits and are cast; sums of a weight's are of the
 * copy. Loss, parameters and the optimizer's state are fp32. */
TEST(a_step_in_mixed_precision_keeps_its_weights_in_fp32)
{
    ft_graph *g = train(mixed(FT_DTYPE_fp16), FT_OPTIMIZER_ADAM, FT_LOSS_AUTO);

    expect(g, FT_PHASE_OPTIMIZER,
           "adam x=4x4 phase=optimizer\nadam x=4x4 phase=optimizer\n"
           "adam x=4 phase=optimizer\nadam x=3x4 phase=optimizer\n");
    expect(g, FT_PHASE_BACKWARD,
           "fill out=1\n"
           "cross_entropy x=4x3 axis=1 phase=backward\n"
           "linear x=4x4 out=3 dtype=fp16 phase=backward\n"
           "cast x=3x4 to=fp32 dtype=fp16\n"
           "cast x=4x4 to=fp32 dtype=fp16\n"
           "cast x=4x4 to=fp16\n"
           "softmax x=4x4 axis=1 phase=backward\n"
           "matmul x=4x4 y=4x4 dtype=fp16 phase=backward\n"
           "linear x=4x4 out=4 dtype=fp16 phase=backward\n"
           "cast x=4x4 to=fp32 dtype=fp16\n"
           "linear x=4x4 out=4 dtype=fp16 phase=backward\n"
           "add x=4x4 y=4x4 dtype=fp16\n"
           "cast x=4x4 to=fp32 dtype=fp16\n"
           "cast x=4x4 to=fp32 dtype=fp16\n"
           "add x=4x4 y=4x4\n"
           "layernorm x=4x4 norm=1 phase=backward\n"
           "cast x=4x4 to=fp16\n"
           "add x=4x4 y=4x4 dtype=fp16\n"
           "relu x=4x4 dtype=fp16 phase=backward\n"
           "linear x=4x4 out=4 dtype=fp16 phase=backward wrt=w\n"
           "cast x=4x4 to=fp32 dtype=fp16\n");
    for (uint32_t i = 0; g && i < g->n_tensors; i++)
        if (g->tensor[i].role == FT_ROLE_GRADIENT || g->tensor[i].role == FT_ROLE_STATE)
            CHECK_EQ(g->tensor[i].dtype, FT_DTYPE_fp32);
    CHECK_EQ(count_role(g, FT_ROLE_STATE), 8);
    ft_graph_free(g);
}

/* Nothing says what reads what. */
TEST(a_list_in_mixed_precision_casts_weights_and_what_is_fp32)
{
    static const char text[] = "conv2d x=2x4x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 "
                               "bias=1 *3\nlayernorm x=2x8 norm=1\nrelu x=2x8\n"
                               "cast x=2x8 to=int64\n"
                               "layernorm x=2x8 norm=1 phase=backward\n"
                               "momentum x=8 phase=optimizer\n";
    ft_graph *g, *made = NULL;

    CHECK_EQ(ft_import_ops(&g, text, sizeof(text) - 1, "list", NULL), FT_OK);
    CHECK_EQ(ft__graph_amp(&made, g, FT_DTYPE_fp16, NULL), FT_OK);
    expect(made, FT_PHASE_FORWARD,
           "cast x=4x4x3x3 to=fp16\ncast x=4 to=fp16\n"
           "conv2d x=2x4x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 bias=1 dtype=fp16\n"
           "layernorm x=2x8 norm=1\ncast x=2x8 to=fp16\nrelu x=2x8 dtype=fp16\n"
           "cast x=2x8 to=int64\n");
    expect(made, FT_PHASE_BACKWARD,
           "layernorm x=2x8 norm=1 phase=backward\ncast x=2x8 to=fp32 dtype=fp16\n");
    expect(made, FT_PHASE_OPTIMIZER, "momentum x=8 phase=optimizer\n");
    CHECK(made && EQ(made->op_count[0], 3));
    ft_graph_free(made);
    ft_graph_free(g);
}

/* Its gradients are cast the other way; forward and backward, both. */
TEST(a_listed_softmax_reads_what_was_cast)
{
    static const char text[] = "softmax x=2x8 axis=1\n"
                               "softmax x=2x8 axis=1 phase=backward\n"
                               "softmax x=2x8 axis=1 phase=forward_backward\n"
                               "linear x=2x8 out=4 phase=forward_backward\n";
    ft_graph *g, *made = NULL;

    CHECK_EQ(ft_import_ops(&g, text, sizeof(text) - 1, "list", NULL), FT_OK);
    CHECK_EQ(ft__graph_amp(&made, g, FT_DTYPE_bf16, NULL), FT_OK);
    expect(made, FT_PHASE_FORWARD,
           "cast x=2x8 to=fp32 dtype=bf16\nsoftmax x=2x8 axis=1\ncast x=2x8 to=bf16\n"
           "cast x=2x8 to=fp32 dtype=bf16\ncast x=2x8 to=bf16\n"
           "softmax x=2x8 axis=1 phase=forward_backward\n"
           "cast x=2x8 to=bf16\ncast x=2x8 to=fp32 dtype=bf16\n"
           "cast x=4x8 to=bf16\ncast x=4x8 to=fp32 dtype=bf16\n"
           "linear x=2x8 out=4 dtype=bf16 phase=forward_backward\n");
    expect(made, FT_PHASE_BACKWARD,
           "cast x=2x8 to=bf16\nsoftmax x=2x8 axis=1 phase=backward\n"
           "cast x=2x8 to=fp32 dtype=bf16\n");
    ft_graph_free(made);
    ft_graph_free(g);
}

/* Nodes read the copy in place of the input. */
TEST(inputs_of_a_replayed_graph_are_copied_first)
{
    ft__build *b = ft__build_new("replayed");
    uint32_t x = input(b, (ft_shape){2, {4, 8}});
    uint32_t y = tensor(b, "y", FT_ROLE_INPUT, (ft_shape){2, {4, 8}});
    ft_graph *g = finish(b, one(b, "relu x=4x8", two(b, "add x=4x8 y=4x8", x, y)));
    ft_graph *made = NULL;

    CHECK(g && !ft__graph_writes_inputs(g));
    CHECK_EQ(ft__graph_copy_inputs(&made, g, false, NULL), FT_OK);
    expect(made, FT_PHASE_FORWARD,
           "copy x=4x8\ncopy x=4x8\nadd x=4x8 y=4x8\nrelu x=4x8\n");
    CHECK(made && EQ(count_role(made, FT_ROLE_INPUT), 2));
    CHECK(made && EQ(made->batch, 4));
    for (uint32_t i = 0; made && i < 2; i++) {
        CHECK_EQ(made->tensor[made->node[i].in[0]].role, FT_ROLE_INPUT);
        CHECK_EQ(made->node[2].in[i], made->node[i].out[0]);
    }
    ft_graph_free(made);
    ft_graph_free(g);
}

TEST(weights_of_a_replayed_graph_are_copied_at_once)
{
    ft__build *b = ft__build_new("replayed");
    const uint32_t x = input(b, (ft_shape){2, {4, 3}}),
                   w = weight(b, "w", (ft_shape){2, {5, 3}}),
                   v = weight(b, "v", (ft_shape){2, {2, 5}});
    ft_graph *g = finish(
        b, with(b, "linear x=4x5 out=2", with(b, "linear x=4x3 out=5", x, w), v));
    ft_graph *made = NULL;
    ft_totals totals;

    CHECK(g && !ft__graph_keeps_statistics(g));
    CHECK_EQ(ft__graph_copy_inputs(&made, g, true, NULL), FT_OK);
    expect(made, FT_PHASE_FORWARD,
           "copy x=4x3\ncopy x=25\nlinear x=4x3 out=5\nlinear x=4x5 out=2\n");
    if (made) {
        ft_graph_totals(made, &totals);
        CHECK(EQ(totals.parameters, 25));
    }
    ft_graph_free(made);
    ft_graph_free(g);
}
