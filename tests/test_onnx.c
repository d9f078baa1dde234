#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/prng.h"
#include "import/onnx/onnx.h"
#include "onnx_cases.h"

#define IMAGE "in x fp32 1,3,8,8\nout y\n"
#define MATRIX "in x fp32 2,5,4\nout y\n"

static const struct good layers[] = {
    {"powers that are products and roots",
     IMAGE "const two fp32 - 2\nconst half fp32 - 0.5\nconst more fp32 - 2.5\n"
           "node Pow x,two a\nnode Pow a,half b\nnode Pow b,more y",
     "abs x=1x3x8x8 dtype=fp32\nsqrt x=1x3x8x8 dtype=fp32\n"
     "pow x=1x3x8x8 y=1 dtype=fp32\n"},
    {"a convolution",
     IMAGE "const w fp32 16,3,3,3\nconst b fp32 16\n"
           "node Conv x,w,b y pads=1,1,1,1 strides=2,2 kernel_shape=3,3",
     "conv2d x=1x3x8x8 out=16 kernel=3x3 stride=2x2 pad=1x1 bias=1 dtype=fp32\n"},
    {"padding that differs", IMAGE "const w fp32 4,3,2,2\nnode Conv x,w y pads=0,0,1,1",
     "conv2d x=1x3x8x8 out=4 kernel=2x2 stride=1x1 pad=0x0x1x1 dtype=fp32\n"},
    {"same padding, upper",
     IMAGE "const w fp32 4,3,2,2\nnode Conv x,w y auto_pad:SAME_UPPER",
     "conv2d x=1x3x8x8 out=4 kernel=2x2 stride=1x1 pad=0x0x1x1 dtype=fp32\n"},
    {"same padding, lower",
     IMAGE "const w fp32 4,3,2,2\nnode Conv x,w y auto_pad:SAME_LOWER",
     "conv2d x=1x3x8x8 out=4 kernel=2x2 stride=1x1 pad=1x1x0x0 dtype=fp32\n"},
    {"a depthwise convolution", IMAGE "const w fp32 3,1,3,3\nnode Conv x,w y group=3",
     "conv2d x=1x3x8x8 out=3 kernel=3x3 stride=1x1 pad=0x0 groups=3 dtype=fp32\n"},
    {"a transposed convolution",
     IMAGE "const w fp32 3,4,3,3\n"
           "node ConvTranspose x,w y strides=2,2 pads=1,1,1,1 output_padding=1,1",
     "conv_transpose2d x=1x3x8x8 out=4 kernel=3x3 stride=2x2 pad=1x1 outpad=1x1 "
     "dtype=fp32\n"},
    {"a transposed convolution of stated size",
     IMAGE "const w fp32 3,4,3,3\nnode ConvTranspose x,w y strides=2,2 "
           "output_shape=16,16",
     "conv_transpose2d x=1x3x8x8 out=4 kernel=3x3 stride=2x2 pad=0x0x1x1 "
     "dtype=fp32\n"},
    {"pooling",
     IMAGE "node MaxPool x p kernel_shape=3,3 strides=2,2 ceil_mode=1\n"
           "node GlobalAveragePool p y",
     "maxpool2d x=1x3x8x8 kernel=3x3 stride=2x2 pad=0x0 ceil=1 dtype=fp32\n"
     "global_avgpool x=1x3x4x4 dtype=fp32\n"},
    {"norms",
     IMAGE "const s fp32 3\nconst l fp32 8\n"
           "node BatchNormalization x,s,s,s,s a\n"
           "node InstanceNormalization a,s,s b\n"
           "node LayerNormalization b,l,l c axis=-1\n"
           "node LRN c y size=5",
     "batchnorm x=1x3x8x8 dtype=fp32\ninstancenorm x=1x3x8x8 dtype=fp32\n"
     "layernorm x=1x3x8x8 norm=1 dtype=fp32\nlrn x=1x3x8x8 size=5 dtype=fp32\n"},
    {"a matrix product with weights and bias is one layer",
     MATRIX "const w fp32 4,6\nconst b fp32 6\nnode MatMul x,w p\nnode Add b,p y",
     "linear x=2x5x4 out=6 bias=1 dtype=fp32\n"},
    {"a bias that is no bias stays an addition",
     MATRIX "const w fp32 4,6\nconst b fp32 5,6\nnode MatMul x,w p\nnode Add b,p y",
     "linear x=2x5x4 out=6 dtype=fp32\nadd x=5x6 y=2x5x6 dtype=fp32\n"},
    {"a product that is read twice keeps its addition",
     MATRIX "const w fp32 4,6\nconst b fp32 6\nout p\nnode MatMul x,w p\n"
            "node Add p,b y",
     "linear x=2x5x4 out=6 dtype=fp32\nadd x=2x5x6 y=6 dtype=fp32\n"},
    {"transposed weights are weights",
     MATRIX "const w fp32 6,4\nnode Transpose w t perm=1,0\nnode MatMul x,t y",
     "linear x=2x5x4 out=6 dtype=fp32\n"},
    {"two activations", MATRIX "in z fp32 2,4,7\nnode MatMul x,z y",
     "matmul x=2x5x4 y=2x4x7 dtype=fp32\n"},
    {"a vector on the right", MATRIX "in z fp32 4\nnode MatMul x,z y",
     "view x=4 out=4x1 dtype=fp32\nmatmul x=2x5x4 y=4x1 dtype=fp32\n"},
    {"Gemm with constants",
     "in x fp32 2,4\nconst w fp32 6,4\nconst b fp32 6\nout y\n"
     "node Gemm x,w,b y transB=1",
     "linear x=2x4 out=6 bias=1 dtype=fp32\n"},
    {"Gemm of activations",
     "in x fp32 4,2\nin w fp32 6,4\nin b fp32 6\nout y\n"
     "node Gemm x,w,b y transA=1 transB=1",
     "transpose x=4x2 perm=1x0 dtype=fp32\ntranspose x=6x4 perm=1x0 dtype=fp32\n"
     "matmul x=2x4 y=4x6 dtype=fp32\nadd x=2x6 y=6 dtype=fp32\n"},
    {"an embedding", "in x int64 2,5\nconst w fp32 100,16\nout y\nnode Gather w,x y",
     "embedding x=2x5 rows=100 dim=16 dtype=fp32\n"},
    {"an einstein sum",
     "in x fp32 2,5,3,4\nin z fp32 2,6,3,4\nout y\n"
     "node Einsum x,z y equation:bqhd,bkhd->bhqk",
     "transpose x=2x5x3x4 perm=0x2x1x3 dtype=fp32\n"
     "transpose x=2x6x3x4 perm=0x2x3x1 dtype=fp32\n"
     "matmul x=6x5x4 y=6x4x6 dtype=fp32\n"},
};

