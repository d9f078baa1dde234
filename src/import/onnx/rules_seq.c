/* Sequences and optionals. As far as the elements of a sequence are known it is a
 * list of values that exists while importing only; operations that give one out
 * or read one that is not known stay in the graph. */
#include <string.h>

#include "base/limits.h"
#include "graph/op_inside.h"
#include "import/onnx/compose.h"

enum { MAX_LISTED = 1 << 12 };

/* The most that any element has, and the dimensions in which they differ. */
static uint32_t join(ft__onnx_value *const *part, uint32_t n, ft_shape *most)
{
    uint32_t open = n ? 0 : FT_OPEN_RANK;

    *most = n ? part[0]->shape : (ft_shape){0};
    for (uint32_t i = 0; i < n; i++) {
        open |= part[i]->open;
        if (part[i]->shape.rank != most->rank)
            return FT_OPEN_RANK;
        for (uint32_t k = 0; k < most->rank; k++) {
            open |= (uint32_t)(part[i]->shape.dim[k] != most->dim[k]) << k;
            if (part[i]->shape.dim[k] > most->dim[k])
                most->dim[k] = part[i]->shape.dim[k];
        }
    }
    return open;
}

static bool is_sequence(const ft__onnx_node *n)
{
    const ft__onnx_value *v = ft__in(n, 0);

    if (v && (v->container & FT_CONTAINER_SEQUENCE))
        return true;
    return ft__onnx_fail(n, "its operand 1 is no sequence");
}

/* A sequence of these elements; the array becomes its own. */
static void define_list(ft__onnx_value *v, ft__onnx_value **part, uint32_t n,
                        ft_dtype dtype)
{
    v->state = FT__ACTIVATION;
    v->container = FT_CONTAINER_SEQUENCE;
    v->dtype = n ? part[0]->dtype : dtype;
    v->part = part;
    v->n_parts = n;
    v->listed = true;
    v->open = join(part, n, &v->shape);
}

/* A sequence whose elements are not known one by one. */
static void define_unlisted(const ft__onnx_node *n, ft__onnx_value *v, ft_dtype dtype,
                            const ft_shape *most, uint32_t open)
{
    ft__emit_open(n, v, dtype, most, open);
    v->container = FT_CONTAINER_SEQUENCE;
}

/* A scalar that says something of a container. */
static void define_scalar(const ft__onnx_node *n, ft_dtype t, bool known, int64_t value)
{
    ft_shape s = {0};
    ft_op op;

    if (known) {
        ft__define_constant(n, n->out[0], t, &s);
        ft__fold_fill(n, n->out[0], (ft__num){.i = value}, (ft__num){0});
        return;
    }
    ft__op_init(&op, FT_KIND_fill, t);
    ft__op_set_shape(&op, FT_K_out, &s);
    ft__emit(n, &op, &(ft__onnx_call){.out = n->out, .n_out = 1, .shape = &s});
}

/* Where an operand says, from 0 to `end`; -1: not known. None given: the end. */
static int64_t position(const ft__onnx_node *n, uint32_t i, uint32_t end)
{
    int64_t at;

    if (!ft__in(n, i))
        return end;
    if (n->in[i]->guessed || ft__ints(n, n->in[i], &at, 1) != 1)
        return -1;
    at += at < 0 ? end : 0;
    if (at >= 0 && at <= end)
        return at;
    ft__onnx_fail(n, "its position lies outside the sequence");
    return -1;
}

static void rule_sequence_construct(ft__onnx_node *n)
{
    for (uint32_t i = 0; i < n->n_in; i++)
        if (!n->in[i] || n->in[i]->container) {
            ft__onnx_fail(n, "its operand %u is no tensor", i + 1);
            return;
        }
    define_list(n->out[0], n->in, n->n_in, FT_DTYPE_fp32);
}

static void rule_sequence_empty(ft__onnx_node *n)
{
    ft_dtype t = ft_dtype_from_onnx(ft__attr_int(n, "dtype", 1));

    define_list(n->out[0], NULL, 0, t ? t : FT_DTYPE_fp32);
}

/* The operand's list with room for one more; NULL: not known, or a failure. */
static ft__onnx_value **copy_list(const ft__onnx_node *n, const ft__onnx_value *seq)
{
    ft__onnx_value **part;

    if (!seq->listed || seq->n_parts >= MAX_LISTED)
        return NULL;
    part = ft__onnx_alloc(n->import, seq->n_parts + 1, sizeof(ft__onnx_value *));
    for (uint32_t i = 0; part && i < seq->n_parts; i++)
        part[i] = seq->part[i];
    return part;
}

