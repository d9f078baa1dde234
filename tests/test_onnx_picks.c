/* Picking, placing, sampling, spectra, words and features. */
#include "onnx_cases.h"

TEST(what_picks_by_indices)
{
    static const struct flow cases[] = {
        {"elements along an axis",
         "in x fp32 3,5\nin i int64 3,2\nout y\nnode GatherElements x,i y axis=1",
         "fp32 3,2", "1 gather_elements x=3x5 y=3x2 axis=1\n"},
        {"rows of indices",
         "in x fp32 3,5,7\nin i int64 2,4,2\nout y\nnode GatherND x,i y", "fp32 2,4,7",
         "1 gather_nd x=3x5x7 y=2x4x2 out=2x4x7\n"},
        {"rows of indices in batches",
         "opset 12\nin x fp32 3,5,7\nin i int64 3,1\nout y\n"
         "node GatherND x,i y batch_dims=1",
         "fp32 3,7", "1 gather_nd x=3x5x7 y=3x1 out=3x7\n"},
        {"updates along an axis",
         "in x fp32 3,5\nin i int64 1,2\nin u fp32 1,2\nout y\nout z\n"
         "node ScatterElements x,i,u y axis=1\nnode Scatter x,i,u z",
         "fp32 3,5; fp32 3,5", "1 scatter x=3x5 y=1x2\n1 scatter x=3x5 y=1x2\n"},
        {"updates at rows",
         "in x fp32 3,5\nin i int64 2,1\nin u fp32 2,5\nout y\n"
         "node ScatterND x,i,u y",
         "fp32 3,5", "1 scatter x=3x5 y=2x5\n"},
        {"updates of a cache",
         "opset 24\nin x fp32 2,9,4\nin u fp32 2,1,4\nin i int64 2\nout y\n"
         "node TensorScatter x,u,i y axis=1",
         "fp32 2,9,4", "1 scatter x=2x9x4 y=2x1x4\n"},
        {"one of many",
         "in x int64 2,3\nconst d int64 - 7\nconst v fp32 2 0,1\nout y\nout z\n"
         "node OneHot x,d,v y\nnode OneHot x,d,v z axis=0",
         "fp32 2,3,7; fp32 7,2,3",
         "1 one_hot x=2x3 out=2x3x7\n1 one_hot x=2x3 out=7x2x3\n"},
        {"reversed sequences",
         "in x fp32 5,2,3\nin l int64 2\nout y\nnode ReverseSequence x,l y",
         "fp32 5,2,3", "1 copy x=5x2x3\n"},
        {"one triangle", "opset 14\nin x fp32 5,4\nout y\nnode Trilu x y upper=0",
         "fp32 5,4", "1 copy x=5x4\n"},
    };

    CHECK_RULES(cases);
}

TEST(what_picks_by_value)
{
    static const struct flow cases[] = {
        {"the largest",
         "in x fp32 3,9\nconst k int64 1 4\nout y\nout i\nnode TopK x,k y,i axis=1",
         "fp32 3,4; int64 3,4", "1 topk x=3x9 axis=1 size=4\n"},
        {"the largest by an attribute",
         "opset 9\nin x fp32 3,9\nout y\nnode TopK x y,i k=2", "fp32 3,2",
         "1 topk x=3x9 axis=1 size=2\n"},
        {"as many of the largest as data says",
         "in x fp32 3,9\nin k int64 1\nout y\nout i\nnode TopK x,k y,i axis=1",
         "fp32 3,<=9; int64 3,<=9", "1 topk x=3x9 axis=1 size=9\n"},
        {"boxes",
         "in b fp32 1,20,4\nin s fp32 1,3,20\nconst m int64 1 5\n"
         "const t fp32 1 0.5\nout y\nnode NonMaxSuppression b,s,m,t y",
         "int64 <=15,3", "1 nms x=1x20x4 y=1x3x20 out=15x3\n"},
        {"rows that differ",
         "in x fp32 3,9\nout y\nout i\nout v\nout c\nnode Unique x y,i,v,c axis=0",
         "fp32 <=3,9; int64 <=3; int64 3; int64 <=3",
         "1 topk x=3x9 axis=0 size=3\n1 nonzero x=3x9 out=3x9\n"
         "1 generic read=0 out=3\n1 generic read=0 out=3\n1 generic read=0 out=3\n"},
        {"where a constant holds",
         "in x fp32 4,9\nconst c bool 4 1,0,1,1\nout y\nnode Compress x,c y axis=0",
         "fp32 3,9", "1 nonzero x=4x9 out=3x9\n"},
    };

    CHECK_RULES(cases);
}

