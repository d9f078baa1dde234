/* Layers with weights, attention, recurrent and quantised operators. */
#include "onnx_cases.h"

TEST(weights_may_be_activations)
{
    static const struct flow cases[] = {
        {"a convolution",
         "in x fp32 2,3,8,8\nout y\nin w fp32 4,3,3,3\nnode Conv x,w y", "fp32 2,4,6,6",
         "1 conv2d x=2x3x8x8 out=4 kernel=3x3 stride=1x1 pad=0x0\n"},
        {"a transposed convolution",
         "in x fp32 2,3,8,8\nout y\nin w fp32 3,4,2,2\nin b fp32 4\n"
         "node ConvTranspose x,w,b y strides=2,2",
         "fp32 2,4,16,16",
         "1 conv_transpose2d x=2x3x8x8 out=4 kernel=2x2 stride=2x2 pad=0x0 bias=1\n"},
        {"scale and shift of a layer norm",
         "in x fp32 2,3,8,8\nout y\nin s fp32 8\nout m\n"
         "node LayerNormalization x,s y,m axis=-1",
         "fp32 2,3,8,8; fp32 2,3,8,1",
         "1 layernorm x=2x3x8x8 norm=1\n1 generic read=0 out=2x3x8x1\n"},
        {"scale of a root mean square norm",
         "opset 23\nin x fp32 2,3,8,8\nout y\nin s fp32 8\n"
         "node RMSNormalization x,s y axis=-1",
         "fp32 2,3,8,8", "1 rmsnorm x=2x3x8x8 norm=1\n"},
        {"of a group norm",
         "opset 21\nin x fp32 2,4,8\nin s fp32 4\nout y\n"
         "node GroupNormalization x,s,s y num_groups=2",
         "fp32 2,4,8", "1 groupnorm x=2x4x8 groups=2\n"},
        {"statistics of a batch norm in training",
         "opset 15\nin x fp32 2,3,8,8\nout y\nconst s fp32 3\nin m fp32 3\nout r\n"
         "node BatchNormalization x,s,s,m,m y,r training_mode=1",
         "fp32 2,3,8,8; fp32 3",
         "1 batchnorm x=2x3x8x8 train=1\n1 generic read=0 out=3\n"},
    };

    CHECK_RULES(cases);
}

TEST(sizes_of_transposed_convolutions)
{
    static const struct flow cases[] = {
        {"a size beyond the kernel's reach",
         "in x fp32 2,3,8,8\nout y\nconst w fp32 3,4,3,3\n"
         "node ConvTranspose x,w y strides=2,2 output_shape=18,18",
         "fp32 2,4,18,18",
         "1 conv_transpose2d x=2x3x8x8 out=4 kernel=3x3 stride=2x2 pad=0x0 "
         "outpad=1x1\n"},
        {"with batch and channels in front",
         "opset 7\nin x fp32 2,3,8,8\nout y\nconst w fp32 3,4,3,3\n"
         "node ConvTranspose x,w y strides=2,2 output_shape=2,4,16,16",
         "fp32 2,4,16,16",
         "1 conv_transpose2d x=2x3x8x8 out=4 kernel=3x3 stride=2x2 pad=0x0x1x1\n"},
        {"same size times the stride",
         "in x fp32 2,3,8,8\nout y\nconst w fp32 3,4,3,3\n"
         "node ConvTranspose x,w y strides=2,2 auto_pad:SAME_UPPER",
         "fp32 2,4,16,16",
         "1 conv_transpose2d x=2x3x8x8 out=4 kernel=3x3 stride=2x2 pad=0x0x1x1\n"},
        {"dilated",
         "in x fp32 2,3,8,8\nout y\nconst w fp32 3,4,3,3\n"
         "node ConvTranspose x,w y dilations=2,2 pads=1,1,1,1",
         "fp32 2,4,10,10",
         "1 conv_transpose2d x=2x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 "
         "dilation=2x2\n"},
    };

    CHECK_RULES(cases);
}

