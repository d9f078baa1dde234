/* Training steps of small networks, by hand. */
#include "foretell/names.h"
#include "train_step.h"

/* Two heads: on the first one alone, only its weight and the trunk's are trained. */
TEST(the_loss_is_of_the_first_result_or_of_all)
{
    static const char *const forward[] = {
        "linear x=4x3 out=5\nlinear x=4x5 out=2\nlinear x=4x5 out=7\n"
        "cross_entropy x=4x2 axis=1\n",
        "linear x=4x3 out=5\nlinear x=4x5 out=2\nlinear x=4x5 out=7\n"
        "cross_entropy x=4x2 axis=1\ncross_entropy x=4x7 axis=1\nadd x=1 y=1\n",
    };

    for (uint32_t all = 0; all < 2; all++) {
        const ft_step_options opt = {.optimizer = FT_OPTIMIZER_SGD, .loss_on_all = all};
        ft__build *b = ft__build_new("heads");
        uint32_t x = with(b, "linear x=4x3 out=5", input(b, (ft_shape){2, {4, 3}}),
                          weight(b, "w", (ft_shape){2, {5, 3}}));
        ft_graph *g, *step = NULL;
        uint32_t updates = 0;

        ft__build_output(
            b, with(b, "linear x=4x5 out=2", x, weight(b, "v", (ft_shape){2, {2, 5}})));
        g = finish(
            b, with(b, "linear x=4x5 out=7", x, weight(b, "u", (ft_shape){2, {7, 5}})));
        CHECK_EQ(ft__graph_train(&step, g, &opt, NULL), FT_OK);
        expect(step, FT_PHASE_FORWARD, forward[all]);
        for (uint32_t i = 0; step && i < step->n_nodes; i++)
            updates += step->node[i].phase == FT_PHASE_OPTIMIZER;
        CHECK_EQ(updates, 2 + all);
        ft_graph_free(g);
        ft_graph_free(step);
    }
}

TEST(a_small_network_gives_a_whole_step)
{
    ft__build *b = ft__build_new("mlp");
    uint32_t x = input(b, (ft_shape){2, {4, 8}});
    uint32_t w = weight(b, "w", (ft_shape){2, {8, 16}}), t;
    ft_graph *g;

    t = one(b, "relu x=4x16", with(b, "linear x=4x8 out=16", x, w));
    t = with(b, "linear x=4x16 out=10", t, weight(b, "v", (ft_shape){2, {16, 10}}));
    g = train(finish(b, t), FT_OPTIMIZER_ADAM, FT_LOSS_AUTO);
    expect(g, FT_PHASE_FORWARD,
           "linear x=4x8 out=16\n"
           "relu x=4x16\n"
           "linear x=4x16 out=10\n"
           "cross_entropy x=4x10 axis=1\n");
    expect(g, FT_PHASE_BACKWARD,
           "fill out=1\n"
           "cross_entropy x=4x10 axis=1 phase=backward\n"
           "linear x=4x16 out=10 phase=backward\n"
           "relu x=4x16 phase=backward\n"
           "linear x=4x8 out=16 phase=backward wrt=w\n");
    expect(g, FT_PHASE_OPTIMIZER,
           "adam x=8x16 phase=optimizer\n"
           "adam x=16x10 phase=optimizer\n");
    CHECK(g && EQ(g->mode, FT_MODE_TRAINING));
    CHECK(EQ(count_role(g, FT_ROLE_GRADIENT), 2) &&
          EQ(count_role(g, FT_ROLE_STATE), 4));
    ft_graph_free(g);
}

