/* What every operator of torch.export becomes: one node, and the operations that
 * stand for it. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "import/pt2/pt2.h"
#include "pt2_read.h"

struct rule_case {
    const char *tensors, *node, *specs;
};

#define F " dtype=fp32"

static const struct rule_case layers[] = {
    {"x=2x3x8x8 w+=4x3x3x3 y*=2x4x6x6", "aten.conv2d.default input=x weight=w -> y",
     "conv2d x=2x3x8x8 out=4 kernel=3x3 stride=1x1 pad=0x0" F},
    {"x=2x4x8x8 w+=4x1x3x3 b+=4 y*=2x4x4x4",
     "aten.conv2d.default input=x weight=w bias=b stride=(2,2) padding=(1,1) "
     "dilation=(1,1) groups=4 -> y",
     "conv2d x=2x4x8x8 out=4 kernel=3x3 stride=2x2 pad=1x1 groups=4 bias=1" F},
    {"x=2x3x8x8 w+=4x3x4x4 y*=2x4x8x8",
     "aten.conv2d.padding input=x weight=w bias=none stride=(1,1) padding=\"same\" -> "
     "y",
     "conv2d x=2x3x8x8 out=4 kernel=4x4 stride=1x1 pad=1x1x2x2" F},
    {"x=3x8 w+=4x3x3 y*=4x6", "aten.conv1d.default input=x weight=w -> y",
     "conv1d x=1x3x8 out=4 kernel=3 stride=1 pad=0" F},
    {"x=1x4x5x5 w+=4x3x3x3 y*=1x6x10x10",
     "aten.conv_transpose2d.input input=x weight=w bias=none stride=(2,2) "
     "padding=(1,1) output_padding=(1,1) groups=2 -> y",
     "conv_transpose2d x=1x4x5x5 out=6 kernel=3x3 stride=2x2 pad=1x1 outpad=1x1 "
     "groups=2" F},
    {"x=2x3x8x8 w+=4x3x3x3 y*=2x4x8x8",
     "aten.convolution.default input=x weight=w bias=none stride=(1,1) padding=(1,1) "
     "dilation=(1,1) transposed=false output_padding=(0,0) groups=1 -> y",
     "conv2d x=2x3x8x8 out=4 kernel=3x3 stride=1x1 pad=1x1" F},
    {"x=2x5x8 w+=16x8 b+=16 y*=2x5x16",
     "aten.linear.default input=x weight=w bias=b -> y",
     "linear x=2x5x8 out=16 bias=1" F},
    {"x=4x8 w+=16x8 b+=16 t*=8x16 y*=4x16",
     "aten.t.default self=w -> t\naten.addmm.default self=b mat1=x mat2=t -> y",
     "linear x=4x8 out=16 bias=1" F},
    {"x=4x8 w+=8x16 y*=4x16", "aten.mm.default self=x mat2=w -> y",
     "linear x=4x8 out=16" F},
    {"x=2x4x8 y=2x8x3 z*=2x4x3", "aten.bmm.default self=x mat2=y -> z",
     "matmul x=2x4x8 y=2x8x3" F},
    {"x=8 y=8x3 z*=3", "aten.matmul.default self=x other=y -> z",
     "matmul x=1x8 y=8x3" F},
    {"x=4x8 y=8x16 b=4x16 z*=4x16", "aten.addmm.default self=b mat1=x mat2=y -> z",
     "matmul x=4x8 y=8x16" F "\nadd x=4x16 y=4x16" F},
    {"x=4x8 w=16x8 z*=4x16", "aten.linear.default input=x weight=w -> z",
     "transpose x=16x8 perm=1x0" F "\nmatmul x=4x8 y=8x16" F},
    {"x=2x8x4x4 w+=8 b+=8 m-=8 v-=8 y*=2x8x4x4",
     "aten.batch_norm.default input=x weight=w bias=b running_mean=m running_var=v "
     "training=false momentum=0.1 eps=1e-05 cudnn_enabled=true -> y",
     "batchnorm x=2x8x4x4" F},
    {"x=2x8x4x4 w+=8 b+=8 m-=8 v-=8 y*=2x8x4x4 s*=8 t*=8 a*=8 c*=8",
     "aten._native_batch_norm_legit_functional.default input=x weight=w bias=b "
     "running_mean=m running_var=v training=true momentum=0.1 eps=1e-05 -> y s t a c",
     "batchnorm x=2x8x4x4 train=1" F},
    {"x=2x5x8 w+=8 b+=8 y*=2x5x8",
     "aten.layer_norm.default input=x normalized_shape=(8) weight=w bias=b -> y",
     "layernorm x=2x5x8 norm=1" F},
    {"x=2x8x4 w+=8 b+=8 y*=2x8x4 m*=2x2 r*=2x2",
     "aten.native_group_norm.default input=x weight=w bias=b N=2 C=8 HxW=4 group=2 "
     "eps=1e-05 -> y m r",
     "groupnorm x=2x8x4 groups=2" F},
    {"q=2x4x6x8 k=2x2x5x8 v=2x2x5x8 y*=2x4x6x8",
     "aten.scaled_dot_product_attention.default query=q key=k value=v attn_mask=none "
     "dropout_p=0.0 is_causal=true -> y",
     "attention x=2x4x6x8 y=2x2x5x8 z=2x2x5x8 causal=1" F},
    {"x=2x3x9x9 y*=2x3x4x4",
     "aten.max_pool2d.default self=x kernel_size=(3,3) stride=(2,2) -> y",
     "maxpool2d x=2x3x9x9 kernel=3x3 stride=2x2 pad=0x0" F},
    {"x=2x3x9x9 y*=2x3x4x4 i*=2x3x4x4:5",
     "aten.max_pool2d_with_indices.default self=x kernel_size=(2) -> y i",
     "maxpool2d x=2x3x9x9 kernel=2x2 stride=2x2 pad=0x0" F},
    {"x=2x3x7x7 y*=2x3x1x1",
     "aten.adaptive_avg_pool2d.default self=x output_size=(1,1) -> y",
     "global_avgpool x=2x3x7x7" F},
    {"x=2x3x8x8 y*=2x3x4x4",
     "aten._adaptive_avg_pool2d.default self=x output_size=(4,4) -> y",
     "avgpool2d x=2x3x8x8 kernel=2x2 stride=2x2 pad=0x0" F},
    {"i=2x5:5 w+=10x8 y*=2x5x8", "aten.embedding.default weight=w indices=i -> y",
     "embedding x=2x5 rows=10 dim=8" F},
    {"x=3x2x6 h=2x2x4 c=2x2x4 a+=16x6 b+=16x4 d+=16x4 e+=16x4 y*=3x2x4 hn*=2x2x4 "
     "cn*=2x2x4",
     "aten.lstm.input input=x hx=[h,c] params=[a,b,d,e] has_biases=false num_layers=2 "
     "dropout=0.0 train=false bidirectional=false batch_first=false -> y hn cn",
     "lstm x=3x2x6 hidden=4" F "\nlstm x=3x2x4 hidden=4" F
     "\n2 concat x=1x2x4 axis=0 sizes=1x1" F},
};

static const struct rule_case math[] = {
    {"x=2x8 y*=2x8", "aten.relu.default self=x -> y", "relu x=2x8" F},
    {"x=2x8 y*=2x8", "aten.relu_.default self=x -> y", "relu x=2x8" F},
    {"x=2x8 y*=2x8", "aten.gelu.default self=x approximate=\"tanh\" -> y",
     "gelu_tanh x=2x8" F},
    {"x=2x8 y*=2x8", "aten.dropout.default input=x p=0.1 train=false -> y", ""},
    {"x=2x8 y*=2x8", "aten.dropout.default input=x p=0.1 train=true -> y",
     "dropout x=2x8" F},
    {"x=2x8 y*=2x8", "aten.dropout.default input=x p=0.0 train=true -> y", ""},
    {"x=2x8 y=8 z*=2x8", "aten.add.Tensor self=x other=y -> z", "add x=2x8 y=8" F},
    {"x=2x8 z*=2x8", "aten.mul.Tensor self=x other=2.5 -> z", "mul x=2x8 y=1" F},
    {"x=2x8 y=2x1 z*=2x8", "aten.diff.default self=x append=y -> z",
     "concat x=2x8 axis=1 sizes=8x1" F "\n2 slice x=2x9 out=2x8" F
     "\nsub x=2x8 y=2x8" F},
    {"x=2x8 y=2x8 z*=2x8", "aten.xlogy.Tensor self=x other=y -> z",
     "pow x=2x8 y=2x8" F},
    {"x=2x8 z*=2x8", "aten.pow.Tensor_Scalar self=x exponent=3 -> z", "abs x=2x8" F},
    {"x=2x8 z*=2x8", "aten.pow.Tensor_Scalar self=x exponent=0.5 -> z", "sqrt x=2x8" F},
    {"x=2x8 z*=2x8", "aten.pow.Tensor_Scalar self=x exponent=-0.5 -> z",
     "rsqrt x=2x8" F},
    {"x=2x8 y=2x8 z*=2x8", "aten.pow.Tensor_Tensor self=x exponent=y -> z",
     "pow x=2x8 y=2x8" F},
    {"x=2x8 z*=2x8", "aten.pow.Tensor_Scalar self=x exponent=2.5 -> z",
     "pow x=2x8 y=1" F},
    {"x=2x8 z*=2x8", "aten.rsub.Scalar self=x other=1 -> z", "sub x=1 y=2x8" F},
    {"x=2x8 z*=2x8:12", "aten.gt.Scalar self=x other=0 -> z", "greater x=2x8 y=1" F},
    {"x=2x8 y=2x8 z*=2x8", "aten.max.other self=x other=y -> z",
     "maximum x=2x8 y=2x8" F},
    {"x=2x8 z*=.", "aten.max.default self=x -> z",
     "reduce_max x=2x8 axes=0x1 keep=0" F},
    {"x=2x8 z*=2 i*=2:5", "aten.max.dim self=x dim=1 -> z i",
     "reduce_max x=2x8 axes=1 keep=0" F},
    {"x=2x3x8 z*=2x1x8", "aten.mean.dim self=x dim=(1) keepdim=true -> z",
     "reduce_mean x=2x3x8 axes=1" F},
    {"x=2x3x8 z*=2x3x8", "aten.softmax.int self=x dim=-1 -> z",
     "softmax x=2x3x8 axis=2" F},
    {"x=2x3x8 z*=2x3x8:6", "aten.to.dtype self=x dtype=6 -> z",
     "cast x=2x3x8 to=fp16" F},
    {"x=2x8 v*=2x3 i*=2x3:5", "aten.topk.default self=x k=3 -> v i",
     "topk x=2x8 axis=1 size=3" F},
    {"c=2x1:12 x=2x8 z*=2x8",
     "aten.where.ScalarOther condition=c self=x other=0.0 -> z",
     "where x=2x1 y=2x8 z=1" F},
    {"x=2x8 c=2x1:12 z*=2x8", "aten.masked_fill.Scalar self=x mask=c value=0.0 -> z",
     "where x=2x1 y=1 z=2x8" F},
    {"x=2x3x4 y=2x5x4 z*=2x3x5",
     "aten.einsum.default equation=\"bij,bkj->bik\" tensors=[x,y] -> z",
     "transpose x=2x5x4 perm=0x2x1" F "\nmatmul x=2x3x4 y=2x4x5" F},
    {"x=2x8 y*=2x8", "aten.cumsum.default self=x dim=-1 -> y", "cumsum x=2x8 axis=1" F},
};

/* The kernels that PyTorch starts: Loss.cpp, Distance.cpp. */
static const struct rule_case losses[] = {
    {"x=4x8 t=4x8 y*=4x8",
     "aten.kl_div.default self=x target=t reduction=0 log_target=false -> y",
     "pow x=4x8 y=4x8" F "\nmul x=4x8 y=4x8" F "\nsub x=4x8 y=4x8" F},
    {"x=4x8 t=4x8 y*=4x8", "aten.l1_loss.default self=x target=t reduction=0 -> y",
     "sub x=4x8 y=4x8" F "\nabs x=4x8" F},
    {"x=4x8 t=4x8 y*=4x8",
     "aten.huber_loss.default self=x target=t reduction=0 delta=1.0 -> y",
     "sub x=4x8 y=4x8" F},
    {"x=4x8 t=4x8 y*=4x8",
     "aten.binary_cross_entropy_with_logits.default self=x target=t weight=none "
     "pos_weight=none reduction=0 -> y",
     "sub x=4x8 y=1" F "\nmul x=4x8 y=4x8" F "\nsoftplus x=4x8" F
     "\nsub x=4x8 y=4x8" F},
    {"x=4x8 y=4x8 z*=4",
     "aten.cosine_similarity.default x1=x x2=y dim=1 eps=1e-08 -> z",
     "2 reduce_l2 x=4x8 axes=1" F "\n2 copy x=4x1" F "\n2 clip x=4x1" F
     "\n2 div x=4x8 y=4x1" F "\nmul x=4x8 y=4x8" F
     "\nreduce_sum x=4x8 axes=1 keep=0" F},
    {"x=4x8 y=4x8 n=4x8 z*=4",
     "aten.triplet_margin_loss.default anchor=x positive=y negative=n margin=1.0 p=2.0 "
     "eps=1e-06 swap=false reduction=0 -> z",
     "2 sub x=4x8 y=4x8" F "\n2 add x=4x8 y=1" F "\n2 reduce_l2 x=4x8 axes=1 keep=0" F
     "\nadd x=4 y=1" F "\nsub x=4 y=4" F "\nclip x=4" F},
    {"x=4x8 y=1x8 a*=4x8 b*=4x8", "aten.broadcast_tensors.default tensors=[x,y] -> a b",
     "expand x=4x8 out=4x8" F "\nexpand x=1x8 out=4x8" F},
};

