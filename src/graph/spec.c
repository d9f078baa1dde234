/* The spec: an operation as one line of text, and back. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/index.h"
#include "base/limits.h"
#include "base/number.h"
#include "foretell/names.h"
#include "foretell/op.h"
#include "graph/op_inside.h"

static const char *const layout_names[FT_LAYOUT_COUNT] = {"plain", "channels_last"};

/* What is longest: all values of 20 digits, and a dozen names. */
enum { LONGEST = (FT_OP_MAX_VALUES + 1) * FT__NUMBER_TEXT };

static char *put_name(char *at, const char *key, const char *value)
{
    *at++ = ' ';
    at = stpcpy(at, key);
    *at++ = '=';
    return stpcpy(at, value);
}

/* Keys whose value is a dtype, written as its name. */
static bool names_dtype(ft_key_id key)
{
    return key == FT_K_to || key == FT_K_weights;
}

size_t ft_op_print(const ft_op *op, char *buf, size_t size)
{
    char text[LONGEST], *at = stpcpy(text, ft_kind_name(op->kind));
    ft_key_id key;
    size_t len;

    for (uint32_t i = 0; (key = ft__kind_key(op->kind, i, NULL)) != FT_K_COUNT; i++) {
        uint32_t n;
        const int64_t *v = ft_op_get(op, key, &n);

        if (v)
            at = put_name(at, ft__key_name(key),
                          names_dtype(key) ? ft_dtype_name((ft_dtype)v[0]) : "");
        for (uint32_t j = 0; j < n && !names_dtype(key); j++) {
            if (j)
                *at++ = 'x';
            at += ft__whole_text(at, v[j]);
        }
    }
    at = put_name(at, "dtype", ft_dtype_name(op->dtype));
    if (op->phase != FT_PHASE_FORWARD)
        at = put_name(at, "phase", ft_name(FT_NAMES_PHASE, op->phase));
    if (op->wrt) {
        at = put_name(at, "wrt", op->wrt & FT_WRT_X ? "x" : "");
        at = stpcpy(at, op->wrt & FT_WRT_Y ? "y" : "");
        at = stpcpy(at, op->wrt & FT_WRT_Z ? "z" : "");
        at = stpcpy(at, op->wrt & FT_WRT_WEIGHTS ? "w" : "");
    }
    if (op->in_place)
        at = put_name(at, "inplace", "1");
    if (op->layout != FT_LAYOUT_PLAIN)
        at = put_name(at, "layout", layout_names[op->layout]);
    /* As snprintf() does: cut off where the room ends. */
    len = (size_t)(at - text);
    if (size) {
        memcpy(buf, text, len < size ? len : size - 1);
        buf[len < size ? len : size - 1] = '\0';
    }
    return len;
}

struct in {
    const char *text;
    size_t len, pos;
};

