/* Dumps of XLA (--xla_dump_to): the sequence of thunks says kernels, grids and library
 * calls, in order; the optimised HLO what library calls compute and how often loops
 * run.
 *
 *   002: kCustomKernel [prev=001 (1) | sink] softmax_2 grid: [128, 1, 1] threads: ...
 *   004: kConvolution  [prev=003 (1) | next=005 (1)] kConvolution
 *   007: kWhile        [...]
 *   condition:
 *       008: kCustomKernel ...
 *     body:
 *       009: kCustomKernel ...
 */
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/limits.h"
#include "base/log.h"
#include "ptx/launch/reader.h"

enum { MOST_LOOPS = 16 };

struct xla_loop {
    size_t indent; /* of the line that opened it */
    uint64_t trips;
    bool in_condition;
};

struct dump {
    ft__ptx_rows *rows;
    const char *path;     /* of the thunks */
    const char *hlo;      /* optimised; "": none */
    const char *metadata; /* what thunks are called in it; "": none */
    ft__index kernels;    /* name -> index of the file that holds it */
    const ft__ptx_files *files;
    struct xla_loop loop[MOST_LOOPS];
    size_t n_loops;
    ft_error *err;
};

static ft_status add_kernels(struct dump *d, size_t file, const char *text)
{
    const char *s = text;

    while ((s = strstr(s, ".entry ")) != NULL) {
        const char *name;
        ft__index_slot *slot;
        size_t n;

        s += strlen(".entry ");
        n = strcspn(s, " (\n");
        name = ft__arena_strndup(d->rows->arena, s, n);
        slot =
            name ? ft__index_at(&d->kernels, ft__hash_text(FT__HASH_BEGIN, name), name)
                 : NULL;
        if (!slot)
            return ft_fail(d->err, FT_ENOMEM, 0, "%s", d->path);
        if (!slot->hash) {
            *slot = (ft__index_slot){ft__hash_text(FT__HASH_BEGIN, name), name,
                                     (int64_t)file};
            d->kernels.n++;
        }
    }
    return FT_OK;
}

static const char *module_of(struct dump *d, const char *kernel)
{
    ft__index_slot *slot =
        ft__index_at(&d->kernels, ft__hash_text(FT__HASH_BEGIN, kernel), kernel);

    return slot && slot->hash ? d->files->path[slot->number] : NULL;
}

/* The line that defines %name: behind the "= "; NULL: there is none. */
static const char *definition(struct dump *d, const char *name)
{
    char *begin = ft__ptx_fmt(d->rows->arena, "%%%s = ", name);

    return begin ? ft__behind(d->hlo, begin) : NULL;
}

/* What thunk `id` is called in the HLO; NULL: it is not said. */
static const char *thunk_name(struct dump *d, uint64_t id)
{
    static const char word[] = "profile_annotation: \"";
    char *mark =
        ft__ptx_fmt(d->rows->arena, "thunk_id: %llu\n", (unsigned long long)id);
    const char *at = mark ? strstr(d->metadata, mark) : NULL;

    while (at && at > d->metadata && *at != '}' && strncmp(at, word, strlen(word)) != 0)
        at--;
    if (!at || strncmp(at, word, strlen(word)) != 0)
        return NULL;
    at += strlen(word);
    return ft__arena_strndup(d->rows->arena, at, strcspn(at, "\"\n"));
}

/* A member of the line at s: what stands behind `word`; NULL: it has none. */
static const char *in_line(const char *s, const char *word)
{
    const char *at = s ? ft__behind(s, word) : NULL;

    return at && at <= s + strcspn(s, "\n") ? at : NULL;
}

/* "f32[8,64]{1,0} ..." or the first of a tuple of such. */
static bool read_shape(ft__ptx_shape *out, const char *s)
{
    static const char *const type[][2] = {{"f64[", "fp64"}, {"f32[", "fp32"},
                                          {"f16[", "fp16"}, {"bf16[", "bf16"},
                                          {"s8[", "int8"},  {"f8e4m3fn[", "fp8e4m3"}};

    *out = (ft__ptx_shape){0};
    if (!s)
        return false;
    s += *s == '(';
    for (size_t i = 0; i < sizeof(type) / sizeof(type[0]); i++)
        if (strncmp(s, type[i][0], strlen(type[i][0])) == 0)
            out->dtype = type[i][1];
    s += strcspn(s, "[\n");
    while (out->dtype && (*s == '[' || *s == ',') && out->n < 8) {
        char *end;

        out->dim[out->n++] = strtoll(s + 1, &end, 10);
        if (end == s + 1)
            return false;
        s = end;
    }
    return *s == ']';
}

