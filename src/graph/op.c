/* Names and values of operations: the tables made from ops.def; shapes. */
#include "graph/op_inside.h"

#include <stdbool.h>
#include <string.h>

#include "base/index.h"
#include "base/limits.h"
#include "foretell/names.h"

struct key_rule {
    ft_key_id key;
    int64_t fallback; /* -1: required */
};

struct kind_rule {
    const char *name;
    ft_class cls;
    uint32_t saves;
    struct key_rule keys[FT_OP_MAX_KEYS];
    uint32_t n_keys;
};

#define R(k)                                                                           \
    {                                                                                  \
        FT_K_##k, -1                                                                   \
    }
#define D(k, v)                                                                        \
    {                                                                                  \
        FT_K_##k, v                                                                    \
    }
#define COUNT(...) (sizeof((struct key_rule[]){__VA_ARGS__}) / sizeof(struct key_rule))
static const struct kind_rule kinds[FT_KIND_COUNT] = {
#define FT_KIND(name, cls, rule, saves, ...)                                           \
    [FT_KIND_##name] = {                                                               \
        #name, FT_CLASS_##cls, FT_SAVE_##saves, {__VA_ARGS__}, COUNT(__VA_ARGS__)},
#include "foretell/ops.def"
#undef FT_KIND
};

#undef R
#undef D

/* Which keys a kind has, as bits: most that are asked for it has not. */
#define R(k) UINT64_C(1) << FT_K_##k
#define D(k, v) R(k)
#define ANY(a, b, c, d, e, f, g, h, i, j, k, l, ...)                                   \
    ((a) | (b) | (c) | (d) | (e) | (f) | (g) | (h) | (i) | (j) | (k) | (l))
static const uint64_t has_keys[FT_KIND_COUNT] = {
#define FT_KIND(name, cls, rule, saves, ...)                                           \
    [FT_KIND_##name] = ANY(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
#include "foretell/ops.def"
#undef FT_KIND
};
_Static_assert(FT_K_COUNT <= 64, "one bit a key");

static const struct {
    const char *name;
    uint32_t bits;
    int64_t onnx;
} dtypes[FT_DTYPE_COUNT] = {
    [FT_DTYPE_NONE] = {"none", 0, 0},
#define FT_DTYPE(n, b, o) [FT_DTYPE_##n] = {#n, b, o},
#include "foretell/dtypes.def"
#undef FT_DTYPE
};

static const char *const class_names[FT_CLASS_COUNT] = {
    "conv",   "matmul", "pool", "norm", "softmax", "unary",
    "binary", "reduce", "move", "view", "generic", "optimizer"};
static const char *const key_names[FT_K_COUNT] = {
    "x",      "y",        "z",       "out",   "kernel", "stride",     "pad",
    "outpad", "dilation", "groups",  "bias",  "ceil",   "norm",       "size",
    "axis",   "axes",     "keep",    "perm",  "sizes",  "step",       "mode",
    "rows",   "dim",      "to",      "read",  "hidden", "directions", "causal",
    "mask",   "train",    "weights", "block", "order",  "experts",    "topk",
    "tp",     "ep",       "ranks",   "id",    "shared", "gated",      "nodes",
    "dealt"};

const char *ft_dtype_name(ft_dtype t)
{
    return dtypes[t].name;
}

ft_dtype ft__dtype_from_name(const char *name, size_t len)
{
    for (int i = 1; i < FT_DTYPE_COUNT; i++)
        if (ft__name_is(dtypes[i].name, name, len))
            return (ft_dtype)i;
    return FT_DTYPE_NONE;
}

ft_dtype ft_dtype_from_onnx(int64_t number)
{
    static const uint8_t by_number[] = {
#define FT_DTYPE(n, b, o) [o] = FT_DTYPE_##n,
#include "foretell/dtypes.def"
#undef FT_DTYPE
    };

    return number > 0 && number < (int64_t)sizeof(by_number)
               ? (ft_dtype)by_number[number]
               : FT_DTYPE_NONE;
}

uint32_t ft_dtype_bits(ft_dtype t)
{
    return dtypes[t].bits;
}

const char *ft_kind_name(ft_kind k)
{
    return kinds[k].name;
}

int ft__kind_from_name(ft_kind *k, const char *name, size_t len)
{
    for (int i = 0; i < FT_KIND_COUNT; i++)
        if (ft__name_is(kinds[i].name, name, len)) {
            *k = (ft_kind)i;
            return 1;
        }
    return 0;
}

uint32_t ft_kind_saves(ft_kind k)
{
    return kinds[k].saves;
}

ft_class ft_kind_class(ft_kind k)
{
    return kinds[k].cls;
}

const char *ft__class_name(ft_class c)
{
    return class_names[c];
}

const char *ft__key_name(ft_key_id k)
{
    return key_names[k];
}

int ft__phase_from_name(ft_phase *p, const char *name, size_t len)
{
    const int i = ft_from_name(FT_NAMES_PHASE, name, len);

    if (i < 0)
        return 0;
    *p = (ft_phase)i;
    return 1;
}

ft_key_id ft__kind_key(ft_kind k, uint32_t i, int *required)
{
    const struct kind_rule *r = &kinds[k];

    if (i >= r->n_keys)
        return FT_K_COUNT;
    if (required)
        *required = r->keys[i].fallback < 0;
    return r->keys[i].key;
}

void ft__op_init(ft_op *op, ft_kind k, ft_dtype t)
{
    memset(op, 0, sizeof(*op));
    op->kind = k;
    op->dtype = t;
}

/* Position of a key in the kind's list, n_keys when it has none. */
static uint32_t find_key(const struct kind_rule *r, ft_key_id key)
{
    uint32_t i = 0;

    while (i < r->n_keys && r->keys[i].key != key)
        i++;
    return i;
}

static uint32_t values_before(const ft_op *op, uint32_t key)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < key; i++)
        n += op->count[i];
    return n;
}

