/* CSV, plain or packed by gzip: bytes -> fields of one row after the other. */
#include "store/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/limits.h"

enum { PIECE = 1 << 16, END = -1 };

struct ft__csv {
    const char *name;
    const unsigned char *at, *end; /* text that is ready to be read */
    z_stream z;                    /* where it comes from, if it is packed */
    bool packed;
    const char *broken; /* what is wrong with the packed bytes */
    size_t unpacked;    /* bytes so far */
    uint64_t line;      /* at the cursor */
    size_t n;           /* columns */
    ft__buf names;      /* terminated, one behind the other, as the fields of a row */
    size_t name_at[FT__MAX_COLUMNS];
    ft__buf text;
    size_t text_at[FT__MAX_COLUMNS];
    uint64_t lines[FT__MAX_COLUMNS]; /* where each field of the row began */
    unsigned char piece[PIECE];
};

/* Several packed files one behind the other are one (RFC 1952, section 2.2). */
static bool next_member(ft__csv *r)
{
    return r->z.avail_in > 1 && r->z.next_in[0] == 0x1f && inflateReset(&r->z) == Z_OK;
}

static bool refill(ft__csv *r)
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
    r->unpacked += (size_t)(r->end - r->at);
    if (r->unpacked > FT__MAX_TABLE_FILE)
        r->broken = "it unpacks to more than a gibibyte";
    return r->at < r->end && !r->broken;
}

static int peek(ft__csv *r)
{
    return r->at < r->end || refill(r) ? *r->at : END;
}

/* Past a line end, or nothing. */
static bool line_end(ft__csv *r)
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

static const char too_long[] = "the row is longer than 64 mebibytes";
static const char unquoted[] = "text with a quote or a line end must be quoted";

/* NULL, or what is wrong. The text up to the closing quote, which is taken. */
static const char *read_quoted(ft__csv *r, ft__buf *text)
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
                           : "something follows the closing quote; double a quote that "
                             "is "
                             "part of the text";
        }
        r->line += c == '\n';
        ft__buf_add(text, (const char *)r->at, 1);
        if (text->len > FT__MAX_ROW)
            return too_long;
    }
}

static const char *read_plain(ft__csv *r, ft__buf *text)
{
    for (int c = peek(r); c != END; c = peek(r)) {
        const unsigned char *from = r->at;

        while (r->at < r->end && *r->at != ',' && *r->at != '\n' && *r->at != '\r' &&
               *r->at != '"')
            r->at++;
        ft__buf_add(text, (const char *)from, (size_t)(r->at - from));
        if (text->len > FT__MAX_ROW)
            return too_long;
        if (r->at == r->end)
            continue;
        return *r->at == '"' ? unquoted : NULL;
    }
    return NULL;
}

static const char *column_name(const ft__csv *r, size_t column)
{
    return r->names.s + r->name_at[column];
}

ft_status ft__csv_bad(const ft__csv *r, size_t column, const char *what, ft_error *err)
{
    const char *name = column < r->n ? column_name(r, column) : NULL;

    return ft_fail(err, FT_EFORMAT, r->lines[column],
                   "%s, line %llu, column %zu%s%s%s: %s", r->name,
                   (unsigned long long)r->lines[column], column + 1, name ? " (" : "",
                   name ? name : "", name ? ")" : "", what);
}

/* Are these bytes UTF-8 without a zero byte? Lengths of sequences and overlong forms:
 * RFC 3629. */
static bool is_utf8(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text, *end = s + len;

    while (s < end) {
        unsigned c = *s++, more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        unsigned low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
        unsigned high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;

        if (c == 0 || (c > 0x7f && c < 0xc2) || c > 0xf4 || (size_t)(end - s) < more)
            return false;
        for (; more; more--, low = 0x80, high = 0xbf, s++)
            if (*s < low || *s > high)
                return false;
    }
    return true;
}

/* One record into `text`; *n fields, at most `most`. */
static ft_status read_record(ft__csv *r, ft__buf *text, size_t *at, size_t most,
                             size_t *n, ft_error *err)
{
    text->len = 0;
    for (*n = 0;; r->at++) {
        const char *wrong;

        if (*n == most)
            return ft__csv_bad(r, *n - 1, "more follows, but this is the last column",
                               err);
        at[*n] = text->len;
        r->lines[*n] = r->line;
        wrong = peek(r) == '"' ? read_quoted(r, text) : read_plain(r, text);
        ft__buf_add(text, "", 1);
        if (text->bad)
            return ft_fail(err, FT_ENOMEM, 0, "%s", r->name);
        if (!wrong && !is_utf8(text->s + at[*n], text->len - 1 - at[*n]))
            wrong = "not UTF-8 text";
        if (r->broken)
            wrong = r->broken;
        if (wrong)
            return ft__csv_bad(r, *n, wrong, err);
        ++*n;
        if (peek(r) != ',')
            break;
    }
    return line_end(r) ? FT_OK : ft__csv_bad(r, *n - 1, unquoted, err);
}

static ft_status check_header(const ft__csv *r, ft_error *err)
{
    for (size_t i = 0; i < r->n; i++) {
        if (!*column_name(r, i))
            return ft__csv_bad(r, i, "a column without a name", err);
        if (ft__csv_find(r, column_name(r, i)) != (int)i)
            return ft__csv_bad(r, i, "there are two columns of this name", err);
    }
    return FT_OK;
}

static ft_status read_header(ft__csv *r, ft_error *err)
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

ft_status ft__csv_open(ft__csv **out, size_t *n_columns, const void *bytes, size_t len,
                       const char *name, ft_error *err)
{
    ft__csv *r = calloc(1, sizeof(*r));
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
        ft__csv_close(r);
        return st;
    }
    if (n_columns)
        *n_columns = r->n;
    *out = r;
    return FT_OK;
}

void ft__csv_close(ft__csv *r)
{
    if (!r)
        return;
    inflateEnd(&r->z);
    ft__buf_free(&r->names);
    ft__buf_free(&r->text);
    free(r);
}

int ft__csv_find(const ft__csv *r, const char *column)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(column_name(r, i), column) == 0)
            return (int)i;
    return -1;
}

ft_status ft__csv_next(ft__csv *r, bool *more, ft_error *err)
{
    size_t n;
    ft_status st;

    *more = peek(r) != END;
    if (!*more) {
        r->lines[0] = r->line;
        return r->broken ? ft__csv_bad(r, 0, r->broken, err) : FT_OK;
    }
    st = read_record(r, &r->text, r->text_at, r->n, &n, err);
    if (!st && n < r->n)
        st = ft__csv_bad(r, n - 1, "the line ends here, further columns are missing",
                         err);
    return st;
}

char *ft__csv_text(ft__csv *r, size_t column)
{
    return r->text.s + r->text_at[column];
}