TEST(layers_become_operations)
{
    CHECK_SPECS(layers, 1);
}

static const struct good elementwise_and_moves[] = {
    {"activations", IMAGE "node Relu x a\nnode Clip a b\nnode HardSwish b y",
     "relu x=1x3x8x8 dtype=fp32\nclip x=1x3x8x8 dtype=fp32\n"
     "hardswish x=1x3x8x8 dtype=fp32\n"},
    {"a scalar operand is a weight", IMAGE "const c fp32 - 0.5\nnode Mul x,c y",
     "mul x=1x3x8x8 y=1 dtype=fp32\n"},
    {"comparisons and where",
     IMAGE "const c fp32 - 0.5\nnode Greater x,c m\nnode Where m,x,c y",
     "greater x=1x3x8x8 y=1 dtype=fp32\n"
     "where x=1x3x8x8 y=1x3x8x8 z=1 dtype=fp32\n"},
    {"a sum of three", IMAGE "node Sum x,x,x y",
     "add x=1x3x8x8 y=1x3x8x8 dtype=fp32\nadd x=1x3x8x8 y=1x3x8x8 dtype=fp32\n"},
    {"axes as attribute", "opset 11\n" IMAGE "node ReduceMean x y axes=-1,2 keepdims=0",
     "reduce_mean x=1x3x8x8 axes=2x3 keep=0 dtype=fp32\n"},
    {"axes as operand", "opset 18\n" IMAGE "const a int64 2 2,3\nnode ReduceMean x,a y",
     "reduce_mean x=1x3x8x8 axes=2x3 dtype=fp32\n"},
    {"softmax flattened before opset 13", "opset 11\n" IMAGE "node Softmax x y",
     "softmax x=1x192 axis=1 dtype=fp32\n"},
    {"softmax of the last axis", IMAGE "node Softmax x y",
     "softmax x=1x3x8x8 axis=3 dtype=fp32\n"},
    {"concat and split",
     IMAGE "node Concat x,x c axis=1\nnode Split c a,b axis=1\nnode Add a,b y",
     "concat x=1x3x8x8 axis=1 sizes=3x3 dtype=fp32\n"
     "split x=1x6x8x8 axis=1 sizes=3x3 dtype=fp32\n"
     "add x=1x3x8x8 y=1x3x8x8 dtype=fp32\n"},
    {"split into uneven parts", IMAGE "node Split x y,z axis=2 num_outputs=2\nout z",
     "split x=1x3x8x8 axis=2 sizes=4x4 dtype=fp32\n"},
    {"slice with attributes", "opset 9\n" IMAGE "node Slice x y starts=1 ends=9 axes=2",
     "slice x=1x3x8x8 out=1x3x7x8 dtype=fp32\n"},
    {"slice backwards",
     IMAGE "const s int64 1 -1\nconst e int64 1 -100\nconst a int64 1 3\n"
           "const t int64 1 -2\nnode Slice x,s,e,a,t y",
     "slice x=1x3x8x8 out=1x3x8x4 step=2 dtype=fp32\n"},
    {"pad, expand, tile",
     IMAGE "const p int64 8 0,0,1,1,0,0,1,1\nconst e int64 4 2,1,1,1\n"
           "const t int64 4 1,2,1,1\n"
           "node Pad x,p a\nnode Expand a,e b\nnode Tile b,t y",
     "pad x=1x3x8x8 out=1x3x10x10 dtype=fp32\n"
     "expand x=1x3x10x10 out=2x3x10x10 dtype=fp32\n"
     "tile x=2x3x10x10 out=2x6x10x10 dtype=fp32\n"},
    {"resize by scales",
     IMAGE "const s fp32 4 1,1,2,2.5\nnode Resize x,-,s y mode:linear",
     "resize x=1x3x8x8 out=1x3x16x20 mode=1 dtype=fp32\n"},
    {"resize to sizes",
     IMAGE "const s int64 2 5,6\nnode Resize x,-,-,s y axes=2,3 mode:nearest",
     "resize x=1x3x8x8 out=1x3x5x6 dtype=fp32\n"},
    {"depth to space", "in x fp32 1,8,2,2\nout y\nnode DepthToSpace x y blocksize=2",
     "depth_to_space x=1x8x2x2 out=1x2x4x4 dtype=fp32\n"},
    {"views",
     IMAGE "const a int64 1 0\nnode Flatten x f\nnode Unsqueeze f,a u\n"
           "node Dropout u d\nnode Squeeze d,a y",
     "view x=1x3x8x8 out=1x192 dtype=fp32\nview x=1x192 out=1x1x192 dtype=fp32\n"
     "view x=1x1x192 out=1x1x192 dtype=fp32\nview x=1x1x192 out=1x192 "
     "dtype=fp32\n"},
    {"cast", IMAGE "node Cast x y to=10", "cast x=1x3x8x8 to=fp16 dtype=fp32\n"},
    {"argmax", IMAGE "node ArgMax x y axis=1 keepdims=0",
     "argmax x=1x3x8x8 axes=1 keep=0 dtype=fp32\n"},
};