static const struct rule_case moves[] = {
    {"x=2x3x4 y*=2x12", "aten.view.default self=x size=(2,12) -> y", ""},
    {"x=2x3x4 y*=2x4x3", "aten.transpose.int self=x dim0=1 dim1=-1 -> y",
     "transpose x=2x3x4 perm=0x2x1" F},
    {"x=2x3x4 y*=4x2x3", "aten.permute.default self=x dims=(2,0,1) -> y",
     "transpose x=2x3x4 perm=2x0x1" F},
    {"x=2x3x4 y*=2x3x2", "aten.slice.Tensor self=x dim=2 start=0 end=4 step=2 -> y",
     "slice x=2x3x4 out=2x3x2 step=2" F},
    {"x=2x3x4 y*=2x4", "aten.select.int self=x dim=1 index=0 -> y",
     "slice x=2x3x4 out=2x4" F},
    {"x=2x6 a*=2x4 b*=2x2", "aten.split.Tensor self=x split_size=4 dim=1 -> a b",
     "split x=2x6 axis=1 sizes=4x2" F},
    {"x=2x3 a*=3 b*=3", "aten.unbind.int self=x -> a b",
     "split x=2x3 axis=0 sizes=1x1" F},
    {"x=2x4 y=2x2 z*=2x6", "aten.cat.default tensors=[x,y] dim=-1 -> z",
     "concat x=2x4 axis=1 sizes=4x2" F},
    {"x=2x4 y=2x4 z*=2x2x4", "aten.stack.default tensors=[x,y] dim=1 -> z",
     "concat x=2x1x4 axis=1 sizes=1x1" F},
    {"x=1x4 z*=5x4", "aten.expand.default self=x size=(5,4) -> z",
     "expand x=1x4 out=5x4" F},
    {"x=2x4 z*=3x2x4", "aten.new_zeros.default self=x size=(3,2,4) -> z",
     "fill out=3x2x4" F},
    {"x=6x4 i=3:5 z*=3x4", "aten.index.Tensor self=x indices=[i] -> z",
     "gather x=6x4 y=3 axis=0" F},
    {"x=6x4 i=3:5 j=3:5 z*=3", "aten.index.Tensor self=x indices=[i,j] -> z",
     "gather_nd x=6x4 y=3 out=3" F},
    {"x=6x4 i=3:5 z*=6x3", "aten.index_select.default self=x dim=1 index=i -> z",
     "gather x=6x4 y=3 axis=1" F},
    {"x=6x4 i=6x2:5 z*=6x2", "aten.gather.default self=x dim=1 index=i -> z",
     "gather_elements x=6x4 y=6x2 axis=1" F},
    {"x=6x4 i=3:5 u=3x4 z*=6x4",
     "aten.index_put.default self=x indices=[i] values=u -> z",
     "scatter x=6x4 y=3x4" F},
    {"x=1x3x4x4 y*=1x3x8x8",
     "aten.upsample_bilinear2d.vec input=x output_size=(8,8) align_corners=false -> y",
     "resize x=1x3x4x4 out=1x3x8x8 mode=1" F},
    {"x=1x8x4x4 y*=1x2x8x8", "aten.pixel_shuffle.default self=x upscale_factor=2 -> y",
     "depth_to_space x=1x8x4x4 out=1x2x8x8" F},
    {"b=5x4 s=5 k*=3:5",
     "torchvision.nms.default dets=b scores=s iou_threshold=0.5 -> k",
     "nms x=5x4 y=5 out=3" F},
};

