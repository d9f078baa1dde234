/* JSON pulled value by value from untrusted bytes; numbers and slices of the text out.
 */
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

static bool fail(ft__json *r, const char *at, const char *why)
{
    if (!r->doc->why) {
        r->doc->why = why;
        r->doc->pos = (size_t)(at - r->doc->base);
    }
    r->p = r->end;
    return false;
}

static bool blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Over blanks; false: the text has ended or is bad. */
static bool ready(ft__json *r)
{
    while (r->p < r->end && blank(*r->p))
        r->p++;
    return r->p < r->end && !r->doc->why;
}

static bool ends_early(ft__json *r)
{
    return fail(r, r->end, "the text ends early");
}

char ft__json_peek(ft__json *r)
{
    char c;

    if (!ready(r))
        return 0;
    c = *r->p;
    if (c == '-' || (c >= '0' && c <= '9') || c == 'N' || c == 'I')
        return '0';
    return memchr("{[\"tfn", c, 6) ? c : 0;
}

static bool expect(ft__json *r, char c, const char *why)
{
    if (!ready(r))
        return ends_early(r);
    if (*r->p != c)
        return fail(r, r->p, why);
    r->p++;
    return true;
}

static bool step_in(ft__json *r, char open)
{
    if (!ready(r) || *r->p != open)
        return false;
    if (++r->depth > FT__MAX_DEPTH)
        return fail(r, r->p, "brackets are nested too deep");
    r->p++;
    r->fresh = true;
    return true;
}

bool ft__json_object(ft__json *r)
{
    return step_in(r, '{');
}

bool ft__json_array(ft__json *r)
{
    return step_in(r, '[');
}

/* Over the comma before the next value; false at the closing bracket. */
static bool next_value(ft__json *r, char close, const char *why)
{
    bool fresh = r->fresh;

    r->fresh = false;
    if (!ready(r))
        return ends_early(r);
    if (*r->p == close) {
        r->p++;
        r->depth--;
        return false;
    }
    return fresh || expect(r, ',', why);
}

bool ft__json_element(ft__json *r)
{
    if (!next_value(r, ']', "a comma or ] is missing"))
        return false;
    return ft__json_peek(r) ||
           (!ready(r) ? ends_early(r) : fail(r, r->p, "this begins no value"));
}

#define EACH(byte) (0x0101010101010101u * (byte))

/* The byte at p is the lowest one. */
static uint64_t load8(const char *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof(x));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

/* The high bit of a byte is set where x has a zero byte; above the lowest one
 * there may be others that are set in error. */
static uint64_t zero_bytes(uint64_t x)
{
    return (x - EACH(0x01)) & ~x & EACH(0x80);
}

/* The first byte from p on that zero_bytes() found. */
static const char *first(const char *p, uint64_t found)
{
    return p + (__builtin_ctzll(found) >> 3);
}

/* The quote that ends a string which begins at s; NULL: none. */
static const char *end_of_string(const char *s, const char *end)
{
    const char *p = s;

    /* Most are shorter than a call is worth. */
    for (int i = 0; i < 4 && end - p >= 8; i++, p += 8) {
        uint64_t x = load8(p), quote = zero_bytes(x ^ EACH('"'));

        if (zero_bytes(x ^ EACH('\\')))
            break;
        if (quote)
            return first(p, quote);
    }
    while ((p = memchr(p, '"', (size_t)(end - p))) != NULL) {
        const char *back = p;

        while (back > s && back[-1] == '\\')
            back--;
        if ((p - back) % 2 == 0)
            return p;
        p++;
    }
    return NULL;
}

/* The first quote or bracket from p on; end: none. They lie so close together
 * that one byte at a time is fastest. */
static const char *next_mark(const char *p, const char *end)
{
    static const bool mark[256] = {
        ['"'] = true, ['{'] = true, ['}'] = true, ['['] = true, [']'] = true};

    while (p < end && !mark[(unsigned char)*p])
        p++;
    return p;
}

bool ft__json_string(ft__json *r, ft__text *out)
{
    const char *close;

    r->fresh = false;
    if (!expect(r, '"', "a string was expected"))
        return false;
    close = end_of_string(r->p, r->end);
    if (!close)
        return ends_early(r);
    *out = (ft__text){r->p, (size_t)(close - r->p)};
    r->p = close + 1;
    return true;
}