TEST(elementwise_and_moves_become_operations)
{
    CHECK_SPECS(elementwise_and_moves, 1);
}

TEST(arithmetic_on_shapes_leaves_nothing_behind)
{
    static const struct good cases[] = {
        {"flatten as exporters write it",
         IMAGE
         "const zero int64 - 0\nconst m int64 1 -1\nnode Shape x s\n"
         "node Gather s,zero n\nnode Unsqueeze n u axes=0\nnode Concat u,m c axis=0\n"
         "node Reshape x,c y",
         "view x=1x3x8x8 out=1x192 dtype=fp32\n"},
        {"sizes computed in integers",
         IMAGE "const two int64 - 2\nconst two1 int64 1 2\nconst four1 int64 1 4\n"
               "node Shape x s\nnode Slice s,two1,four1 h\nnode Div h,two d\n"
               "node Mul d,two1 e\nnode Slice s,-,- z starts=0 ends=2\n"
               "node Concat z,e c axis=0\nnode Resize x,-,-,c y",
         "resize x=1x3x8x8 out=1x3x8x8 dtype=fp32\n"},
        {"sizes computed in floats",
         IMAGE
         "const k fp32 - 1.5\nconst i int64 1 2\nconst one int64 2 1,3\n"
         "const w int64 1 8\nnode Shape x s\nnode Gather s,i h\nnode Cast h f to=1\n"
         "node Mul f,k g\nnode Floor g l\nnode Cast l n to=7\n"
         "node Concat one,n,w c axis=0\nnode Resize x,-,-,c y",
         "resize x=1x3x8x8 out=1x3x12x8 dtype=fp32\n"},
        {"where, equal, range, expand",
         IMAGE
         "const m int64 4 -1,3,-1,8\nconst minus int64 - -1\nconst d int64 4 2,3,8,8\n"
         "node Equal m,minus q\nnode Where q,d,m e\nnode Expand x,e y",
         "expand x=1x3x8x8 out=2x3x8x8 dtype=fp32\n"},
        {"a branch on a constant",
         IMAGE "const t int64 - 4\nnode Shape x s\nnode Size s r\nnode Equal r,t c\n"
               "begin then_branch\nnode Relu x a\nout a\nend\n"
               "begin else_branch\nnode Tanh x b\nout b\nend\nnode If c y",
         "relu x=1x3x8x8 dtype=fp32\nview x=1x3x8x8 out=1x3x8x8 dtype=fp32\n"},
        {"a mask too large to be folded is a weight",
         IMAGE "const n int64 2 300,300\nconst v fp32 1 1\nnode ConstantOfShape n m\n"
               "const p int64 4 1,1,300,300\nnode Reshape m,p q\n"
               "const w fp32 1,3,300,300\nnode Add q,w b\nnode ReduceMax x z axes=2,3\n"
               "node Add z,b y",
         "reduce_max x=1x3x8x8 axes=2x3 dtype=fp32\n"
         "add x=1x3x1x1 y=1x3x300x300 dtype=fp32\n"},
        {"a constant in an attribute",
         IMAGE "const c int64 2 1,192\nnode Constant  k value@c\nnode Reshape x,k y",
         ""},
    };

    CHECK_SPECS(cases, 1);
}