static const struct rule_case gradients[] = {
    {"g=2x4x6x6 x=2x3x8x8 w+=4x3x3x3 a*=2x3x8x8 b*=4x3x3x3",
     "aten.convolution_backward.default grad_output=g input=x weight=w bias_sizes=(0) "
     "stride=(1,1) padding=(0,0) dilation=(1,1) transposed=false output_padding=(0,0) "
     "groups=1 output_mask={T,T,F} -> a b none",
     "conv2d x=2x3x8x8 out=4 kernel=3x3 stride=1x1 pad=0x0" F " phase=backward"},
    {"g=2x4x6x6 x=2x3x8x8 w+=4x3x3x3 b*=4x3x3x3 c*=4",
     "aten.convolution_backward.default grad_output=g input=x weight=w bias_sizes=(4) "
     "stride=(1,1) padding=(0,0) dilation=(1,1) transposed=false output_padding=(0,0) "
     "groups=1 output_mask={F,T,T} -> none b c",
     "conv2d x=2x3x8x8 out=4 kernel=3x3 stride=1x1 pad=0x0 bias=1" F
     " phase=backward wrt=w"},
    {"g=2x8x4x4 x=2x8x4x4 w+=8 m=8 r=8 a*=2x8x4x4 b*=8 c*=8",
     "aten.native_batch_norm_backward.default grad_out=g input=x weight=w "
     "running_mean=m running_var=r save_mean=m save_invstd=r train=true eps=1e-05 "
     "output_mask={T,T,T} -> a b c",
     "batchnorm x=2x8x4x4 train=1" F " phase=backward"},
    {"g=2x8 x=2x8 a*=2x8",
     "aten.threshold_backward.default grad_output=g self=x threshold=0 -> a",
     "relu x=2x8" F " phase=backward"},
    {"g=2x8 y=2x8 a*=2x8",
     "aten._softmax_backward_data.default grad_output=g output=y dim=1 input_dtype=7 "
     "-> a",
     "softmax x=2x8 axis=1" F " phase=backward"},
    {"g=2x3x4x4 x=2x3x9x9 i=2x3x4x4:5 a*=2x3x9x9",
     "aten.max_pool2d_with_indices_backward.default grad_output=g self=x "
     "kernel_size=(3,3) stride=(2,2) padding=(0,0) dilation=(1,1) ceil_mode=false "
     "indices=i -> a",
     "maxpool2d x=2x3x9x9 kernel=3x3 stride=2x2 pad=0x0" F " phase=backward"},
    {"g=2x5x8 i=2x5:5 a*=10x8",
     "aten.embedding_dense_backward.default grad_output=g indices=i num_weights=10 "
     "padding_idx=-1 scale_grad_by_freq=false -> a",
     "embedding x=2x5 rows=10 dim=8" F " phase=backward"},
    {"g=1x2x3x4 q=1x2x3x4 k=1x2x3x4 v=1x2x3x4 o=1x2x3x4 l=1x2x3 a*=1x2x3x4 b*=1x2x3x4 "
     "c*=1x2x3x4",
     "aten._scaled_dot_product_flash_attention_for_cpu_backward.default grad_out=g "
     "query=q key=k value=v out=o logsumexp=l dropout_p=0.0 is_causal=false -> a b c",
     "attention x=1x2x3x4 y=1x2x3x4 z=1x2x3x4" F " phase=backward"},
    {"g=2x2 a*=2x8",
     "aten.slice_backward.default grad_output=g input_sizes=(2,8) dim=1 start=0 end=2 "
     "step=1 -> a",
     "slice x=2x8 out=2x2" F " phase=backward"},
    {"x=2x3x4 z*=2x4x3", "aten.swapaxes.default self=x axis0=-2 axis1=-1 -> z",
     "transpose x=2x3x4 perm=0x2x1" F},
    /* All of it in another shape. */
    {"x=24 z*=2x12", "aten.as_strided.default self=x size=(2,12) stride=(12,1) -> z",
     ""},
    {"x=2x3x6 h=2x2x4 a+=12x6 b+=12x4 c+=12x6 d+=12x4 s*=2x2x4 z*=2x3x8",
     "aten.gru.input input=x hx=h params=[a,b,c,d] has_biases=false num_layers=1 "
     "dropout=0.0 train=false bidirectional=true batch_first=true -> z s",
     "transpose x=2x3x6 perm=1x0x2" F "\ngru x=3x2x6 hidden=4 directions=2" F
     "\ntranspose x=3x2x2x4 perm=0x2x1x3" F "\ntranspose x=3x2x8 perm=1x0x2" F},
    /* What is picked, then its mean; the sum of weights beside it. */
    {"x=4x9 y=4:5 w*=. z*=.",
     "aten.nll_loss_forward.default self=x target=y weight=none reduction=1 "
     "ignore_index=-100 -> z w",
     "gather_elements x=4x9 y=4x1 axis=1" F "\nreduce_mean x=4x1 axes=0x1 keep=0" F},
};