/* The shape of operand `index` of the call at s. */
static bool operand_shape(ft__ptx_shape *out, struct dump *d, const char *s, int index)
{
    const char *at = in_line(s, "custom-call(");
    char *name;

    for (; at && index > 0; index--)
        at = in_line(at, ", ");
    if (!at || *at != '%')
        return false;
    name = ft__arena_strndup(d->rows->arena, at + 1, strcspn(at + 1, ",)"));
    return name && read_shape(out, definition(d, name));
}

/* The one contracted dimension; -1: there are more or none. */
static int64_t contracted(const char *s, const char *side)
{
    const char *at = in_line(s, side);
    char *end;
    long v = at ? strtol(at, &end, 10) : -1;

    return at && end > at && *end == '"' && end[1] == ']' ? v : -1;
}

/* Batch dimensions, the others, the contracted one: how our matmul has its operands. */
static bool arrange(ft__ptx_shape *v, int64_t inner, bool first)
{
    int64_t a = v->n >= 2 ? v->dim[v->n - 2] : 0, b = v->n ? v->dim[v->n - 1] : 0;
    bool last = inner == (int64_t)v->n - 1;

    if (v->n < 2 || (!last && inner != (int64_t)v->n - 2))
        return false;
    if (last != first) {
        v->dim[v->n - 2] = b;
        v->dim[v->n - 1] = a;
    }
    return true;
}

static const char *matmul(struct dump *d, const char *s)
{
    ft__ptx_shape x, y;

    if (!operand_shape(&x, d, s, 0) || !operand_shape(&y, d, s, 1) ||
        !arrange(&x, contracted(s, "\"lhs_contracting_dimensions\":[\""), true) ||
        !arrange(&y, contracted(s, "\"rhs_contracting_dimensions\":[\""), false))
        return NULL;
    return ft__ptx_spec_matmul(d->rows->arena, &x, &y, false);
}

/* Where dimension c ('b', 'f', '0', '1', 'i', 'o') stands in labels "bf01". */
static int64_t labelled(const ft__ptx_shape *v, const char *labels, char c)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (labels[i] == c)
            return v->dim[i];
    return 0;
}

/* "size=3x3 stride=2x2 pad=1_1x1_1": the numbers of an axis behind `word`. */
static void window(const char *s, const char *word, int axis, int64_t usual,
                   int64_t *low, int64_t *high)
{
    const char *at = in_line(s, "window={"), *end = at ? at + strcspn(at, "}\n") : NULL;
    char *next;

    *low = *high = usual;
    at = at ? in_line(at, word) : NULL;
    if (!at || at > end)
        return;
    for (; axis > 0; axis--)
        at += strcspn(at, "x }\n") + (at[strcspn(at, "x }\n")] == 'x');
    *low = *high = strtol(at, &next, 10);
    if (*next == '_')
        *high = strtol(next + 1, NULL, 10);
}

/* A convolution of two spatial dimensions, forward. */
static const char *convolution(struct dump *d, const char *s)
{
    /* bf01_oi01->bf01 */
    const char *labels = in_line(s, "dim_labels="), *filter, *out;
    ft__ptx_shape x, w, y;
    ft__ptx_conv c;
    int64_t ignored;

    if (!labels || strcspn(labels, "\n") < 15 || !operand_shape(&x, d, s, 0) ||
        !operand_shape(&w, d, s, 1) || !read_shape(&y, s) || x.n != 4 || w.n != 4 ||
        y.n != 4 || !in_line(s, "Forward\""))
        return NULL;
    filter = labels + 5;
    out = labels + 11;
    if (labels[4] != '_' || strncmp(labels + 9, "->", 2) != 0)
        return NULL;
    if (in_line(s, "dilate=") || labelled(&w, filter, 'i') < 1 ||
        labelled(&x, labels, 'f') < 1 ||
        labelled(&x, labels, 'f') % labelled(&w, filter, 'i'))
        return NULL;
    c = (ft__ptx_conv){
        .x = {labelled(&x, labels, 'b'), labelled(&x, labels, 'f'),
              labelled(&x, labels, '0'), labelled(&x, labels, '1')},
        .out = labelled(&y, out, 'f'),
        .dilation = {1, 1},
        .groups = labelled(&x, labels, 'f') / labelled(&w, filter, 'i'),
        .channels_last = labels[3] == 'f',
        .dtype = x.dtype,
    };
    for (int i = 0; i < 2; i++) {
        window(s, "size=", i, 1, &c.kernel[i], &ignored);
        window(s, "stride=", i, 1, &c.stride[i], &ignored);
        window(s, "pad=", i, 0, &c.low[i], &c.high[i]);
    }
    return ft__ptx_spec_conv(d->rows->arena, &c);
}

/* From *s on, over `word` and the number behind it; false: something else stands
 * there. */