TEST(chains_become_the_layers_they_were)
{
#define ERF "const r fp32 - 1.4142135\nconst one fp32 - 1\nconst half fp32 - 0.5\n"
    static const struct good cases[] = {
        {"silu", IMAGE "node Sigmoid x s\nnode Mul s,x y",
         "silu x=1x3x8x8 dtype=fp32\n"},
        {"a sigmoid that is read elsewhere stays",
         IMAGE "out s\nnode Sigmoid x s\nnode Mul s,x y",
         "sigmoid x=1x3x8x8 dtype=fp32\nmul x=1x3x8x8 y=1x3x8x8 dtype=fp32\n"},
        {"gelu, the half last",
         IMAGE ERF "node Div x,r d\nnode Erf d e\nnode Add e,one a\nnode Mul x,a m\n"
                   "node Mul m,half y",
         "gelu x=1x3x8x8 dtype=fp32\n"},
        {"gelu, the half first",
         IMAGE ERF "node Div x,r d\nnode Erf d e\nnode Add e,one a\nnode Mul x,half m\n"
                   "node Mul m,a y",
         "gelu x=1x3x8x8 dtype=fp32\n"},
        {"not gelu: another divisor",
         IMAGE "const r fp32 - 2\nconst one fp32 - 1\nconst half fp32 - 0.5\n"
               "node Div x,r d\nnode Erf d e\nnode Add e,one a\nnode Mul x,half m\n"
               "node Mul m,a y",
         "div x=1x3x8x8 y=1 dtype=fp32\nerf x=1x3x8x8 dtype=fp32\n"
         "add x=1x3x8x8 y=1 dtype=fp32\nmul x=1x3x8x8 y=1 dtype=fp32\n"
         "mul x=1x3x8x8 y=1x3x8x8 dtype=fp32\n"},
        {"gelu by tanh",
         IMAGE ERF
         "const k fp32 - 0.044715\nconst q fp32 - 0.7978845\nconst three fp32 - 3\n"
         "node Pow x,three p\nnode Mul p,k c\nnode Add x,c s\nnode Mul s,q t\n"
         "node Tanh t h\nnode Add h,one a\nnode Mul x,half m\nnode Mul m,a y",
         "gelu_tanh x=1x3x8x8 dtype=fp32\n"},
        {"layer norm with scale and shift",
         MATRIX
         "const two fp32 - 2\nconst eps fp32 - 1e-5\nconst w fp32 4\nconst b fp32 4\n"
         "node ReduceMean x m axes=-1\nnode Sub x,m d\nnode Pow d,two p\n"
         "node ReduceMean p v axes=-1\nnode Add v,eps e\nnode Sqrt e s\n"
         "node Div d,s n\nnode Mul n,w k\nnode Add k,b y",
         "layernorm x=2x5x4 norm=1 dtype=fp32\n"},
        {"root mean square norm",
         MATRIX "const two fp32 - 2\nconst eps fp32 - 1e-5\nconst w fp32 4\n"
                "const one fp32 - 1\nnode Pow x,two p\nnode ReduceMean p v axes=-1\n"
                "node Add v,eps e\nnode Sqrt e s\nnode Div one,s r\nnode Mul x,r n\n"
                "node Mul w,n y",
         "rmsnorm x=2x5x4 norm=1 dtype=fp32\n"},
    };

    CHECK_SPECS(cases, 1);
}

TEST(what_has_no_rule_is_bounded_and_named)
{
    ft_graph *g =
        import(IMAGE "info a fp32 1,7\nnode Strange x a\nnode Odd a y", NULL, NULL);
    char specs[512];

    CHECK(g != NULL);
    if (!g)
        return;
    print_specs(g, specs, sizeof(specs), 1);
    CHECK(SAME(specs, "generic read=192 out=1x7 dtype=fp32\n"
                      "generic read=7 out=1x7 dtype=fp32\n"));
    CHECK_EQ(g->n_bounded, 2);
    CHECK(SAME(g->bounded[0], "Strange (node a)"));
    CHECK(HAS(g->bounded[1], "as large as its operand"));
    ft_graph_free(g);
}

TEST(a_guess_that_does_not_fit_is_bounded_again)
{
    ft_graph *g =
        import("in x fp32 2,12\nconst w fp32 7,5\nconst s int64 2 3,7\nout y\n"
               "node Odd x a\nnode Reshape a,s b\nnode MatMul b,w y",
               NULL, NULL);
    char specs[512];

    CHECK(g != NULL);
    if (!g)
        return;
    print_specs(g, specs, sizeof(specs), 1);
    CHECK(SAME(specs, "generic read=24 out=2x12 dtype=fp32\n"
                      "generic read=26 out=2x12 dtype=fp32\n"
                      "generic read=59 out=2x12 dtype=fp32\n"));
    CHECK_EQ(g->n_bounded, 3);
    ft_graph_free(g);
}