/* Inputs and weights that nothing reads are allowed: the last result is given. */
static void check_cases(const struct rule_case *c, size_t n)
{
    pt2_text *t = malloc(sizeof(*t));

    for (size_t i = 0; i < n && t; i++) {
        const char *last = strrchr(c[i].tensors, ' ');
        char specs[SPECS] = "", out[64] = "";
        ft_graph *g;
        ft_error err = {0};

        sscanf(last + 1, "%63[^*]", out);
        make_pt2_text(t, c[i].tensors, c[i].node, out, NULL);
        CHECK_EQ(import(&g, t, NULL, &err), FT_OK);
        if (g) {
            specs_of(g, specs, 0);
            CHECK_EQ(g->n_bounded, 0);
        }
        CHECK(SAME(specs, c[i].specs));
        if (!g || strcmp(specs, c[i].specs) != 0)
            fprintf(stderr, "%s\ngives\n%s%s\nnot\n%s\n", c[i].node, specs, err.msg,
                    c[i].specs);
        ft_graph_free(g);
    }
    free(t);
}

#define CASES(a) a, sizeof(a) / sizeof(*a)

TEST(operators_become_operations)
{
    check_cases(CASES(layers));
    check_cases(CASES(losses));
    check_cases(CASES(math));
    check_cases(CASES(moves));
    check_cases(CASES(gradients));
}