TEST(each_optimizer_keeps_its_state)
{
    static const struct {
        ft_optimizer optimizer;
        const char *spec;
        uint32_t states;
    } cases[] = {
        {FT_OPTIMIZER_NONE, "", 0},
        {FT_OPTIMIZER_SGD, "sgd x=8x3 phase=optimizer\n", 0},
        {FT_OPTIMIZER_MOMENTUM, "momentum x=8x3 phase=optimizer\n", 1},
        {FT_OPTIMIZER_ADAM, "adam x=8x3 phase=optimizer\n", 2},
        {FT_OPTIMIZER_ADAMW, "adamw x=8x3 phase=optimizer\n", 2},
        {FT_OPTIMIZER_ADAMW8BIT, "adamw x=8x3 weights=int8 phase=optimizer\n", 2},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft__build *b = ft__build_new("optimizer");
        uint32_t x = input(b, (ft_shape){2, {4, 8}});
        uint32_t w = weight(b, "w", (ft_shape){2, {8, 3}});
        ft_graph *g = train(finish(b, with(b, "linear x=4x8 out=3", x, w)),
                            cases[i].optimizer, FT_LOSS_MSE);

        expect(g, FT_PHASE_OPTIMIZER, cases[i].spec);
        CHECK(g && EQ(count_role(g, FT_ROLE_STATE), cases[i].states));
        CHECK(g && EQ(count_role(g, FT_ROLE_WEIGHT), 1));
        ft_graph_free(g);
    }
}

/* y = f(x) + x: the gradient of x is the sum of both ways. */
TEST(branches_add_their_gradients)
{
    ft__build *b = ft__build_new("residual");
    uint32_t x = input(b, (ft_shape){2, {4, 8}}), t, u;
    uint32_t w[2] = {weight(b, "w", (ft_shape){2, {8, 8}}),
                     weight(b, "v", (ft_shape){2, {8, 8}})};

    t = with(b, "linear x=4x8 out=8", x, w[0]);
    u = with(b, "linear x=4x8 out=8", t, w[1]);
    expect_backward(b, two(b, "add x=4x8 y=4x8", u, t),
                    "linear x=4x8 out=8 phase=backward\n"
                    "add x=4x8 y=4x8\n"
                    "linear x=4x8 out=8 phase=backward wrt=w\n");
}

/* The sum takes the place of the older gradient only when that has no reader. */
TEST(sums_lie_where_nobody_reads_the_parts)
{
    ft__build *b = ft__build_new("residual");
    uint32_t x = input(b, (ft_shape){2, {4, 8}}), t, u, v;
    uint32_t w = weight(b, "w", (ft_shape){2, {8, 8}}), in_place = 0, apart = 0;
    ft_graph *g;

    t = with(b, "linear x=4x8 out=8", x, w);
    u = one(b, "tanh x=4x8", t);
    v = two(b, "add x=4x8 y=4x8", u, t); /* t's gradient is that of v, held alone */
    v = two(b, "add x=4x8 y=4x8", v, v); /* v's is given twice */
    g = train(finish(b, v), FT_OPTIMIZER_NONE, FT_LOSS_NONE);
    for (uint32_t i = 0; g && i < g->n_nodes; i++) {
        const ft_node *n = &g->node[i];

        if (n->phase != FT_PHASE_BACKWARD || g->op[n->op].kind != FT_KIND_add)
            continue;
        if (g->tensor[n->out[0]].storage == g->tensor[n->in[0]].storage)
            in_place++;
        else
            apart++;
    }
    CHECK(EQ(in_place, 1) && EQ(apart, 1));
    ft_graph_free(g);
}

TEST(shared_weights_have_one_gradient)
{
    ft__build *b = ft__build_new("tied");
    uint32_t x = input(b, (ft_shape){2, {4, 8}}), t;
    uint32_t w = weight(b, "w", (ft_shape){2, {8, 8}});
    ft_graph *g;

    t = with(b, "linear x=4x8 out=8", x, w);
    t = with(b, "linear x=4x8 out=8", one(b, "relu x=4x8", t), w);
    g = train(finish(b, t), FT_OPTIMIZER_SGD, FT_LOSS_NONE);
    expect(g, FT_PHASE_BACKWARD,
           "linear x=4x8 out=8 phase=backward\n"
           "relu x=4x8 phase=backward\n"
           "linear x=4x8 out=8 phase=backward wrt=w\n"
           "add x=8x8 y=8x8\n");
    expect(g, FT_PHASE_OPTIMIZER, "sgd x=8x8 phase=optimizer\n");
    CHECK(g && EQ(count_role(g, FT_ROLE_GRADIENT), 1));
    ft_graph_free(g);
}