bool ft__json_member(ft__json *r, ft__text *name)
{
    const char *p = r->p, *close;

    if (p < r->end && *p == '}') {
        r->p++;
        r->depth--;
        r->fresh = false;
        return false;
    }
    /* As it is nearly always written: , "name": */
    if (r->end - p > 16 && p[r->fresh ? 0 : 2] == '"' &&
        (r->fresh || (p[0] == ',' && p[1] == ' '))) {
        p += r->fresh ? 1 : 3;
        close = end_of_string(p, r->end);
        if (close && r->end - close > 2 && close[1] == ':') {
            *name = (ft__text){p, (size_t)(close - p)};
            r->p = close + 2 + (close[2] == ' ');
            r->fresh = false;
            return true;
        }
    }
    return next_value(r, '}', "a comma or } is missing") && ft__json_string(r, name) &&
           expect(r, ':', "a colon is missing");
}

static bool word(ft__json *r, const char *text)
{
    size_t n = strlen(text);

    if (!ready(r) || (size_t)(r->end - r->p) < n || memcmp(r->p, text, n) != 0)
        return false;
    r->p += n;
    r->fresh = false;
    return true;
}

bool ft__json_bool(ft__json *r, bool *out)
{
    *out = word(r, "true");
    return *out || word(r, "false") ||
           (!ready(r) ? ends_early(r) : fail(r, r->p, "true or false was expected"));
}

static const char *digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/* Where the number ends that begins at the reader; NULL: it is none. *whole:
 * neither a fraction nor an exponent. */
static const char *end_of_number(const ft__json *r, bool *whole)
{
    const char *p = r->p + (*r->p == '-'), *begin = p;

    p = digits(p, r->end);
    if (p == begin || (*begin == '0' && p > begin + 1))
        return NULL;
    *whole = true;
    if (p < r->end && *p == '.') {
        *whole = false;
        begin = ++p;
        p = digits(p, r->end);
        if (p == begin)
            return NULL;
    }
    if (p < r->end && (*p == 'e' || *p == 'E')) {
        *whole = false;
        p++;
        p += p < r->end && (*p == '+' || *p == '-');
        begin = p;
        p = digits(p, r->end);
        if (p == begin)
            return NULL;
    }
    return p;
}

bool ft__json_int(ft__json *r, int64_t *out)
{
    bool whole = false, negative;
    const char *end;
    uint64_t v = 0;

    r->fresh = false;
    if (!ready(r))
        return ends_early(r);
    end = end_of_number(r, &whole);
    if (!end || !whole)
        return fail(r, r->p, "an integer was expected");
    negative = *r->p == '-';
    for (const char *p = r->p + negative; p < end; p++) {
        if (v > ((uint64_t)INT64_MAX - 9) / 10) {
            uint64_t last = (uint64_t)INT64_MAX + negative, d = (uint64_t)(*p - '0');

            if (v > (last - d) / 10)
                return fail(r, r->p, "an integer has more than 64 bits");
        }
        v = v * 10 + (uint64_t)(*p - '0');
    }
    *out = negative ? (int64_t)(0 - v) : (int64_t)v;
    r->p = end;
    return true;
}

/* Python writes what JSON has no numbers for as words. */
static bool odd_number(ft__json *r, double *out)
{
    if (word(r, "NaN"))
        *out = __builtin_nan("");
    else if (word(r, "Infinity"))
        *out = __builtin_inf();
    else if (word(r, "-Infinity"))
        *out = -__builtin_inf();
    else
        return false;
    return true;
}

bool ft__json_number(ft__json *r, double *out)
{
    bool whole;
    char text[64];
    const char *end;
    size_t n;

    r->fresh = false;
    if (!ready(r))
        return ends_early(r);
    if (odd_number(r, out))
        return true;
    end = end_of_number(r, &whole);
    if (!end)
        return fail(r, r->p, "a number was expected");
    /* No number that a program writes is longer; the rest would change nothing. */
    n = (size_t)(end - r->p);
    if (n >= sizeof(text))
        return fail(r, r->p, "a number has more than 63 digits");
    memcpy(text, r->p, n);
    text[n] = '\0';
    *out = strtod(text, NULL);
    r->p = end;
    return true;
}

