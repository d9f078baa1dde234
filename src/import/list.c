/* Lists of operations, one spec a line. */
#include "import/list.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/limits.h"
#include "graph/op.h"

/* `elements` of one kind of weights, if there are any. */
static void add_weights(ft__build *b, ft_dtype t, double elements, uint32_t *params,
                        uint32_t *n)
{
    ft_shape s = {.rank = 1};

    if (!(elements > 0 && elements <= (double)FT__MAX_ELEMENTS))
        return;
    s.dim[0] = (int64_t)elements;
    params[(*n)++] = ft__build_tensor(b, "", 0, FT_ROLE_WEIGHT, t, &s);
}

/* Each occurrence of an operation is a layer with weights of its own. A bias beside
 * weights of another dtype has that of the operands; what is left are scales. */
uint32_t ft__op_weights(ft__build *b, const ft_op *op, double count, uint32_t params[3])
{
    const int64_t own = ft_op_at(op, FT_K_weights, 0);
    const ft_dtype t = own ? (ft_dtype)own : op->dtype;
    ft_dtype rest = op->dtype;
    uint32_t n = 0;
    const uint32_t bits = ft_dtype_bits(t);
    double elements, bytes, beside;

    ft__weights_of(&elements, &bytes, op);
    beside = bytes - elements * bits / 8;
    if (beside > 0) {
        const double bias =
            (double)(ft_op_at(op, FT_K_bias, 0) * ft_op_at(op, FT_K_out, 0));

        rest = rest == FT_DTYPE_int8 || rest == FT_DTYPE_uint8 ? FT_DTYPE_int32 : rest;
        elements -= bias;
        beside = bytes - (elements * bits + bias * ft_dtype_bits(rest)) / 8;
        add_weights(b, rest, bias * count, params, &n);
    }
    add_weights(b, t, elements * count, params, &n);
    add_weights(b, FT_DTYPE_fp8e8m0, beside * count, params, &n);
    return n;
}

/* The operands are activations out of nowhere: each operation of a list stands
 * alone, so they live only as long as it runs. */
void ft__list_op(ft__build *b, const char *name, size_t name_len, const ft_op *op,
                 uint64_t count)
{
    uint32_t in[FT_OP_MAX_OPERANDS], out[FT_OP_MAX_OPERANDS], params[3], n_params;
    uint32_t n_in = ft_op_n_inputs(op), n_out = ft_op_n_outputs(op), first;
    ft_shape s;
    ft_dtype t;

    for (uint32_t i = 0; i < n_in; i++) {
        ft_op_input(op, i, &s, &t);
        in[i] = ft__build_tensor(b, "", 0, FT_ROLE_ACTIVATION, t, &s);
    }
    for (uint32_t i = 0; i < n_out; i++) {
        ft_op_output(op, i, &s, &t);
        out[i] = ft__build_tensor(b, "", 0, FT_ROLE_ACTIVATION, t, &s);
    }
    n_params = ft__op_weights(b, op, (double)count, params);
    if (ft__build_failed(b))
        return;
    first = ft__build_here(b).n_nodes;
    ft__build_node(b, name, name_len, op, in, n_in, params, n_params, out, n_out);
    ft__build_repeat_from(b, first, count);
}

/* Cut " *COUNT" off the line; false: the count is no count. */
static bool take_count(const char *line, size_t *len, uint64_t *count)
{
    size_t star = *len;

    *count = 1;
    while (star > 0 && line[star - 1] >= '0' && line[star - 1] <= '9')
        star--;
    if (star == 0 || line[star - 1] != '*')
        return true;
    *count = 0;
    for (size_t i = star; i < *len && *count <= (uint64_t)FT__MAX_ELEMENTS; i++)
        *count = *count * 10 + (uint64_t)(line[i] - '0');
    *len = star - 1;
    return *count > 0 && *count <= (uint64_t)FT__MAX_ELEMENTS;
}

static size_t without_blanks(const char *s, size_t len)
{
    while (len > 0 && strchr(" \t\r", s[len - 1]))
        len--;
    return len;
}

