/* Dumps of XLA without a sequence of thunks: the LLVM IR beside the PTX says in which
 * range the number of a block or thread is, and so how many there are.
 *
 *   define void @fusion(...) {
 *     %0 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !range !2
 *     %1 = call range(i32 0, 128) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
 *   ...
 *   !2 = !{i32 0, i32 64}
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "ptx/launch/reader.h"

#define FLAGS "XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_text\""

static const char *const no_grid =
    "its grid, which neither a thunk sequence nor LLVM IR says: "
    "dump again with " FLAGS " and an empty compilation cache";

struct ir_dump {
    ft__ptx_rows *rows;
    const char **text; /* LLVM IR of all files */
    size_t n;
    ft_error *err;
};

/* The name of a file that XLA has dumped: "module_0001.jit_f...". */
static bool is_dumped(const char *path)
{
    return strncmp(ft__base_name(path), "module_", 7) == 0;
}

/* From the line that defines a function to its end; NULL: it is not in this text. */
static const char *definition(const char *text, const char *name, ft__arena *a)
{
    const char *call = ft__ptx_fmt(a, "@%s(", name), *at = text;

    while (call && (at = strstr(at, call)) != NULL) {
        const char *line = at, *end;

        while (line > text && line[-1] != '\n')
            line--;
        end = strstr(at, "\n}");
        if (strncmp(line, "define ", 7) == 0 && end)
            return ft__arena_strndup(a, line, (size_t)(end - line));
        at += strlen(call);
    }
    return NULL;
}

/* The end of "i32 0, i32 64" or "i32 0, 64"; 0: it is another range. */
static uint32_t range_end(const char *s)
{
    unsigned long n;
    char *end;

    if (strncmp(s, "i32 0, ", 7) != 0)
        return 0;
    s += 7;
    s += strncmp(s, "i32 ", 4) == 0 ? 4 : 0;
    n = strtoul(s, &end, 10);
    return end > s && (*end == '}' || *end == ')') && n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* How many `what` ("ctaid.x") there are: 1 where nothing reads it, 0 where nothing says
 * it. `most`: what any GPU has, which says nothing. */
static uint32_t extent(const char *body, const char *text, const char *what,
                       uint32_t most, ft__arena *a)
{
    const char *call = ft__ptx_fmt(a, ".sreg.%s()", what);
    const char *at = call ? strstr(body, call) : NULL;
    uint32_t n = 1;

    for (; at; at = strstr(at + 1, call)) {
        const char *line = at, *mark, *number;

        while (line > body && line[-1] != '\n')
            line--;
        line = ft__arena_strndup(a, line, strcspn(line, "\n"));
        if (!line)
            return 0;
        mark = ft__behind(line, "range(");
        number = ft__behind(line, "!range !");
        if (!mark && number) {
            number = ft__ptx_fmt(a, "\n!%lu = !{", strtoul(number, NULL, 10));
            mark = number ? ft__behind(text, number) : NULL;
        }
        n = mark ? range_end(mark) : 0;
        if (n && n < most)
            return n;
        n = 0;
    }
    return n;
}

/* false: this text does not say it. */
static bool find_launch(ft__ptx_row *row, const char *text, bool block, ft__arena *a)
{
    static const char *const places[] = {"ctaid.x", "ctaid.y", "ctaid.z"};
    static const uint32_t most[] = {INT32_MAX, 65535, 65535};
    static const char *const threads[] = {"tid.x", "tid.y", "tid.z"};
    const char *body = definition(text, row->kernel, a);
    bool all = body != NULL;

    for (int k = 0; all && k < 3; k++) {
        row->grid[k] = extent(body, text, places[k], most[k], a);
        row->block[k] = block ? extent(body, text, threads[k], 1025, a) : 0;
        all = row->grid[k] && (row->block[k] || !block);
    }
    if (!all) {
        memset(row->grid, 0, sizeof(row->grid));
        memset(row->block, 0, sizeof(row->block));
    }
    return all;
}

static ft_status add_kernel(struct ir_dump *d, const char *path, const char *name,
                            const char *head)
{
    const char *required = strstr(head, ".reqntid"), *body = strchr(head, '{');
    const bool block = !required || (body && required > body);
    ft__ptx_row *row;
    ft_status st = ft__ptx_row_add(&row, d->rows, path, d->err);

    if (st)
        return st;
    row->kernel = name;
    row->module = path;
    row->missing = no_grid;
    for (size_t k = 0; k < d->n && row->missing; k++)
        if (find_launch(row, d->text[k], block, d->rows->arena))
            row->missing = NULL;
    return FT_OK;
}

static ft_status add_kernels(struct ir_dump *d, const char *path)
{
    const char *s;
    ft_status st = ft__ptx_text(&s, d->rows->arena, path, d->err);

    while (!st && (s = ft__behind(s, ".entry ")) != NULL) {
        const char *name = ft__arena_strndup(d->rows->arena, s, strcspn(s, " (\n"));

        st = name ? add_kernel(d, path, name, s)
                  : ft_fail(d->err, FT_ENOMEM, 0, "%s", path);
    }
    return st;
}

static ft_status read_ir(ft__ptx_rows *r, const ft__ptx_files *f, ft_error *err)
{
    struct ir_dump d = {.rows = r, .err = err};
    bool dumped = false;
    ft_status st = FT_OK;

    d.text = ft__arena_array(r->arena, f->n + 1, sizeof(*d.text));
    if (!d.text)
        return ft_fail(err, FT_ENOMEM, 0, "%s", f->folder);
    for (size_t i = 0; i < f->n && !st; i++) {
        dumped |= is_dumped(f->path[i]);
        if (is_dumped(f->path[i]) && ft__ends_with(f->path[i], ".ll"))
            st = ft__ptx_text(&d.text[d.n++], r->arena, f->path[i], err);
    }
    for (size_t i = 0; i < f->n && !st; i++)
        if (is_dumped(f->path[i]) && ft__ends_with(f->path[i], ".ptx"))
            st = add_kernels(&d, f->path[i]);
    if (!st && dumped && !r->n)
        st = ft_fail(err, FT_EFORMAT, 0,
                     "%s: a dump of XLA without PTX; compile for a GPU with " FLAGS,
                     f->folder);
    if (!st && r->n && d.n)
        ft__log(r->log, FT_LOG_WARN,
                "%s: there is no thunk sequence; each kernel counts once, with the "
                "grid that the LLVM IR says, and library calls are not known",
                f->folder);
    return st;
}

const ft__ptx_reader ft__ptx_xla_ir = {FT_PTX_XLA, read_ir};