TEST(weights_are_shared_and_counted_once)
{
    /* A tied embedding: the table, transposed, is the last layer's weight. */
    ft_graph *g = import("in x int64 2,5\nconst w fp32 100,16\nout y\n"
                         "node Gather w,x e\nnode Transpose w t perm=1,0\n"
                         "node MatMul e,t y",
                         NULL, NULL);
    ft_totals t = {0};

    CHECK(g != NULL);
    if (!g)
        return;
    ft_graph_totals(g, &t);
    CHECK_NEAR(t.parameters, 1600, 0);
    ft_graph_free(g);
}

TEST(open_dimensions_are_bound)
{
#define OPEN "in x fp32 batch,seq,4\nin z fp32 ?,seq,4\nnode Add x,z y\nout y\n"
    const ft_dim_value dims[] = {{"seq", 7}};
    const ft_import_options opt = {.dims = dims, .n_dims = 1},
                            batched = {.batch = 3, .dims = dims, .n_dims = 1};
    ft_graph *g = import(OPEN, &opt, NULL);

    CHECK(g && EQ(g->tensor[0].shape.dim[0], 1) && EQ(g->tensor[1].shape.dim[1], 7));
    CHECK(g && EQ(g->n_assumptions, 1) && BEGINS(g->assumption[0], "batch 1 (", 9));
    ft_graph_free(g);
    g = import(OPEN, &batched, NULL);
    CHECK(g && EQ(g->tensor[0].shape.dim[0], 3) && EQ(g->n_assumptions, 0));
    ft_graph_free(g);
}

TEST(open_dimensions_are_bound_by_shapes_of_inputs)
{
    static const ft_input_shape x[] = {{"x", {3, {5, 7, 4}}}},
                                y[] = {{"", {2, {6, 2}}}};
    const ft_import_options by_x = {.inputs = x, .n_inputs = 1},
                            by_y = {.inputs = y, .n_inputs = 1};
    ft_graph *g = import(OPEN, &by_x, NULL);

    /* z has an unnamed batch and the same seq. */
    CHECK(g && EQ(g->tensor[1].shape.dim[0], 5) && EQ(g->tensor[1].shape.dim[1], 7));
    CHECK(g && EQ(g->n_assumptions, 1) &&
          SAME(g->assumption[0],
               "batch 5 for the other inputs too, as in --input x=5x7x4"));
    ft_graph_free(g);
    g = import("in y fp32 batch,?\nnode Relu y z\nout z\n", &by_y, NULL);
    CHECK(g && EQ(g->tensor[0].shape.dim[0], 6) && EQ(g->tensor[0].shape.dim[1], 2) &&
          EQ(g->n_assumptions, 0));
    ft_graph_free(g);
}

/* The same networks with a fixed batch and an open one. */
TEST(a_fixed_batch_is_another_where_all_goes_along)
{
    static const char *const models[] = {
        "in x fp32 %s,3,8,8\nconst w fp32 4,3,3,3\nconst f fp32 144,5\n"
        "const s int64 2 -1,144\nnode Conv x,w c\nnode Relu c r\nnode Reshape r,s v\n"
        "node MatMul v,f y\nout y",
        "in x fp32 %s,6,8\nin y fp32 %s,6,8\nnode Add x,y a\n"
        "node Transpose a b perm=1,0,2\nnode Softmax b z axis=2\nout z"};
    static const int64_t batches[] = {1, 3, 7};
    char fixed[512], open[512];

    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 3; k++) {
            const ft_import_options opt = {.batch = batches[k]};
            ft_graph *a, *b;

            snprintf(fixed, sizeof(fixed), models[i], "2", "2");
            snprintf(open, sizeof(open), models[i], "batch", "batch");
            a = import(fixed, &opt, NULL);
            b = import(open, &opt, NULL);
            CHECK(a && b && EQ(a->n_ops, b->n_ops) && EQ(a->batch, batches[k]));
            for (uint32_t j = 0; a && b && j < a->n_ops; j++)
                CHECK(ft_op_equal(&a->op[j], &b->op[j]));
            CHECK(a && EQ(a->n_assumptions, 1));
            ft_graph_free(a);
            ft_graph_free(b);
        }
}

static const ft_dim_value seq_7[] = {{"seq", 7}}, batch_8[] = {{"batch", 8}};
static const ft_input_shape x_2_4[] = {{"x", {2, {2, 4}}}}, z_2[] = {{"z", {1, {2}}}};

struct refused {
    const char *model;
    ft_import_options opt;
    ft_status status;
    const char *says;
};

#define D20 "dddddddddddddddddddd"
#define D60 D20 D20 D20
#define D100 D60 D20 D20
#define D200 D100 D100