/* A word and a key with a value, however wrong: "rely x=8". */
static bool looks_like_spec(const char *line, size_t len)
{
    size_t n = 0;

    while (n < len && (isalnum((unsigned char)line[n]) || line[n] == '_'))
        n++;
    if (n == 0 || n == len)
        return n > 0;
    while (n < len && strchr(" \t", line[n]))
        n++;
    while (n < len && isalpha((unsigned char)line[n]))
        n++;
    return n < len && line[n] == '=';
}

static bool names_model(const char *line, size_t len)
{
    static const char *const ends[] = {".onnx", ".pt2", ".gguf", ".json"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        const size_t n = strlen(ends[i]);

        if (len > n && memcmp(line + len - n, ends[i], n) == 0)
            return true;
    }
    return false;
}

static bool is_ptx(const char *line, size_t len)
{
    return (len > 1 && memcmp(line, "//", 2) == 0) ||
           (len > 8 && memcmp(line, ".version", 8) == 0);
}

/* The first line that is no comment tells a list with a mistake from other text. */
static void fail_line(ft__build *b, const char *line, size_t len, size_t at,
                      uint64_t number, const ft_error *why)
{
    if (ft__build_here(b).n_nodes == 0 && names_model(line, len))
        ft__build_fail(b, FT_EFORMAT, at,
                       "line %llu is the name of a file, not an operation: foretell "
                       "ops FILE --list gives those of a model",
                       (unsigned long long)number);
    else if (ft__build_here(b).n_nodes == 0 && !looks_like_spec(line, len))
        ft__build_fail(b, FT_EFORMAT, at,
                       "not a model: no ONNX file, no torch.export archive, no "
                       "config.json, and line %llu "
                       "is no operation of a list, such as \"relu x=1x8 dtype=fp32\"%s",
                       (unsigned long long)number,
                       is_ptx(line, len) ? "; PTX is for foretell ptx" : "");
    else
        ft__build_fail(b, why->status, at + why->pos, "line %llu: %s",
                       (unsigned long long)number, why->msg);
}

/* One line without its newline, `at` bytes into the text. False: failed. */
static bool read_line(ft__build *b, const char *line, size_t len, size_t at,
                      uint64_t number)
{
    const char *comment = memchr(line, '#', len);
    uint64_t count;
    ft_error err;
    bool whole;
    ft_op op;

    len = without_blanks(line, comment ? (size_t)(comment - line) : len);
    if (len == 0)
        return true;
    if (!take_count(line, &len, &count)) {
        ft__build_fail(b, FT_EFORMAT, at + len,
                       "line %llu: byte %zu: the count must be 1 to 2^52",
                       (unsigned long long)number, len);
        return false;
    }
    if (ft_op_parse(&op, line, without_blanks(line, len), &err)) {
        fail_line(b, line, without_blanks(line, len), at, number, &err);
        return false;
    }
    ft__build_phase(b, op.phase == FT_PHASE_BACKWARD || op.phase == FT_PHASE_OPTIMIZER
                           ? op.phase
                           : FT_PHASE_FORWARD);
    /* What was measured whole goes by its line: its number says nothing. */
    whole = ft__op_is_workload(&op);
    ft__list_op(b, whole ? line : "", whole ? without_blanks(line, len) : 0, &op,
                count);
    return !ft__build_failed(b);
}

ft_status ft_import_ops(ft_graph **out, const char *text, size_t len, const char *name,
                        ft_error *err)
{
    const bool marked = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0; /* as UTF-8 */
    ft__build *b = ft__build_new(name);
    ft_error inner = {0};
    uint64_t number = 1;
    bool good = true;
    ft_status st;

    *out = NULL;
    if (!b)
        return ft_fail(err, FT_ENOMEM, 0, "%s: out of memory", name);
    for (size_t at = marked ? 3 : 0; at < len && good; number++) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t n = end ? (size_t)(end - text) - at : len - at;

        good = read_line(b, text + at, n, at, number);
        at += n + 1;
    }
    st = ft__build_finish_take(out, b, &inner);
    if (st)
        return ft_fail(err, st, inner.pos, "%s: %.400s", name, inner.msg);
    if ((*out)->n_nodes == 0) {
        ft_graph_free(*out);
        *out = NULL;
        return ft_fail(err, FT_EFORMAT, 0, "%s: holds no operation", name);
    }
    return FT_OK;
}