/* To behind the bracket that closes `kinds`, whose lowest bit says whether the
 * innermost open one is an object. */
static bool skip_brackets(ft__json *r, uint64_t kinds, uint32_t depth)
{
    const char *p = r->p;

    for (; (p = next_mark(p, r->end)) < r->end; p++) {
        if (*p == '"') {
            p = end_of_string(p + 1, r->end);
            if (!p)
                return ends_early(r);
        } else if (*p == '{' || *p == '[') {
            if (r->depth + ++depth > FT__MAX_DEPTH)
                return fail(r, p, "brackets are nested too deep");
            kinds = kinds << 1 | (*p == '{');
        } else {
            if ((kinds & 1) != (*p == '}'))
                return fail(r, p, "the wrong bracket closes");
            kinds >>= 1;
            if (--depth == 0) {
                r->p = p + 1;
                return true;
            }
        }
    }
    return ends_early(r);
}

void ft__json_leave(ft__json *r)
{
    if (!ready(r))
        ends_early(r);
    else if (skip_brackets(r, 1, 1))
        r->depth--;
    r->fresh = false;
}

static bool skip_scalar(ft__json *r, char c)
{
    bool whole;
    const char *end;
    double odd;

    switch (c) {
    case 't': return word(r, "true") || fail(r, r->p, "this begins no value");
    case 'f': return word(r, "false") || fail(r, r->p, "this begins no value");
    case 'n': return word(r, "null") || fail(r, r->p, "this begins no value");
    case '0':
        if (!(*r->p >= '0' && *r->p <= '9') && odd_number(r, &odd))
            return true;
        end = end_of_number(r, &whole);
        if (!end)
            return fail(r, r->p, "a number was expected");
        r->p = end;
        return true;
    default: return !ready(r) ? ends_early(r) : fail(r, r->p, "this begins no value");
    }
}

bool ft__json_skip(ft__json *r, ft__text *out)
{
    char c = ft__json_peek(r);
    const char *start = r->p;
    ft__text s;
    bool good;

    r->fresh = false;
    if (c == '{' || c == '[')
        good = skip_brackets(r, 0, 0);
    else if (c == '"')
        good = ft__json_string(r, &s);
    else
        good = skip_scalar(r, c);
    if (good && out)
        *out = (ft__text){start, (size_t)(r->p - start)};
    return good;
}

bool ft__json_done(ft__json *r)
{
    return !ready(r) ? !r->doc->why : fail(r, r->p, "something follows the value");
}

static bool hex4(const char *p, uint32_t *v)
{
    *v = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        uint32_t d = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                     : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                     : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                            : 16;

        if (d == 16)
            return false;
        *v = *v << 4 | d;
    }
    return true;
}

static size_t to_utf8(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* \uXXXX behind the u, with its second half where it is one of a pair. */
static const char *unicode(const char *p, const char *end, uint32_t *c)
{
    uint32_t low;

    if (end - p < 4 || !hex4(p, c))
        return NULL;
    p += 4;
    if (*c < 0xd800 || *c > 0xdfff)
        return p;
    if (*c > 0xdbff || end - p < 6 || p[0] != '\\' || p[1] != 'u' ||
        !hex4(p + 2, &low) || low < 0xdc00 || low > 0xdfff)
        return NULL;
    *c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
    return p + 6;
}

bool ft__json_unescape(ft__text s, char *out, size_t cap, size_t *len)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *p = s.s, *end = s.s + s.n, *known;
    size_t n = 0;

    while (p < end) {
        uint32_t c = (unsigned char)*p++;
        char bytes[4];
        size_t size = 1;

        bytes[0] = (char)c;
        if (c < 0x20)
            return false;
        if (c == '\\') {
            if (p == end)
                return false;
            if (*p == 'u') {
                p = unicode(p + 1, end, &c);
                if (!p)
                    return false;
                size = to_utf8(c, bytes);
            } else {
                known = memchr(from, *p++, sizeof(from) - 1);
                if (!known)
                    return false;
                bytes[0] = to[known - from];
            }
        }
        if (size > cap - n)
            return false;
        memcpy(out + n, bytes, size);
        n += size;
    }
    *len = n;
    return true;
}