TEST(what_samples_at_places)
{
    static const struct flow cases[] = {
        {"a grid",
         "opset 20\nin x fp32 2,3,8,9\nin g fp32 2,5,6,2\nout y\n"
         "node GridSample x,g y mode:cubic",
         "fp32 2,3,5,6", "1 grid_sample x=2x3x8x9 y=2x5x6x2 out=2x3x5x6 mode=2\n"},
        {"a grid in space, as once written",
         "opset 16\nin x fp32 2,3,8,9,7\nin g fp32 2,5,6,4,3\nout y\n"
         "node GridSample x,g y mode:bilinear",
         "fp32 2,3,5,6,4",
         "1 grid_sample x=2x3x8x9x7 y=2x5x6x4x3 out=2x3x5x6x4 mode=1\n"},
        {"the points of a grid",
         "opset 20\nin t fp32 2,2,3\nconst s int64 4 2,3,5,6\nout y\n"
         "node AffineGrid t,s y",
         "fp32 2,5,6,2", "1 matmul x=30x3 y=2x3x2\n"},
        {"the points in space, as many as data says",
         "opset 20\nin t fp32 2,3,4\nin s int64 5\nout y\nnode AffineGrid t,s y",
         "fp32 2,<=1,<=1,<=1,3", "1 generic read=29 out=2x1x1x1x3\n"},
        {"regions",
         "opset 16\nin x fp32 1,3,8,9\nin r fp32 6,4\nin b int64 6\nout y\n"
         "node RoiAlign x,r,b y output_height=5 output_width=4",
         "fp32 6,3,5,4", "1 roi_align x=1x3x8x9 y=6x4 out=6x3x5x4\n"},
        {"the largest in regions",
         "in x fp32 1,3,8,9\nin r fp32 6,5\nout y\n"
         "node MaxRoiPool x,r y pooled_shape=2,3",
         "fp32 6,3,2,3", "1 roi_align x=1x3x8x9 y=6x5 out=6x3x2x3\n"},
        {"where weights look",
         "opset 19\nin x fp32 1,4,9,9\nconst w fp32 6,4,3,3\nin f fp32 1,18,9,9\n"
         "out y\nnode DeformConv x,w,f y pads=1,1,1,1",
         "fp32 1,6,9,9",
         "1 deform_conv2d x=1x4x9x9 y=1x18x9x9 out=6 kernel=3x3 stride=1x1 pad=1x1\n"},
        {"back from pooling",
         "in x fp32 1,2,4,4\nout y\n"
         "node MaxPool x p,i kernel_shape=2,2 strides=2,2\n"
         "node MaxUnpool p,i y kernel_shape=2,2 strides=2,2",
         "fp32 1,2,4,4",
         "1 maxpool2d x=1x2x4x4 kernel=2x2 stride=2x2 pad=0x0\n"
         "1 generic read=0 out=1x2x2x2\n1 max_unpool x=1x2x2x2 out=1x2x4x4\n"},
        {"back from pooling to a size",
         "in x fp32 1,2,4,4\nin i int64 1,2,4,4\nconst s int64 4 1,2,9,9\nout y\n"
         "node MaxUnpool x,i,s y kernel_shape=2,2 strides=2,2",
         "fp32 1,2,9,9", "1 max_unpool x=1x2x4x4 out=1x2x9x9\n"},
        {"cut in the middle",
         "opset 18\nin x fp32 20,8,3\nconst s int64 2 10,6\nout y\n"
         "node CenterCropPad x,s y axes=0,1",
         "fp32 10,6,3", "1 slice x=20x8x3 out=10x6x3\n"},
        {"cut and padded",
         "opset 18\nin x fp32 20,8,3\nconst s int64 3 10,9,3\nout y\n"
         "node CenterCropPad x,s y",
         "fp32 10,9,3", "1 pad x=20x8x3 out=10x9x3\n"},
        {"columns back into an image",
         "opset 18\nin x fp32 1,12,16\nconst i int64 2 5,5\nconst b int64 2 2,2\n"
         "out y\nnode Col2Im x,i,b y",
         "fp32 1,3,5,5", "1 fill out=1x3x5x5\n1 scatter x=1x3x5x5 y=1x12x16\n"},
        {"resized by who knows how much",
         "in x fp32 1,3,8,8\nin s fp32 4\nout y\nnode Resize x,-,s y",
         "fp32 <=1,<=3,<=8,<=8", "1 generic read=196 out=1x3x8x8\n"},
    };

    CHECK_RULES(cases);
}

