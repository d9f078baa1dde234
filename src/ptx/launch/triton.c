/* Triton's cache: PTX, metadata and intermediate text of one kernel side by side. */
#include <stdlib.h>
#include <string.h>

#include "ptx/launch/reader.h"

/* The text of PATH.ptx's neighbour PATH.END; *out NULL: there is none. */
static ft_status beside(const char **out, ft__arena *a, const char *ptx,
                        const char *end, ft_error *err)
{
    size_t len = strlen(ptx);
    const char *path;
    ft_status st;

    *out = NULL;
    if (!ft__ends_with(ptx, ".ptx"))
        return FT_OK;
    path = ft__ptx_fmt(a, "%.*s%s", (int)(len - 4), ptx, end);
    if (!path)
        return ft_fail(err, FT_ENOMEM, 0, "%s", ptx);
    st = ft__ptx_text(out, a, path, err);
    return st == FT_EIO ? FT_OK : st;
}

static bool small(ft__json *j, uint32_t *out)
{
    int64_t v;

    if (!ft__json_int(j, &v) || v < 0 || v > INT32_MAX)
        return false;
    *out = (uint32_t)v;
    return true;
}

static bool read_metadata(ft__ptx_triton_facts *out, ft__json *j, ft__arena *a)
{
    uint32_t warps = 0, width = 32;
    ft__text name, text;
    bool good = ft__json_object(j);

    while (good && ft__json_member(j, &name)) {
        if (FT__IS(name, "num_warps"))
            good = small(j, &warps);
        else if (FT__IS(name, "shared"))
            good = small(j, &out->shared);
        else if (FT__IS(name, "warp_size"))
            good = small(j, &width);
        else if (FT__IS(name, "name") && (good = ft__json_string(j, &text)))
            good = (out->kernel = ft__arena_strndup(a, text.s, text.n)) != NULL;
        else
            good = good && ft__json_skip(j, NULL);
    }
    if (warps <= 64 && width <= 64)
        out->block = warps * width;
    return good && out->kernel && warps;
}

/* What the argument at s is called: "%x: !tt.ptr<f32>"; NULL: it has no name of the
 * source's. */
static const char *arg_name(const char *s, ft__arena *a)
{
    size_t n = strcspn(s + 1, ":, )");

    if (strncmp(s + 1, "arg", 3) == 0 && strspn(s + 4, "0123456789") + 3 == n)
        return NULL;
    return ft__arena_strndup(a, s + 1, n);
}

/* Over the list from its opening bracket on; names go to `out` where it is not NULL. */
static size_t walk_args(const char **out, const char *s, ft__arena *a)
{
    size_t n = 0;
    int depth = 0;
    bool quoted = false, first = false;

    for (; *s && *s != '\n'; s++) {
        if (*s == '"')
            quoted = !quoted;
        if (quoted)
            continue;
        if (strchr("([{<", *s))
            first = ++depth == 1;
        else if (strchr(")]}>", *s) && --depth == 0)
            break;
        else if (*s == ',')
            first = depth == 1;
        else if (*s == '%' && first) {
            if (out)
                out[n] = arg_name(s, a);
            n++;
            first = false;
        }
    }
    return n;
}

static ft_status read_names(ft__ptx_triton_facts *out, const char *text, ft__arena *a,
                            ft_error *err)
{
    const char *function = strstr(text, "tt.func public @");
    const char *list = function ? strchr(function, '(') : NULL;

    /* A descriptor of a tensor becomes several parameters. */
    if (!list || list > function + strcspn(function, "\n") ||
        strstr(list, "tensordesc"))
        return FT_OK;
    out->n_names = walk_args(NULL, list, a);
    out->name = ft__arena_array(a, out->n_names, sizeof(*out->name));
    if (!out->name)
        return ft_fail(err, FT_ENOMEM, 0, "%s", out->kernel);
    walk_args(out->name, list, a);
    return FT_OK;
}

/* The unoptimised text says most; older caches have only the other. */
static ft_status intermediate(const char **out, ft__arena *a, const char *ptx,
                              ft_error *err)
{
    ft_status st = beside(out, a, ptx, ".source", err);

    return st || *out ? st : beside(out, a, ptx, ".ttir", err);
}

/* "  %name = ..." of this line; *n is the name's length. NULL: it is none. */
static const char *result(const char *line, size_t *n)
{
    line += strspn(line, " ");
    *n = strcspn(line, " =\n");
    return *line == '%' && *n > 1 ? line : NULL;
}

/* The value of `%name = arith.constant 512 : i32`, in front of `end`; 0: none. */
static uint64_t constant(const char *text, const char *end, const char *name, size_t n,
                         ft__arena *a)
{
    char *definition = ft__ptx_fmt(a, "%.*s = arith.constant ", (int)n, name);
    const char *at = definition ? strstr(text, definition) : NULL;

    if (!at || at > end)
        return 0;
    return strtoull(at + strlen(definition), NULL, 10);
}

/* What the block's index on an axis, defined at s, is first multiplied by. */
static uint64_t factor(const char *text, const char *s, ft__arena *a)
{
    size_t n, m;
    const char *index = result(s, &n);
    char *product = index ? ft__ptx_fmt(a, "arith.muli %.*s, ", (int)n, index) : NULL;
    const char *at = product ? ft__behind(s, product) : NULL;

    if (!at)
        return 0;
    m = strcspn(at, " :\n");
    return constant(text, at, at, m, a);
}

static void read_tiles(uint32_t out[3], const char *text, ft__arena *a)
{
    for (int d = 0; d < 3; d++) {
        char axis[] = "tt.get_program_id x";
        const char *at;
        uint64_t v;

        axis[sizeof(axis) - 2] = "xyz"[d];
        at = strstr(text, axis);
        while (at && at > text && at[-1] != '\n')
            at--;
        v = at ? factor(text, at, a) : 0;
        if (v && v <= UINT32_MAX)
            out[d] = (uint32_t)v;
    }
}

ft_status ft__ptx_triton_read(ft__ptx_triton_facts *out, const char *ptx, ft__arena *a,
                              ft_error *err)
{
    ft__json_doc doc = {0};
    const char *text;
    ft__json j;
    ft_status st = beside(&text, a, ptx, ".json", err);

    *out = (ft__ptx_triton_facts){0};
    if (st)
        return st;
    if (text) {
        doc.base = text;
        doc.len = strlen(text);
        j = ft__json_open(&doc, (ft__text){text, doc.len});
        if (!read_metadata(out, &j, a))
            *out = (ft__ptx_triton_facts){0}; /* another program's */
    }
    st = intermediate(&text, a, ptx, err);
    if (st || !text)
        return st;
    read_tiles(out->tile, text, a);
    return out->kernel ? read_names(out, text, a, err) : FT_OK;
}

static ft_status read_cache(ft__ptx_rows *r, const ft__ptx_files *f, ft_error *err)
{
    for (size_t i = 0; i < f->n; i++) {
        ft__ptx_triton_facts facts;
        ft__ptx_row *row;
        ft_status st;

        if (!ft__ends_with(f->path[i], ".ptx"))
            continue;
        st = ft__ptx_triton_read(&facts, f->path[i], r->arena, err);
        if (st)
            return st;
        if (!facts.kernel)
            continue;
        st = ft__ptx_row_add(&row, r, f->path[i], err);
        if (st)
            return st;
        row->module = f->path[i];
        row->kernel = facts.kernel;
        row->missing = "its grid, which Triton does not keep: a launch file says it";
    }
    return FT_OK;
}

const ft__ptx_reader ft__ptx_triton = {FT_PTX_TRITON, read_cache};