/* One value list per key of the kind, gathered in any order. */
struct values {
    bool seen;
    uint32_t n;
    int64_t v[FT_OP_MAX_VALUES];
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static size_t skip_blanks(struct in *in)
{
    while (in->pos < in->len && is_blank(in->text[in->pos]))
        in->pos++;
    return in->pos;
}

/* The bytes up to the next blank or '='. */
static size_t word(struct in *in, const char **s)
{
    size_t from = in->pos;

    while (in->pos < in->len && !is_blank(in->text[in->pos]) &&
           in->text[in->pos] != '=')
        in->pos++;
    *s = in->text + from;
    return in->pos - from;
}

static bool read_number(struct in *in, int64_t *v)
{
    size_t from = in->pos;

    *v = 0;
    while (in->pos < in->len && in->text[in->pos] >= '0' && in->text[in->pos] <= '9') {
        *v = *v * 10 + (in->text[in->pos++] - '0');
        if (*v > FT__MAX_ELEMENTS)
            return false;
    }
    return in->pos > from;
}

static ft_status read_values(struct in *in, struct values *out, ft_error *err)
{
    out->n = 0;
    for (;;) {
        size_t at = in->pos;
        int64_t v;

        if (!read_number(in, &v))
            return ft_fail(err, FT_EFORMAT, at,
                           "byte %zu: expected a number between 0 and 2^52", at);
        if (out->n == FT_OP_MAX_VALUES)
            return ft_fail(err, FT_EFORMAT, at, "byte %zu: more than %d values", at,
                           FT_OP_MAX_VALUES);
        out->v[out->n++] = v;
        if (in->pos == in->len || in->text[in->pos] != 'x')
            break;
        in->pos++;
    }
    if (in->pos < in->len && !is_blank(in->text[in->pos]))
        return ft_fail(err, FT_EFORMAT, in->pos, "byte %zu: unexpected '%c'", in->pos,
                       in->text[in->pos]);
    return FT_OK;
}

/* The number of a name that stands for a value; -1: unknown. */
static int dtype_number(const char *s, size_t n)
{
    ft_dtype t = ft__dtype_from_name(s, n);

    return t == FT_DTYPE_NONE ? -1 : (int)t;
}

static int phase_number(const char *s, size_t n)
{
    ft_phase p;

    return ft__phase_from_name(&p, s, n) ? (int)p : -1;
}

static int yes_or_no(const char *s, size_t n)
{
    return ft__name_is("0", s, n) ? 0 : ft__name_is("1", s, n) ? 1 : -1;
}

static int layout_number(const char *s, size_t n)
{
    for (int l = 0; l < FT_LAYOUT_COUNT; l++)
        if (ft__name_is(layout_names[l], s, n))
            return l;
    return -1;
}

/* Letters of what is differentiated with respect to: "xw". */
static int wrt_bits(const char *s, size_t n)
{
    static const char letters[] = "xyzw";
    int bits = 0;

    for (size_t i = 0; i < n; i++) {
        const char *p = memchr(letters, s[i], 4);

        if (!p)
            return -1;
        bits |= 1 << (p - letters);
    }
    return bits ? bits : -1;
}

static ft_status read_name(struct in *in, int *out, const char *what,
                           int (*number)(const char *s, size_t n), ft_error *err)
{
    const char *name;
    size_t at = in->pos, n = word(in, &name);

    *out = number(name, n);
    if (*out >= 0)
        return FT_OK;
    return ft_fail(err, FT_EFORMAT, at, "byte %zu: unknown %s \"%.*s\"", at, what,
                   (int)(n < 40 ? n : 40), name);
}

/* Attributes that every kind has, written as names. */
enum { DTYPE, PHASE, WRT, IN_PLACE, LAYOUT, N_COMMON };

static const struct {
    const char *key, *what;
    int (*number)(const char *s, size_t n);
} common[N_COMMON] = {
    [DTYPE] = {"dtype", "dtype", dtype_number},
    [PHASE] = {"phase", "phase", phase_number},
    [WRT] = {"wrt", "gradient", wrt_bits},
    [IN_PLACE] = {"inplace", "answer", yes_or_no},
    [LAYOUT] = {"layout", "layout", layout_number},
};

static ft_status read_common(struct in *in, ft_op *op, int which, ft_error *err)
{
    int number = 0;
    ft_status st =
        read_name(in, &number, common[which].what, common[which].number, err);

    switch (which) {
    case DTYPE: op->dtype = (ft_dtype)number; break;
    case PHASE: op->phase = (ft_phase)number; break;
    case WRT: op->wrt = (uint8_t)number; break;
    case IN_PLACE: op->in_place = (uint8_t)number; break;
    default: op->layout = (ft_layout)number; break;
    }
    return st;
}

static ft_status read_key(struct in *in, const ft_op *op, const char *name, size_t len,
                          size_t at, struct values *keys, ft_error *err)
{
    uint32_t i = 0;
    ft_key_id key;
    ft_status st;
    int number = 0;

    while ((key = ft__kind_key(op->kind, i, NULL)) != FT_K_COUNT &&
           !ft__name_is(ft__key_name(key), name, len))
        i++;
    if (key == FT_K_COUNT)
        return ft_fail(err, FT_EFORMAT, at, "byte %zu: %s has no key \"%.*s\"", at,
                       ft_kind_name(op->kind), (int)(len < 40 ? len : 40), name);
    if (keys[i].seen)
        return ft_fail(err, FT_EFORMAT, at, "byte %zu: key %s is given twice", at,
                       ft__key_name(key));
    keys[i].seen = true;
    if (!names_dtype(key))
        return read_values(in, &keys[i], err);
    st = read_name(in, &number, "dtype", dtype_number, err);
    keys[i].n = 1;
    keys[i].v[0] = number;
    return st;
}

static ft_status read_pair(struct in *in, ft_op *op, struct values *keys, ft_error *err)
{
    size_t at = in->pos;
    const char *name;
    size_t len = word(in, &name);

    if (in->pos == in->len || in->text[in->pos] != '=')
        return ft_fail(err, FT_EFORMAT, at, "byte %zu: expected key=value", at);
    in->pos++;
    for (int i = 0; i < N_COMMON; i++)
        if (ft__name_is(common[i].key, name, len))
            return read_common(in, op, i, err);
    return read_key(in, op, name, len, at, keys, err);
}

/* Only gradients that there are, and "all" in one spelling. */
static ft_status check_wrt(ft_op *op, ft_error *err)
{
    uint32_t bits = op->wrt;

    op->wrt = 0;
    if (bits & ~ft_op_wrt(op))
        return ft_fail(err, FT_EFORMAT, 0, "%s has no such gradient",
                       ft_kind_name(op->kind));
    if (bits)
        ft__op_set_wrt(op, bits);
    return FT_OK;
}

static uint64_t hash_word(const char *s, size_t n)
{
    const uint64_t h = ft__fnv1a(FT__HASH_BEGIN, s, n);

    return (h ^ h >> 29) * 0x9fb21c651e98df25u;
}

static bool has_name(const struct in *in)
{
    for (size_t i = in->pos; i + 6 <= in->len; i++)
        if (memcmp(in->text + i, " name=", 6) == 0)
            return true;
    return false;
}

/* Words in any order: their sum. */
static ft_status read_whole(struct in *in, ft_op *op, ft_error *err)
{
    uint64_t sum = 0;
    int number;

    while (skip_blanks(in) < in->len) {
        size_t from = in->pos, n;

        while (in->pos < in->len && !is_blank(in->text[in->pos]))
            in->pos++;
        n = in->pos - from;
        if (n < 6 || memcmp(in->text + from, "phase=", 6) != 0) {
            sum += hash_word(in->text + from, n);
            continue;
        }
        number = phase_number(in->text + from + 6, n - 6);
        if (number < 0)
            return ft_fail(err, FT_EFORMAT, from, "byte %zu: unknown phase", from);
        op->phase = (ft_phase)number;
    }
    if (!ft__op_set1(op, FT_K_id, (int64_t)(sum & (uint64_t)(FT__MAX_ELEMENTS - 1))))
        return ft_fail(err, FT_EFORMAT, 0, "%s has no id", ft_kind_name(op->kind));
    return ft_op_check(op, err);
}

/* "; did you mean maxpool2d?" for "maxpool": kinds that begin with the same four
 * letters. */
static void say_similar(char out[80], const char *name, size_t n)
{
    size_t len = 0;

    *out = '\0';
    for (int k = 0; k < FT_KIND_COUNT && n >= 4 && len < 50; k++) {
        const char *kind = ft_kind_name((ft_kind)k);

        if (strncmp(kind, name, 4) == 0 && strlen(kind) < 20)
            len += (size_t)snprintf(out + len, 80 - len, "%s%s",
                                    len ? ", " : "; did you mean ", kind);
    }
    if (len)
        snprintf(out + len, 80 - len, "?");
}

ft_status ft_op_parse(ft_op *out, const char *text, size_t len, ft_error *err)
{
    struct values keys[FT_OP_MAX_KEYS];
    struct in in = {text, len, 0};
    char similar[80];
    const char *name;
    size_t n;
    ft_kind kind;
    ft_status st;

    skip_blanks(&in);
    n = word(&in, &name);
    if (!ft__kind_from_name(&kind, name, n)) {
        say_similar(similar, name, n);
        return ft_fail(err, FT_EFORMAT, 0, "unknown operation \"%.*s\"%s",
                       (int)(n < 40 ? n : 40), name, similar);
    }
    ft__op_init(out, kind, FT_DTYPE_fp32);
    if ((kind == FT_KIND_kernel || kind == FT_KIND_network) && has_name(&in))
        return read_whole(&in, out, err);
    for (uint32_t i = 0; i < FT_OP_MAX_KEYS; i++)
        keys[i].seen = false;
    while (skip_blanks(&in) < len) {
        st = read_pair(&in, out, keys, err);
        if (st)
            return st;
    }
    for (uint32_t i = 0; ft__kind_key(kind, i, NULL) != FT_K_COUNT; i++)
        if (keys[i].seen &&
            !ft__op_set(out, ft__kind_key(kind, i, NULL), keys[i].v, keys[i].n))
            return ft_fail(err, FT_EFORMAT, 0, "more than %d values", FT_OP_MAX_VALUES);
    st = ft_op_check(out, err);
    return st ? st : check_wrt(out, err);
}
