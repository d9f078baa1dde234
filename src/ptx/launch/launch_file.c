/* Launch files: one JSON object a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "ptx/launch/reader.h"

struct launch_reader {
    ft__arena *arena;
    ft__ptx_row *row;
    ft__json_doc doc;
    const char *name, *folder;
    ft__ptx_value *value; /* of the launch in hand */
    uint32_t n_values, line;
    bool no_memory;
    char why[256]; /* what the JSON reader cannot know; "": it says itself */
};

FT_PRINTF(2, 3)
static bool refuse(struct launch_reader *r, const char *fmt, ...)
{
    va_list ap;

    if (!*r->why && !r->doc.why) {
        va_start(ap, fmt);
        vsnprintf(r->why, sizeof(r->why), fmt, ap);
        va_end(ap);
    }
    return false;
}

static bool keep(struct launch_reader *r, const void *p)
{
    r->no_memory |= !p;
    return p != NULL;
}

static bool read_text(struct launch_reader *r, ft__json *j, const char **out)
{
    ft__text t;
    size_t len;
    char *s;

    if (!ft__json_string(j, &t))
        return false;
    if (t.n > FT__MAX_NAME)
        return refuse(r, "a text is longer than %d bytes", FT__MAX_NAME);
    s = ft__arena_alloc(r->arena, t.n + 1);
    if (!keep(r, s))
        return false;
    if (!ft__json_unescape(t, s, t.n, &len) || memchr(s, '\0', len))
        return refuse(r, "\"%.60s\" holds an escape that is none",
                      ft__arena_strndup(r->arena, t.s, t.n < 60 ? t.n : 60));
    *out = s;
    return true;
}

static bool read_number(struct launch_reader *r, ft__json *j, const char *what,
                        int64_t least, int64_t most, int64_t *out)
{
    if (!ft__json_int(j, out))
        return false;
    if (*out < least || *out > most)
        return refuse(r, "%s is %lld; from %lld to %lld was expected", what,
                      (long long)*out, (long long)least, (long long)most);
    return true;
}

/* A number or up to three; those left out are 1. */
static bool read_dims(struct launch_reader *r, ft__json *j, const char *what,
                      uint32_t *out)
{
    int64_t v;
    int n = 0;

    out[0] = out[1] = out[2] = 1;
    if (!ft__json_array(j)) {
        if (!read_number(r, j, what, 1, UINT32_MAX, &v))
            return false;
        out[0] = (uint32_t)v;
        return true;
    }
    while (ft__json_element(j)) {
        if (n == 3)
            return refuse(r, "%s has more than three numbers", what);
        if (!read_number(r, j, what, 1, UINT32_MAX, &v))
            return false;
        out[n++] = (uint32_t)v;
    }
    return n > 0 || refuse(r, "%s has no number", what);
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool read_bytes(struct launch_reader *r, ft__json *j, ft__ptx_value *v)
{
    uint8_t *bytes;
    ft__text t;

    if (!ft__json_string(j, &t))
        return false;
    if (t.n % 2 || t.n / 2 > FT__PTX_MAX_ARG_BYTES)
        return refuse(r, "bytes want two hexadecimal digits each, at most %d of them",
                      FT__PTX_MAX_ARG_BYTES);
    bytes = ft__arena_alloc(r->arena, t.n / 2 + 1);
    if (!keep(r, bytes))
        return false;
    for (size_t i = 0; i < t.n; i++) {
        int d = hex(t.s[i]);

        if (d < 0)
            return refuse(r, "bytes want hexadecimal digits, not \"%c\"", t.s[i]);
        bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | d);
    }
    *v = (ft__ptx_value){.name = v->name,
                         .kind = FT__VALUE_BYTES,
                         .bytes = bytes,
                         .size = (uint32_t)(t.n / 2)};
    return true;
}

static bool read_float(ft__json *j, ft__ptx_value *v, bool brain, uint32_t size)
{
    const char *name = v->name;

    *v = (ft__ptx_value){
        .name = name, .kind = FT__VALUE_FLOAT, .size = size, .brain = brain};
    return ft__json_number(j, &v->real);
}

