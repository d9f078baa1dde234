#include "measure/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/limits.h"
#include "base/utf8.h"

enum { PIECE = 1 << 16, END = -1 };

struct ft__rows {
    const char *name;
    const unsigned char *at, *end; /* text that is ready to be read */
    z_stream z;                    /* where it comes from, if it is packed */
    bool packed;
    const char *broken; /* what is wrong with the packed bytes */
    uint64_t line;      /* at the cursor */
    uint64_t begin;     /* where the row began */
    uint64_t rows;
    size_t n;      /* columns */
    ft__buf names; /* terminated, one behind the other, as the fields of a row */
    size_t name_at[FT__MAX_COLUMNS];
    ft__buf text;
    size_t text_at[FT__MAX_COLUMNS];
    unsigned char piece[PIECE];
};

/* ---- bytes ---- */

/* Several packed files one behind the other are one (RFC 1952, section 2.2). */
static bool next_member(ft__rows *r)
{
    return r->z.avail_in > 1 && r->z.next_in[0] == 0x1f && inflateReset(&r->z) == Z_OK;
}

static bool refill(ft__rows *r)
{
    int rc = Z_OK;

    if (!r->packed || r->broken)
        return false;
    r->z.next_out = r->piece;
    r->z.avail_out = PIECE;
    while (r->z.avail_out == PIECE) {
        rc = inflate(&r->z, Z_NO_FLUSH);
        if (rc == Z_STREAM_END && !next_member(r))
            break;
        if (rc != Z_OK && rc != Z_STREAM_END) {
            r->broken = rc == Z_BUF_ERROR ? "the packed data ends too early"
                                          : "the packed data is damaged";
            break;
        }
    }
    if (rc == Z_STREAM_END && r->z.avail_out == PIECE)
        r->packed = false; /* done; what follows the last member is ignored */
    r->at = r->piece;
    r->end = r->z.next_out;
    return r->at < r->end;
}

static int peek(ft__rows *r)
{
    return r->at < r->end || refill(r) ? *r->at : END;
}

/* Past a line end, or nothing. */
static bool line_end(ft__rows *r)
{
    int c = peek(r);

    if (c == '\r') {
        r->at++;
        c = peek(r);
    }
    if (c == '\n') {
        r->at++;
        r->line++;
    }
    return c == '\n' || c == END;
}

/* ---- fields ---- */

/* NULL, or what is wrong. The text up to the closing quote, which is taken. */
static const char *read_quoted(ft__rows *r, ft__buf *text)
{
    for (r->at++;; r->at++) {
        int c = peek(r);

        if (c == END)
            return "the quote is never closed";
        if (c == '"') {
            r->at++;
            c = peek(r);
            if (c != '"')
                return c == ',' || c == '\n' || c == '\r' || c == END
                           ? NULL
                           : "something follows the closing quote";
        }
        r->line += c == '\n';
        ft__buf_add(text, (const char *)r->at, 1);
        if (text->len > FT__MAX_ROW)
            return "the row is longer than a mebibyte";
    }
}

static const char *read_plain(ft__rows *r, ft__buf *text)
{
    for (int c = peek(r); c != END; c = peek(r)) {
        const unsigned char *from = r->at;

        while (r->at < r->end && *r->at != ',' && *r->at != '\n' && *r->at != '\r' &&
               *r->at != '"')
            r->at++;
        ft__buf_add(text, (const char *)from, (size_t)(r->at - from));
        if (text->len > FT__MAX_ROW)
            return "the row is longer than a mebibyte";
        if (r->at == r->end)
            continue;
        return *r->at == '"' ? "text with a quote must be quoted" : NULL;
    }
    return NULL;
}

static ft_status bad(const ft__rows *r, uint64_t line, size_t column, const char *what,
                     ft_error *err)
{
    if (column < r->n && r->names.s)
        return ft_fail(err, FT_EFORMAT, line, "%s, line %llu, column %zu (%s): %s",
                       r->name, (unsigned long long)line, column + 1,
                       r->names.s + r->name_at[column], what);
    return ft_fail(err, FT_EFORMAT, line, "%s, line %llu, column %zu: %s", r->name,
                   (unsigned long long)line, column + 1, what);
}