static bool take_number(const char **s, const char *word, uint64_t *out)
{
    size_t n = strlen(word);
    char *end;

    if (strncmp(*s, word, n) != 0 || (*s)[n] < '0' || (*s)[n] > '9')
        return false;
    *out = strtoull(*s + n, &end, 10);
    *s = end;
    return true;
}

/* Three numbers as "{1, 2, 3}" or "[1, 2, 3]" after `word`, wherever that stands in s.
 */
static bool find_dims(const char *s, const char *word, uint32_t out[3])
{
    static const char *const before[] = {"", ", ", ", "};
    uint64_t v;

    s = ft__behind(s, word);
    if (!s)
        return false;
    s += strspn(s, " ");
    if (*s != '{' && *s != '[')
        return false;
    s++;
    for (int i = 0; i < 3; i++) {
        if (!take_number(&s, before[i], &v) || v == 0 || v > UINT32_MAX)
            return false;
        out[i] = (uint32_t)v;
    }
    return true;
}

static uint64_t times(const struct dump *d)
{
    uint64_t n = 1;

    for (size_t i = 0; i < d->n_loops; i++) {
        uint64_t trips = d->loop[i].trips + d->loop[i].in_condition;

        n = trips && n > (uint64_t)FT__MAX_ELEMENTS / trips ? (uint64_t)FT__MAX_ELEMENTS
                                                            : n * trips;
    }
    return n;
}

static ft_status open_loop(struct dump *d, size_t indent, uint64_t id)
{
    const char *name = thunk_name(d, id), *s = name ? definition(d, name) : NULL;
    const char *trips = in_line(s, "\"known_trip_count\":{\"n\":\"");
    struct xla_loop *l = &d->loop[d->n_loops];

    if (d->n_loops == MOST_LOOPS)
        return ft_fail(d->err, FT_EFORMAT, 0, "%s: loops are nested more than %d deep",
                       d->path, MOST_LOOPS);
    *l = (struct xla_loop){.indent = indent,
                           .trips = trips ? strtoull(trips, NULL, 10) : 1,
                           .in_condition = true};
    if (!trips)
        ft__log(d->rows->log, FT_LOG_WARN,
                "%s: the dump does not say how often %s runs; its body counts once",
                d->path, name ? name : "a loop");
    d->n_loops++;
    return FT_OK;
}

/* From here on lines are of the body of the innermost loop that had none so far. */
static void begin_body(struct dump *d)
{
    size_t i = d->n_loops;

    while (i > 0 && !d->loop[i - 1].in_condition)
        i--;
    if (i > 0) {
        d->n_loops = i;
        d->loop[i - 1].in_condition = false;
    }
}

/* The word in front of " grid:", or behind "kernel = "; *out NULL: there is none. */
static ft_status kernel_name(const char **out, struct dump *d, const char *line)
{
    const char *end = strstr(line, " grid: ["), *begin = ft__behind(line, "kernel = ");

    *out = NULL;
    if (begin) {
        end = begin + strcspn(begin, ", ");
    } else {
        begin = end;
        while (begin && begin > line && begin[-1] != ' ')
            begin--;
    }
    if (!begin || begin == end)
        return FT_OK;
    *out = ft__arena_strndup(d->rows->arena, begin, (size_t)(end - begin));
    return *out ? FT_OK : ft_fail(d->err, FT_ENOMEM, 0, "%s", d->path);
}

static ft_status add_kernel(struct dump *d, ft__ptx_row *row, const char *line)
{
    const char *shared = ft__behind(line, "shared_memory: ");
    ft_status st = kernel_name(&row->kernel, d, line);

    if (st)
        return st;
    if (!row->kernel)
        return ft_fail(d->err, FT_EFORMAT, 0, "%s, line %u: a launch without a kernel",
                       d->path, row->line);
    row->module = module_of(d, row->kernel);
    row->shared = shared ? (uint32_t)strtoul(shared, NULL, 10) : 0;
    if (!find_dims(line, "threads: ", row->block))
        find_dims(line, "threads/block: ", row->block);
    if (!row->module) {
        row->library = row->kernel; /* compiled elsewhere: a kernel of XLA's own */
        row->kernel = NULL;
    }
    return FT_OK;
}

/* What has no kernel of XLA's: a library, a copy. */
static ft_status add_call(struct dump *d, ft__ptx_row *row, const char *kind,
                          uint64_t id)
{
    const char *name = thunk_name(d, id), *s = name ? definition(d, name) : NULL;
    const char *target = in_line(s, "custom_call_target=\"");

    row->name = name;
    row->library =
        target ? ft__arena_strndup(d->rows->arena, target, strcspn(target, "\"\n"))
               : kind;
    if (!row->library)
        return ft_fail(d->err, FT_ENOMEM, 0, "%s", d->path);
    if (in_line(s, "__cublas$") || in_line(s, "__cublas$lt"))
        row->operation = matmul(d, s);
    else if (in_line(s, "__cudnn$conv"))
        row->operation = convolution(d, s);
    return FT_OK;
}