TEST(quantised_operators_say_their_types)
{
    static const struct flow cases[] = {
        {"to int8 and back",
         "in x fp32 2,3,8,8\nout y\nconst s fp32 - 0.5\nconst z int8 - 0\n"
         "node QuantizeLinear x,s,z q\nnode DequantizeLinear q,s,z y",
         "fp32 2,3,8,8",
         "1 quantize x=2x3x8x8 to=int8\n1 dequantize x=2x3x8x8 to=fp32\n"},
        {"without a zero point, and by an attribute",
         "opset 21\nin x fp32 2,3,8,8\nout y\nconst s fp32 -\nout z\n"
         "node QuantizeLinear x,s y\nnode QuantizeLinear x,s z output_dtype=5",
         "uint8 2,3,8,8; int16 2,3,8,8",
         "1 quantize x=2x3x8x8 to=uint8\n1 quantize x=2x3x8x8 to=int16\n"},
        {"a quantised weight stays a weight",
         "in x fp32 2,4\nconst w int8 4,6\nconst s fp32 -\nconst z int8 -\nout y\n"
         "node DequantizeLinear w,s,z d\nnode MatMul x,d y",
         "fp32 2,6", "1 linear x=2x4 out=6 weights=int8\n"},
        {"scale and zero point of what comes",
         "in x fp32 3,4\nout y\nout s\nout z\nnode DynamicQuantizeLinear x y,s,z",
         "uint8 3,4; fp32 ; uint8 ",
         "1 reduce_min x=3x4 axes=0x1 keep=0\n1 reduce_max x=3x4 axes=0x1 keep=0\n"
         "1 sub x=1 y=1\n1 quantize x=1 to=uint8\n1 quantize x=3x4 to=uint8\n"},
        {"products of integers",
         "in x uint8 2,4\nconst w int8 4,6\nin v int8 4,3\nin z uint8 -\nout y\n"
         "out u\nnode MatMulInteger x,w,z y\nnode MatMulInteger x,v u",
         "int32 2,6; int32 2,3",
         "1 linear x=2x4 out=6 to=int32 weights=int8\n"
         "1 matmul x=2x4 y=4x3 to=int32\n"},
        {"a quantised product",
         "in x int8 2,5,4\nconst w int8 4,6\nconst s fp32 -\nconst z int8 -\n"
         "out y\nnode QLinearMatMul x,s,z,w,s,z,s,z y",
         "int8 2,5,6", "1 linear x=2x5x4 out=6\n"},
        {"a convolution of integers",
         "in x uint8 1,3,8,8\nconst w uint8 4,3,3,3\nconst z uint8 -\nout y\n"
         "node ConvInteger x,w,z,z y pads=1,1,1,1",
         "int32 1,4,8,8",
         "1 conv2d x=1x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1 to=int32\n"},
        {"a quantised convolution",
         "in x uint8 1,3,8,8\nconst w int8 4,3,3,3\nconst s fp32 -\n"
         "const z uint8 -\nconst zw int8 -\nconst b int32 4\nout y\n"
         "node QLinearConv x,s,z,w,s,zw,s,z,b y",
         "uint8 1,4,6,6",
         "1 conv2d x=1x3x8x8 out=4 kernel=3x3 stride=1x1 pad=0x0 bias=1 "
         "weights=int8\n"},
    };

    CHECK_RULES(cases);
}