TEST(what_a_difference_is_extended_by_is_of_its_sizes)
{
    static const char *const unlike[] = {"x=2x8 y=1x1 z*=2x8", "x=2x8 y=1 z*=2x8"};
    static pt2_text t;

    for (size_t i = 0; i < 2; i++) {
        ft_graph *g;

        make_pt2_text(&t, unlike[i], "aten.diff.default self=x append=y -> z", "z",
                      NULL);
        CHECK_EQ(import(&g, &t, NULL, NULL), FT_OK);
        CHECK(g && EQ(g->n_bounded, 1));
        ft_graph_free(g);
    }
}

/* An engine that is given a part without its axis cannot put it into the stack. */
TEST(parts_of_a_stack_have_its_axis)
{
    static const ft_shape part = {.rank = 3, .dim = {2, 1, 4}};
    static pt2_text t;
    uint32_t n_parts = 0;
    ft_graph *g;

    make_pt2_text(&t, "x=2x4 y=2x4 z*=2x2x4",
                  "aten.stack.default tensors=[x,y] dim=1 -> z", "z", NULL);
    CHECK_EQ(import(&g, &t, NULL, NULL), FT_OK);
    for (uint32_t i = 0; g && i < g->n_nodes; i++) {
        const ft_node *n = &g->node[i];

        if (g->op[n->op].kind != FT_KIND_concat)
            continue;
        for (uint32_t j = 0; j < n->n_in; j++)
            n_parts += ft_shape_equal(&g->tensor[n->in[j]].shape, &part) != 0;
    }
    CHECK_EQ(n_parts, 2);
    ft_graph_free(g);
}