static const struct refused unbound[] = {
    {"in x fp32 2,seq\nout x",
     {0},
     FT_ENEEDED,
     "m.onnx: dimension \"seq\" of input \"x\" is open: add --dim seq=N"},
    {"in x fp32 2,?\nout x",
     {0},
     FT_ENEEDED,
     "m.onnx: dimension \"x.1\" of input \"x\" is open: add --dim x.1=N"},
    {"in x fp32 batch,seq,2\nin y fp32 batch,past+seq,seq,?\nout x",
     {0},
     FT_ENEEDED,
     "m.onnx: dimensions seq, past+seq, y.3 are open: add --dim seq=N --dim past+seq=N "
     "--dim y.3=N"},
    {"in x fp32 2," D200 D200 "\nout x",
     {0},
     FT_ENEEDED,
     "m.onnx: dimension \"" D60 "\" of input \"x\" is open: add --dim " D100 "=N"},
    {"in x fp32 2,3\nconst s int64 2 1,-1\nnode Reshape x,s y\nnode Relu y z\nout z",
     {.batch = 4},
     FT_EINVAL,
     "m.onnx: the file fixes its batch, and node y (view) goes with no other: export "
     "it with an open batch"},
    {"in x fp32 2,6,8\nconst s int64 4 2,-1,4,2\nnode Reshape x,s y\nnode Relu y "
     "z\nout z",
     {.batch = 4},
     FT_EINVAL,
     "m.onnx: the file fixes its batch, and node y (view) goes with no other: export "
     "it with an open batch"},
    {"in x fp32 1,6\nconst s int64 2 2,3\nnode Reshape x,s y\nnode Relu y z\nout z",
     {.batch = 4},
     FT_EINVAL,
     "m.onnx: node y (Reshape): 24 elements do not fit the new shape; if it was "
     "exported for one batch size, leave --batch out; at --batch 4, where the file "
     "fixes 1: export it with an open batch"},
    {"in x fp32 2,3\nnode ReduceSum x y\nout y",
     {.batch = 4},
     FT_EINVAL,
     "m.onnx: the file fixes its batch, and node y (reduce_sum) goes with no other: "
     "export it with an open batch"},
    {"in x fp32 2,3\nout x",
     {.dims = seq_7, .n_dims = 1},
     FT_EINVAL,
     "m.onnx: --dim seq=7: no input has an open dimension of that name; the model "
     "leaves "
     "none open"},
    {"in x fp32 batch,3\nin y fp32 batch,3\nin z fp32 ?,3\nout x",
     {.dims = seq_7, .n_dims = 1},
     FT_EINVAL,
     "m.onnx: --dim seq=7: no input has an open dimension of that name; there is "
     "batch, "
     "z.0"},
    {"in x fp32 batch,3\nout x",
     {.batch = 4, .dims = batch_8, .n_dims = 1},
     FT_EINVAL,
     "m.onnx: --dim batch=8 contradicts --batch 4"},
    {"in x fp32 batch,3\nout x",
     {.inputs = x_2_4, .n_inputs = 1},
     FT_EINVAL,
     "m.onnx: --input x=2x4 contradicts the file, where that input is \"x\" [batch, "
     "3]"},
    {"in x fp32 batch,3\nin y fp32 ?,seq\nout x",
     {.inputs = z_2, .n_inputs = 1},
     FT_EINVAL,
     "m.onnx: --input z=2: the model has no such input, but \"x\" [batch, 3], \"y\" "
     "[?, seq]"},
    {"in x fp32 batch,seq\nout x",
     {.dims = seq_7, .n_dims = 1, .inputs = x_2_4, .n_inputs = 1},
     FT_EINVAL,
     "m.onnx: --input x=2x4 contradicts --dim seq=7"},
};

static const struct refused wrong[] = {
    {"in x fp32 2,3\nnode Relu z y\nout y",
     {0},
     FT_EFORMAT,
     "m.onnx: node y (Relu): it reads \"z\", which nothing makes"},
    {"in x fp32 2,3\nnode Relu z y\nnode Relu y z\nout y",
     {0},
     FT_EFORMAT,
     "m.onnx: node y (Relu): it reads \"z\", which is made only later: the nodes are "
     "out of order or form a cycle"},
    {"in x fp32 2,3\nnode Relu x y\nnode Tanh x y\nout y",
     {0},
     FT_EFORMAT,
     "m.onnx: \"y\" is made twice"},
    {"in x fp32 2,3\nin z fp32 2,4\nnode Add x,z y\nout y",
     {0},
     FT_EFORMAT,
     "m.onnx: node y (Add): the shapes of its operands do not fit"},
    {"in x fp32 2,3\nin z fp32 4,2\nnode MatMul x,z y\nout y",
     {0},
     FT_EFORMAT,
     "m.onnx: node y (MatMul): the inner sizes 3 and 4 differ"},
    {"opset 0\nin x fp32 2,3\nout x",
     {0},
     FT_EUNSUPPORTED,
     "m.onnx: opset 0 is older than 1: convert the model to a newer one"},
    {"in x fp32 2,3\nnode Conv x y\nout y",
     {0},
     FT_EFORMAT,
     "m.onnx: node y (Conv): its operand 2 of 2 is missing"},
    {"in x fp32 1,1,1,1,1,1,1,1,1\nout x",
     {0},
     FT_EUNSUPPORTED,
     "m.onnx: input \"x\" has more than 8 dimensions"},
    {"in x fp32 2,3\nout z",
     {0},
     FT_EFORMAT,
     "m.onnx: output \"z\" is made by nothing"},
    {"in x fp32 67108864,134217728\nnode Relu x y\nout y",
     {0},
     FT_EFORMAT,
     "m.onnx: input \"x\" has too many elements"},
};