/* {"pointer": 4096, "offset": 4, "fill": ...}, {"f32": 1}, {"bytes": "00ff"} */
static bool read_described(struct launch_reader *r, ft__json *j, ft__ptx_value *v)
{
    ft__text name;
    int64_t n;

    while (ft__json_member(j, &name)) {
        if (FT__IS(name, "pointer")) {
            v->kind = FT__VALUE_POINTER;
            if (!read_number(r, j, "pointer", 0, FT__MAX_ELEMENTS, &n))
                return false;
            v->memory = (uint64_t)n;
        } else if (FT__IS(name, "offset")) {
            if (!read_number(r, j, "offset", 0, INT32_MAX, &v->number))
                return false;
        } else if (FT__IS(name, "fill")) { /* for who runs the launch */
            if (!ft__json_skip(j, NULL))
                return false;
        } else if (FT__IS(name, "bytes")  ? !read_bytes(r, j, v)
                   : FT__IS(name, "f16")  ? !read_float(j, v, false, 2)
                   : FT__IS(name, "bf16") ? !read_float(j, v, true, 2)
                   : FT__IS(name, "f32")  ? !read_float(j, v, false, 4)
                   : FT__IS(name, "f64")
                       ? !read_float(j, v, false, 8)
                       : !refuse(r,
                                 "an argument has no \"%.*s\", but pointer, offset, "
                                 "bytes, f16, bf16, f32, f64",
                                 name.n < 60 ? (int)name.n : 60, name.s)) {
            return false;
        }
    }
    return v->kind != FT__VALUE_UNKNOWN ||
           refuse(r, "an argument in braces says neither pointer nor bytes");
}

static bool read_value(struct launch_reader *r, ft__json *j, ft__ptx_value *v)
{
    ft__json before = *j;
    ft__text t;

    switch (ft__json_peek(j)) {
    case 'n': return ft__json_skip(j, NULL);
    case '{': return ft__json_object(j) && read_described(r, j, v);
    case '"':
        if (!ft__json_string(j, &t))
            return false;
        v->kind = FT__VALUE_POINTER;
        return FT__IS(t, "pointer") ||
               refuse(r, "an argument is \"pointer\" or a number, not \"%.*s\"",
                      t.n < 60 ? (int)t.n : 60, t.s);
    case '0':
        if (!ft__json_skip(j, &t))
            return false;
        v->kind = FT__VALUE_REAL;
        for (size_t i = 0; i < t.n && v->kind == FT__VALUE_REAL; i++)
            if (memchr(".eEINn", t.s[i], 6))
                return *j = before, ft__json_number(j, &v->real);
        *j = before;
        v->kind = FT__VALUE_INT;
        return ft__json_int(j, &v->number);
    default: return refuse(r, "an argument is true or false; 1 or 0 was expected");
    }
}

/* In r->value, from which a row takes its own when all are read. */
static ft__ptx_value *add_value(struct launch_reader *r)
{
    if (r->n_values == FT__PTX_MAX_ARGS) {
        refuse(r, "more than %d arguments", FT__PTX_MAX_ARGS);
        return NULL;
    }
    r->value[r->n_values] = (ft__ptx_value){0};
    return &r->value[r->n_values++];
}

static bool keep_values(struct launch_reader *r)
{
    r->row->n_values = r->n_values;
    r->row->value = ft__arena_array(r->arena, r->n_values, sizeof(*r->value));
    if (!keep(r, r->row->value))
        return false;
    if (r->n_values)
        memcpy(r->row->value, r->value, r->n_values * sizeof(*r->value));
    return true;
}

static bool read_params(struct launch_reader *r, ft__json *j)
{
    ft__ptx_value *v;
    ft__text name;

    r->n_values = 0;
    if (ft__json_array(j)) {
        while (ft__json_element(j))
            if (!(v = add_value(r)) || !read_value(r, j, v))
                return false;
        return keep_values(r);
    }
    if (!ft__json_object(j))
        return refuse(r, "params are an array or an object");
    while (ft__json_member(j, &name)) {
        if (!(v = add_value(r)))
            return false;
        v->name = ft__arena_strndup(r->arena, name.s, name.n);
        if (!keep(r, v->name) || !read_value(r, j, v))
            return false;
    }
    return keep_values(r);
}

static bool read_module(struct launch_reader *r, ft__json *j)
{
    const char *path;
    size_t len;
    char *full;

    if (!read_text(r, j, &path))
        return false;
    r->row->module = path;
    if (!r->folder || *path == '/')
        return true;
    len = strlen(r->folder) + strlen(path) + 2;
    full = ft__arena_alloc(r->arena, len);
    if (!keep(r, full))
        return false;
    snprintf(full, len, "%s/%s", r->folder, path);
    r->row->module = full;
    return true;
}