/* A language model's embedding, read transposed as the last layer's weights. */
TEST(a_view_of_a_weight_gives_its_gradient_on)
{
    ft__build *b = ft__build_new("tied embedding");
    const ft_shape ids = {2, {2, 5}};
    uint32_t table = weight(b, "table", (ft_shape){2, {10, 4}}), x, v, t;
    ft_graph *g;

    x = ft__build_tensor(b, "ids", 3, FT_ROLE_INPUT, FT_DTYPE_int64, &ids);
    t = with(b, "embedding x=2x5 rows=10 dim=4", x, table);
    v = one(b, "view x=10x4 out=4x10", table);
    t = with(b, "linear x=2x5x4 out=10", t, v);
    g = train(finish(b, t), FT_OPTIMIZER_SGD, FT_LOSS_AUTO);
    expect(g, FT_PHASE_BACKWARD,
           "fill out=1\n"
           "cross_entropy x=2x5x10 axis=2 phase=backward\n"
           "linear x=2x5x4 out=10 phase=backward\n"
           "view x=4x10 out=10x4\n"
           "embedding x=2x5 rows=10 dim=4 phase=backward\n"
           "add x=10x4 y=10x4\n");
    expect(g, FT_PHASE_OPTIMIZER, "sgd x=10x4 phase=optimizer\n");
    ft_graph_free(g);
}

TEST(gradients_stop_where_there_are_none)
{
    ft__build *b = ft__build_new("stop");
    uint32_t x = input(b, (ft_shape){2, {4, 8}}), t, u;

    t = with(b, "linear x=4x8 out=8", x, weight(b, "w", (ft_shape){2, {8, 8}}));
    u = with(b, "linear x=4x8 out=8", x, weight(b, "v", (ft_shape){2, {8, 8}}));
    u = one(b, "hardmax x=4x8 axis=1", u);
    expect_backward(b, two(b, "mul x=4x8 y=4x8", t, u),
                    "mul x=4x8 y=4x8\n"
                    "linear x=4x8 out=8 phase=backward wrt=w\n");
}

TEST(gradients_stop_where_they_are_detached)
{
    ft__build *b = ft__build_new("detached");
    uint32_t t = with(b, "linear x=4x3 out=5", input(b, (ft_shape){2, {4, 3}}),
                      weight(b, "w", (ft_shape){2, {5, 3}}));

    t = one(b, "view x=4x5 out=4x5", t);
    ft__build_detached(b, t);
    t = with(b, "linear x=4x5 out=2", t, weight(b, "v", (ft_shape){2, {2, 5}}));
    expect_backward(b, t, "linear x=4x5 out=2 phase=backward wrt=w\n");
}

TEST(frozen_weights_have_no_gradient)
{
    ft__build *b = ft__build_new("frozen");
    uint32_t x = input(b, (ft_shape){2, {4, 8}}), t;
    uint32_t frozen = weight(b, "w", (ft_shape){2, {8, 8}});
    uint32_t trained = weight(b, "v", (ft_shape){2, {8, 8}});

    ft__build_trainable(b, trained);
    t = with(b, "linear x=4x8 out=8", x, frozen);
    t = with(b, "linear x=4x8 out=8", t, trained);
    t = with(b, "linear x=4x8 out=8", t, frozen);
    expect_backward(b, t,
                    "linear x=4x8 out=8 phase=backward wrt=x\n"
                    "linear x=4x8 out=8 phase=backward wrt=w\n");
}

