/* Operators of the domain com.microsoft. Oracle: the results of ONNX Runtime, run
 * on each of the one-node models in tests/data/contrib (tools/ort-shapes). */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "data_dir.h"
#include "import/onnx/onnx.h"
#include "onnx_cases.h"

static const char *const files[] = {
    "attention.txt", "layers.txt", "others.txt", "products.txt", "quantised.txt",
};

static const ft_tensor *output(const ft_graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const ft_tensor *t = &g->tensor[i];

        if (t->is_output && strcmp(t->name, name) == 0)
            return t;
    }
    return NULL;
}

/* "want NAME DTYPE DIMS" against the graph; what there is instead to `have`. */
static bool is_as_wanted(const ft_graph *g, const char *line, char *have, size_t size)
{
    char name[64], dtype[16], dims[128], mine[128] = "-";
    const ft_tensor *t;
    size_t at = 0;

    if (sscanf(line, "want %63s %15s %127s", name, dtype, dims) != 3)
        return false;
    t = output(g, name);
    if (!t) {
        snprintf(have, size, "no output %s", name);
        return false;
    }
    for (uint32_t i = 0; i < t->shape.rank && at < sizeof(mine); i++)
        at += (size_t)snprintf(mine + at, sizeof(mine) - at, "%s%lld", i ? "," : "",
                               (long long)t->shape.dim[i]);
    snprintf(have, size, "%s %s", ft_dtype_name(t->dtype), mine);
    return strcmp(ft_dtype_name(t->dtype), dtype) == 0 && strcmp(mine, dims) == 0;
}

struct one_case {
    char name[128];
    char model[8192];
    char wants[1024];
    bool bounded; /* its results are taken from the operator's description alone */
};

/* Every byte of the model changed: an answer or a sentence, nothing worse. */
static void spoil(const char *model)
{
    ft__prng r = {1};
    size_t len;
    uint8_t *data = onnx_from_text(model, &len);

    CHECK(data != NULL);
    for (size_t i = 0; data && i < len; i++) {
        ft_graph *g;
        ft_error err = {0};
        uint8_t before = data[i];
        ft_status st;

        data[i] ^= (uint8_t)(1u << ft__prng_below(&r, 8));
        st = ft__onnx_import(&g, data, len, "m.onnx", NULL, &err);
        CHECK(st ? !g && *err.msg : g != NULL);
        ft_graph_free(g);
        data[i] = before;
    }
    free(data);
}

static void run_case(const struct one_case *c)
{
    ft_error err = {0};
    ft_graph *g = import(c->model, NULL, &err);
    char copy[1024], have[256], *save = NULL;

    if (!g)
        fprintf(stderr, "case \"%s\": %s\n", c->name, err.msg);
    CHECK(g != NULL && *c->wants);
    snprintf(copy, sizeof(copy), "%s", c->wants);
    for (char *line = g ? strtok_r(copy, "\n", &save) : NULL; line;
         line = strtok_r(NULL, "\n", &save)) {
        bool good = is_as_wanted(g, line, have, sizeof(have));

        if (!good)
            fprintf(stderr, "case \"%s\": %s, is %s\n", c->name, line, have);
        CHECK(good);
    }
    if (g && (g->n_bounded > 0) != c->bounded)
        fprintf(stderr, "case \"%s\": %s\n", c->name,
                c->bounded ? "nothing is bounded" : g->bounded[0]);
    CHECK(!g || EQ((g->n_bounded > 0), c->bounded));
    ft_graph_free(g);
    spoil(c->model);
}

static void append(char *to, size_t size, const char *line)
{
    size_t n = strlen(to);

    CHECK(CMP(n + strlen(line), <, size));
    snprintf(to + n, size - n, "%s", line);
}