int ft__op_set(ft_op *op, ft_key_id key, const int64_t *values, uint32_t n)
{
    const struct kind_rule *r = &kinds[op->kind];
    uint32_t i = find_key(r, key), at;

    if (i == r->n_keys)
        return 0;
    for (uint32_t later = i; later < r->n_keys; later++)
        if (op->count[later])
            return 0;
    if (r->keys[i].fallback >= 0) {
        uint32_t same_as_default = 0;

        while (same_as_default < n && values[same_as_default] == r->keys[i].fallback)
            same_as_default++;
        if (same_as_default == n)
            return 1;
    }
    at = values_before(op, i);
    if (n > FT_OP_MAX_VALUES - at)
        return 0;
    memcpy(op->value + at, values, n * sizeof(*values));
    op->count[i] = (uint8_t)n;
    return 1;
}

void ft__op_clear(ft_op *op, ft_key_id key)
{
    const struct kind_rule *r = &kinds[op->kind];
    const uint32_t i = find_key(r, key), at = values_before(op, i),
                   left = values_before(op, r->n_keys) - at;

    if (i == r->n_keys || !op->count[i])
        return;
    memmove(op->value + at, op->value + at + op->count[i],
            (left - op->count[i]) * sizeof(*op->value));
    memset(op->value + at + left - op->count[i], 0, op->count[i] * sizeof(*op->value));
    op->count[i] = 0;
}

int ft__op_set1(ft_op *op, ft_key_id key, int64_t value)
{
    return ft__op_set(op, key, &value, 1);
}

int ft__op_set_shape(ft_op *op, ft_key_id key, const ft_shape *s)
{
    /* A scalar is written as one element: the text has no empty shape. */
    return s->rank ? ft__op_set(op, key, s->dim, s->rank) : ft__op_set1(op, key, 1);
}

static bool has_key(ft_kind k, ft_key_id key)
{
    return has_keys[k] >> key & 1;
}

/* A key's place in the list of a kind that has it, and where its values begin. */
static uint32_t locate(const ft_op *op, ft_key_id key, uint32_t *begin)
{
    const struct key_rule *keys = kinds[op->kind].keys;
    uint32_t i = 0;

    for (*begin = 0; keys[i].key != key; i++)
        *begin += op->count[i];
    return i;
}

const int64_t *ft_op_get(const ft_op *op, ft_key_id key, uint32_t *n)
{
    uint32_t begin;

    *n = has_key(op->kind, key) ? op->count[locate(op, key, &begin)] : 0;
    return *n ? op->value + begin : NULL;
}

int64_t ft_op_at(const ft_op *op, ft_key_id key, uint32_t i)
{
    const struct kind_rule *r = &kinds[op->kind];
    uint32_t begin, at;

    if (!has_key(op->kind, key))
        return 0;
    at = locate(op, key, &begin);
    if (op->count[at])
        return i < op->count[at] ? op->value[begin + i] : 0;
    return r->keys[at].fallback >= 0 ? r->keys[at].fallback : 0;
}

/* Written out: a loop would go through memory twice. */
ft_shape ft_op_shape(const ft_op *op, ft_key_id key)
{
    uint32_t n;
    const int64_t *v = ft_op_get(op, key, &n);

    _Static_assert(FT_MAX_RANK == 8, "one line a dimension");
    return (ft_shape){.rank = n < FT_MAX_RANK ? n : FT_MAX_RANK,
                      .dim = {n > 0 ? v[0] : 0, n > 1 ? v[1] : 0, n > 2 ? v[2] : 0,
                              n > 3 ? v[3] : 0, n > 4 ? v[4] : 0, n > 5 ? v[5] : 0,
                              n > 6 ? v[6] : 0, n > 7 ? v[7] : 0}};
}