/* Thunks that only arrange others. */
static bool arranges(const char *kind)
{
    static const char *const names[] = {
        "kSequential", "kConditional",  "kCommandBuffer",   "kWaitForStreams",
        "kWhile",      "kPartitionId",  "kReplicaId",       "kHostSend",
        "kHostRecv",   "kAsyncDone",    "kCollectiveGroup", "kHostSendDone",
        "kAsyncStart", "kDynamicSlice",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(kind, names[i]) == 0)
            return true;
    return false;
}

static ft_status add_thunk(struct dump *d, const char *line, const char *kind,
                           uint64_t id, uint32_t number)
{
    uint64_t count = times(d);
    ft__ptx_row *row;
    ft_status st;
    uint32_t grid[3];
    bool kernel = find_dims(line, "grid: ", grid) || find_dims(line, "blocks: ", grid);

    if (count == 0 || (!kernel && arranges(kind)))
        return FT_OK;
    st = ft__ptx_row_add(&row, d->rows, d->path, d->err);
    if (st)
        return st;
    row->line = number;
    row->count = count;
    if (!kernel)
        return add_call(d, row, kind, id);
    memcpy(row->grid, grid, sizeof(grid));
    return add_kernel(d, row, line);
}

static ft_status read_line(struct dump *d, const char *line, uint32_t number)
{
    size_t indent = strspn(line, " ");
    const char *s = line + indent, *kind;
    uint64_t id;

    if (strncmp(s, "body:", 5) == 0)
        begin_body(d);
    if (!take_number(&s, "", &id) || strncmp(s, ": k", 3) != 0)
        return FT_OK;
    kind = ft__arena_strndup(d->rows->arena, s + 2, strcspn(s + 2, " \t"));
    if (!kind)
        return ft_fail(d->err, FT_ENOMEM, 0, "%s", d->path);
    while (d->n_loops && d->loop[d->n_loops - 1].indent >= indent)
        d->n_loops--;
    if (strcmp(kind, "kWhile") == 0)
        return open_loop(d, indent, id);
    return add_thunk(d, line, kind, id, number);
}

static ft_status read_thunks(struct dump *d, const char *text)
{
    ft_status st = FT_OK;

    for (uint32_t number = 1; *text && !st; number++) {
        size_t n = strcspn(text, "\n");
        const char *line = ft__arena_strndup(d->rows->arena, text, n);

        st = line ? read_line(d, line, number)
                  : ft_fail(d->err, FT_ENOMEM, 0, "%s", d->path);
        text += n + (text[n] == '\n');
    }
    return st;
}

static const char mark[] = ".thunk_sequence.txt";

static ft_status read_others(struct dump *d, const char *prefix, size_t n)
{
    const ft__ptx_files *f = d->files;
    ft_status st = FT_OK;

    d->hlo = d->metadata = "";
    for (size_t i = 0; i < f->n && !st; i++) {
        const char *text, *path = f->path[i];

        if (strncmp(path, prefix, n) != 0 || path[n] != '.')
            continue;
        if (ft__ends_with(path, ".ptx")) {
            st = ft__ptx_text(&text, d->rows->arena, path, d->err);
            if (!st)
                st = add_kernels(d, i, text);
        } else if (ft__ends_with(path, "gpu_after_optimizations.txt")) {
            st = ft__ptx_text(&d->hlo, d->rows->arena, path, d->err);
        } else if (ft__ends_with(path, ".thunk_metadata.txt")) {
            st = ft__ptx_text(&d->metadata, d->rows->arena, path, d->err);
        }
    }
    return st;
}

static ft_status read_module(ft__ptx_rows *r, const ft__ptx_files *f, const char *path,
                             ft_error *err)
{
    struct dump d = {.rows = r, .path = path, .files = f, .err = err};
    const char *text;
    ft_status st = ft__ptx_text(&text, r->arena, path, err);

    if (!st)
        st = read_others(&d, path, strlen(path) - strlen(mark));
    if (!st)
        st = read_thunks(&d, text);
    ft__index_free(&d.kernels);
    return st;
}

static ft_status read_dumps(ft__ptx_rows *r, const ft__ptx_files *f, ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < f->n && !st; i++)
        if (ft__ends_with(f->path[i], mark))
            st = read_module(r, f, f->path[i], err);
    return st;
}

const ft__ptx_reader ft__ptx_xla = {FT_PTX_XLA, read_dumps};
