/* Headers of GGUF files: layers are read off the tensors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "data_dir.h"
#include "files.h"
#include "import/llm/llm.h"

enum { U32 = 4, TEXT = 8, ARRAY = 9, I32 = 5, F32 = 0, Q8_0 = 8, Q4_K = 12, Q6_K = 14 };

struct file {
    uint8_t byte[1 << 16];
    size_t n;
    uint64_t keys, tensors;
    double elements, bits;
};

static void put(struct file *f, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        f->byte[f->n++] = (uint8_t)(value >> 8 * i);
}

static void put_text(struct file *f, const char *s)
{
    put(f, strlen(s), 8);
    memcpy(f->byte + f->n, s, strlen(s));
    f->n += strlen(s);
}

static void start(struct file *f, const char *architecture)
{
    memset(f, 0, sizeof(*f));
    memcpy(f->byte, "GGUF\3\0\0\0", 8);
    f->n = 24;
    put_text(f, "general.architecture");
    put(f, TEXT, 4);
    put_text(f, architecture);
    f->keys = 1;
}

static void key(struct file *f, const char *name, uint32_t value)
{
    put_text(f, name);
    put(f, U32, 4);
    put(f, value, 4);
    f->keys++;
}

static void list(struct file *f, const char *name, const uint32_t *value, uint32_t n)
{
    put_text(f, name);
    put(f, ARRAY, 4);
    put(f, I32, 4);
    put(f, n, 8);
    for (uint32_t i = 0; i < n; i++)
        put(f, value[i], 4);
    f->keys++;
}

static void tensor(struct file *f, const char *name, uint64_t x, uint64_t y,
                   uint32_t type)
{
    put_text(f, name);
    put(f, y ? 2 : 1, 4);
    put(f, x, 8);
    if (y)
        put(f, y, 8);
    put(f, type, 4);
    put(f, 0, 8);
    f->tensors++;
    f->elements += (double)x * (double)(y ? y : 1);
    f->bits += (double)x * (double)(y ? y : 1) *
               (type == Q4_K   ? 4.5
                : type == Q6_K ? 6.5625
                : type == Q8_0 ? 8.5
                               : 32);
}

static void finish(struct file *f)
{
    const size_t n = f->n;

    f->n = 8;
    put(f, f->tensors, 8);
    put(f, f->keys, 8);
    f->n = n;
}

/* Llama's layers: queries, keys and values of 4 and 2 heads of 64, width 512. */
static void llama(struct file *f, uint32_t down)
{
    static const char *const names[] = {
        "llama.block_count", "llama.embedding_length", "llama.feed_forward_length",
        "llama.attention.head_count", "llama.attention.head_count_kv"};
    static const uint32_t values[] = {3, 256, 512, 4, 2};
    char name[64];

    start(f, "llama");
    for (int i = 0; i < 5; i++)
        key(f, names[i], values[i]);
    tensor(f, "token_embd.weight", 256, 1000, Q8_0);
    tensor(f, "output_norm.weight", 256, 0, F32);
    tensor(f, "output.weight", 256, 1000, Q6_K);
    for (int i = 0; i < 3; i++) {
        const struct {
            const char *name;
            uint64_t x, y;
            uint32_t type;
        } of[] = {{"attn_norm", 256, 0, F32},      {"attn_q", 256, 256, Q4_K},
                  {"attn_k", 256, 128, Q4_K},      {"attn_v", 256, 128, Q4_K},
                  {"attn_output", 256, 256, Q4_K}, {"ffn_norm", 256, 0, F32},
                  {"ffn_gate", 256, 512, Q4_K},    {"ffn_up", 256, 512, Q4_K},
                  {"ffn_down", 512, 256, down}};

        for (size_t k = 0; k < sizeof(of) / sizeof(*of); k++) {
            snprintf(name, sizeof(name), "blk.%d.%s.weight", i, of[k].name);
            tensor(f, name, of[k].x, of[k].y, of[k].type);
        }
    }
    finish(f);
}

static ft_status import(ft_graph **out, const uint8_t *data, size_t n, const char *name,
                        const ft_import_options *opt, ft_error *err)
{
    ft__llm m;
    ft_status st = ft__llm_read_gguf(&m, data, n, name, err);

    return st ? st : ft__llm_step_of(out, &m, name, opt, err);
}

static ft_graph *imported(const struct file *f, const ft_import_options *opt)
{
    ft_error err = {0};
    ft_graph *g = NULL;

    if (import(&g, f->byte, f->n, "model.gguf", opt, &err))
        fprintf(stderr, "%s\n", err.msg);
    CHECK(g);
    return g;
}