TEST(a_frozen_first_weight_of_a_layer_leaves_the_second)
{
    ft__build *b = ft__build_new("bias only");
    uint32_t x = input(b, (ft_shape){2, {4, 8}}), p[2];
    ft_graph *g;

    p[0] = weight(b, "w", (ft_shape){2, {8, 3}});
    p[1] = weight(b, "b", (ft_shape){1, {3}});
    ft__build_trainable(b, p[1]);
    g = train(finish(b, layer(b, "linear x=4x8 out=3 bias=1", &x, 1, p, 2)),
              FT_OPTIMIZER_SGD, FT_LOSS_NONE);
    expect(g, FT_PHASE_BACKWARD, "linear x=4x8 out=3 bias=1 phase=backward wrt=w\n");
    expect(g, FT_PHASE_OPTIMIZER, "sgd x=3 phase=optimizer\n");
    ft_graph_free(g);
}

TEST(what_was_broadcast_is_summed)
{
    ft__build *b = ft__build_new("broadcast");
    uint32_t x = input(b, (ft_shape){3, {2, 4, 8}}), t;

    t = two(b, "add x=2x4x8 y=8", x, weight(b, "b", (ft_shape){1, {8}}));
    expect_backward(
        b, two(b, "mul x=2x4x8 y=1x4x1", t, weight(b, "s", (ft_shape){3, {1, 4, 1}})),
        "mul x=2x4x8 y=1x4x1\n"
        "mul x=2x4x8 y=2x4x8\n"
        "reduce_sum x=2x4x8 axes=0x2\n"
        "reduce_sum x=2x4x8 axes=0x1\n"
        "view x=1x1x8 out=8\n");
}

/* The gradient is shared with the other operand: the parameter gets a copy. */
TEST(a_parameter_owns_its_gradient)
{
    ft__build *b = ft__build_new("own");
    uint32_t x = input(b, (ft_shape){2, {4, 8}}), t;
    uint32_t w = weight(b, "w", (ft_shape){2, {8, 8}});

    t = with(b, "linear x=4x8 out=8", x, w);
    expect_backward(b,
                    two(b, "add x=4x8 y=4x8", t, weight(b, "p", (ft_shape){2, {4, 8}})),
                    "copy x=4x8\n"
                    "linear x=4x8 out=8 phase=backward wrt=w\n");
}

/* Weights that are computed stand behind the operands. */
TEST(computed_weights_pass_their_gradient_on)
{
    ft__build *b = ft__build_new("standardised");
    uint32_t x = input(b, (ft_shape){2, {4, 8}}), in[2];

    in[0] = x;
    in[1] = one(b, "tanh x=8x3", weight(b, "w", (ft_shape){2, {8, 3}}));
    expect_backward(b, layer(b, "linear x=4x8 out=3", in, 2, NULL, 0),
                    "linear x=4x8 out=3 phase=backward wrt=w\n"
                    "tanh x=8x3 phase=backward\n");
}

TEST(norms_use_and_keep_statistics)
{
    ft__build *b = ft__build_new("norm");
    uint32_t x = input(b, (ft_shape){4, {2, 3, 8, 8}}), t, p[4];
    const ft_node *n;
    ft_graph *g;

    t = with(b, "conv2d x=2x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1", x,
             weight(b, "w", (ft_shape){4, {4, 3, 3, 3}}));
    for (int i = 0; i < 4; i++)
        p[i] = weight(b, "bn", (ft_shape){1, {4}});
    t = layer(b, "batchnorm x=2x4x8x8", &t, 1, p, 4);
    g = train(finish(b, t), FT_OPTIMIZER_SGD, FT_LOSS_NONE);
    expect(g, FT_PHASE_FORWARD,
           "conv2d x=2x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1\n"
           "batchnorm x=2x4x8x8 train=1\n");
    expect(g, FT_PHASE_BACKWARD,
           "batchnorm x=2x4x8x8 train=1 phase=backward\n"
           "conv2d x=2x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 phase=backward "
           "wrt=w\n");
    expect(g, FT_PHASE_OPTIMIZER,
           "sgd x=4x3x3x3 phase=optimizer\n"
           "sgd x=4 phase=optimizer\n"
           "sgd x=4 phase=optimizer\n");
    /* result, mean, deviation; the backward node reads both behind x */
    n = g ? &g->node[1] : NULL;
    CHECK(n && EQ(n->n_out, 3) && EQ(g->tensor[n->out[1]].shape.dim[0], 4));
    n = g ? &g->node[2] : NULL;
    CHECK(n && EQ(n->n_in, 4) && EQ(n->in[2], g->node[1].out[1]));
    ft_graph_free(g);
}