static uint32_t run_file(const char *path)
{
    struct one_case c = {0};
    FILE *f = fopen(path, "r");
    char line[2048];
    uint32_t n = 0;

    CHECK(f != NULL);
    while (f && fgets(line, sizeof(line), f)) {
        if (strncmp(line, "case ", 5) == 0) {
            if (*c.name)
                run_case(&c);
            c = (struct one_case){0};
            sscanf(line, "case %127[^\n]", c.name);
            n++;
        } else if (strncmp(line, "want ", 5) == 0) {
            append(c.wants, sizeof(c.wants), line);
        } else if (strcmp(line, "bounded\n") == 0) {
            c.bounded = true;
        } else if (*line != '#' && strcmp(line, "documented\n") != 0) {
            append(c.model, sizeof(c.model), line);
        }
    }
    if (*c.name)
        run_case(&c);
    if (f)
        fclose(f);
    return n;
}

TEST(results_are_those_of_onnx_runtime)
{
    uint32_t n = 0;
    char path[1024];

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        snprintf(path, sizeof(path), "%s/tests/data/contrib/%s", source_root, files[i]);
        n += run_file(path);
    }
    CHECK(CMP(n, >, 0));
}

/* What they are made of. */

#define MS "node com.microsoft."

TEST(fused_operators_are_their_parts)
{
    static const struct good cases[] = {
        {"attention is one layer and one kernel",
         "in x fp32 2,3,8\nconst w fp32 8,24\nconst b fp32 24\nout y\n" MS
         "Attention x,w,b y num_heads=2 unidirectional=1",
         "linear x=2x3x8 out=24 bias=1 dtype=fp32\n"
         "attention x=2x2x3x4 y=2x2x3x4 z=2x2x3x4 causal=1 dtype=fp32\n"},
        {"a past is put before what is new",
         "in q fp16 2,1,64\nin k fp16 2,1,32\nin v fp16 2,1,32\nin p fp16 2,2,4,16\n"
         "const l int32 2\nconst t int32 - 5\nout y\nout a\nout b\n" MS
         "GroupQueryAttention q,k,v,p,p,l,t y,a,b num_heads=4 kv_num_heads=2",
         "concat x=2x2x4x16 axis=2 sizes=4x1 dtype=fp16\n"
         "concat x=2x2x4x16 axis=2 sizes=4x1 dtype=fp16\n"
         "attention x=2x4x1x16 y=2x2x5x16 z=2x2x5x16 causal=1 dtype=fp16\n"},
        {"of a buffer only what is used counts",
         "in q fp16 2,1,64\nin k fp16 2,1,32\nin v fp16 2,1,32\nin p fp16 2,2,64,16\n"
         "const l int32 2\nconst t int32 - 5\nout y\nout a\nout b\n" MS
         "GroupQueryAttention q,k,v,p,p,l,t y,a,b num_heads=4 kv_num_heads=2",
         "attention x=2x4x1x16 y=2x2x5x16 z=2x2x5x16 causal=1 dtype=fp16\n"},
        {"a skip connection is an addition",
         "in x fp32 2,8\nin s fp32 2,8\nconst g fp32 8\nout y\n" MS
         "SkipSimplifiedLayerNormalization x,s,g y",
         "add x=2x8 y=2x8 dtype=fp32\nrmsnorm x=2x8 norm=1 dtype=fp32\n"},
        {"a bias that comes later is the layer's",
         "in x fp32 2,8\nconst w fp32 8,4\nconst b fp32 4\nconst g fp32 4\nout y\n"
         "node MatMul x,w h\n" MS "BiasGelu h,b i\nconst v fp32 4,4\n"
         "node MatMul i,v j\n" MS "SkipLayerNormalization j,h2,g,g,b y\n"
         "in h2 fp32 2,4",
         "linear x=2x8 out=4 bias=1 dtype=fp32\ngelu x=2x4 dtype=fp32\n"
         "linear x=2x4 out=4 bias=1 dtype=fp32\nadd x=2x4 y=2x4 dtype=fp32\n"
         "layernorm x=2x4 norm=1 dtype=fp32\n"},
        {"channels at the end are moved and moved back",
         "in x fp16 1,8,8,4\nconst w fp16 6,3,3,4\nout y\n" MS
         "NhwcConv x,w y pads=1,1,1,1",
         "transpose x=1x8x8x4 perm=0x3x1x2 dtype=fp16\n"
         "conv2d x=1x4x8x8 out=6 kernel=3x3 stride=1x1 pad=1x1 dtype=fp16\n"
         "transpose x=1x6x8x8 perm=0x2x3x1 dtype=fp16\n"},
        {"half bytes and a scale for each block",
         "in x fp16 1,64\nconst w uint8 24,2,16\nconst s fp16 48\nout y\n" MS
         "MatMulNBits x,w,s y K=64 N=24 bits=4 block_size=32",
         "linear x=1x64 out=24 weights=uint4 block=32 dtype=fp16\n"},
        {"only experts that some row is routed to",
         "in x fp16 1,32\nin r fp16 1,8\nconst a uint8 8,64,16\nconst s fp16 8,64\n"
         "const b uint8 8,32,32\nout y\n" MS
         "QMoE x,r,a,s,-,b,s y k=2 expert_weight_bits=4 activation_type:relu",
         "softmax x=1x8 axis=1 dtype=fp16\ntopk x=1x8 axis=1 size=2 dtype=fp16\n"
         "expand x=1x32 out=2x1x32 dtype=fp16\n"
         "matmul x=2x1x32 y=2x32x64 weights=uint4 dtype=fp16\n"
         "relu x=2x1x64 dtype=fp16\n"
         "matmul x=2x1x64 y=2x64x32 weights=uint4 dtype=fp16\n"
         "slice x=2x1x32 out=1x32 dtype=fp16\n"},
        {"quantised where it is needed",
         "in x fp32 3,8\nconst w int8 8,5\nconst s fp32 -\nout y\n" MS
         "DynamicQuantizeMatMul x,w,s y",
         "quantize x=3x8 to=uint8 dtype=fp32\n"
         "linear x=3x8 out=5 to=fp32 weights=int8 dtype=uint8\n"},
    };

    CHECK_SPECS(cases, 0);
}