/* MEMBER(name, how it is read) */
#define MEMBERS(MEMBER)                                                                \
    MEMBER(module, read_module(r, j))                                                  \
    MEMBER(target, read_text(r, j, &row->target))                                      \
    MEMBER(kernel, read_text(r, j, &row->kernel))                                      \
    MEMBER(grid, read_dims(r, j, "grid", row->grid))                                   \
    MEMBER(block, read_dims(r, j, "block", row->block))                                \
    MEMBER(cluster, read_dims(r, j, "cluster", row->cluster))                          \
    MEMBER(shared, read_number(r, j, "shared", 0, INT32_MAX, &number) &&               \
                       (row->shared = (uint32_t)number, true))                         \
    MEMBER(params, read_params(r, j))                                                  \
    MEMBER(registers, read_number(r, j, "registers", 0, 255, &number) &&               \
                          (row->registers = (uint32_t)number, true))                   \
    MEMBER(block_bytes,                                                                \
           read_number(r, j, "block_bytes", 0, FT__MAX_ELEMENTS, &number) &&           \
               (row->block_bytes = (uint64_t)number, true))                            \
    MEMBER(call, read_text(r, j, &row->call))                                          \
    MEMBER(count, read_number(r, j, "count", 1, FT__MAX_ELEMENTS, &number) &&          \
                      (row->count = (uint64_t)number, true))                           \
    MEMBER(name, read_text(r, j, &row->name))                                          \
    MEMBER(library, read_text(r, j, &row->library))                                    \
    MEMBER(operation, read_text(r, j, &row->operation))                                \
    MEMBER(note, ft__json_skip(j, NULL))

static bool read_member(struct launch_reader *r, ft__json *j, ft__text name)
{
    ft__ptx_row *row = r->row;
    int64_t number;

#define MEMBER(member, how)                                                            \
    if (FT__IS(name, #member))                                                         \
        return how;
    MEMBERS(MEMBER)
#undef MEMBER
#define MEMBER(member, how) " " #member
    return refuse(r, "there is no member \"%.*s\", but" MEMBERS(MEMBER),
                  name.n < 60 ? (int)name.n : 60, name.s);
#undef MEMBER
}

static bool read_launch(struct launch_reader *r, ft__text line)
{
    ft__ptx_row *row = r->row;
    ft__json j;
    ft__text name;

    r->doc = (ft__json_doc){.base = line.s, .len = line.n};
    j = ft__json_open(&r->doc, line);
    if (!ft__json_object(&j))
        return refuse(r, "an object in braces was expected");
    while (ft__json_member(&j, &name))
        if (!read_member(r, &j, name))
            return false;
    if (!ft__json_done(&j))
        return false;
    if (!row->module == !row->library)
        return refuse(r, row->module ? "module and library exclude each other"
                                     : "neither module nor library is given");
    if (row->library && (row->kernel || row->n_values || row->grid[0] || row->call))
        return refuse(r, "a library's call has no kernel, grid, params or call");
    if (row->operation && !row->library)
        return refuse(r, "operation is for what has no kernel here: with library");
    if (row->module && !row->grid[0])
        return refuse(r, "grid is missing");
    return true;
}

static bool blank(ft__text line)
{
    size_t i = 0;

    while (i < line.n && line.s[i] && strchr(" \t\r", line.s[i]))
        i++;
    return i == line.n;
}

static ft_status failed(const struct launch_reader *r, uint64_t at, ft_error *err)
{
    if (r->no_memory)
        return ft_fail(err, FT_ENOMEM, at, "launches");
    if (!r->name)
        return ft_fail(err, FT_EFORMAT, at, "%s", *r->why ? r->why : r->doc.why);
    if (*r->why)
        return ft_fail(err, FT_EFORMAT, at, "%s, line %u: %s", r->name, r->line,
                       r->why);
    return ft_fail(err, FT_EFORMAT, at + r->doc.pos, "%s, line %u, column %zu: %s",
                   r->name, r->line, r->doc.pos + 1, r->doc.why);
}

ft_status ft__ptx_launch_file(ft__ptx_rows *rows, const char *text, size_t len,
                              const char *name, const char *folder, ft_error *err)
{
    struct launch_reader r = {.arena = rows->arena, .name = name, .folder = folder};
    const char *p = text, *end = text + len;

    r.value = ft__arena_array(r.arena, FT__PTX_MAX_ARGS, sizeof(*r.value));
    r.name = name ? ft__arena_strndup(r.arena, name, strlen(name)) : NULL;
    if (!r.value || !r.name != !name)
        return ft_fail(err, FT_ENOMEM, 0, "launches");
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        ft__text line = {p, (size_t)((stop ? stop : end) - p)};

        r.line++;
        if (!blank(line)) {
            const ft_status st = ft__ptx_row_add(&r.row, rows, r.name, err);

            if (st)
                return st;
            r.row->line = r.line;
            if (!read_launch(&r, line))
                return failed(&r, (uint64_t)(p - text), err);
        }
        p = stop ? stop + 1 : end;
    }
    if (rows->n == 0)
        return ft_fail(err, FT_EFORMAT, 0, "%s: no launch in it",
                       name ? name : "launches");
    return FT_OK;
}