TEST(moved_elements_go_back)
{
    ft__build *b = ft__build_new("moves");
    uint32_t x = input(b, (ft_shape){2, {4, 6}}), t, u;

    t = with(b, "linear x=4x6 out=6", x, weight(b, "w", (ft_shape){2, {6, 6}}));
    u = layer(b, "split x=4x6 axis=1 sizes=2x4", &t, 1, NULL, 0);
    t = one(b, "transpose x=4x2 perm=1x0", u);
    t = one(b, "view x=2x4 out=8", t);
    t = one(b, "slice x=8 out=5", t);
    t = one(b, "pad x=5 out=7", t);
    t = one(b, "expand x=7 out=3x7", t);
    t = two(b, "concat x=3x7 axis=1 sizes=7x7", t, one(b, "exp x=3x7", t));
    expect_backward(b, one(b, "reduce_mean x=3x14 axes=0x1 keep=0", t),
                    "fill out=1\n"
                    "view x=1 out=1x1\n"
                    "expand x=1x1 out=3x14\n"
                    "div x=3x14 y=1\n"
                    "slice x=3x14 out=3x7\n"
                    "slice x=3x14 out=3x7\n"
                    "mul x=3x7 y=3x7\n"
                    "add x=3x7 y=3x7\n"
                    "reduce_sum x=3x7 axes=0\n"
                    "view x=1x7 out=7\n"
                    "slice x=7 out=5\n"
                    "pad x=5 out=8\n"
                    "view x=8 out=2x4\n"
                    "transpose x=2x4 perm=1x0\n"
                    "fill out=4x4\n"
                    "concat x=4x2 axis=1 sizes=2x4\n"
                    "linear x=4x6 out=6 phase=backward wrt=w\n");
}

TEST(operations_without_a_rule_are_bounded_and_named)
{
    ft__build *b = ft__build_new("generic");
    uint32_t x = input(b, (ft_shape){2, {4, 8}}), t;
    ft_graph *g;

    t = with(b, "linear x=4x8 out=8", x, weight(b, "w", (ft_shape){2, {8, 8}}));
    g = train(finish(b, one(b, "generic read=32 out=4x8", t)), FT_OPTIMIZER_SGD,
              FT_LOSS_NONE);
    expect(g, FT_PHASE_BACKWARD,
           "generic read=64 out=4x8\n"
           "linear x=4x8 out=8 phase=backward wrt=w\n");
    CHECK(g && EQ(g->n_bounded, 1) && HAS(g->bounded[0], "backward of generic"));
    ft_graph_free(g);
}