void ft_op_pad(const ft_op *op, uint32_t i, int64_t *begin, int64_t *end)
{
    uint32_t n, axes, spatial;

    (void)ft_op_get(op, FT_K_pad, &n);
    (void)ft_op_get(op, FT_K_x, &axes);
    spatial = axes > 2 ? axes - 2 : 0;
    *begin = ft_op_at(op, FT_K_pad, i);
    *end = n == 2 * spatial ? ft_op_at(op, FT_K_pad, spatial + i) : *begin;
}

int ft_op_equal(const ft_op *a, const ft_op *b)
{
    return a->kind == b->kind && a->dtype == b->dtype && a->phase == b->phase &&
           a->layout == b->layout && a->wrt == b->wrt && a->in_place == b->in_place &&
           memcmp(a->count, b->count, sizeof(a->count)) == 0 &&
           memcmp(a->value, b->value,
                  values_before(a, FT_OP_MAX_KEYS) * sizeof(a->value[0])) == 0;
}

/* FNV-1a, then values word by word with a stronger mix. */
static uint64_t hash_name(uint64_t h, const char *s)
{
    return ft__fnv1a(h, s, strlen(s));
}

uint64_t ft__op_quick_hash(const ft_op *op)
{
    const uint64_t prime = 0x9fb21c651e98df25u;
    uint64_t h = (uint64_t)op->kind << 40 ^ (uint64_t)op->dtype << 24 ^
                 (uint64_t)op->phase << 16 ^ (uint64_t)op->layout << 8 ^ op->wrt;
    uint32_t n = 0;

    for (uint32_t i = 0; i < FT_OP_MAX_KEYS; i++) {
        n += op->count[i];
        h = h * 31 + op->count[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        h = (h ^ (uint64_t)op->value[i]) * prime;
        h ^= h >> 32;
    }
    return h ? h : 1;
}

uint64_t ft__op_hash(const ft_op *op)
{
    const uint64_t prime = 0x9fb21c651e98df25u;
    uint64_t h = hash_name(FT__HASH_BEGIN, kinds[op->kind].name);
    uint32_t at = 0;

    h = hash_name(h, dtypes[op->dtype].name);
    h ^= (uint64_t)op->phase << 32 | (uint64_t)op->layout << 40 |
         (uint64_t)op->wrt << 48 | (uint64_t)op->in_place << 56;
    for (uint32_t i = 0; i < kinds[op->kind].n_keys; i++) {
        if (!op->count[i])
            continue;
        h = hash_name(h, key_names[kinds[op->kind].keys[i].key]);
        for (uint32_t j = 0; j < op->count[i]; j++) {
            h = (h ^ (uint64_t)op->value[at++]) * prime;
            h ^= h >> 32;
        }
    }
    return h;
}

uint64_t ft__op_layer_hash(const ft_op *op)
{
    static const ft_key_id shape[] = {FT_K_x, FT_K_y, FT_K_z, FT_K_out};
    ft_op one = *op;

    for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
        uint32_t rank;
        const int64_t *first = ft_op_get(&one, shape[i], &rank);

        if (first && rank > 1)
            one.value[first - one.value] = 1;
        if (first && rank == 4 && op->kind == FT_KIND_rotary)
            one.value[first - one.value + 2] = 1;
    }
    return ft__op_hash(&one);
}

static inline int64_t elements(const ft_shape *s)
{
    bool over = false;
    int64_t n = 1;

    for (uint32_t i = 0; i < s->rank; i++) {
        const int64_t dim = s->dim[i];

        if (dim == 0)
            return 0;
        over |= dim < 0 || __builtin_mul_overflow(n, dim, &n);
    }
    return over || n > FT__MAX_ELEMENTS ? -1 : n;
}

int ft_shape_equal(const ft_shape *a, const ft_shape *b)
{
    return a->rank == b->rank &&
           memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0])) == 0;
}

int64_t ft_shape_elements(const ft_shape *s)
{
    return elements(s);
}

int64_t ft_tensor_bytes(const ft_shape *s, ft_dtype t)
{
    return (elements(s) * (int64_t)dtypes[t].bits + 7) / 8;
}

ft_op ft__forward_of(const ft_op *op)
{
    ft_op forward = *op;

    forward.phase = FT_PHASE_FORWARD;
    forward.wrt = 0;
    return forward;
}