TEST(spectra_have_their_length)
{
    static const struct flow cases[] = {
        {"of a real signal",
         "opset 20\nin x fp32 2,10,1\nconst a int64 - 1\nout y\nnode DFT x,-,a y",
         "fp32 2,10,2", "1 fft x=2x10x1 size=10 out=2x10x2\n"},
        {"half of it",
         "opset 17\nin x fp32 2,10,1\nconst n int64 - 16\nout y\n"
         "node DFT x,n y axis=1 onesided=1",
         "fp32 2,9,2", "1 fft x=2x10x1 size=16 out=2x9x2\n"},
        {"back from the half",
         "opset 20\nin x fp32 2,9,2\nconst a int64 - 1\nout y\n"
         "node DFT x,-,a y inverse=1 onesided=1",
         "fp32 2,16,1", "1 fft x=2x9x2 size=16 out=2x16x1\n"},
        {"as long as data says",
         "opset 20\nin x fp32 2,9,2\nin n int64 -\nconst a int64 - 1\nout y\n"
         "node DFT x,n,a y",
         "fp32 2,<=9,2", "1 generic read=38 out=2x9x2\n"},
        {"of frames",
         "opset 17\nin x fp32 2,128,1\nconst s int64 - 8\nconst w fp32 16\nout y\n"
         "node STFT x,s,w y",
         "fp32 2,15,9,2", "1 fft x=2x128x1 size=16 out=2x15x9x2\n"},
        {"of whole frames",
         "opset 17\nin x fp32 2,128,2\nconst s int64 - 8\nconst l int64 - 16\n"
         "out y\nnode STFT x,s,-,l y onesided=0",
         "fp32 2,15,16,2", "1 fft x=2x128x2 size=16 out=2x15x16x2\n"},
        {"windows are constants",
         "opset 17\nin x fp32 3,16\nconst n int64 - 16\nout y\n"
         "node HannWindow n h\nnode BlackmanWindow n b\nnode Mul x,h t\n"
         "node Mul t,b y",
         "fp32 3,16", "1 mul x=3x16 y=16\n1 mul x=3x16 y=16\n"},
        {"a window as long as data says",
         "opset 17\nin n int64 -\nout y\nnode HammingWindow n y output_datatype=11",
         "fp64 <=1", "1 generic read=1 out=1\n"},
        {"bins of frequencies",
         "opset 17\nin x fp32 3,9\nconst b int64 - 8\nconst n int64 - 16\n"
         "const r int64 - 8192\nconst l fp32 - 0\nconst h fp32 - 4096\nout y\n"
         "node MelWeightMatrix b,n,r,l,h w\nnode MatMul x,w y",
         "fp32 3,8", "1 linear x=3x9 out=8\n"},
    };

    CHECK_RULES(cases);
}