TEST(a_graph_with_its_backward_pass_gets_the_optimizer_only)
{
    ft__build *b = ft__build_new("joint");
    uint32_t x = input(b, (ft_shape){2, {4, 8}}), t;
    ft_graph *g, *joint;
    uint32_t nodes;

    t = with(b, "linear x=4x8 out=8", x, weight(b, "w", (ft_shape){2, {8, 8}}));
    t = with(b, "linear x=4x8 out=3", t, weight(b, "v", (ft_shape){2, {8, 3}}));
    joint = train(finish(b, t), FT_OPTIMIZER_NONE, FT_LOSS_MSE);
    nodes = joint ? joint->n_nodes : 0;
    g = train(joint, FT_OPTIMIZER_ADAMW, FT_LOSS_AUTO);
    CHECK(g && EQ(g->n_nodes, nodes + 2));
    expect(g, FT_PHASE_OPTIMIZER,
           "adamw x=8x8 phase=optimizer\n"
           "adamw x=8x3 phase=optimizer\n");
    ft_graph_free(g);
}

/* A sum in place is one gradient in two tensors; one may be a view, too. */
TEST(each_gradient_of_a_joint_graph_is_used_once)
{
    ft__build *b = ft__build_new("joint");
    uint32_t x = input(b, (ft_shape){2, {4, 8}}), t;
    uint32_t w = weight(b, "w", (ft_shape){2, {8, 8}});
    ft_graph *g;

    t = with(b, "linear x=4x8 out=8", x, w);
    t = with(b, "linear x=4x8 out=8", t, w);
    g = train(train(finish(b, t), FT_OPTIMIZER_NONE, FT_LOSS_MSE), FT_OPTIMIZER_SGD,
              FT_LOSS_AUTO);
    expect(g, FT_PHASE_OPTIMIZER, "sgd x=8x8 phase=optimizer\n");
    ft_graph_free(g);

    b = ft__build_new("transposed");
    x = input(b, (ft_shape){2, {4, 8}});
    w = weight(b, "w", (ft_shape){2, {3, 8}});
    ft__build_trainable(b, w);
    t = with(b, "linear x=4x8 out=3", x, w);
    ft__build_phase(b, FT_PHASE_BACKWARD);
    t = one(b, "view x=8x3 out=3x8", two(b, "matmul x=8x4 y=4x3", x, t));
    ft__build_role(b, t, FT_ROLE_GRADIENT);
    g = train(finish(b, t), FT_OPTIMIZER_SGD, FT_LOSS_AUTO);
    expect(g, FT_PHASE_OPTIMIZER, "sgd x=3x8 phase=optimizer\n");
    ft_graph_free(g);
}

TEST(operations_of_a_list_are_differentiated_alone)
{
    static const char text[] = "linear x=4x8 out=3 *5\nrelu x=4x8 *2\nargmax x=4x8 "
                               "axes=1\nsplit x=2x6 axis=1 sizes=2x4\n";
    ft_graph *g = NULL;

    CHECK_EQ(ft_import_ops(&g, text, sizeof(text) - 1, "list", NULL), FT_OK);
    g = train(g, FT_OPTIMIZER_NONE, FT_LOSS_AUTO);
    expect(g, FT_PHASE_BACKWARD,
           "fill out=2x4\n"
           "concat x=2x2 axis=1 sizes=2x4\n"
           "relu x=4x8 phase=backward\n"
           "linear x=4x8 out=3 phase=backward\n");
    CHECK(g && EQ(g->node[g->n_nodes - 1].repeat, 5));
    ft_graph_free(g);
}

TEST(what_cannot_be_trained_says_why)
{
    const ft_step_options opt = {.optimizer = FT_OPTIMIZER_SGD, .loss = FT_LOSS_AUTO};
    ft_error err = {0};
    ft_graph *g, *step;
    ft__build *b = ft__build_new("plain");
    uint32_t x = input(b, (ft_shape){2, {4, 8}}), t;

    g = finish(b, one(b, "relu x=4x8", x));
    CHECK(EQ(ft__graph_train(&step, g, &opt, &err), FT_EINVAL) && EQ(step, NULL));
    CHECK(HAS(err.msg, "plain has nothing to train"));
    ft_graph_free(g);
    b = ft__build_new("stopped");
    x = input(b, (ft_shape){2, {4, 8}});
    t = with(b, "linear x=4x8 out=8", x, weight(b, "w", (ft_shape){2, {8, 8}}));
    g = finish(b, one(b, "hardmax x=4x8 axis=1", t));
    CHECK(EQ(ft__graph_train(&step, g, &opt, &err), FT_EINVAL) && EQ(step, NULL));
    CHECK(HAS(err.msg, "t has no gradient"));
    ft_graph_free(g);
}

