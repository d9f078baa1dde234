/* Tensors of Inductor's Python: their shapes and types up to a point of the code, and
 * with them the operations that calls of libraries are. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/launch/inductor.h"

enum { MOST_TENSORS = 1 << 16 };

size_t ft__word_length(const char *s)
{
    size_t n = 0;

    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    return n;
}

static size_t name_length(const char *s)
{
    return isdigit((unsigned char)*s) ? 0 : ft__word_length(s);
}

/* "(8, 3, )" -> dimensions; where it ends, NULL: something else stands there. */
static const char *read_dims(ft__ptx_shape *out, const char *s)
{
    out->n = 0;
    s += strspn(s, " ,");
    if (*s++ != '(')
        return NULL;
    for (;;) {
        char *end;

        s += strspn(s, " ,");
        if (*s == ')')
            return s + 1;
        if (!isdigit((unsigned char)*s) || out->n == 8)
            return NULL;
        out->dim[out->n++] = strtoll(s, &end, 10);
        s = end;
    }
}

static const char *dtype_of(const char *s)
{
    static const char *const type[][2] = {{"float32", "fp32"},
                                          {"float16", "fp16"},
                                          {"bfloat16", "bf16"},
                                          {"float64", "fp64"},
                                          {"int8", "int8"}};
    size_t n = name_length(s);

    for (size_t i = 0; i < sizeof(type) / sizeof(type[0]); i++)
        if (strlen(type[i][0]) == n && strncmp(s, type[i][0], n) == 0)
            return type[i][1];
    return NULL;
}

static ft__inductor_tensor *find_tensor(const ft__inductor_tensors *t, const char *name,
                                        size_t n)
{
    for (size_t i = t->n; i > 0; i--)
        if (strncmp(t->v[i - 1].name, name, n) == 0 && !t->v[i - 1].name[n])
            return &t->v[i - 1];
    return NULL;
}

static bool set_tensor(ft__inductor_tensors *t, const char *name, size_t n,
                       const ft__ptx_shape *s)
{
    ft__inductor_tensor *v = find_tensor(t, name, n);
    const char *dtype = v ? v->shape.dtype : NULL;

    if (!v) {
        ft__inductor_tensor *more;

        if (t->n == MOST_TENSORS)
            return true;
        if (t->n == t->cap) {
            more = ft__arena_array(t->arena, 2 * t->cap, sizeof(*more));
            if (!more)
                return false;
            memcpy(more, t->v, t->n * sizeof(*more));
            t->v = more;
            t->cap *= 2;
        }
        v = &t->v[t->n++];
        v->name = ft__arena_strndup(t->arena, name, n);
        if (!v->name)
            return false;
    }
    v->shape = *s;
    if (!s->dtype)
        v->shape.dtype = dtype;
    return true;
}

/* The types of inputs stand where the file would make some to time itself. */
static bool read_inputs(ft__inductor_tensors *t, const char *code)
{
    static const char word[] = " = rand_strided(";
    const char *s = code;

    while ((s = strstr(s, word)) != NULL) {
        const char *name = s, *at, *type;
        ft__ptx_shape shape = {0};

        while (name > code && name[-1] != ' ' && name[-1] != '\n')
            name--;
        at = read_dims(&shape, s + strlen(word));
        type = at ? ft__behind(at, "dtype=torch.") : NULL;
        if (type && type <= at + strcspn(at, "\n"))
            shape.dtype = dtype_of(type);
        if (at && !set_tensor(t, name, (size_t)(s - name), &shape))
            return false;
        s += strlen(word);
    }
    return true;
}

bool ft__inductor_begin(ft__inductor_tensors *t, ft__arena *a, const char *code)
{
    *t = (ft__inductor_tensors){.arena = a, .cap = 64};
    t->v = ft__arena_array(a, t->cap, sizeof(*t->v));
    return t->v && read_inputs(t, code);
}

/* "x" or "reinterpret_tensor(x, (8, 4), (4, 1), 0)"; where it ends, NULL: neither. */
static const char *operand(ft__ptx_shape *out, const ft__inductor_tensors *t,
                           const char *s)
{
    static const char word[] = "reinterpret_tensor(";
    const ft__inductor_tensor *v;
    size_t n;
    bool other = false;

    s += strspn(s, " ,");
    if (strncmp(s, word, strlen(word)) == 0) {
        s += strlen(word);
        other = true;
    }
    n = name_length(s);
    v = n ? find_tensor(t, s, n) : NULL;
    *out = v ? v->shape : (ft__ptx_shape){0};
    s += n;
    if (!other)
        return v ? s : NULL;
    s = read_dims(out, s);
    for (int depth = 1; s && *s && depth > 0; s++)
        depth += (*s == '(') - (*s == ')');
    return s;
}

