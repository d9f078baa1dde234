/* Floats: of any type as doubles and back, arithmetic. In: lanes of sources; out: lanes
 * of results. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "ptx/eval/lanes.h"

#define EACH FT__PTX_EACH

/* Rounding is done on scaled integers, so that it does not depend on the machine's
 * mode. */
typedef struct format {
    uint32_t bits, digits; /* digits: of the significand, the hidden one with them */
    int least, most;       /* exponents of the smallest normal and the largest number */
    uint64_t nan;
    bool no_infinity;
} format;

static bool format_of(format *f, unsigned type)
{
    switch (type) {
    case FT__TYPE_F16: *f = (format){16, 11, -14, 15, 0x7fff, false}; break;
    case FT__TYPE_BF16: *f = (format){16, 8, -126, 127, 0x7fff, false}; break;
    case FT__TYPE_TF32: *f = (format){32, 11, -126, 127, 0x7fffffff, false}; break;
    case FT__TYPE_F32: *f = (format){32, 24, -126, 127, 0x7fffffff, false}; break;
    case FT__TYPE_F64:
        *f = (format){64, 53, -1022, 1023, 0x7fffffffffffffff, false};
        break;
    case FT__TYPE_E4M3: *f = (format){8, 4, -6, 8, 0x7f, true}; break;
    case FT__TYPE_E5M2: *f = (format){8, 3, -14, 15, 0x7f, false}; break;
    default:
        *f = (format){64, 53, -1022, 1023, 0x7fffffffffffffff, false};
        return false;
    }
    return true;
}

bool ft__ptx_is_float(unsigned type)
{
    format f;

    return format_of(&f, type);
}