static void rule_sequence_insert(ft__onnx_node *n)
{
    ft__onnx_value *seq = n->in[0], *x = n->in[1], **part = NULL, *both[2] = {x, seq};
    uint32_t open;
    ft_shape s;
    int64_t at;

    if (!is_sequence(n))
        return;
    at = position(n, 2, seq->n_parts);
    if (at >= 0)
        part = copy_list(n, seq);
    if (ft__failed(n))
        return;
    if (part) {
        memmove(part + at + 1, part + at,
                (seq->n_parts - (size_t)at) * sizeof(ft__onnx_value *));
        part[at] = x;
        define_list(n->out[0], part, seq->n_parts + 1, x->dtype);
        return;
    }
    open = join(both, seq->empty || (seq->listed && !seq->n_parts) ? 1 : 2, &s);
    define_unlisted(n, n->out[0], x->dtype, &s, open);
}

static void rule_sequence_erase(ft__onnx_node *n)
{
    ft__onnx_value *seq = n->in[0], **part = NULL;
    int64_t at;

    if (!is_sequence(n))
        return;
    at = position(n, 1, seq->n_parts);
    if (seq->listed && !ft__in(n, 1))
        at--;
    if (at >= 0 && at < seq->n_parts)
        part = copy_list(n, seq);
    if (ft__failed(n))
        return;
    if (!part) {
        define_unlisted(n, n->out[0], seq->dtype, &seq->shape, seq->open);
        return;
    }
    memmove(part + at, part + at + 1,
            (seq->n_parts - (size_t)at - 1) * sizeof(ft__onnx_value *));
    define_list(n->out[0], part, seq->n_parts - 1, seq->dtype);
}

/* Sizes of the parts along an axis of `size`; how many, -1: not known. */
static int64_t part_sizes(const ft__onnx_node *n, int64_t size, int64_t *sizes)
{
    int64_t count = 0, each = 1;

    if (ft__in(n, 1)) {
        count = n->in[1]->guessed ? -1 : ft__ints(n, n->in[1], sizes, FT__MAX_PARTS);
        if (count < 0 || n->in[1]->shape.rank > 0)
            return count;
        each = sizes[0];
        count = 0;
    }
    if (each < 1)
        ft__onnx_fail(n, "its parts have no elements");
    if (each < 1 || (size - 1) / each >= FT__MAX_PARTS)
        return -1;
    for (; size > 0; size -= each)
        sizes[count++] = size < each ? size : each;
    return count;
}

/* Without an axis whose size is 1. */
static ft__onnx_value *squeezed(const ft__onnx_node *n, ft__onnx_value *v,
                                uint32_t axis)
{
    ft_shape s = v->shape;

    ft__drop_dim(&s, axis, 1);
    return ft__make_view(n, v, &s, ft__onnx_temp(n, v));
}

static void split_into(const ft__onnx_node *n, uint32_t axis, const int64_t *sizes,
                       uint32_t count, bool drop)
{
    ft__onnx_value *x = n->in[0],
                   **part = ft__onnx_alloc(n->import, count, sizeof(ft__onnx_value *));
    ft_op op;

    for (uint32_t i = 0; part && i < count; i++)
        if (!(part[i] = ft__onnx_temp(n, x)))
            return;
    if (!part)
        return;
    op = ft__op_x(FT_KIND_split, x);
    ft__op_set1(&op, FT_K_axis, axis);
    ft__op_set(&op, FT_K_sizes, sizes, count);
    if (count == 1)
        ft__emit_view(n, x, part[0], &x->shape);
    else
        ft__emit(n, &op,
                 &(ft__onnx_call){.in = &x, .n_in = 1, .out = part, .n_out = count});
    for (uint32_t i = 0; drop && i < count && !ft__failed(n); i++)
        if (!(part[i] = squeezed(n, part[i], axis)))
            return;
    if (!ft__failed(n))
        define_list(n->out[0], part, count, x->dtype);
}