static double product_flops(const ft_graph *g)
{
    double flops = 0;

    for (uint32_t j = 0; g && j < g->n_ops; j++) {
        ft_product p[FT_MAX_PRODUCTS];
        uint32_t n = ft_op_products(&g->op[j], p);

        for (uint32_t k = 0; k < n; k++)
            flops += ft_product_flops(&p[k]) * (double)g->op_count[j];
    }
    return flops;
}

/* The products of attention in pieces, heads of keys and values repeated. */
TEST(an_activation_that_is_not_known_is_bounded)
{
#define FUSED "in x fp32 2,8\nconst w fp32 8,4\nout y\n" MS "FusedGemm x,w y"
#define PRODUCT "linear x=2x8 out=4 dtype=fp32\n"
    static const struct good cases[] = {
        {"named as the operator wants it", FUSED " activation:RELU",
         PRODUCT "relu x=2x4 dtype=fp32\n"},
        {"none", FUSED " activation:NONE", PRODUCT},
        {"of a product", FUSED " activation:Foo",
         PRODUCT "generic read=8 out=2x4 dtype=fp32\n"},
        {"of a convolution with a past",
         "opset 26\nin x fp32 2,6,5\nconst w fp32 6,1,4\nout y\n"
         "node CausalConvWithState x,w y activation:foo",
         "conv1d x=2x6x5 out=6 kernel=4 stride=1 pad=3x0 groups=6 dtype=fp32\n"
         "generic read=60 out=2x6x5 dtype=fp32\n"},
    };
    ft_graph *g = import(cases[2].model, NULL, NULL);

    CHECK_SPECS(cases, 0);
    CHECK(g && EQ(g->n_bounded, 1) &&
          SAME(g->bounded[0], "unknown activation of FusedGemm (node y)"));
    ft_graph_free(g);
}