static uint8_t *file_at(const char *name, size_t *n)
{
    char path[4096];
    uint8_t *bytes;

    snprintf(path, sizeof(path), "%s/tests/data/gguf/%s", source_root, name);
    bytes = read_bytes(path, n);
    CHECK(bytes);
    return bytes;
}

/* Headers by llama.cpp's own writer (tests/data/gguf/make), with the sizes that it
 * counts: parameters exactly, bytes as far as one type for a part has them. */
TEST(headers_of_another_writer_count_what_it_counts)
{
    size_t len, n;
    char *sizes = (char *)file_at("sizes.csv", &len), name[64], path[80];
    double parameters, bytes;
    int files = 0;

    for (const char *at = strchr(sizes, '\n'); at && at[1]; at = strchr(at + 1, '\n')) {
        ft_error err = {0};
        ft_graph *g = NULL;
        ft_totals sum;
        uint8_t *file;

        CHECK_EQ(sscanf(at + 1, "%63[^,],%lf,%lf", name, &parameters, &bytes), 3);
        snprintf(path, sizeof(path), "%s.gguf", name);
        file = file_at(path, &n);
        if (import(&g, file, n, path, NULL, &err))
            fprintf(stderr, "%s\n", err.msg);
        CHECK(g);
        ft_graph_totals(g, &sum);
        if (fabs(sum.weight_bytes / bytes - 1) > 0.02 || sum.parameters != parameters)
            fprintf(stderr, "%s: %.0f parameters, %.0f B\n", name, sum.parameters,
                    sum.weight_bytes);
        CHECK_NEAR(sum.parameters, parameters, 0);
        CHECK_NEAR(sum.weight_bytes / bytes, 1, 0.02);
        ft_graph_free(g);
        free(file);
        files++;
    }
    CHECK_EQ(files, 9);
    free(sizes);
}

TEST(parameters_and_bytes_are_those_of_its_tensors)
{
    static struct file f;

    for (int i = 0; i < 2; i++) {
        ft_graph *g;
        ft_totals sum;

        llama(&f, i ? Q6_K : Q4_K);
        g = imported(&f, NULL);
        ft_graph_totals(g, &sum);
        CHECK_NEAR(sum.parameters, f.elements, 0);
        CHECK_NEAR(sum.weight_bytes / (f.bits / 8), 1, 0.03);
        ft_graph_free(g);
    }
}

/* Four bits and a scale of 16 for every 32 weights; of six and a half bits, 6. */
TEST(parts_have_the_types_of_their_tensors)
{
    static struct file f;
    ft_graph *g;
    uint32_t n = 0;

    llama(&f, Q4_K);
    g = imported(&f, NULL);
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->op[i].kind == FT_KIND_linear) {
            const bool head = ft_op_at(&g->op[i], FT_K_out, 0) == 1000;

            CHECK_EQ(ft_op_at(&g->op[i], FT_K_weights, 0), FT_DTYPE_int4);
            CHECK_EQ(ft_op_at(&g->op[i], FT_K_block, 0), head ? 6 : 32);
            n++;
        }
    CHECK_EQ(n, 5);
    ft_graph_free(g);
}

/* 16 bits of all weights, embeddings and head, too. */
TEST(it_is_trained_unpacked)
{
    static const ft_dim_value dims[] = {{"train", 1}, {"tokens", 8}};
    static struct file f;
    ft_totals sum;
    ft_graph *g;

    llama(&f, Q4_K);
    g = imported(&f, &(ft_import_options){.dims = dims, .n_dims = 2});
    ft_graph_totals(g, &sum);
    CHECK_NEAR(sum.weight_bytes, 2 * f.elements, 0);
    ft_graph_free(g);
}