TEST(sums_of_any_number_of_operands)
{
    static const struct flow cases[] = {
        {"a transpose", "in x fp32 2,3\nout y\nnode Einsum x y equation:ij->ji",
         "fp32 3,2", "1 transpose x=2x3 perm=1x0\n"},
        {"a sum over rows", "in x fp32 2,3\nout y\nnode Einsum x y equation:ij->j",
         "fp32 3", "1 reduce_sum x=2x3 axes=0 keep=0\n"},
        {"a diagonal of each",
         "in x fp32 4,3,3\nout y\nnode Einsum x y equation:...ii->...i", "fp32 4,3",
         "1 slice x=4x3x3 out=4x3\n"},
        {"the result implied",
         "in x fp32 2,3\nin w fp32 3,4\nout y\nnode Einsum x,w y equation:ij,jk",
         "fp32 2,4", "1 matmul x=2x3 y=3x4\n"},
        {"an ellipsis that stretches",
         "in x fp32 5,2,3\nin w fp32 1,3,4\nout y\n"
         "node Einsum x,w y equation:...ij,...jk->...ik",
         "fp32 5,2,4", "1 matmul x=10x3 y=3x4\n"},
        {"an inner product", "in x fp32 5\nout y\nnode Einsum x,x y equation:i,i->",
         "fp32 ", "1 matmul x=1x5 y=5x1\n"},
        {"element by element",
         "in x fp32 5,2\nin w fp32 2,5\nout y\nnode Einsum x,w y equation:ij,ji->ij",
         "fp32 5,2", "1 transpose x=2x5 perm=1x0\n1 mul x=5x2 y=5x2\n"},
        {"three operands",
         "in x fp32 2,3\nin w fp32 3,4\nin v fp32 4,5\nout y\n"
         "node Einsum x,w,v y equation:ij,jk,kl->il",
         "fp32 2,5", "1 matmul x=2x3 y=3x4\n1 matmul x=2x4 y=4x5\n"},
        {"what only one operand has",
         "in x fp32 2,3,7\nin w fp32 3,4\nout y\n"
         "node Einsum x,w y equation:ijm,jk->ik",
         "fp32 2,4", "1 reduce_sum x=2x3x7 axes=2 keep=0\n1 matmul x=2x3 y=3x4\n"},
        {"weights",
         "in x fp32 2,5,3\nconst w fp32 3,4,6\nout y\n"
         "node Einsum x,w y equation:btd,dhe->bthe",
         "fp32 2,5,4,6", "1 linear x=10x3 out=24\n"},
    };

    CHECK_RULES(cases);
}

TEST(elementwise_has_a_kind_for_each)
{
    static const struct flow cases[] = {
        {"of angles and curves",
         "in x fp32 4\nout y\nnode Tan x a\nnode Asinh a b\nnode Cosh b c\n"
         "node Acos c d\nnode ThresholdedRelu d e\nnode Shrink e y",
         "fp32 4",
         "1 tan x=4\n1 asinh x=4\n1 cosh x=4\n1 acos x=4\n1 thresholded_relu x=4\n"
         "1 shrink x=4\n"},
        {"of bits",
         "opset 18\nin x int32 4,1\nin z int32 3\nout y\nnode BitwiseAnd x,z a\n"
         "node BitwiseNot a b\nnode BitShift b,z y direction:LEFT",
         "int32 4,3",
         "1 bitwise x=4x1 y=3\n1 bitwise_not x=4x3\n1 bitwise x=4x3 y=3\n"},
        {"other types over the same bits",
         "opset 26\nin x fp32 4\nout y\nnode BitCast x y to=6", "int32 4", ""},
        {"a gated unit",
         "opset 28\nin x fp32 4,6\nin z fp32 4,6\nout y\nnode SwiGLU x,z y", "fp32 4,6",
         "1 silu x=4x6\n1 mul x=4x6 y=4x6\n"},
        {"slopes of channels",
         "opset 7\nin x fp32 2,3,5\nconst s fp32 3\nout y\nnode PRelu x,s y",
         "fp32 2,3,5", "1 prelu x=2x3x5 y=3x1\n"},
        {"dropped in training",
         "in x fp32 4,6\nconst r fp32 - 0.5\nconst t bool - 1\nout y\nout m\n"
         "node Dropout x,r,t y,m",
         "fp32 4,6; bool 4,6", "1 dropout x=4x6\n1 generic read=0 out=4x6\n"},
        {"running sums and products",
         "opset 26\nin x fp32 4,6\nconst a int64 - 1\nin b int64 -\nout y\n"
         "node CumSum x,a s\nnode CumProd s,b y",
         "fp32 4,6", "1 cumsum x=4x6 axis=1\n1 cumsum x=4x6 axis=1\n"},
        {"determinants", "in x fp32 7,3,3\nout y\nnode Det x y", "fp32 7",
         "1 det x=7x3x3 out=7\n"},
        {"drawn",
         "in x fp32 3,5\nout y\nout z\nnode Multinomial x y sample_size=7 dtype=7\n"
         "node Bernoulli x z",
         "int64 3,7; fp32 3,5", "1 random out=3x7\n1 random out=3x5\n"},
    };

    CHECK_RULES(cases);
}