TEST(fused_attention_costs_what_its_pieces_do)
{
    static const char *const models[] = {
        ("in q fp32 2,3,64\nin k fp32 2,3,32\nin v fp32 2,3,32\nin p fp32 2,2,4,16\n"
         "const l int32 2\nconst t int32 - 7\nout y\nout a\nout b\n" MS
         "GroupQueryAttention q,k,v,p,p,l,t y,a,b num_heads=4 kv_num_heads=2"),
        ("in q fp32 2,3,64\nin k fp32 2,4,7,16\nin v fp32 2,4,7,16\nout y\n" MS
         "MultiHeadAttention q,k,v y num_heads=4"),
        ("in q fp32 2,4,3,16\nin k fp32 2,4,16,7\nin v fp32 2,4,7,16\nout y\n"
         "node MatMul q,k s\nnode Softmax s p axis=-1\nnode MatMul p,v y"),
    };
    double flops[3] = {0};

    for (size_t i = 0; i < 3; i++) {
        ft_error err = {0};
        ft_graph *g = import(models[i], NULL, &err);

        CHECK(g != NULL);
        flops[i] = product_flops(g);
        ft_graph_free(g);
    }
    CHECK_NEAR(flops[0], flops[2], 0);
    CHECK_NEAR(flops[1], flops[2], 0);
    CHECK(CMP(flops[2], >, 0));
}

#define SCALES "const s fp32 -\nconst z uint8 - 0\nconst t fp32 -\nconst o int8 - 0\n"

TEST(layers_between_conversions_run_on_integers)
{
    static const struct good cases[] = {
        {"a weight that is dequantised is read as it is stored",
         SCALES "in x fp32 1,3,8,8\nconst w int8 4,3,3,3\nout y\n"
                "node DequantizeLinear w,t,o r\nnode Conv x,r y",
         "conv2d x=1x3x8x8 out=4 kernel=3x3 stride=1x1 pad=0x0 weights=int8 "
         "dtype=fp32\n"},
        {"a convolution and its activation",
         SCALES "in x fp32 1,3,8,8\nconst w int8 4,3,3,3\nconst b int32 4\nout y\n"
                "node QuantizeLinear x,s,z q\nnode DequantizeLinear q,s,z a\n"
                "node DequantizeLinear w,t,o r\nnode DequantizeLinear b,t c\n"
                "node Conv a,r,c d\nnode Relu d e\n"
                "node QuantizeLinear e,s,z f\nnode DequantizeLinear f,s,z y",
         "quantize x=1x3x8x8 to=uint8 dtype=fp32\n"
         "conv2d x=1x3x8x8 out=4 kernel=3x3 stride=1x1 pad=0x0 bias=1 weights=int8 "
         "dtype=uint8\n"
         "dequantize x=1x4x6x6 to=fp32 dtype=uint8\n"},
        {"a branch that is read twice",
         SCALES "in x uint8 2,8\nout y\nnode DequantizeLinear x,s,z a\n"
                "node Sigmoid a b\nnode QuantizeLinear b,s,z c\n"
                "node DequantizeLinear c,s,z d\nnode Mul a,d e\n"
                "node QuantizeLinear e,s,z y",
         "sigmoid x=2x8 dtype=uint8\nmul x=2x8 y=2x8 dtype=uint8\n"},
        {"a product without a quantised result is real",
         SCALES "in x uint8 2,8\nconst w int8 8,5\nout y\n"
                "node DequantizeLinear x,s,z a\nnode DequantizeLinear w,t,o r\n"
                "node MatMul a,r y",
         "linear x=2x8 out=5 to=fp32 weights=int8 dtype=uint8\n"},
        {"what has no form on integers stays real",
         SCALES "in x uint8 2,8\nout y\nnode DequantizeLinear x,s,z a\n"
                "node Exp a b\nnode QuantizeLinear b,s,z y",
         "dequantize x=2x8 to=fp32 dtype=uint8\nexp x=2x8 dtype=fp32\n"
         "quantize x=2x8 to=uint8 dtype=fp32\n"},
        {"a result that is read as real, too",
         SCALES "in x uint8 2,8\nin h uint8 2,8\nout y\nout b\n"
                "node DequantizeLinear x,s,z a\nnode DequantizeLinear h,s,z i\n"
                "node Add a,i b\nnode QuantizeLinear b,s,z y",
         "dequantize x=2x8 to=fp32 dtype=uint8\ndequantize x=2x8 to=fp32 dtype=uint8\n"
         "add x=2x8 y=2x8 dtype=fp32\nquantize x=2x8 to=uint8 dtype=fp32\n"},
    };

    CHECK_SPECS(cases, 0);
}

