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
#include "ptx/launch/inductor.h"

enum { MOST_KERNELS = 4096 };

/* The word behind `before` in text: "'grid_type': '" -> Grid1D. */
static const char *word_behind(ft__arena *a, const char *text, const char *before)
{
    const char *s = ft__behind(text, before);
    size_t n = s ? ft__word_length(s) : 0;

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
    ft__inductor_tensors tensors;
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
    const char *base = ft__base_name(ptx), *folder = base - 1;
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
    k->file = path ? ft__base_name(path) : NULL;
    k->entry = word_behind(a, k->source, "\ndef ");
    k->grid_type = word_behind(a, k->source, "'grid_type': '");
    if (!k->entry)
        return FT_OK;
    if (!read_args(c, k))
        return no_memory(c);
    c->n++;
    return choose_module(c, k);
}

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
    row->operation = ft__inductor_operation(&c->tensors, s);
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
    if (!st && !ft__inductor_learn(&c->tensors, line))
        st = no_memory(c);
    return st;
}

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
    if (!ft__inductor_begin(&c.tensors, r->arena, code))
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
