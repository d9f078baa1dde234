/* Caches of PyTorch's Inductor: Python that calls kernels in order, and a Triton cache
 * beside it. The Python says how many elements a kernel goes over; how many of them a
 * block takes was chosen when the kernel was compiled, and stands in its text there.
 *
 *   assert_size_stride(x_1, (8, 3, 32, 32), (3072, 1024, 32, 1), ...)
 *   assert_size_stride_grouped((p_2, p_3), ((16, ), (16, )), ((1, ), (1, )), 'input')
 *   buf4 = empty_strided_cuda((8, 768), (768, 1), torch.float32)
 *   buf9 = buf8; del buf8  # reuse
 *   buf7 = reinterpret_tensor(buf6, (8, 1024), (1024, 1), 0); del buf6
 *   extern_kernels.addmm(p_8, buf2, reinterpret_tensor(p_7, ...), alpha=1, out=buf4)
 *   triton_poi_fused_relu_0.run(buf1, 4096, stream=stream0)
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "ptx/launch/reader.h"

enum { MOST_KERNELS = 4096, MOST_TENSORS = 1 << 16 };

/* ---- words ---- */

static size_t word_length(const char *s)
{
    size_t n = 0;

    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    return n;
}

static size_t name_length(const char *s)
{
    return isdigit((unsigned char)*s) ? 0 : word_length(s);
}

/* The word behind `before` in text: "'grid_type': '" -> Grid1D. */
static const char *word_behind(ft__arena *a, const char *text, const char *before)
{
    const char *s = ft__behind(text, before);
    size_t n = s ? word_length(s) : 0;

    return n ? ft__arena_strndup(a, s, n) : NULL;
}