/* One record into `text`; *n fields, at most `most`. */
static ft_status read_record(ft__rows *r, ft__buf *text, size_t *at, size_t most,
                             size_t *n, ft_error *err)
{
    text->len = 0;
    r->begin = r->line;
    for (*n = 0;; r->at++) {
        const char *wrong;

        if (*n == most)
            return bad(r, r->begin, *n,
                       "more follows, but this is behind the last column", err);
        at[*n] = text->len;
        wrong = peek(r) == '"' ? read_quoted(r, text) : read_plain(r, text);
        ft__buf_add(text, "", 1);
        if (text->bad)
            return ft_fail(err, FT_ENOMEM, 0, "%s", r->name);
        if (!wrong && !ft__utf8_valid(text->s + at[*n], text->len - 1 - at[*n]))
            wrong = "not UTF-8 text";
        if (r->broken)
            wrong = r->broken;
        if (wrong)
            return bad(r, r->begin, *n, wrong, err);
        ++*n;
        if (peek(r) != ',')
            break;
    }
    return line_end(r) ? FT_OK
                       : bad(r, r->begin, *n - 1, "a line ends with LF or CR LF", err);
}

/* ---- the table ---- */

static ft_status check_header(const ft__rows *r, ft_error *err)
{
    for (size_t i = 0; i < r->n; i++) {
        if (!*ft__rows_column_name(r, i))
            return bad(r, 1, i, "a column without a name", err);
        if (ft__rows_find(r, ft__rows_column_name(r, i)) != (int)i)
            return bad(r, 1, i, "there are two columns of this name", err);
    }
    return FT_OK;
}

static ft_status read_header(ft__rows *r, ft_error *err)
{
    static const char bom[] = "\xef\xbb\xbf"; /* spreadsheets begin with it */
    size_t n;
    ft_status st;

    if (peek(r) != END && r->end - r->at >= 3 && memcmp(r->at, bom, 3) == 0)
        r->at += 3;
    if (peek(r) == END)
        return ft_fail(err, FT_EFORMAT, 0, "%s: %s", r->name,
                       r->broken ? r->broken : "it is empty");
    st = read_record(r, &r->names, r->name_at, FT__MAX_COLUMNS, &n, err);
    r->n = n;
    return st ? st : check_header(r, err);
}

static bool is_gzip(const unsigned char *bytes, size_t len)
{
    return len > 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

ft_status ft__rows_open(ft__rows **out, const void *bytes, size_t len, const char *name,
                        ft_error *err)
{
    ft__rows *r = calloc(1, sizeof(*r));
    ft_status st;

    *out = NULL;
    if (!r || len > FT__MAX_TABLE_FILE) {
        free(r);
        return r ? ft_fail(err, FT_EFORMAT, 0, "%s: larger than a gibibyte", name)
                 : ft_fail(err, FT_ENOMEM, 0, "%s", name);
    }
    r->name = name;
    r->line = 1;
    r->packed = is_gzip(bytes, len);
    if (r->packed) {
        r->z.next_in = (z_const Bytef *)bytes;
        r->z.avail_in = (uInt)len;
        if (inflateInit2(&r->z, 15 + 16) != Z_OK) {
            free(r);
            return ft_fail(err, FT_ENOMEM, 0, "%s", name);
        }
    } else if (len) {
        r->at = bytes;
        r->end = r->at + len;
    }
    st = read_header(r, err);
    if (st) {
        ft__rows_close(r);
        return st;
    }
    *out = r;
    return FT_OK;
}

void ft__rows_close(ft__rows *r)
{
    if (!r)
        return;
    inflateEnd(&r->z);
    ft__buf_free(&r->names);
    ft__buf_free(&r->text);
    free(r);
}

size_t ft__rows_n_columns(const ft__rows *r)
{
    return r->n;
}

const char *ft__rows_column_name(const ft__rows *r, size_t column)
{
    return r->names.s + r->name_at[column];
}

int ft__rows_find(const ft__rows *r, const char *column)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(ft__rows_column_name(r, i), column) == 0)
            return (int)i;
    return -1;
}