TEST(words_and_features)
{
    static const struct flow cases[] = {
        {"words kept",
         "in x string 4\nout y\nnode StringNormalizer x y case_change_action:LOWER",
         "string 4", "1 generic read=4 out=4\n"},
        {"words left out",
         "in x string 1,4\nout y\nnode StringNormalizer x y stopwords^a,b",
         "string 1,<=4", "1 generic read=4 out=1x4\n"},
        {"words joined, matched and split",
         "opset 20\nin x string 4\nin z string 2,1\nout y\nout m\nout p\nout n\n"
         "node StringConcat x,z y\nnode RegexFullMatch x m pattern:a\n"
         "node StringSplit y p,n",
         "string 2,4; bool 4; string 2,4,<=1; int64 2,4",
         "1 generic read=6 out=2x4\n1 generic read=4 out=4\n"
         "1 generic read=8 out=2x4x1\n1 generic read=0 out=2x4\n"},
        {"words counted",
         "in x int64 3,9\nout y\n"
         "node TfIdfVectorizer x y ngram_indexes=0,4,2 max_gram_length=2",
         "fp32 3,5", "1 generic read=27 out=3x5\n"},
        {"labels",
         "in x string 4\nout y\nout z\n"
         "node ai.onnx.ml.LabelEncoder x y values_int64s=1,2 keys_strings^a,b\n"
         "node ai.onnx.ml.LabelEncoder x z values_floats~1,2 keys_strings^a,b",
         "int64 4; fp32 4", "1 generic read=4 out=4\n1 generic read=4 out=4\n"},
        {"features",
         "in x fp32 3,9\nin i int64 2\nout y\nout z\n"
         "node ai.onnx.ml.ArrayFeatureExtractor x,i y\nnode ai.onnx.ml.Scaler x z",
         "fp32 3,2; fp32 3,9",
         "1 gather x=3x9 y=2 axis=1\n1 generic read=27 out=3x9\n"},
        {"linear models",
         "in x fp32 3,9\nout y\nout l\nout s\n"
         "node ai.onnx.ml.LinearRegressor x y targets=2\n"
         "node ai.onnx.ml.LinearClassifier x l,s classlabels_strings^a,b,c",
         "fp32 3,2; string 3; fp32 3,3",
         "1 linear x=3x9 out=2\n1 linear x=3x9 out=3\n1 generic read=27 out=3\n"},
        {"trees",
         "in x fp64 3,9\nout y\nout l\nout s\n"
         "node ai.onnx.ml.TreeEnsemble x y n_targets=4\n"
         "node ai.onnx.ml.TreeEnsembleClassifier x l,s classlabels_int64s=0,1",
         "fp64 3,4; int64 3; fp32 3,2",
         "1 generic read=27 out=3x4\n1 generic read=27 out=3\n"
         "1 generic read=27 out=3x2\n"},
    };

    CHECK_RULES(cases);
}

TEST(shapes_that_are_computed)
{
    static const struct flow cases[] = {
        {"a triangle, placed and counted",
         "opset 14\nin x fp32 3\nconst s int64 2 3,3\nconst k int64 - 1\n"
         "const u fp32 1 1\nnode ConstantOfShape s o value@u\n"
         "node Trilu o,k t upper=1\nnode NonZero t i\nnode Shape i h\n"
         "node Expand x,h e\nout e",
         "fp32 2,3", "1 expand x=3 out=2x3\n"},
        {"updates, running sums, the largest",
         "in x fp32 1,1\nconst a int64 3 1,1,1\nconst i int64 2,1 0,2\n"
         "const u int64 2 3,4\nconst z int64 - 0\nconst k int64 1 3\n"
         "node ScatterND a,i,u s\nnode CumSum s,z c\nnode TopK c,k v,w\n"
         "node GatherElements v,w r\nnode Slice r,-,- f starts=0 ends=2\n"
         "node Expand x,f y\nout y",
         "fp32 3,4", "1 expand x=1x1 out=3x4\n"},
        {"tiled, padded, one of many",
         "in x fp32 1,1,1\nconst a int64 1 2\nconst t int64 1 2\n"
         "const p int64 2 0,1\nconst v int64 - 5\nnode Tile a,t b\n"
         "node Pad b,p,v c\nnode Expand x,c y\nout y",
         "fp32 2,2,5", "1 expand x=1x1x1 out=2x2x5\n"},
    };

    CHECK_RULES(cases);
}