static const struct flow attentions[] = {
    {"four dimensions, values of another size",
     "opset 23\nin q fp32 2,4,5,8\nin k fp32 2,4,7,8\nin v fp32 2,4,7,10\n"
     "out y\nnode Attention q,k,v y is_causal=1",
     "fp32 2,4,5,10", "1 attention x=2x4x5x8 y=2x4x7x8 z=2x4x7x10 causal=1\n"},
    {"three dimensions, shared keys",
     "opset 23\nin q fp32 2,5,32\nin k fp32 2,7,16\nin v fp32 2,7,16\nout y\n"
     "node Attention q,k,v y q_num_heads=4 kv_num_heads=2",
     "fp32 2,5,32", "1 attention x=2x4x5x8 y=2x2x7x8 z=2x2x7x8\n"},
    {"with what was before",
     "opset 23\nin q fp32 2,4,1,8\nin k fp32 2,2,1,8\nin m bool 1,13\n"
     "in pk fp32 2,2,12,8\nout y\nout c\nout d\n"
     "node Attention q,k,k,m,pk,pk y,c,d",
     "fp32 2,4,1,8; fp32 2,2,13,8; fp32 2,2,13,8",
     "1 concat x=2x2x12x8 axis=2 sizes=12x1\n"
     "1 concat x=2x2x12x8 axis=2 sizes=12x1\n"
     "1 attention x=2x4x1x8 y=2x2x13x8 z=2x2x13x8 mask=1\n"},
    {"with what was before, three dimensions",
     "opset 23\nin q fp32 2,1,32\nin k fp32 2,1,16\nin pk fp32 2,2,12,8\n"
     "out y\nout c\n"
     "node Attention q,k,k,-,pk,pk y,c,- q_num_heads=4 kv_num_heads=2",
     "fp32 2,1,32; fp32 2,2,13,8",
     "1 transpose x=2x1x2x8 perm=0x2x1x3\n"
     "1 concat x=2x2x12x8 axis=2 sizes=12x1\n"
     "1 transpose x=2x1x2x8 perm=0x2x1x3\n"
     "1 concat x=2x2x12x8 axis=2 sizes=12x1\n"
     "1 attention x=2x4x1x8 y=2x2x13x8 z=2x2x13x8\n"},
    {"the scores asked for",
     "opset 23\nin q fp32 2,4,5,8\nin k fp32 2,2,7,8\nout y\nout s\n"
     "node Attention q,k,k y,-,-,s",
     "fp32 2,4,5,8; fp32 2,4,5,7",
     "1 attention x=2x4x5x8 y=2x2x7x8 z=2x2x7x8\n1 matmul x=2x4x5x8 y=2x4x8x7\n"},
    {"flexible",
     "in q fp32 2,4,5,8\nin k fp32 2,4,7,8\nout y\n"
     "node ai.onnx.preview.FlexAttention q,k,k y",
     "fp32 2,4,5,8", "1 attention x=2x4x5x8 y=2x4x7x8 z=2x4x7x8\n"},
    {"rotated positions",
     "opset 23\nin x fp32 2,4,5,8\nconst c fp32 50,4\nin p int64 2,5\nout y\n"
     "node RotaryEmbedding x,c,c,p y",
     "fp32 2,4,5,8", "1 rotary x=2x4x5x8\n"},
    {"linear attention",
     "opset 27\nin q fp32 2,5,32\nin k fp32 2,5,16\nin v fp32 2,5,24\nout y\n"
     "out s\n"
     "node LinearAttention q,k,v y,s q_num_heads=4 kv_num_heads=2 "
     "update_rule:linear",
     "fp32 2,5,48; fp32 2,2,8,12",
     "1 matmul x=2x2x8x5 y=2x2x5x12\n1 matmul x=2x4x5x8 y=2x4x8x12\n"},
    {"by the delta rule",
     "opset 27\nin q fp32 2,5,16\nin d fp32 2,5,2\nin p fp32 2,2,8,8\nout y\n"
     "out s\nnode LinearAttention q,q,q,p,d,d y,s q_num_heads=2 kv_num_heads=2",
     "fp32 2,5,16; fp32 2,2,8,8",
     "1 matmul x=2x2x8x5 y=2x2x5x8\n1 matmul x=2x2x5x8 y=2x2x8x8\n"
     "1 matmul x=2x2x5x8 y=2x2x8x8\n"},
    {"a causal convolution that remembers",
     "opset 27\nin x fp32 2,6,5\nconst w fp32 6,1,4\nconst b fp32 6\n"
     "in p fp32 2,6,3\nout y\nout s\n"
     "node CausalConvWithState x,w,b,p y,s activation:silu",
     "fp32 2,6,5; fp32 2,6,3",
     "1 concat x=2x6x3 axis=2 sizes=3x5\n"
     "1 conv1d x=2x6x8 out=6 kernel=4 stride=1 pad=0x0 groups=6 bias=1\n"
     "1 silu x=2x6x5\n1 slice x=2x6x8 out=2x6x3\n"},
    {"from nothing, shorter than its state",
     "opset 27\nin x fp32 2,6,2\nconst w fp32 6,1,4\nout y\nout s\n"
     "node CausalConvWithState x,w y,s",
     "fp32 2,6,2; fp32 2,6,3",
     "1 conv1d x=2x6x2 out=6 kernel=4 stride=1 pad=3x0 groups=6\n"
     "1 pad x=2x6x2 out=2x6x3\n"},
};