static void refused(const struct refused *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ft_error err = {0};
        ft_graph *g = import(cases[i].model, &cases[i].opt, &err);

        CHECK(EQ(g, NULL) && EQ(err.status, cases[i].status));
        CHECK(SAME(err.msg, cases[i].says));
        ft_graph_free(g);
    }
}

TEST(failures_are_one_sentence)
{
    refused(unbound, sizeof(unbound) / sizeof(*unbound));
    refused(wrong, sizeof(wrong) / sizeof(*wrong));
}

/* Everything that reads bytes in one model. */
static const char everything[] =
    "in x fp32 batch,3,8,8\nconst w fp32 4,3,3,3\nconst m int64 1 -1\n"
    "const z int64 - 0\nconst two fp32 - 2\nconst eps fp32 - 1e-5\nconst lw fp32 4,6\n"
    "const lb fp32 6\nconst sc fp32 4 1,1,2,2\ninfo q fp32 1,4,8,8\n"
    "node Conv x,w c pads=1,1,1,1 auto_pad:NOTSET\nnode Sigmoid c s\nnode Mul c,s a\n"
    "node Odd a q k=3\nnode Resize q,-,sc r mode:cubic\nnode MaxPool r p,i "
    "kernel_shape=2,2 strides=2,2\nnode Shape p h\nnode Gather h,z n\n"
    "node Unsqueeze n u axes=0\nnode Concat u,m k axis=0\nnode Reshape p,k f\n"
    "node Cast i j to=1\nnode Split f t,v axis=1\nnode Equal n,z e\n"
    "begin then_branch\nnode Relu t b1\nout b1\nend\n"
    "begin else_branch\nnode Tanh v b2\nout b2\nend\nnode If e g\n"
    "node ReduceMean g gm axes=-1\nnode Sub g,gm d\nnode Pow d,two pw\n"
    "node ReduceMean pw va axes=-1\nnode Add va,eps ve\nnode Sqrt ve sd\nnode Div d,sd "
    "y\n"
    "node Einsum y,y ee equation:ij,kj->ik\nout y\nout j\nout ee\n";

static void try_bytes(const uint8_t *data, size_t len)
{
    /* A copy of its own, so that a read past the end is caught. */
    uint8_t *copy = malloc(len ? len : 1);
    ft_error err = {0};
    ft_graph *g;

    if (!copy)
        return;
    memcpy(copy, data, len);
    if (ft__onnx_import(&g, copy, len, "m.onnx", NULL, &err) != FT_OK)
        CHECK(EQ(g, NULL) && CMP(err.msg[0], !=, '\0'));
    ft_graph_free(g);
    free(copy);
}

TEST(no_cut_and_no_flip_does_harm)
{
    size_t len;
    uint8_t *data = onnx_from_text(everything, &len);
    ft__prng rng = ft__prng_stream(1, 0);
    ft_graph *g = NULL;
    ft_error err = {0};

    CHECK(data && EQ(ft__onnx_import(&g, data, len, "m.onnx", NULL, &err), FT_OK));
    ft_graph_free(g);
    for (size_t n = 0; data && n < len; n++)
        try_bytes(data, n);
    for (int i = 0; data && i < 20000; i++) {
        uint32_t at = ft__prng_below(&rng, (uint32_t)len);
        uint8_t was = data[at];

        data[at] = (uint8_t)ft__prng_u64(&rng);
        try_bytes(data, len);
        /* Some changes stay, so that they add up. */
        if (i % 8)
            data[at] = was;
        if (i % 64 == 63) {
            free(data);
            data = onnx_from_text(everything, &len);
        }
    }
    free(data);
}

static const ft__operator_rule *rule_of(ft__onnx *o, const char *domain, const char *op)
{
    return ft__onnx_rule(o, (ft__str){domain, strlen(domain)},
                         (ft__str){op, strlen(op)});
}

