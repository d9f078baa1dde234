/* What readers of launches share: rows on their way into the list, texts, and the
 * operations of libraries as specs of foretell's. */
#include "ptx/launch/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "ptx/syntax/module.h"

ft_status ft__ptx_row_add(ft__ptx_row **out, ft__ptx_rows *r, const char *where,
                          ft_error *err)
{
    ft__ptx_row *grown;

    *out = NULL;
    if (r->n == FT__PTX_MAX_LAUNCHES)
        return ft_fail(err, FT_EFORMAT, 0, "%s: more than %d launches",
                       where ? where : "launches", FT__PTX_MAX_LAUNCHES);
    grown = ft__list_grow(r->row, r->n, &r->cap, sizeof(*grown));
    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "%s", where ? where : "launches");
    r->row = grown;
    *out = &r->row[r->n++];
    **out = (ft__ptx_row){.where = where, .count = 1};
    return FT_OK;
}

bool ft__ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n >= m && memcmp(s + n - m, end, m) == 0;
}

const char *ft__behind(const char *s, const char *word)
{
    const char *at = strstr(s, word);

    return at ? at + strlen(word) : NULL;
}

char *ft__ptx_fmt(ft__arena *a, const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    text = ft__arena_vfmt(a, fmt, ap);
    va_end(ap);
    return text;
}

ft_status ft__ptx_text(const char **out, ft__arena *a, const char *path, ft_error *err)
{
    size_t len;
    char *text;
    ft_status st = ft__file_read(&text, &len, path, FT__MAX_TABLE_FILE, err);

    *out = NULL;
    if (st)
        return st;
    *out = ft__arena_strndup(a, text, len);
    free(text);
    return *out ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%s", path);
}

static void put_dims(ft__buf *b, const char *key, const int64_t *dim, uint32_t n)
{
    ft__buf_fmt(b, " %s=", key);
    for (uint32_t i = 0; i < n; i++)
        ft__buf_fmt(b, "%s%" PRId64, i ? "x" : "", dim[i]);
}

static const char *take(ft__arena *a, ft__buf *b, const char *dtype)
{
    char *text = NULL;

    ft__buf_fmt(b, " dtype=%s", dtype ? dtype : "fp32");
    if (!b->bad)
        text = ft__arena_strndup(a, b->s, b->len);
    ft__buf_free(b);
    return text;
}

static bool usable(const int64_t *dim, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (dim[i] < 1 || dim[i] > FT__MAX_ELEMENTS)
            return false;
    return true;
}

static bool fit(const ft__ptx_shape *x, const ft__ptx_shape *y)
{
    return x->n >= 2 && x->n == y->n && usable(x->dim, x->n) && usable(y->dim, y->n) &&
           x->dim[x->n - 1] == y->dim[y->n - 2] &&
           memcmp(x->dim, y->dim, (x->n - 2) * sizeof(x->dim[0])) == 0;
}

const char *ft__ptx_spec_matmul(ft__arena *a, const ft__ptx_shape *x,
                                const ft__ptx_shape *y, bool bias)
{
    ft__buf b = {0};

    if (!fit(x, y) || (bias && x->n != 2))
        return NULL;
    ft__buf_str(&b, bias ? "linear" : "matmul");
    put_dims(&b, "x", x->dim, x->n);
    if (bias)
        put_dims(&b, "out", &y->dim[1], 1);
    else
        put_dims(&b, "y", y->dim, y->n);
    if (bias)
        ft__buf_str(&b, " bias=1");
    return take(a, &b, x->dtype ? x->dtype : y->dtype);
}

const char *ft__ptx_spec_conv(ft__arena *a, const ft__ptx_conv *c)
{
    int64_t pad[] = {c->low[0], c->low[1], c->high[0], c->high[1]};
    bool even = c->low[0] == c->high[0] && c->low[1] == c->high[1];
    ft__buf b = {0};

    if (!usable(c->x, 4) || !usable(&c->out, 1) || !usable(c->kernel, 2) ||
        !usable(c->stride, 2) || !usable(c->dilation, 2) || !usable(&c->groups, 1))
        return NULL;
    ft__buf_str(&b, "conv2d");
    put_dims(&b, "x", c->x, 4);
    put_dims(&b, "out", &c->out, 1);
    put_dims(&b, "kernel", c->kernel, 2);
    put_dims(&b, "stride", c->stride, 2);
    put_dims(&b, "pad", pad, even ? 2 : 4);
    if (c->dilation[0] > 1 || c->dilation[1] > 1)
        put_dims(&b, "dilation", c->dilation, 2);
    if (c->groups > 1)
        put_dims(&b, "groups", &c->groups, 1);
    if (c->channels_last)
        ft__buf_str(&b, " layout=channels_last");
    return take(a, &b, c->dtype);
}