TEST(attention_is_one_kernel)
{
    CHECK_RULES(attentions);
}

TEST(recurrent_layers_give_all_results)
{
    static const struct flow cases[] = {
        {"lstm, both directions",
         "in x fp32 5,2,7\nconst w fp32 2,36,7\nconst r fp32 2,36,9\n"
         "const b fp32 2,72\nout y\nout h\nout c\n"
         "node LSTM x,w,r,b y,h,c hidden_size=9 direction:bidirectional",
         "fp32 5,2,2,9; fp32 2,2,9; fp32 2,2,9",
         "1 lstm x=5x2x7 hidden=9 directions=2 bias=1\n"},
        {"gru, the last state alone",
         "in x fp32 5,2,7\nconst w fp32 1,27,7\nconst r fp32 1,27,9\n"
         "in i fp32 1,2,9\nout h\nnode GRU x,w,r,-,-,i -,h hidden_size=9",
         "fp32 1,2,9", "1 gru x=5x2x7 hidden=9\n"},
        {"rnn, batch in front",
         "opset 14\nin x fp32 2,5,7\nconst w fp32 1,9,7\nconst r fp32 1,9,9\n"
         "out y\nout h\nnode RNN x,w,r y,h hidden_size=9 layout=1",
         "fp32 2,5,1,9; fp32 2,1,9", "1 rnn x=5x2x7 hidden=9\n"},
        {"weights that are activations",
         "in x fp32 5,2,7\nin w fp32 1,9,7\nconst r fp32 1,9,9\nout y\n"
         "node RNN x,w,r y",
         "fp32 5,1,2,9", "1 rnn x=5x2x7 hidden=9\n"},
    };

    CHECK_RULES(cases);
}

TEST(norms_are_found_by_their_names)
{
    static const struct flow cases[] = {
        {"mean and variance",
         "in x fp32 2,3,4\nout y\nnode MeanVarianceNormalization x y axes=0,2",
         "fp32 2,3,4",
         "1 reduce_mean x=2x3x4 axes=0x2\n1 sub x=2x3x4 y=1x3x1\n"
         "1 mul x=2x3x4 y=2x3x4\n1 reduce_mean x=2x3x4 axes=0x2\n1 sqrt x=1x3x1\n"
         "1 div x=2x3x4 y=1x3x1\n"},
        {"hardmax flattened before opset 13",
         "opset 11\nin x fp32 2,3,4\nout y\nnode Hardmax x y", "fp32 2,3,4",
         "1 hardmax x=2x12 axis=1\n"},
        {"hardmax of the last axis", "in x fp32 2,3,4\nout y\nnode Hardmax x y",
         "fp32 2,3,4", "1 hardmax x=2x3x4 axis=2\n"},
        {"vectors of length one",
         "in x fp32 2,3,4\nout y\nnode LpNormalization x y axis=1 p=1", "fp32 2,3,4",
         "1 l2norm x=2x3x4 axis=1\n"},
    };

    CHECK_RULES(cases);
}