TEST(operators_are_found_by_domain_and_name)
{
    static const char *const domains[] = {
        "", [FT__ML] = "ai.onnx.ml", [FT__MICROSOFT] = "com.microsoft",
        [FT__PREVIEW] = "ai.onnx.preview", [FT__TRAINING] = "ai.onnx.preview.training"};
    ft__onnx o = {.b = NULL};

    for (size_t t = 0; ft__rule_tables[t]; t++)
        for (uint32_t i = 0; i < ft__rule_tables[t]->n; i++) {
            const ft__operator_rule *r = &ft__rule_tables[t]->rule[i];

            /* Not another one: each stands in the tables once. */
            CHECK_EQ(rule_of(&o, domains[r->traits & FT__DOMAIN], r->op), r);
        }
    CHECK_EQ(rule_of(&o, "ai.onnx", "Conv"), rule_of(&o, "", "Conv"));
    CHECK(EQ(rule_of(&o, "", "Con"), NULL));
    CHECK(EQ(rule_of(&o, "", "Convolve"), NULL));
    CHECK(EQ(rule_of(&o, "com.microsoft", "Conv"), NULL));
    CHECK(EQ(rule_of(&o, "com.other", "BiasGelu"), NULL));
    ft__arena_free(&o.arena);
}

static ft_status import_bytes(const void *p, size_t n, ft_graph **g, ft_error *err)
{
    char path[] = "/tmp/foretell-test-XXXXXX";
    int fd = mkstemp(path);
    ft_status st = FT_EIO;

    *g = NULL;
    CHECK(CMP(fd, >=, 0) && EQ(write(fd, p, n), (ssize_t)n));
    if (fd >= 0)
        st = ft__import_file(g, path, NULL, err);
    close(fd);
    unlink(path);
    return st;
}

TEST(files_are_told_apart_by_content)
{
    size_t len;
    uint8_t *data = onnx_from_text(everything, &len);
    ft_error err = {0};
    ft_graph *g = NULL;

    CHECK(data && EQ(import_bytes(data, len, &g, &err), FT_OK));
    ft_graph_free(g);
    CHECK(data && EQ(import_bytes(data, len / 2, &g, &err), FT_EFORMAT));
    CHECK(HAS(err.msg, "a damaged ONNX model: the file ends early (byte 2)"));
    CHECK_EQ(import_bytes("relu x=8 dtype=fp32", 19, &g, &err), FT_OK);
    ft_graph_free(g);
    CHECK(EQ(import_bytes("", 0, &g, &err), FT_EFORMAT) && HAS(err.msg, "is empty"));
    CHECK_EQ(import_bytes("PK\3\4zip", 7, &g, &err), FT_EFORMAT);
    CHECK_EQ(import_bytes("\x7f"
                          "ELF\2\1\1\0",
                          8, &g, &err),
             FT_EFORMAT);
    CHECK(HAS(err.msg, "not an ONNX model: a field has no valid type (byte 0)"));
    CHECK_EQ(import_bytes("\x08\x08", 2, &g, &err), FT_EFORMAT);
    CHECK(HAS(err.msg, "not an ONNX model: it holds no graph"));
    CHECK(EQ(ft__import_file(&g, "/nowhere/x.onnx", NULL, &err), FT_EIO) && !g);
    CHECK(HAS(err.msg, "/nowhere/x.onnx: No such file"));
    CHECK_EQ(ft__import_file(&g, "/tmp", NULL, &err), FT_EIO);
    free(data);
}

TEST(spec_lists_count)
{
    static const char text[] =
        "# two layers\n"
        "conv2d x=1x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 *3\n"
        "\n"
        "  relu x=1x4x8x8   # after each\n"
        "relu x=1x4x8x8 dtype=fp32 *2\r\n";
    static const struct {
        const char *text;
        uint64_t pos;
        const char *says;
    } bad[] = {
        {"relu x=8\nrelu y=8\n", 14, "m.ops: line 2: byte 5: relu has no key \"y\""},
        {"relu x=8 *0\n", 9, "m.ops: line 1: byte 9: the count must be 1 to 2^52"},
        {"rely x=8\n", 0, "m.ops: line 1: unknown operation \"rely\""},
        {"# nothing\n", 0, "m.ops: holds no operation"},
    };
    ft_graph *g;
    ft_error err = {0};

    CHECK_EQ(ft_import_ops(&g, text, sizeof(text) - 1, "m.ops", &err), FT_OK);
    CHECK(g && EQ(g->n_ops, 2) && EQ(g->op_count[0], 3) && EQ(g->op_count[1], 3));
    ft_graph_free(g);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        CHECK_EQ(ft_import_ops(&g, bad[i].text, strlen(bad[i].text), "m.ops", &err),
                 FT_EFORMAT);
        if (strcmp(err.msg, bad[i].says) != 0 || err.pos != bad[i].pos)
            fprintf(stderr, "case %zu: %s (%llu)\n", i, err.msg,
                    (unsigned long long)err.pos);
        CHECK(SAME(err.msg, bad[i].says) && EQ(err.pos, bad[i].pos) && !g);
    }
}
