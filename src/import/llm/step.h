#ifndef IMPORT_LLM_STEP_H
#define IMPORT_LLM_STEP_H

#include <inttypes.h>

#include "base/number.h"
#include "import/llm/llm.h"

/* A step that is built: what every file of it adds nodes to. */
typedef struct ft__llm_step {
    ft__build *b;
    int64_t batch, tokens, context, rows; /* rows: tokens of all sequences */
    int64_t ranks;        /* of tensor parallelism, this is one of them */
    int64_t expert_ranks; /* those with whole experts of their own */
    int64_t stages;       /* of a pipeline, this is the last of them */
    int64_t replicas;     /* of attention */
    int64_t node;         /* devices of a machine */
    int64_t drafts;       /* tokens that a speculative layer drafts */
    int64_t kv_bits, weight_bits;
    int64_t lora; /* rank of what is trained beside frozen weights; 0: all are */
    const ft__llm_layer *l; /* whose operations are made, and of which part */
    ft__llm_part part;
    const char *type; /* of activations */
    bool whole;       /* sequences without a cache, as they are trained */
    bool served;
    bool attention_alone; /* has adapters */
    bool scores;          /* of attention, which go through memory */
    bool unfused;  /* norms and rotations, operation by operation; logits in fp32 */
    bool repacked; /* weights are not as the checkpoint has them */
    int64_t once;  /* layers that are alike stand once, repeated: 1, 2 */
    uint32_t embedding, head; /* weights that other operations have, too */
    uint32_t rotations;       /* of unfused ones: a table that all layers have */
    ft__llm m;                /* the last, of which only the layers there are count */
} ft__llm_step;

/* Sizes, types and this rank's part of s->m, as the options say (options.c). */
void ft__llm_ask(ft__llm_step *s, const ft_import_options *opt);
static inline int64_t ft__llm_rounded_up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

#define SHAPE(...)                                                                     \
    ((ft_shape){.rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),            \
                .dim = {__VA_ARGS__}})
/* "8x64x128" */
typedef struct ft__llm_sizes {
    ft_shape shape;
    char s[FT_MAX_RANK * FT__NUMBER_TEXT];
} ft__llm_sizes;
ft__llm_sizes ft__llm_sizes_of(ft_shape shape);
#define SIZES(...) ft__llm_sizes_of(SHAPE(__VA_ARGS__))
/* For one call: it ends with the expression. */
#define X(...) SIZES(__VA_ARGS__).s

uint32_t ft__llm_tensor_of(ft__llm_step *s, const char *name, ft_role role, ft_dtype t,
                           const ft_shape *shape);
uint32_t ft__llm_weight(ft__llm_step *s, ft_shape shape);
/* A node of that spec, of the model's type unless it says another, with the weights
 * that its operation has; its first result. */
FT_PRINTF(4, 5)
uint32_t ft__llm_node(ft__llm_step *s, const char *name, uint32_t x, const char *fmt,
                      ...);
/* With the weights of another node. */
FT_PRINTF(5, 6)
uint32_t ft__llm_node_with(ft__llm_step *s, const char *name, uint32_t x, uint32_t tied,
                           const char *fmt, ...);
FT_PRINTF(5, 6)
uint32_t ft__llm_node_on(ft__llm_step *s, const char *name, const uint32_t *in,
                         uint32_t n_in, const char *fmt, ...);
/* Likewise of x alone (norm=1, along the last axis, for kinds that have the key), of
 * two. */
uint32_t ft__llm_unary(ft__llm_step *s, const char *name, ft_kind kind, uint32_t x,
                       ft_shape shape);
uint32_t ft__llm_binary(ft__llm_step *s, const char *name, ft_kind kind, uint32_t x,
                        uint32_t y, ft_shape of_x, ft_shape of_y);
/* Other sizes, or a part of it; the latter of whatever x is. */
uint32_t ft__llm_view(ft__llm_step *s, uint32_t x, ft_shape from, ft_shape to);
uint32_t ft__llm_as(ft__llm_step *s, uint32_t x, ft_shape to);
/* Types of the part's weights: " to=bf16 block=128 dtype=fp8e4m3", " weights=int4
 * block=128". */
void ft__llm_put_types(char out[96], const ft__llm_step *s);
uint32_t ft__llm_linear(ft__llm_step *s, const char *name, uint32_t x, int64_t rows,
                        int64_t from, int64_t to, bool bias);
uint32_t ft__llm_norm(ft__llm_step *s, const char *name, uint32_t x, int64_t size);
uint32_t ft__llm_add(ft__llm_step *s, const char *name, uint32_t x, uint32_t y);

uint32_t ft__llm_grouped(ft__llm_step *s, uint32_t x, int64_t layer);
/* The table of unfused rotations, of as many features as any layer's heads have. */
uint32_t ft__llm_rotations(ft__llm_step *s);
uint32_t ft__llm_latent(ft__llm_step *s, uint32_t x, int64_t layer);
uint32_t ft__llm_compressed(ft__llm_step *s, uint32_t x);
uint32_t ft__llm_linear_attention(ft__llm_step *s, uint32_t x);
uint32_t ft__llm_mamba2(ft__llm_step *s, uint32_t x);
uint32_t ft__llm_mamba1(ft__llm_step *s, uint32_t x);

#endif