static double float_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static double double_of(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Digits stored behind the exponent; tf32 leaves its lowest 13 bits unused. */
static uint32_t stored(const format *f, unsigned type)
{
    return type == FT__TYPE_TF32 ? 23 : f->digits - 1;
}

static double small_to_double(unsigned type, uint64_t bits)
{
    format f;
    uint32_t m, e;
    double x;

    format_of(&f, type);
    m = (uint32_t)(bits & ft__ptx_mask(stored(&f, type)));
    e = (uint32_t)(bits & ft__ptx_mask(f.bits - 1)) >> stored(&f, type);
    if (f.no_infinity ? (bits & 0x7f) == 0x7f : (int)e > f.most - f.least + 1)
        x = m != 0 ? NAN : INFINITY;
    else if (e == 0)
        x = ldexp(m, f.least - (int)f.digits + 1);
    else
        x = ldexp(m | 1u << (f.digits - 1), f.least + (int)e - (int)f.digits);
    return bits >> (f.bits - 1) & 1 ? -x : x;
}

double ft__ptx_to_double(unsigned type, uint64_t bits)
{
    switch (type) {
    case FT__TYPE_F64: return double_of(bits);
    case FT__TYPE_F32: return float_of((uint32_t)bits);
    case FT__TYPE_TF32: return float_of((uint32_t)bits & 0xffffe000);
    case FT__TYPE_BF16: return float_of((uint32_t)bits << 16);
    default: return small_to_double(type, bits);
    }
}

/* An integer from a magnitude whose fraction is `rest` halves: 0 nothing, 1 less than a
 * half, 2 a half, 3 more. */
static uint64_t rounded(uint64_t whole, unsigned rest, bool negative, ft__ptx_round r)
{
    switch (r) {
    case FT__ROUND_NEAREST: return whole + (rest == 3 || (rest == 2 && (whole & 1)));
    case FT__ROUND_AWAY: return whole + (rest >= 2);
    case FT__ROUND_DOWN: return whole + (rest != 0 && negative);
    case FT__ROUND_UP: return whole + (rest != 0 && !negative);
    default: return whole;
    }
}

/* Bits of m x 2^e, where m has at most `digits` bits, or digits + 1 after a carry. */
static uint64_t assembled(const format *f, unsigned type, uint64_t m, int e,
                          bool negative, bool to_infinity)
{
    const uint64_t sign = (uint64_t)negative << (f->bits - 1);
    const uint32_t shift = stored(f, type) - (f->digits - 1);
    const uint64_t top = (uint64_t)1 << (f->digits - 1);
    const uint64_t beyond = (uint64_t)f->most - (uint64_t)f->least + 2;
    uint64_t v;

    if (m >> f->digits) {
        m >>= 1;
        e++;
    }
    v = m < top ? m
                : (uint64_t)(e + (int)f->digits - 1 - f->least + 1) * top + (m - top);
    if (f->no_infinity && v >= 0x7f) /* e4m3 takes the last exponent for numbers too */
        return sign | (to_infinity ? 0x7f : 0x7e);
    if (!f->no_infinity && v >= beyond * top)
        v = to_infinity ? beyond * top : beyond * top - 1;
    return sign | v << shift;
}

/* Whether what is too large becomes infinite. */
static bool overflows(bool negative, ft__ptx_round r, bool finite)
{
    return !finite && r != FT__ROUND_ZERO &&
           r != (negative ? FT__ROUND_UP : FT__ROUND_DOWN);
}

uint64_t ft__ptx_from_double(unsigned type, double v, ft__ptx_round r, bool finite)
{
    const bool negative = signbit(v) != 0;
    const double a = fabs(v);
    double whole, part;
    uint64_t m, bits;
    format f;
    int e;

    format_of(&f, type);
    if (isnan(v))
        return f.nan;
    if (isinf(v))
        return assembled(&f, type, (uint64_t)1 << (f.digits - 1),
                         f.most + 2 - (int)f.digits, negative, !finite);
    if (type == FT__TYPE_F64) {
        memcpy(&bits, &v, sizeof bits);
        return bits;
    }
    if (a == 0)
        return (uint64_t)negative << (f.bits - 1);
    frexp(a, &e);
    e = (e - 1 < f.least ? f.least : e - 1) - (int)f.digits + 1;
    part = modf(ldexp(a, -e), &whole);
    m = rounded((uint64_t)whole,
                part == 0     ? 0
                : part < 0.5  ? 1
                : part == 0.5 ? 2
                              : 3,
                negative, r);
    return assembled(&f, type, m, e, negative, overflows(negative, r, finite));
}

uint64_t ft__ptx_from_integer(unsigned type, uint64_t magnitude, bool negative,
                              ft__ptx_round r)
{
    uint64_t rest = 0, half;
    format f;
    int e = 0;

    format_of(&f, type);
    if (magnitude == 0)
        return 0;
    while (magnitude >> e >> f.digits)
        e++;
    if (e > 0) {
        half = (uint64_t)1 << (e - 1);
        rest = magnitude & (2 * half - 1);
        rest = rest == 0 ? 0 : rest < half ? 1 : rest == half ? 2 : 3;
        magnitude = rounded(magnitude >> e, (unsigned)rest, negative, r);
    }
    for (; !(magnitude >> (f.digits - 1)); e--)
        magnitude <<= 1;
    return assembled(&f, type, magnitude, e, negative, overflows(negative, r, false));
}

/* f32 in floats, all else in doubles. Halves are computed exactly or rounded to odd,
 * then rounded once. What GPUs only approximate is libm's value. */

enum { STRETCH = 64 }; /* lanes that are computed together */

typedef struct inputs32 {
    float a[STRETCH], b[STRETCH], c[STRETCH];
} inputs32;

typedef struct inputs64 {
    double a[STRETCH], b[STRETCH], c[STRETCH];
} inputs64;

/* r[l] = value from A, B, C of type T. */
#define STRETCHES(T, value)                                                            \
    for (uint32_t l = 0; l < n; l++) {                                                 \
        const T A = in->a[l], B = in->b[l], C = in->c[l];                              \
                                                                                       \
        (void)B;                                                                       \
        (void)C;                                                                       \
        r[l] = (value);                                                                \
    }                                                                                  \
    break

/* Unlike fmin() and fmax() -0 is less than 0. */
#define LESS(x, y) ((x) < (y) || ((x) == (y) && signbit(x) && !signbit(y)))
#define LEAST(x, y) (isnan(x) ? (y) : isnan(y) ? (x) : LESS(x, y) ? (x) : (y))
#define MOST(x, y) (isnan(x) ? (y) : isnan(y) ? (x) : LESS(x, y) ? (y) : (x))

static bool compute32(float *r, unsigned opcode, const inputs32 *in, uint32_t n)
{
    switch (opcode) {
    case FT__PTX_ADD: STRETCHES(float, A + B);
    case FT__PTX_SUB: STRETCHES(float, A - B);
    case FT__PTX_MUL: STRETCHES(float, A *B);
    case FT__PTX_FMA:
    case FT__PTX_MAD: STRETCHES(float, fmaf(A, B, C));
    case FT__PTX_DIV: STRETCHES(float, A / B);
    case FT__PTX_RCP: STRETCHES(float, 1 / A);
    case FT__PTX_SQRT: STRETCHES(float, sqrtf(A));
    case FT__PTX_RSQRT: STRETCHES(float, (float)(1 / sqrt((double)A)));
    case FT__PTX_SIN: STRETCHES(float, sinf(A));
    case FT__PTX_COS: STRETCHES(float, cosf(A));
    case FT__PTX_LG2: STRETCHES(float, log2f(A));
    case FT__PTX_EX2: STRETCHES(float, exp2f(A));
    case FT__PTX_TANH: STRETCHES(float, tanhf(A));
    case FT__PTX_MIN: STRETCHES(float, LEAST(A, B));
    case FT__PTX_MAX: STRETCHES(float, MOST(A, B));
    default: return false;
    }
    return true;
}

/* a x b + c, rounded to odd where it does not fit: rounding once more to half the
 * digits is then as if there had been no other. Products of halves are exact. */
static double fma_odd(double a, double b, double c)
{
    const double p = a * b, s = p + c, q = s - p;
    const double lost = (p - (s - q)) + (c - q);
    uint64_t bits;
    double r = s;

    if (!isfinite(s) || lost == 0)
        return s;
    memcpy(&bits, &s, sizeof bits);
    if ((bits & 1) == 0) {
        bits += (lost > 0) == (s > 0) ? 1 : (uint64_t)-1;
        memcpy(&r, &bits, sizeof r);
    }
    return r;
}

static bool compute64(double *r, unsigned opcode, bool half, const inputs64 *in,
                      uint32_t n)
{
    switch (opcode) {
    case FT__PTX_ADD: STRETCHES(double, A + B);
    case FT__PTX_SUB: STRETCHES(double, A - B);
    case FT__PTX_MUL: STRETCHES(double, A *B);
    case FT__PTX_FMA:
    case FT__PTX_MAD: STRETCHES(double, half ? fma_odd(A, B, C) : fma(A, B, C));
    case FT__PTX_DIV: STRETCHES(double, A / B);
    case FT__PTX_RCP: STRETCHES(double, 1 / A);
    case FT__PTX_SQRT: STRETCHES(double, sqrt(A));
    case FT__PTX_RSQRT: STRETCHES(double, 1 / sqrt(A));
    case FT__PTX_EX2: STRETCHES(double, exp2(A));
    case FT__PTX_TANH: STRETCHES(double, tanh(A));
    case FT__PTX_MIN: STRETCHES(double, LEAST(A, B));
    case FT__PTX_MAX: STRETCHES(double, MOST(A, B));
    default: return false;
    }
    return true;
}

typedef struct float_words {
    bool ftz, sat, relu, nan, xorsign;
    unsigned opcode;
} float_words;

static float_words words_of(const ft__ptx_lanes *w)
{
    return (float_words){
        ft__ptx_lanes_has(w, FT__MOD_FTZ),     ft__ptx_lanes_has(w, FT__MOD_SAT),
        ft__ptx_lanes_has(w, FT__MOD_RELU),    ft__ptx_lanes_has(w, FT__MOD_NAN),
        ft__ptx_lanes_has(w, FT__MOD_XORSIGN), w->i->opcode};
}

/* Directed rounding is the machine's, set for one stretch. */
static void rounding(const ft__ptx_lanes *w, bool begin)
{
    const ft__ptx_round r = ft__ptx_lanes_round(w, FT__ROUND_NEAREST);

    if (r == FT__ROUND_NEAREST)
        return;
    fesetround(!begin                ? FE_TONEAREST
               : r == FT__ROUND_ZERO ? FE_TOWARDZERO
               : r == FT__ROUND_DOWN ? FE_DOWNWARD
                                     : FE_UPWARD);
}

static double after(double r, double a, double b, const float_words *k)
{
    if (k->nan && (isnan(a) || isnan(b)))
        return NAN;
    if (k->xorsign && !isnan(r))
        r = copysign(r, (signbit(a) != 0) != (signbit(b) != 0) ? -1.0 : 1.0);
    if (k->sat)
        r = r > 0 ? r < 1 ? r : 1 : 0; /* NaN is 0, too */
    if (k->relu && !(r > 0) && !isnan(r))
        r = 0;
    return r;
}

static float flushed(float x, bool ftz)
{
    return ftz && fabsf(x) < 0x1p-126F ? copysignf(0, x) : x;
}

static float float_in(uint64_t v, const float_words *k)
{
    uint32_t bits = (uint32_t)v;
    float x;

    memcpy(&x, &bits, sizeof x);
    return flushed(k->xorsign ? fabsf(x) : x, k->ftz);
}

static uint64_t float_out(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? 0x7fffffff : bits;
}

static bool plain(const float_words *k)
{
    return !(k->sat || k->relu || k->nan || k->xorsign);
}

static bool in_floats(const ft__ptx_lanes *w, const float_words *k, uint32_t from,
                      uint32_t n)
{
    float r[STRETCH];
    inputs32 in;
    bool ok;

    for (uint32_t l = 0; l < n; l++) {
        in.a[l] = float_in(w->a[from + l], k);
        in.b[l] = float_in(w->b[from + l], k);
        in.c[l] = float_in(w->c[from + l], k);
    }
    rounding(w, true);
    ok = compute32(r, k->opcode, &in, n);
    rounding(w, false);
    for (uint32_t l = 0; ok && l < n && !plain(k); l++)
        r[l] = (float)after(r[l], ft__ptx_to_double(FT__TYPE_F32, w->a[from + l]),
                            ft__ptx_to_double(FT__TYPE_F32, w->b[from + l]), k);
    for (uint32_t l = 0; ok && l < n; l++)
        w->d[from + l] = float_out(flushed(r[l], k->ftz));
    return ok;
}

/* f64, or the half of a pair that begins at bit `shift`; out goes over what is there.
 */
static bool in_doubles(uint64_t *out, const ft__ptx_lanes *w, const float_words *k,
                       unsigned type, uint32_t shift, uint32_t from, uint32_t n)
{
    const bool x = k->xorsign;
    double r[STRETCH];
    inputs64 in;
    bool ok;

    for (uint32_t l = 0; l < n; l++) {
        in.a[l] = ft__ptx_to_double(type, w->a[from + l] >> shift);
        in.b[l] = ft__ptx_to_double(type, w->b[from + l] >> shift);
        in.c[l] = ft__ptx_to_double(type, w->c[from + l] >> shift);
        in.a[l] = x ? fabs(in.a[l]) : in.a[l];
        in.b[l] = x ? fabs(in.b[l]) : in.b[l];
    }
    rounding(w, type == FT__TYPE_F64);
    ok = compute64(r, k->opcode, type != FT__TYPE_F64, &in, n);
    rounding(w, false);
    for (uint32_t l = 0; ok && l < n; l++) {
        const double a = ft__ptx_to_double(type, w->a[from + l] >> shift);
        const double b = ft__ptx_to_double(type, w->b[from + l] >> shift);
        const double v = after(r[l], a, b, k);

        out[l] |= ft__ptx_from_double(type, v, FT__ROUND_NEAREST, false) << shift;
    }
    return ok;
}

static bool stretch(const ft__ptx_lanes *w, const float_words *k, uint32_t from,
                    uint32_t n)
{
    uint64_t out[STRETCH] = {0};
    bool ok;

    switch (w->i->type[0]) {
    case FT__TYPE_F32: return in_floats(w, k, from, n);
    case FT__TYPE_F16X2:
        ok = in_doubles(out, w, k, FT__TYPE_F16, 0, from, n) &&
             in_doubles(out, w, k, FT__TYPE_F16, 16, from, n);
        break;
    case FT__TYPE_BF16X2:
        ok = in_doubles(out, w, k, FT__TYPE_BF16, 0, from, n) &&
             in_doubles(out, w, k, FT__TYPE_BF16, 16, from, n);
        break;
    case FT__TYPE_F16:
    case FT__TYPE_BF16:
    case FT__TYPE_F64: ok = in_doubles(out, w, k, w->i->type[0], 0, from, n); break;
    default: return false;
    }
    if (ok && n > 0)
        memcpy(w->d + from, out, n * sizeof *out);
    return ok;
}

/* The bits of the signs of a type. */
static uint64_t signs(unsigned type)
{
    switch (type) {
    case FT__TYPE_F64: return (uint64_t)1 << 63;
    case FT__TYPE_F32: return 0x80000000;
    case FT__TYPE_F16X2:
    case FT__TYPE_BF16X2: return 0x80008000;
    default: return 0x8000;
    }
}

static bool change_sign(const ft__ptx_lanes *w)
{
    const uint64_t s = signs(w->i->type[0]), m = ft__ptx_mask(w->bits);
    const bool ftz = ft__ptx_lanes_has(w, FT__MOD_FTZ) && w->i->type[0] == FT__TYPE_F32;

    switch (w->i->opcode) {
    case FT__PTX_NEG: EACH(w, (A & m) ^ s); break;
    case FT__PTX_ABS: EACH(w, A & m & ~s); break;
    default: EACH(w, (B & m & ~s) | (A & s)); break; /* copysign: a's sign */
    }
    for (uint32_t l = 0; l < w->n && ftz; l++)
        if ((w->d[l] & 0x7f800000) == 0)
            w->d[l] &= s;
    return true;
}

/* Sources that an operation takes; min and max may have three. */
static bool known(const ft__ptx_lanes *w)
{
    const unsigned type = w->i->type[0];

    if (w->i->n_types != 1 && w->i->opcode != FT__PTX_COPYSIGN)
        return false;
    if ((w->i->opcode == FT__PTX_MIN || w->i->opcode == FT__PTX_MAX) && w->sources != 2)
        return false;
    return type == FT__TYPE_F32 || type == FT__TYPE_F64 || type == FT__TYPE_F16 ||
           type == FT__TYPE_BF16 || type == FT__TYPE_F16X2 || type == FT__TYPE_BF16X2;
}

bool ft__ptx_eval_float(const ft__ptx_lanes *w)
{
    float_words k;

    if (w->kind != FT__KIND_FLOAT || !known(w))
        return false;
    k = words_of(w);
    if (k.opcode == FT__PTX_NEG || k.opcode == FT__PTX_ABS ||
        k.opcode == FT__PTX_COPYSIGN)
        return change_sign(w);
    if (!stretch(w, &k, 0, 0)) /* no lanes: is it known at all? */
        return false;
    for (uint32_t from = 0; from < w->n; from += STRETCH)
        stretch(w, &k, from, w->n - from < STRETCH ? w->n - from : STRETCH);
    return true;
}