TEST(what_does_not_fit_is_one_sentence)
{
    static const struct misfit cases[] = {
        {"in x fp32 3,5\nin i int64 3\nout y\nnode GatherElements x,i y",
         "m.onnx: node y (GatherElements): its indices have 1 dimensions, not 2"},
        {"in x fp32 3,5\nin i int64 2,3\nout y\nnode GatherND x,i y",
         "m.onnx: node y (GatherND): its indices do not fit its operand"},
        {"in x fp32 3,9\nconst k int64 1 10\nout y\nnode TopK x,k y,i",
         "m.onnx: node y,i (TopK): it wants 10 of 9 elements"},
        {"in b fp32 1,20,4\nin s fp32 1,3,21\nout y\nnode NonMaxSuppression b,s y",
         "m.onnx: node y (NonMaxSuppression): boxes and scores do not fit together"},
        {"in x int64 2,3\nconst d fp32 - -1\nconst v fp32 2\nout y\n"
         "node OneHot x,d,v y",
         "m.onnx: node y (OneHot): its depth is -1"},
        {"opset 20\nin x fp32 2,3,8,9\nin g fp32 2,5,6,3\nout y\n"
         "node GridSample x,g y",
         "m.onnx: node y (GridSample): its grid does not fit its operand"},
        {"opset 18\nin x fp32 1,13,16\nconst i int64 2 5,5\nconst b int64 2 2,2\n"
         "out y\nnode Col2Im x,i,b y",
         "m.onnx: node y (Col2Im): its blocks do not fit its operand"},
        {"in x fp32 1,3,8,9\nin r fp32 6,5\nout y\nnode MaxRoiPool x,r y",
         "m.onnx: node y (MaxRoiPool): its regions do not fit its operand"},
        {"in x fp32 2,10,3\nout y\nnode DFT x y",
         "m.onnx: node y (DFT): the last dimension of its operand is not 1 or 2"},
        {"opset 17\nin x fp32 2,10,1\nconst s int64 - 0\nconst l int64 - 4\nout y\n"
         "node STFT x,s,-,l y",
         "m.onnx: node y (STFT): frames of 4 points do not fit its signal"},
        {"in x fp32 2,3\nout y\nnode Einsum x y equation:ijk->ij",
         "m.onnx: node y (Einsum): its equation does not fit its operands"},
        {"in x fp32 2,3\nout y\nnode Einsum x y equation:ij->ijk",
         "m.onnx: node y (Einsum): its equation does not fit its operands"},
        {"in x fp32 2,3\nin z fp32 4,5\nout y\nnode Einsum x,z y equation:ij,jk->ik",
         "m.onnx: node y (Einsum): its equation does not fit its operands"},
        {"in x fp32 7,3,4\nout y\nnode Det x y",
         "m.onnx: node y (Det): its operand holds no square matrices"},
        {"opset 26\nin x fp32 4\nout y\nnode BitCast x y to=7",
         "m.onnx: node y (BitCast): its target has not as many bits as fp32"},
        {"in x int64 3,9\nout y\nnode TfIdfVectorizer x y",
         "m.onnx: node y (TfIdfVectorizer): it has no n-grams, or its operand no rows"},
        {"in x fp32 3,9\nconst t int64 3 1,2,3\nout y\nnode Tile x,t y",
         "m.onnx: node y (Tile): it has not one repeat for each of 2 axes"},
    };

    CHECK_MISFITS(cases);
}