ft_status ft__rows_next(ft__rows *r, bool *more, ft_error *err)
{
    size_t n;
    ft_status st;

    *more = peek(r) != END;
    if (!*more)
        return r->broken ? bad(r, r->line, 0, r->broken, err) : FT_OK;
    st = read_record(r, &r->text, r->text_at, r->n, &n, err);
    if (!st && n < r->n)
        st = bad(r, r->begin, n - 1, "the line ends here, further columns are missing",
                 err);
    r->rows++;
    return st;
}

const char *ft__rows_text(const ft__rows *r, size_t column)
{
    return r->text.s + r->text_at[column];
}

ft_status ft__rows_bad(const ft__rows *r, int column, const char *what, ft_error *err)
{
    if (column >= 0)
        return bad(r, r->begin, (size_t)column, what, err);
    return ft_fail(err, FT_EFORMAT, r->begin, "%s, line %llu: %s", r->name,
                   (unsigned long long)r->begin, what);
}

uint64_t ft__rows_count(const ft__rows *r)
{
    return r->rows;
}

ft_status ft__rows_unpack(ft__buf *out, const void *bytes, size_t len, size_t limit,
                          const char *name, ft_error *err)
{
    ft_status st = FT_OK;
    ft__rows *r;

    if (!is_gzip(bytes, len)) {
        ft__buf_add(out, bytes, len);
        return out->bad ? ft_fail(err, FT_ENOMEM, 0, "%s", name) : FT_OK;
    }
    r = calloc(1, sizeof(*r));
    if (!r || inflateInit2(&r->z, 15 + 16) != Z_OK) {
        free(r);
        return ft_fail(err, FT_ENOMEM, 0, "%s", name);
    }
    r->packed = true;
    r->z.next_in = (z_const Bytef *)bytes;
    r->z.avail_in = (uInt)len;
    while (!out->bad && out->len <= limit && refill(r))
        ft__buf_add(out, (const char *)r->at, (size_t)(r->end - r->at));
    if (r->broken)
        st = ft_fail(err, FT_EFORMAT, 0, "%s: %s", name, r->broken);
    else if (out->bad)
        st = ft_fail(err, FT_ENOMEM, 0, "%s", name);
    else if (out->len > limit)
        st = ft_fail(err, FT_EFORMAT, 0, "%s: unpacks to more than %zu bytes", name,
                     limit);
    inflateEnd(&r->z);
    free(r);
    return st;
}

ft_status ft__table_read(char **out, size_t *len, const char *path, ft_error *err)
{
    FILE *fp = fopen(path, "rb");
    long size = -1;
    int bad;

    *out = NULL;
    if (fp && fseek(fp, 0, SEEK_END) == 0)
        size = ftell(fp);
    if (size < 0) {
        ft_fail(err, FT_EIO, 0, "cannot read %s: %s", path, strerror(errno));
        goto fail;
    }
    if (size > FT__MAX_TABLE_FILE) {
        ft_fail(err, FT_EFORMAT, 0, "%s: larger than a gibibyte", path);
        goto fail;
    }
    rewind(fp);
    *out = malloc((size_t)size + 1);
    if (!*out) {
        ft_fail(err, FT_ENOMEM, 0, "%s", path);
        goto fail;
    }
    *len = fread(*out, 1, (size_t)size, fp);
    bad = ferror(fp);
    fclose(fp);
    if (!bad)
        return FT_OK;
    free(*out);
    *out = NULL;
    return ft_fail(err, FT_EIO, 0, "cannot read %s: %s", path, strerror(errno));
fail:
    if (fp)
        fclose(fp);
    return err ? err->status : FT_EIO;
}