TEST(costs_of_a_step_follow_the_formulae)
{
    static const struct {
        const char *spec;
        double flops, read, written;
    } cases[] = {
        /* two products; the bias summed over 4 rows */
        {"linear x=4x16 out=8 bias=1 phase=backward", 2 * 2.0 * 4 * 16 * 8 + 32,
         4.0 * (32 + 64 + 136), 4.0 * (64 + 136)},
        {"linear x=4x16 out=8 bias=1 phase=backward wrt=x", 2.0 * 4 * 16 * 8,
         4.0 * (32 + 64 + 136), 4.0 * 64},
        {"conv2d x=1x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 phase=backward wrt=w",
         2.0 * 4 * 64 * 27, 4.0 * (256 + 192), 4.0 * 108},
        {"conv2d x=1x4x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 groups=4 phase=backward",
         2 * 2.0 * 4 * 64 * 9, 4.0 * (256 + 256 + 36), 4.0 * (256 + 36)},
        {"relu x=10 phase=backward", 10, 80, 40},
        {"maxpool2d x=1x1x4x4 kernel=2x2 stride=2x2 pad=0x0 phase=backward", 4,
         4.0 * 4 + 8 * 4, 4.0 * 16},
        {"avgpool2d x=1x1x4x4 kernel=2x2 stride=2x2 pad=0x0 phase=backward", 16,
         4.0 * (4 + 16), 4.0 * 16},
        /* gradient, indices, and the rows that are added to; zeros, then rows */
        {"embedding x=7 rows=10 dim=4 phase=backward", 28, 4.0 * 28 + 56 + 4.0 * 28,
         4.0 * 40 + 4.0 * 28},
        {"batchnorm x=2x3x4 train=1", 8 * 24, 4.0 * (24 + 12), 4.0 * 24},
        {"batchnorm x=2x3x4 train=1 phase=backward", 13 * 24, 4.0 * (48 + 12),
         4.0 * (24 + 6)},
        {"softmax x=3x5 axis=1 phase=backward", 60, 4.0 * 30, 4.0 * 15},
        {"attention x=1x2x9x8 y=1x2x7x8 z=1x2x7x16",
         2.0 * 2 * 9 * 7 * (8 + 16) + 6 * 126, 4.0 * (144 + 112 + 224), 4.0 * 288},
        {"attention x=1x2x9x8 y=1x2x7x8 z=1x2x7x16 phase=backward",
         2.0 * 2 * 9 * 7 * (3 * 8 + 2 * 16) + 6 * 126 + 2 * 288,
         4.0 * (288 + 144 + 112 + 224 + 288), 4.0 * (144 + 112 + 224)},
        {"fft x=2x8 size=8 out=2x8", 5 * 16 * 3, 64, 64},
        {"sgd x=10 phase=optimizer", 40, 80, 40},
        {"momentum x=10 phase=optimizer", 60, 120, 80},
        {"adam x=10 phase=optimizer", 140, 160, 120},
        {"adamw x=10 weights=int8 phase=optimizer", 140, 100, 60},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_op op = parse(cases[i].spec);
        ft_cost c;

        ft_op_cost(&op, &c);
        if (fabs(c.flops - cases[i].flops) > 0 ||
            fabs(c.bytes_read - cases[i].read) > 0)
            fprintf(stderr, "%s\n", cases[i].spec);
        CHECK_NEAR(c.flops, cases[i].flops, 0);
        CHECK_NEAR(c.bytes_read, cases[i].read, 0);
        CHECK_NEAR(c.bytes_written, cases[i].written, 0);
    }
}