/* Quantised networks, as ONNX Runtime makes and runs them. */

static const ft_tensor *tensor(const ft_graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (strcmp(g->tensor[i].name, name) == 0)
            return &g->tensor[i];
    return NULL;
}

/* Values of the file that the graph has, too; each must be as it was when the file
 * was run. */
static uint32_t count_equal_values(const ft_graph *g, const char *path)
{
    char line[512], name[256], dtype[16], dims[128], have[128];
    FILE *f = fopen(path, "r");
    uint32_t n = 0;

    CHECK(f != NULL);
    while (f && fgets(line, sizeof(line), f)) {
        const ft_tensor *t;
        size_t at = 0;

        CHECK_EQ(sscanf(line, "%255s %15s %127s", name, dtype, dims), 3);
        t = tensor(g, name);
        if (!t)
            continue;
        snprintf(have, sizeof(have), "-");
        for (uint32_t i = 0; i < t->shape.rank && at < sizeof(have); i++)
            at += (size_t)snprintf(have + at, sizeof(have) - at, "%s%lld", i ? "x" : "",
                                   (long long)t->shape.dim[i]);
        if (strcmp(have, dims) != 0 || strcmp(ft_dtype_name(t->dtype), dtype) != 0)
            fprintf(stderr, "%s: %s is %s %s\n", path, line, ft_dtype_name(t->dtype),
                    have);
        CHECK(SAME(have, dims) && SAME(ft_dtype_name(t->dtype), dtype));
        n++;
    }
    if (f)
        fclose(f);
    return n;
}

TEST(quantised_networks_are_as_onnx_runtime_runs_them)
{
    /* fewest: values that must be found; the rest are between fused nodes, or
     * scales. weights: elements of filters and matrices, a byte
     * each; zero points and offsets of activations come beside. */
    static const struct {
        const char *name;
        double weights;
        uint32_t fewest;
    } networks[] = {
        {"convolutions-dynamic", 216 + 72 + 64 + 576 + 20, 25},
        {"convolutions-qdq", 216 + 72 + 64 + 576 + 20, 13},
        {"convolutions-qoperator", 216 + 72 + 64 + 576 + 20, 13},
        {"convolutions-fused", 216 + 72 + 64 + 576 + 20, 13},
        {"attention-dynamic", 3 * 256 + 2 * 512, 30},
        {"attention-qdq", 3 * 256 + 2 * 512, 20},
        {"attention-qoperator", 3 * 256 + 2 * 512, 20},
        {"attention-fused", 3 * 256 + 2 * 512, 20},
    };
    double flops = 0;

    for (size_t i = 0; i < sizeof(networks) / sizeof(*networks); i++) {
        char path[1024];
        ft_error err = {0};
        ft_graph *g = NULL;
        double bytes = 0;
        uint32_t found;

        snprintf(path, sizeof(path), "%s/tests/data/quantised/%s.onnx", source_root,
                 networks[i].name);
        CHECK_EQ(ft__import_file(&g, path, NULL, &err), FT_OK);
        if (!g)
            continue;
        snprintf(path, sizeof(path), "%s/tests/data/quantised/%s.txt", source_root,
                 networks[i].name);
        found = count_equal_values(g, path);
        for (uint32_t j = 0; j < g->n_tensors; j++) {
            const ft_tensor *t = &g->tensor[j];

            if (t->role == FT_ROLE_WEIGHT && t->producer == FT_NONE &&
                ft_dtype_bits(t->dtype) == 8)
                bytes += (double)ft_shape_elements(&t->shape);
        }
        CHECK(CMP(found, >=, networks[i].fewest));
        CHECK_EQ(g->n_bounded, 0);
        CHECK(CMP(bytes, >=, networks[i].weights) &&
              CMP(bytes, <, networks[i].weights + 100));
        flops = i % 4 ? flops : product_flops(g);
        CHECK(CMP(flops, >, 0) && EQ(product_flops(g), flops));
        ft_graph_free(g);
    }
}