static void rule_split_to_sequence(ft__onnx_node *n)
{
    ft__onnx_value *x = n->in[0];
    uint32_t axis = ft__attr_axis(n, 0);
    bool drop = !ft__in(n, 1) && !ft__attr_int(n, "keepdims", 1);
    int64_t sizes[FT__MAX_PARTS], count, sum = 0;
    ft_shape s = x->shape;

    if (ft__failed(n))
        return;
    count = part_sizes(n, s.dim[axis], sizes);
    for (int64_t i = 0; i < count && sum >= 0; i++)
        sum = sizes[i] < 0 || sizes[i] > s.dim[axis] ? -1 : sum + sizes[i];
    if (count >= 0 && sum != s.dim[axis])
        ft__onnx_fail(n, "its parts do not add up to the axis");
    if (ft__failed(n))
        return;
    if (count > 0) {
        split_into(n, axis, sizes, (uint32_t)count, drop);
        return;
    }
    if (!ft__in(n, 1))
        s.dim[axis] = 1;
    if (drop) {
        ft__drop_dim(&s, axis, 1);
    }
    define_unlisted(n, n->out[0], x->dtype, &s, ft__in(n, 1) ? 1u << axis : 0);
}

static void rule_sequence_at(ft__onnx_node *n)
{
    ft__onnx_value *seq = n->in[0];
    int64_t at;

    if (!is_sequence(n))
        return;
    at = position(n, 1, seq->n_parts);
    if (ft__failed(n) && seq->listed)
        return;
    if (seq->listed && at >= 0 && at < seq->n_parts)
        ft__emit_view(n, seq->part[at], n->out[0], &seq->part[at]->shape);
    else
        ft__emit_bounded(n, &seq->shape, seq->open);
}

static void rule_sequence_length(ft__onnx_node *n)
{
    if (is_sequence(n))
        define_scalar(n, FT_DTYPE_int64, n->in[0]->listed, n->in[0]->n_parts);
}

static ft__onnx_value *unsqueezed(const ft__onnx_node *n, ft__onnx_value *v,
                                  int64_t axis)
{
    ft_shape s = v->shape;

    ft__insert_dim(n, &s, ft__axis(n, axis, s.rank + 1), 1);
    return ft__make_view(n, v, &s, ft__onnx_temp(n, v));
}

/* Of a sequence that is not known one by one. */
static void concat_unknown(const ft__onnx_node *n, int64_t axis, bool stack)
{
    const ft__onnx_value *seq = n->in[0];
    ft_shape s = seq->shape;
    uint32_t open = seq->open, at;

    if (open & FT_OPEN_RANK) {
        ft__emit_bounded(n, &s, FT_OPEN_RANK);
        return;
    }
    at = ft__axis(n, axis, s.rank + stack);
    if (stack) {
        ft__insert_dim(n, &s, at, 1);
        open = (open & ((1u << at) - 1)) | (open >> at) << (at + 1);
    }
    if (!ft__failed(n))
        ft__emit_bounded(n, &s, open | 1u << at);
}

static void rule_concat_from_sequence(ft__onnx_node *n)
{
    ft__onnx_value *seq = n->in[0], **part;
    int64_t axis = ft__attr_int(n, "axis", 0);
    bool stack = ft__attr_int(n, "new_axis", 0);
    ft__onnx_node concat = *n;

    if (!is_sequence(n))
        return;
    if (!seq->listed || !seq->n_parts) {
        concat_unknown(n, axis, stack);
        return;
    }
    part = copy_list(n, seq);
    for (uint32_t i = 0; part && stack && i < seq->n_parts; i++)
        if (!(part[i] = unsqueezed(n, part[i], axis)))
            return;
    concat.in = part;
    concat.n_in = seq->n_parts;
    if (part && !ft__failed(n))
        ft__emit_concat(&concat, part, concat.n_in, ft__attr_axis(&concat, 1),
                        part[0]->dtype);
}

/* Where element i of operand k stands for the body; NULL: failed. */
static ft__onnx_value *element(const ft__onnx_node *n, uint32_t k, uint32_t i)
{
    ft__onnx_value *v = n->in[k], *one;

    if (!v || !(v->container & FT_CONTAINER_SEQUENCE))
        return v;
    if (v->listed)
        return i < v->n_parts ? v->part[i] : NULL;
    one = ft__onnx_temp(n, v);
    if (one)
        ft__emit_open(n, one, v->dtype, &v->shape, v->open);
    return one;
}

static bool map_once(const ft__onnx_node *n, ft__bytes graph, uint32_t i,
                     ft__body *body)
{
    ft__onnx_value **arg = ft__onnx_alloc(n->import, n->n_in, sizeof(ft__onnx_value *));

    for (uint32_t k = 0; arg && k < n->n_in; k++) {
        arg[k] = element(n, k, i);
        if (!arg[k] && !ft__failed(n))
            ft__onnx_fail(n, "its operand %u has fewer elements", k + 1);
        if (ft__failed(n))
            return false;
    }
    return arg && n->import->write_graph(n, graph, i, arg, n->n_in, body);
}