/* (a, b), ((8, 3), (16, )) */
static bool read_group(ft__inductor_tensors *t, const char *names)
{
    const char *shapes = strchr(names, ')');

    shapes = shapes ? strchr(shapes, '(') : NULL;
    names++;
    if (shapes)
        shapes++;
    while (shapes) {
        ft__ptx_shape shape = {0};
        size_t n;

        names += strspn(names, " ,");
        n = name_length(names);
        shapes = n ? read_dims(&shape, shapes) : NULL;
        if (shapes && !set_tensor(t, names, n, &shape))
            return false;
        names += n;
    }
    return true;
}

/* name = value */
static bool read_assignment(ft__inductor_tensors *t, const char *name, size_t n,
                            const char *value)
{
    const char *s = ft__behind(value, "empty_strided_cuda("), *type;
    ft__ptx_shape shape = {0};

    if (s && (s = read_dims(&shape, s))) {
        type = ft__behind(s, "torch.");
        shape.dtype = type ? dtype_of(type) : NULL;
        return set_tensor(t, name, n, &shape);
    }
    return !operand(&shape, t, value) || set_tensor(t, name, n, &shape);
}

bool ft__inductor_learn(ft__inductor_tensors *t, const char *line)
{
    const char *s = ft__behind(line, "assert_size_stride_grouped(");
    ft__ptx_shape shape = {0};
    size_t n;

    if (s)
        return *s != '(' || read_group(t, s);
    s = ft__behind(line, "assert_size_stride(");
    if (!s)
        s = ft__behind(line, "assert_tensor_metadata(");
    if (s) {
        n = name_length(s);
        return !n || !read_dims(&shape, s + n) || set_tensor(t, s, n, &shape);
    }
    line += strspn(line, " ");
    n = name_length(line);
    return !n || strncmp(line + n, " = ", 3) != 0 ||
           read_assignment(t, line, n, line + n + 3);
}

/* "stride=(2, 2)" of the call at s. */
static void pair(const char *s, const char *word, int64_t out[2])
{
    const char *at = ft__behind(s, word);
    ft__ptx_shape v;

    if (at && read_dims(&v, at) && v.n == 2) {
        out[0] = v.dim[0];
        out[1] = v.dim[1];
    }
}

static const char *convolution(const ft__inductor_tensors *t, const char *s)
{
    ft__ptx_shape x, w;
    ft__ptx_conv c = {.stride = {1, 1}, .dilation = {1, 1}, .groups = 1};
    const char *at = operand(&x, t, s), *groups;

    if (!at || !operand(&w, t, at) || x.n != 4 || w.n != 4 ||
        strstr(s, "transposed=True"))
        return NULL;
    memcpy(c.x, x.dim, sizeof(c.x));
    c.out = w.dim[0];
    c.kernel[0] = w.dim[2];
    c.kernel[1] = w.dim[3];
    pair(s, " stride=", c.stride);
    pair(s, " padding=", c.low);
    pair(s, " padding=", c.high);
    pair(s, " dilation=", c.dilation);
    groups = ft__behind(s, " groups=");
    if (groups)
        c.groups = strtoll(groups, NULL, 10);
    c.dtype = x.dtype;
    return ft__ptx_spec_conv(t->arena, &c);
}

const char *ft__inductor_operation(const ft__inductor_tensors *t, const char *s)
{
    static const struct {
        const char *call;
        bool added, bias; /* what is added comes first; it is a bias */
    } products[] = {{"extern_kernels.mm(", false, false},
                    {"extern_kernels.bmm(", false, false},
                    {"extern_kernels.addmm(", true, true},
                    {"extern_kernels.bias_addmm(", true, true},
                    {"extern_kernels.baddbmm(", true, false}};
    const char *at = strchr(s, '(');
    ft__ptx_shape x, y, added;

    if (at && ft__behind(s, "extern_kernels.convolution("))
        return convolution(t, at + 1);
    for (size_t i = 0; at && i < sizeof(products) / sizeof(products[0]); i++) {
        if (!ft__behind(s, products[i].call))
            continue;
        at = products[i].added ? operand(&added, t, at + 1) : at + 1;
        at = at ? operand(&x, t, at) : NULL;
        return at && operand(&y, t, at)
                   ? ft__ptx_spec_matmul(t->arena, &x, &y, products[i].bias)
                   : NULL;
    }
    return NULL;
}