/* All digits, to the end. */
static bool number(const char *s, uint64_t *out)
{
    char *end;

    if (!isdigit((unsigned char)*s))
        return false;
    *out = strtoull(s, &end, 10);
    return *end == '\0';
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

/* ---- what the code says of tensors, up to a point of it ---- */

struct tensor {
    const char *name;
    ft__ptx_shape shape;
};

struct tensors {
    ft__arena *arena;
    struct tensor *v; /* later ones of a name hide earlier ones */
    size_t n, cap;
};

static struct tensor *find_tensor(const struct tensors *t, const char *name, size_t n)
{
    for (size_t i = t->n; i > 0; i--)
        if (strncmp(t->v[i - 1].name, name, n) == 0 && !t->v[i - 1].name[n])
            return &t->v[i - 1];
    return NULL;
}

static bool set_tensor(struct tensors *t, const char *name, size_t n,
                       const ft__ptx_shape *s)
{
    struct tensor *v = find_tensor(t, name, n);
    const char *dtype = v ? v->shape.dtype : NULL;

    if (!v) {
        struct tensor *more;

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
static bool read_inputs(struct tensors *t, const char *code)
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

static bool begin_tensors(struct tensors *t, ft__arena *a, const char *code)
{
    *t = (struct tensors){.arena = a, .cap = 64};
    t->v = ft__arena_array(a, t->cap, sizeof(*t->v));
    return t->v && read_inputs(t, code);
}

/* "x" or "reinterpret_tensor(x, (8, 4), (4, 1), 0)"; where it ends, NULL: neither. */
static const char *operand(ft__ptx_shape *out, const struct tensors *t, const char *s)
{
    static const char word[] = "reinterpret_tensor(";
    const struct tensor *v;
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
static bool read_group(struct tensors *t, const char *names)
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
static bool read_assignment(struct tensors *t, const char *name, size_t n,
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

/* Learn from a line; false: out of memory. */
static bool read_tensors(struct tensors *t, const char *line)
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

/* ---- calls of libraries ---- */

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

static const char *convolution(const struct tensors *t, const char *s)
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

/* The operation that the call "extern_kernels.mm(...)" at s is; NULL: not known. */
static const char *operation_of(const struct tensors *t, const char *s)
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

/* ---- kernels ---- */

struct inductor_kernel {
    const char *name;   /* of the variable that is called */
    const char *entry;  /* of the function */
    const char *file;   /* its own Python file, without folders; NULL: not said */
    const char *source; /* text between the quotes */
    const char *module; /* PTX that runs; NULL: it is not in the cache */
    const char *grid_type;
    uint32_t tile[3];
    const char **arg; /* names, constants of the compiler left out */
    size_t n_args;
};

struct code {
    ft__ptx_rows *rows;
    const ft__ptx_files *files;
    const char *chosen; /* all .best_config files in one text */
    const char *path;
    struct inductor_kernel *kernel;
    size_t n;
    struct tensors tensors;
    const char *at; /* behind the kernel before */
    ft_error *err;
};

static ft_status no_memory(const struct code *c)
{
    return ft_fail(c->err, FT_ENOMEM, 0, "%s", c->path);
}

/* "def f(in_ptr0, xnumel, XBLOCK : tl.constexpr):" */
static bool read_args(struct code *c, struct inductor_kernel *k)
{
    const char *s = strstr(k->source, "\ndef "), *end;
    size_t cap = 8;

    s = s ? strchr(s, '(') : NULL;
    end = s ? strchr(s, ')') : NULL;
    if (!end)
        return true;
    for (const char *p = s; p < end; p++)
        cap += *p == ',';
    k->arg = ft__arena_array(c->rows->arena, cap, sizeof(*k->arg));
    if (!k->arg)
        return false;
    for (s++; s < end; s += strcspn(s, ",)") + 1) {
        size_t n;

        s += strspn(s, " \n");
        n = strcspn(s, " ,:)\n");
        if (strncmp(s + n + strspn(s + n, " :"), "tl.constexpr", 12) == 0 || !n)
            continue;
        k->arg[k->n_args] = ft__arena_strndup(c->rows->arena, s, n);
        if (!k->arg[k->n_args++])
            return false;
    }
    return true;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Was this file compiled from the kernel's own Python file? */
static ft_status comes_from(bool *out, struct code *c, const struct inductor_kernel *k,
                            const char *ptx)
{
    const char *text;
    ft_status st;

    *out = true;
    if (!k->file)
        return FT_OK;
    st = ft__ptx_text(&text, c->rows->arena, ptx, c->err);
    *out = !st && strstr(text, k->file);
    return st;
}

/* 3: measured to be the best; 2: of the kernel's own file; 1: of its name only. */
static ft_status rank(int *out, struct code *c, const struct inductor_kernel *k,
                      const char *ptx)
{
    const char *base = base_name(ptx), *folder = base - 1;
    char *hash;
    bool from;
    ft_status st;

    *out = 0;
    if (strncmp(base, k->entry, strlen(k->entry)) != 0 ||
        strcmp(base + strlen(k->entry), ".ptx") != 0 || base == ptx)
        return FT_OK;
    st = comes_from(&from, c, k, ptx);
    *out = from ? 2 : 1;
    while (folder > ptx && folder[-1] != '/')
        folder--;
    hash = ft__ptx_fmt(c->rows->arena, "\"%.*s\"", (int)(base - 1 - folder), folder);
    if (!hash)
        return no_memory(c);
    if (*out == 2 && strstr(c->chosen, hash))
        *out = 3;
    return st;
}

/* Of several that might run, the one whose blocks take most elements is taken. */
static ft_status choose_module(struct code *c, struct inductor_kernel *k)
{
    int best = 0, many = 0;
    ft_status st = FT_OK;

    for (size_t i = 0; i < c->files->n && !st; i++) {
        const char *path = c->files->path[i];
        ft__ptx_triton_facts triton;
        int is;

        if (!ft__ends_with(path, ".ptx"))
            continue;
        st = rank(&is, c, k, path);
        if (st || !is || is < best)
            continue;
        st = ft__ptx_triton_read(&triton, path, c->rows->arena, c->err);
        many = is == best ? many + 1 : 1;
        if (is > best || triton.tile[0] > k->tile[0]) {
            memcpy(k->tile, triton.tile, sizeof(k->tile));
            k->module = path;
        }
        best = is;
    }
    if (many > 1)
        ft__log(c->rows->log, FT_LOG_WARN,
                "%s: %s is in the cache in %d versions and no .best_config says "
                "which runs; the one with %u elements a block is taken",
                c->path, k->entry, many, k->tile[0]);
    if (best == 1 && k->file)
        ft__log(c->rows->log, FT_LOG_WARN,
                "%s: no PTX of %s says that it was compiled from %s; it is taken by "
                "its name",
                c->path, k->entry, k->file);
    return st;
}

/* NAME = async_compile.triton('...', ''' at s; *next: behind its source. */
static ft_status add_kernel(struct code *c, const char *s, const char **next)
{
    static const char path_word[] = "# kernel path: ";
    ft__arena *a = c->rows->arena;
    struct inductor_kernel *k = &c->kernel[c->n];
    const char *begin = strstr(s, "'''"),
               *end = begin ? strstr(begin + 3, "'''") : NULL;
    const char *line = s, *path = NULL;

    *next = end ? end + 3 : s + strlen(s);
    if (!end || c->n == MOST_KERNELS)
        return FT_OK;
    while (line > c->at && line[-1] != '\n')
        line--;
    for (const char *p = c->at; (p = strstr(p, path_word)) && p < line; p++)
        path = p + strlen(path_word);
    *k = (struct inductor_kernel){
        .name = ft__arena_strndup(a, line, strcspn(line, " =")),
        .source = ft__arena_strndup(a, begin + 3, (size_t)(end - begin - 3))};
    if (!k->name || !k->source)
        return no_memory(c);
    path = path ? ft__arena_strndup(a, path, strcspn(path, "\n")) : NULL;
    k->file = path ? base_name(path) : NULL;
    k->entry = word_behind(a, k->source, "\ndef ");
    k->grid_type = word_behind(a, k->source, "'grid_type': '");
    if (!k->entry)
        return FT_OK;
    if (!read_args(c, k))
        return no_memory(c);
    c->n++;
    return choose_module(c, k);
}

/* ---- grids ---- */

/* What the call passes for an argument; NULL: no such argument. */
static const char *passed(const struct inductor_kernel *k, const char *name,
                          const char *const *value, size_t n)
{
    for (size_t i = 0; i < k->n_args && i < n; i++)
        if (strcmp(k->arg[i], name) == 0)
            return value[i];
    return NULL;
}

/* Blocks of an axis; 0: not known. */
static uint64_t blocks(const struct inductor_kernel *k, int axis,
                       const char *const *value, size_t n)
{
    char name[] = "xnumel";
    const char *text;
    uint64_t numel;

    name[0] = "xyz"[axis];
    text = passed(k, name, value, n);
    if (!text || !number(text, &numel) || !k->tile[axis])
        return 0;
    return (numel + k->tile[axis] - 1) / k->tile[axis];
}

static bool choose_grid(uint32_t grid[3], const struct inductor_kernel *k,
                        const char *const *value, size_t n)
{
    const char *type = k->grid_type ? k->grid_type : "Grid3D";
    uint64_t v[3] = {1, 1, 1};
    int axes = strcmp(type, "Grid1D") == 0       ? 1
               : strncmp(type, "Grid2D", 6) == 0 ? 2
               : strcmp(type, "Grid3D") == 0     ? 3
                                                 : 0;

    for (int d = 0; d < axes; d++) {
        char name[] = "xnumel";

        name[0] = "xyz"[d];
        if (d == 0 || k->grid_type || passed(k, name, value, n))
            v[d] = blocks(k, d, value, n);
    }
    if (strcmp(type, "Grid2DWithYZOverflow") == 0 && v[1]) {
        v[2] = (v[1] + 65534) / 65535;
        v[1] = (v[1] + v[2] - 1) / v[2];
    }
    for (int d = 0; d < 3; d++) {
        if (v[d] == 0 || v[d] > INT32_MAX)
            return false;
        grid[d] = (uint32_t)v[d];
    }
    return axes > 0;
}

/* ---- calls ---- */

/* The arguments in front of the first named one, split at commas. */
static size_t split(ft__arena *a, const char **out, size_t most, const char *s)
{
    size_t n = 0;
    int depth = 0;
    const char *begin = s;

    for (; *s; s++) {
        depth += (*s == '(' || *s == '[') - (*s == ')' || *s == ']');
        if ((*s == ',' && depth == 0) || depth < 0) {
            begin += strspn(begin, " ");
            out[n] = ft__arena_strndup(a, begin, (size_t)(s - begin));
            if (!out[n] || strchr(out[n], '=') || ++n == most || depth < 0)
                break;
            begin = s + 1;
        }
    }
    return n;
}

static ft_status set_values(struct code *c, ft__ptx_row *row,
                            const struct inductor_kernel *k, const char *const *value,
                            size_t n)
{
    row->value = ft__arena_array(c->rows->arena, n, sizeof(*row->value));
    if (!row->value)
        return no_memory(c);
    for (size_t i = 0; i < n && i < k->n_args; i++) {
        uint64_t v;

        if (number(value[i], &v) && v <= INT64_MAX)
            row->value[row->n_values++] = (ft__ptx_value){
                .name = k->arg[i], .kind = FT__VALUE_INT, .number = (int64_t)v};
    }
    return FT_OK;
}

static ft_status add_launch(struct code *c, const struct inductor_kernel *k,
                            const char *args, uint32_t line)
{
    const char *value[FT__PTX_MAX_ARGS];
    size_t n = split(c->rows->arena, value, FT__PTX_MAX_ARGS, args);
    ft__ptx_row *row;
    ft_status st = ft__ptx_row_add(&row, c->rows, c->path, c->err);

    if (st)
        return st;
    row->line = line;
    row->name = k->name;
    if (!k->module) {
        row->library = k->entry; /* its PTX is not in the cache */
        return FT_OK;
    }
    row->module = k->module;
    row->kernel = k->entry;
    row->lenient = true;
    if (!choose_grid(row->grid, k, value, n))
        row->missing = ft__ptx_fmt(c->rows->arena,
                                   "its grid (%s of sizes that are only known when it "
                                   "runs, or of a kind not known here): a launch file "
                                   "says it",
                                   k->grid_type ? k->grid_type : "grid");
    return set_values(c, row, k, value, n);
}

static ft_status add_call(struct code *c, const char *s, uint32_t line)
{
    ft__ptx_row *row;
    ft_status st = ft__ptx_row_add(&row, c->rows, c->path, c->err);

    if (st)
        return st;
    row->line = line;
    row->library = ft__arena_strndup(c->rows->arena, s, strcspn(s, "("));
    if (!row->library)
        return no_memory(c);
    row->operation = operation_of(&c->tensors, s);
    return FT_OK;
}

static const struct inductor_kernel *called(const struct code *c, const char *line,
                                            const char *run)
{
    const char *begin = run;

    while (begin > line && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_'))
        begin--;
    for (size_t i = 0; i < c->n; i++)
        if (strncmp(c->kernel[i].name, begin, (size_t)(run - begin)) == 0 &&
            !c->kernel[i].name[run - begin])
            return &c->kernel[i];
    return NULL;
}

static ft_status read_line(struct code *c, const char *line, uint32_t number)
{
    const char *run = strstr(line, ".run("), *call = strstr(line, "extern_kernels.");
    const struct inductor_kernel *k = run ? called(c, line, run) : NULL;
    ft_status st = FT_OK;

    if (line[strspn(line, " ")] == '#')
        return FT_OK;
    if (k)
        st = add_launch(c, k, run + strlen(".run("), number);
    else if (call && strchr(call, '('))
        st = add_call(c, call, number);
    else if ((call = strstr(line, "torch.ops.aten.")) && strchr(call, '(') &&
             !strstr(line, "assert_"))
        st = add_call(c, call, number);
    if (!st && !read_tensors(&c->tensors, line))
        st = no_memory(c);
    return st;
}

/* ---- files ---- */

static const char compile[] = " = async_compile.triton(";

static ft_status read_kernels(struct code *c, const char *code)
{
    const char *s = code, *at = code;
    ft_status st = FT_OK;

    c->kernel = ft__arena_array(c->rows->arena, MOST_KERNELS, sizeof(*c->kernel));
    if (!c->kernel)
        return no_memory(c);
    while (!st && (s = strstr(s, compile)) != NULL) {
        c->at = at;
        st = add_kernel(c, s, &s);
        at = s;
    }
    return st;
}

/* Lines of functions, up to those that time the file itself. Text between triple quotes
 * is kernels'. */
static ft_status read_calls(struct code *c, const char *code)
{
    bool quoted = false;
    ft_status st = FT_OK;

    for (uint32_t number = 1; *code && !st; number++) {
        size_t n = strcspn(code, "\n");
        const char *line = ft__arena_strndup(c->rows->arena, code, n);
        const char *quote = line;

        if (!line)
            return no_memory(c);
        if (strncmp(line, "def get_args(", 13) == 0 ||
            strncmp(line, "def benchmark_", 14) == 0)
            return FT_OK;
        if (!quoted && *line == ' ')
            st = read_line(c, line, number);
        for (; (quote = strstr(quote, "'''")) != NULL; quote += 3)
            quoted = !quoted;
        code += n + (code[n] == '\n');
    }
    return st;
}

static ft_status read_code(ft__ptx_rows *r, const ft__ptx_files *f, const char *chosen,
                           const char *path, ft_error *err)
{
    struct code c = {.rows = r, .files = f, .chosen = chosen, .path = path, .err = err};
    const char *code;
    ft_status st = ft__ptx_text(&code, r->arena, path, err);

    if (st || !strstr(code, "AsyncCompile()") || !strstr(code, "def call("))
        return st;
    if (!begin_tensors(&c.tensors, r->arena, code))
        return no_memory(&c);
    st = read_kernels(&c, code);
    return st ? st : read_calls(&c, code);
}

static ft_status read_chosen(const char **out, ft__ptx_rows *r, const ft__ptx_files *f,
                             ft_error *err)
{
    ft__buf all = {0};
    ft_status st = FT_OK;

    *out = NULL;
    for (size_t i = 0; i < f->n && !st; i++) {
        const char *text;

        if (!ft__ends_with(f->path[i], ".best_config"))
            continue;
        st = ft__ptx_text(&text, r->arena, f->path[i], err);
        if (!st)
            ft__buf_str(&all, text);
    }
    if (!st && !all.bad)
        *out = ft__arena_strndup(r->arena, all.s ? all.s : "", all.len);
    ft__buf_free(&all);
    return st || *out ? st : ft_fail(err, FT_ENOMEM, 0, "%s", f->folder);
}

static ft_status read_cache(ft__ptx_rows *r, const ft__ptx_files *f, ft_error *err)
{
    const char *chosen;
    ft_status st = read_chosen(&chosen, r, f, err);

    for (size_t i = 0; i < f->n && !st; i++)
        if (ft__ends_with(f->path[i], ".py"))
            st = read_code(r, f, chosen, f->path[i], err);
    return st;
}

const ft__ptx_reader ft__ptx_inductor = {FT_PTX_INDUCTOR, read_cache};