static void gather_results(const ft__onnx_node *n, const ft__body *body, uint32_t i,
                           ft__onnx_value ***list)
{
    for (uint32_t k = 0; k < n->n_out && !ft__failed(n); k++) {
        if (k >= body->n_out || body->out[k]->state == FT__UNDEFINED)
            ft__onnx_fail(n, "its body does not make result %u", k + 1);
        else
            list[k][i] = body->out[k];
    }
}

static void rule_sequence_map(ft__onnx_node *n)
{
    ft__onnx_value ***list = ft__onnx_alloc(n->import, n->n_out, sizeof(*list));
    bool listed = is_sequence(n) && n->in[0]->listed;
    uint32_t count = listed ? n->in[0]->n_parts : 1;
    ft__bytes graph;
    ft__body body;

    if (!list || ft__failed(n))
        return;
    if (!ft__attr_message(n, "body", 6, &graph)) {
        ft__onnx_fail(n, "it has no body");
        return;
    }
    for (uint32_t k = 0; k < n->n_out; k++)
        if (!(list[k] = ft__onnx_alloc(n->import, count, sizeof(ft__onnx_value *))))
            return;
    for (uint32_t i = 0; i < count; i++) {
        if (!map_once(n, graph, i, &body))
            return;
        gather_results(n, &body, i, list);
    }
    for (uint32_t k = 0; k < n->n_out && !ft__failed(n); k++) {
        if (!n->out[k])
            continue;
        define_list(n->out[k], list[k], count, FT_DTYPE_fp32);
        /* One element stands for all. */
        n->out[k]->listed = listed;
    }
}

static void define_like(const ft__onnx_node *n, ft__onnx_value *x, uint32_t container)
{
    ft__onnx_value *out = n->out[0];

    ft__emit_view(n, x, out, &x->shape);
    if ((container & FT_CONTAINER_SEQUENCE) && !x->listed) {
        /* Of another type, so another tensor. */
        out->tensor = FT_NONE;
        out->n_parts = 1;
        out->part = ft__onnx_alloc(n->import, 1, sizeof(x));
        if (!out->part)
            return;
        out->part[0] = x;
    }
    out->container = container;
}

static void rule_optional(ft__onnx_node *n)
{
    ft__bytes type;
    ft__onnx_value like = {.container = 0};

    if (ft__in(n, 0)) {
        define_like(n, n->in[0], n->in[0]->container | FT_CONTAINER_OPTIONAL);
        return;
    }
    if (!ft__attr_message(n, "type", 14, &type)) {
        ft__onnx_fail(n, "it has neither an operand nor a type");
        return;
    }
    ft__onnx_read_type(n->import, type, &like);
    ft__emit_open(n, n->out[0], like.dtype ? like.dtype : FT_DTYPE_fp32, &like.shape,
                  like.open);
    n->out[0]->container = like.container | FT_CONTAINER_OPTIONAL;
}

static void rule_optional_has_element(ft__onnx_node *n)
{
    const ft__onnx_value *x = ft__in(n, 0);
    bool known = !x || !(x->container & FT_CONTAINER_OPTIONAL);

    define_scalar(n, FT_DTYPE_bool, known, x != NULL);
}

static void rule_optional_get_element(ft__onnx_node *n)
{
    define_like(n, n->in[0], n->in[0]->container & ~(uint32_t)FT_CONTAINER_OPTIONAL);
}

static const ft__operator_rule rules[] = {
    {"ConcatFromSequence", rule_concat_from_sequence, 0, 1, FT__CONTAINERS},
    {"Optional", rule_optional, 0, 0, FT__CONTAINERS},
    {"OptionalGetElement", rule_optional_get_element, 0, 1, FT__CONTAINERS},
    {"OptionalHasElement", rule_optional_has_element, 0, 0, FT__CONTAINERS},
    {"SequenceAt", rule_sequence_at, 0, 2, FT__CONTAINERS},
    {"SequenceConstruct", rule_sequence_construct, 0, 1, FT__CONTAINERS},
    {"SequenceEmpty", rule_sequence_empty, 0, 0, 0},
    {"SequenceErase", rule_sequence_erase, 0, 1, FT__CONTAINERS},
    {"SequenceInsert", rule_sequence_insert, 0, 2, FT__CONTAINERS},
    {"SequenceLength", rule_sequence_length, 0, 1, FT__CONTAINERS},
    {"SequenceMap", rule_sequence_map, 0, 1, FT__BODY},
    {"SplitToSequence", rule_split_to_sequence, 0, 1, 0},
};

const ft__rule_table ft__rules_seq = {rules, sizeof(rules) / sizeof(*rules)};