TEST(tensors_tell_biases_norms_and_tied_embeddings)
{
    static struct file f;
    ft__llm m;

    start(&f, "qwen3");
    key(&f, "qwen3.block_count", 1);
    key(&f, "qwen3.embedding_length", 64);
    key(&f, "qwen3.attention.head_count", 4);
    tensor(&f, "token_embd.weight", 64, 100, Q8_0);
    tensor(&f, "blk.0.attn_q.weight", 64, 64, Q8_0);
    tensor(&f, "blk.0.attn_q.bias", 64, 0, F32);
    tensor(&f, "blk.0.ffn_down.weight", 64, 64, Q8_0);
    tensor(&f, "blk.0.ffn_norm.weight", 64, 0, F32);
    finish(&f);
    CHECK_EQ(ft__llm_read_gguf(&m, f.byte, f.n, "f", NULL), FT_OK);
    CHECK(m.tied && m.qkv_bias && !m.qk_norm && !m.gated && !m.one_norm);
    tensor(&f, "blk.0.attn_q_norm.weight", 16, 0, F32);
    tensor(&f, "blk.0.ffn_gate.weight", 64, 64, Q8_0);
    tensor(&f, "output.weight", 64, 100, Q8_0);
    finish(&f);
    CHECK_EQ(ft__llm_read_gguf(&m, f.byte, f.n, "f", NULL), FT_OK);
    CHECK(!m.tied && m.qk_norm && m.gated);
    CHECK_EQ(m.vocab, 100);
}

/* Lists have a number for each layer; where keys have no heads there is no attention.
 */
TEST(layers_differ_by_lists_and_tensors)
{
    static const uint32_t heads[] = {0, 2}, widths[] = {0, 96};
    static struct file f;
    ft__llm m;

    start(&f, "nemotron_h");
    key(&f, "nemotron_h.block_count", 2);
    key(&f, "nemotron_h.embedding_length", 64);
    key(&f, "nemotron_h.attention.head_count", 4);
    key(&f, "nemotron_h.ssm.inner_size", 128);
    key(&f, "nemotron_h.ssm.state_size", 8);
    key(&f, "nemotron_h.ssm.time_step_rank", 4);
    list(&f, "nemotron_h.attention.head_count_kv", heads, 2);
    list(&f, "nemotron_h.feed_forward_length", widths, 2);
    tensor(&f, "token_embd.weight", 64, 100, Q8_0);
    tensor(&f, "blk.0.ssm_in.weight", 64, 300, Q8_0);
    tensor(&f, "blk.0.ssm_norm.weight", 64, 2, F32);
    tensor(&f, "blk.1.attn_q.weight", 64, 64, Q8_0);
    tensor(&f, "blk.1.ffn_down.weight", 96, 64, Q8_0);
    finish(&f);
    CHECK_EQ(ft__llm_read_gguf(&m, f.byte, f.n, "f", NULL), FT_OK);
    CHECK_EQ(m.layer[0].mixer, FT__LLM_MAMBA);
    CHECK_EQ(m.layer[0].ffn, FT__LLM_NO_FFN);
    CHECK_EQ(m.layer[1].mixer, FT__LLM_ATTENTION);
    CHECK(EQ(m.layer[1].kv_heads, 2) && EQ(m.layer[1].size, 96));
    CHECK(EQ(m.mamba_heads, 4) && EQ(m.mamba_head, 32));
}

TEST(a_damaged_header_is_refused_with_its_byte)
{
    static struct file f;
    ft_error err = {0};
    ft__llm m;

    llama(&f, Q4_K);
    for (size_t n = 0; n < f.n; n += 7) {
        CHECK_EQ(ft__llm_read_gguf(&m, f.byte, n, "f", &err), FT_EFORMAT);
        CHECK(HAS(err.msg, "byte"));
    }
    f.byte[4] = 9;
    CHECK_EQ(ft__llm_read_gguf(&m, f.byte, f.n, "f", &err), FT_EFORMAT);
    CHECK(HAS(err.msg, "version"));
    start(&f, "llama");
    key(&f, "llama.embedding_length", 0xffffffff);
    finish(&f);
    CHECK_EQ(ft__llm_read_gguf(&m, f.byte, f.n, "f", &err), FT_EFORMAT);
    CHECK(HAS(err.msg, "too large"));
    start(&f, "llama");
    finish(&f);
    CHECK_EQ(ft__llm_read_gguf(&m, f.byte, f.n, "f", &err), FT_EFORMAT);
    CHECK(HAS(err.msg, "lacks"));
    start(&f, "rwkv7");
    finish(&f);
    CHECK_EQ(ft__llm_read_gguf(&m, f.byte, f.n, "f", &err), FT_EFORMAT);
    CHECK(HAS(err.msg, "linear attention"));
}

TEST(a_language_model_is_seen_by_its_first_bytes)
{
    CHECK(ft_is_language_model("GGUF\x03", 5));
    CHECK(ft_is_language_model("\xef\xbb\xbf\r\n {\"a\": 1}", 13));
    CHECK(!ft_is_language_model("conv2d x=1x3x8x8", 16));
    CHECK(!ft_is_language_model("GGU", 3) && !ft_is_language_model("", 0));
}