TEST(losses_and_their_steps)
{
    static const struct flow cases[] = {
        {"cross entropy as one kernel",
         "in x fp32 3,5,6\nin t int64 3,6\nout y\n"
         "node SoftmaxCrossEntropyLoss x,t y",
         "fp32 ", "1 cross_entropy x=3x5x6 axis=1\n"},
        {"cross entropy of each",
         "in x fp32 3,5\nin t int64 3\nout y\n"
         "node SoftmaxCrossEntropyLoss x,t y reduction:none",
         "fp32 3",
         "1 logsoftmax x=3x5 axis=1\n1 gather_elements x=3x5 y=3x1 axis=1\n"
         "1 neg x=3\n"},
        {"with the logarithms",
         "in x fp32 3,5\nin t int64 3\nout y\nout l\n"
         "node SoftmaxCrossEntropyLoss x,t y,l reduction:sum",
         "fp32 ; fp32 3,5",
         "1 logsoftmax x=3x5 axis=1\n1 gather_elements x=3x5 y=3x1 axis=1\n"
         "1 neg x=3\n1 reduce_sum x=3 axes=0 keep=0\n"},
        {"likelihood, weighted",
         "in x fp32 3,5\nin t int64 3\nconst w fp32 5\nout y\n"
         "node NegativeLogLikelihoodLoss x,t,w y",
         "fp32 ",
         "1 gather x=5 y=3 axis=0\n1 gather_elements x=3x5 y=3x1 axis=1\n"
         "1 neg x=3\n1 mul x=3 y=3\n1 reduce_sum x=3 axes=0 keep=0\n"
         "1 reduce_sum x=3 axes=0 keep=0\n1 div x=1 y=1\n"},
        {"adam, two parameters",
         "in r fp32 -\nin t int64 -\nin a fp32 2,3\nin b fp32 4\nout x\nout y\n"
         "out v\nout w\nout h\nout k\n"
         "node ai.onnx.preview.training.Adam r,t,a,b,a,b,a,b,a,b x,y,v,w,h,k",
         "fp32 2,3; fp32 4; fp32 2,3; fp32 4; fp32 2,3; fp32 4",
         "1 adam x=2x3\n1 adam x=4\n"},
        {"momentum",
         "in r fp32 -\nin t int64 -\nin a fp32 2,3\nout x\nout v\n"
         "node ai.onnx.preview.training.Momentum r,t,a,a,a x,v",
         "fp32 2,3; fp32 2,3", "1 momentum x=2x3\n"},
    };

    CHECK_RULES(cases);
}

TEST(what_does_not_fit_is_one_sentence)
{
    static const struct misfit cases[] = {
        {"in x fp32 2,3,8,8\nconst w fp32 4,2,3,3\nnode Conv x,w y\nout y",
         "m.onnx: node y (Conv): x has 3 channels, the weights are for 2"},
        {"in x fp32 2,8\nconst w fp32 4,2,3,3\nnode Conv x,w y\nout y",
         "m.onnx: node y (Conv): weights of 4 dimensions in 1 groups do not fit its "
         "operand"},
        {"opset 23\nin q fp32 2,5,30\nout y\n"
         "node Attention q,q,q y q_num_heads=4 kv_num_heads=4",
         "m.onnx: node y (Attention): q_num_heads=4 does not fit an operand of 3 "
         "dimensions"},
        {"opset 23\nin q fp32 2,4,5,8\nin p fp32 2,4,5,9\nout y\n"
         "node Attention q,q,q,-,p,p y,c,d\nout c",
         "m.onnx: node y,c,d (Attention): what it has from the past does not fit"},
        {"in x fp32 5,2,7\nconst w fp32 1,30,7\nconst r fp32 1,36,9\nout y\n"
         "node LSTM x,w,r y hidden_size=9",
         "m.onnx: node y (LSTM): its weights do not fit together"},
        {"in x fp32 2,7\nconst w fp32 1,36,7\nconst r fp32 1,36,9\nout y\n"
         "node LSTM x,w,r y",
         "m.onnx: node y (LSTM): its operands must have 3 dimensions"},
        {"opset 27\nin x fp32 2,6,5\nconst w fp32 6,1,4\nin p fp32 2,6,4\nout y\n"
         "node CausalConvWithState x,w,-,p y",
         "m.onnx: node y (CausalConvWithState): its weights and its state do not fit "
         "together"},
        {"in x fp32 3,5\nin t int64 4\nout y\nnode SoftmaxCrossEntropyLoss x,t y",
         "m.onnx: node y (SoftmaxCrossEntropyLoss): its labels do not fit its scores"},
        {"in r fp32 -\nin t int64 -\nin a fp32 2,3\nout x\n"
         "node ai.onnx.preview.training.Adam r,t,a,a x",
         "m.onnx: node x (Adam): 2 operands are not 4 for each parameter"},
    };

    CHECK_MISFITS(cases);
}