TEST(a_step_is_read_by_its_names)
{
    static const char list[] = "relu x=4x8\n";
    ft_step_names names = {.mode = "training", .optimizer = "adam", .loss = "mse"};
    ft_graph *g, *made, *lowered;
    ft_error err = {0};
    ft_step step;

    CHECK(SAME(ft_name(FT_NAMES_PHASE, FT_PHASE_FORWARD_BACKWARD), "forward_backward"));
    CHECK_EQ(ft_import_ops(&g, list, sizeof(list) - 1, "l", NULL), FT_OK);
    CHECK_EQ(ft_step_read(&step, &names, NULL), FT_OK);
    CHECK(step.given && EQ(step.mode, FT_MODE_TRAINING) &&
          EQ(step.how.loss, FT_LOSS_MSE));
    CHECK(EQ(step.how.optimizer, FT_OPTIMIZER_ADAM) && !step.how.loss_on_all);
    CHECK(EQ(ft_step_make(&made, g, &step, &err), FT_EINVAL) && !made);
    CHECK(HAS(err.msg, "a list does not say how"));
    names = (ft_step_names){.mode = "inference", .loss = "mse"};
    CHECK_EQ(ft_step_read(&step, &names, &err), FT_EINVAL);
    CHECK(HAS(err.msg, "--loss goes with --mode training"));
    names = (ft_step_names){.mode = "training", .optimizer = "rmsprop"};
    CHECK_EQ(ft_step_read(&step, &names, &err), FT_EINVAL);
    CHECK(
        HAS(err.msg, "none, sgd, momentum, adam, adamw or adamw8bit, not \"rmsprop\""));
    names = (ft_step_names){0};
    CHECK(EQ(ft_step_read(&step, &names, NULL), FT_OK) && !step.given);
    CHECK(EQ(ft_step_make(&made, g, &step, NULL), FT_OK) && !made); /* as it is */
    CHECK_EQ(ft_step_lower(&lowered, g, FT_POLICY_CHANNELS_LAST, &step, NULL), FT_OK);
    CHECK(lowered && EQ(lowered->n_nodes, 1) && CMP(lowered, !=, g));
    CHECK(SAME(ft_step_name(&step, g), "one forward pass"));
    ft_graph_free(lowered);
    ft_graph_free(g);
}

TEST(a_step_is_the_whole_of_it)
{
    const ft_step step = {
        .given = 1, .mode = FT_MODE_TRAINING, .how = {.optimizer = FT_OPTIMIZER_SGD}};
    ft__build *b = ft__build_new("net");
    uint32_t w = weight(b, "w", (ft_shape){2, {3, 8}});
    uint32_t x = input(b, (ft_shape){2, {4, 8}});
    ft_graph *g, *made = NULL, *lowered = NULL;

    ft__build_output(b, layer(b, "linear x=4x8 out=3", &x, 1, &w, 1));
    CHECK_EQ(ft__build_finish_take(&g, b, NULL), FT_OK);
    CHECK(g && EQ(g->mode, FT_MODE_INFERENCE) && EQ(g->batch, 4) &&
          EQ(g->n_outputs, 1));
    CHECK_EQ(ft_step_make(&made, g, &step, NULL), FT_OK);
    CHECK(made && EQ(made->mode, FT_MODE_TRAINING) &&
          CMP(made->n_nodes, >, g->n_nodes));
    CHECK_EQ(ft_step_lower(&lowered, g, FT_POLICY_STRIDED_VIEWS, &step, NULL), FT_OK);
    CHECK(lowered && EQ(lowered->mode, FT_MODE_TRAINING));
    CHECK(SAME(ft_step_name(&step, made), "one step of forward, backward and SGD"));
    ft_graph_free(lowered);
    ft_graph_free(made);
    ft_graph_free(g);
}
