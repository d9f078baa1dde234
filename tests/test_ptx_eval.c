#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "ptx/eval/eval.h"
#include "ptx/ptx_inside.h"
#include "ptx_kernels.h"

/* Every computable instruction against C that was written for it alone, on the edges of
 * what its operands can be. */

#define U16(x) ((uint16_t)(x))
#define U32(x) ((uint32_t)(x))
#define S16(x) ((int64_t)(int16_t)(x))
#define S24(x) ((int64_t)((int32_t)((uint32_t)(x) << 8) >> 8))
#define S32(x) ((int64_t)(int32_t)(x))
#define S64(x) ((int64_t)(x))
#define F16(x) ((double)ptx_from_half((uint16_t)(x)))

static double F32(uint64_t v)
{
    uint32_t bits = (uint32_t)v;
    float f;

    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static double F64(uint64_t v)
{
    double d;

    memcpy(&d, &v, sizeof d);
    return d;
}

static uint64_t B32(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return isnan(f) ? 0x7fffffff : bits;
}

static uint64_t B64(double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    return isnan(d) ? INT64_MAX : bits;
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* High half of a product of 64 bits, from four products of 32. */
static uint64_t high_by_parts(uint64_t a, uint64_t b)
{
    const uint64_t al = U32(a), ah = a >> 32, bl = U32(b), bh = b >> 32;
    const uint64_t middle = (al * bl >> 32) + U32(al * bh) + U32(ah * bl);

    return ah * bh + (al * bh >> 32) + (ah * bl >> 32) + (middle >> 32);
}

static uint64_t bits_set(uint64_t v)
{
    uint64_t n = 0;

    for (int k = 0; k < 64; k++)
        n += v >> k & 1;
    return n;
}

static uint64_t lut(uint64_t a, uint64_t b, uint64_t c, unsigned table)
{
    uint64_t r = 0;

    for (int k = 0; k < 32; k++)
        r |= (uint64_t)(table >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 + (c >> k & 1)) &
                        1)
             << k;
    return r;
}

/* The highest bit that differs from the sign. */
static uint64_t found(int64_t v, int bits)
{
    for (int k = bits - 1; k >= 0; k--)
        if ((v >> k & 1) != (v < 0))
            return (uint64_t)k;
    return 0xffffffff;
}

static uint64_t reversed(uint64_t v, int bits)
{
    uint64_t r = 0;

    for (int k = 0; k < bits; k++, v >>= 1)
        r = r << 1 | (v & 1);
    return r;
}

/* bfe and bfi bit by bit, as PTX tells it. */
static uint64_t field(uint64_t a, uint64_t b, uint64_t c, int bits, int is_signed)
{
    const int pos = (int)(b & 255), len = (int)(c & 255);
    const int last = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
    const uint64_t sign = is_signed && len > 0 ? a >> last & 1 : 0;
    uint64_t r = 0;

    for (int k = 0; k < bits; k++)
        r |= (k < len && pos + k < bits ? a >> (pos + k) & 1 : sign) << k;
    return r;
}

static uint64_t put_field(uint64_t a, uint64_t b, uint64_t c, uint64_t d, int bits)
{
    const int pos = (int)(c & 255), len = (int)(d & 255);

    for (int k = 0; k < len && pos + k < bits; k++) {
        b &= ~((uint64_t)1 << (pos + k));
        b |= (a >> k & 1) << (pos + k);
    }
    return b;
}

static uint64_t nth(uint64_t mask, int base, int n)
{
    int left = abs(n);

    for (int k = base; k >= 0 && k<32; k += n> 0 ? 1 : -1)
        if ((mask >> k & 1) && --left == 0)
            return (uint64_t)k;
    return 0xffffffff;
}

static uint64_t permuted(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t r = 0;

    for (int k = 0; k < 4; k++) {
        const unsigned s = c >> 4 * k & 15;
        const unsigned v = (unsigned)((s & 4 ? b : a) >> 8 * (s & 3)) & 255;

        r |= (uint64_t)(s & 8 ? (v >= 128 ? 255 : 0) : v) << 8 * k;
    }
    return r;
}

static double flush(double x)
{
    return fabs(x) < 0x1p-126 ? copysign(0, x) : x;
}

/* To the nearest integer, of two the even one, without the machine's mode. */
static double even(double x)
{
    const double low = floor(x), rest = x - low;

    if (rest > 0.5 || (rest == 0.5 && fmod(low, 2) != 0))
        return copysign(low + 1, x);
    return low == 0 ? copysign(low, x) : low;
}

/* Saturating; of NaN zero, or the lowest number's bits where `wide`. */
static uint64_t to_int(double x, int bits, int is_signed, int wide)
{
    const double top = ldexp(1, is_signed ? bits - 1 : bits);
    const uint64_t m = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;

    if (isnan(x))
        return wide ? (uint64_t)1 << (bits - 1) : 0;
    if (x >= top)
        return is_signed ? m >> 1 : m;
    if (x < (is_signed ? -top : 0))
        return is_signed ? (m >> 1) + 1 : 0;
    return (x < 0 ? 0 - (uint64_t)-x : (uint64_t)x) & m;
}

static float toward_zero(double x)
{
    const float f = (float)x;

    return fabs((double)f) > fabs(x) ? nextafterf(f, 0) : f;
}

static float upward(double x)
{
    const float f = (float)x;

    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

/* Rounding down a sum of zero from numbers with both signs is -0. */
static uint64_t down_sum(double a, double b)
{
    const double s = a + b;

    return s == 0 && (signbit(a) || signbit(b)) ? 0x80000000 : B32(-upward(-s));
}

static double least(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    return a < b || (a == b && signbit(a)) ? a : b;
}

/* Among all halves, which lie in the order of their bits. */
static uint64_t nearest_half(double x)
{
    const uint64_t sign = signbit(x) ? 0x8000 : 0;
    const double a = fabs(x);
    uint16_t low = 0, high = 0x7c00;

    if (isnan(x))
        return 0x7fff;
    if (a >= 65520)
        return sign | 0x7c00;
    while (high - low > 1) {
        const uint16_t middle = (uint16_t)((low + high) / 2);

        if (F16(middle) <= a)
            low = middle;
        else
            high = middle;
    }
    if (high == 0x7c00)
        return sign | low;
    if (a - F16(low) > F16(high) - a || (a - F16(low) == F16(high) - a && (low & 1)))
        low = high;
    return sign | low;
}

static uint64_t relu_half(uint64_t h)
{
    return (h & 0x7fff) <= 0x7c00 && (h >> 15) ? 0 : h;
}

/* Doubles lose something of a x b + c, which matters only if it breaks a tie. */
static uint64_t nearest_bf16_fma(uint64_t a, uint64_t b, uint64_t c)
{
    const double p = (double)ptx_from_bf16(U16(a)) * (double)ptx_from_bf16(U16(b));
    const double z = (double)ptx_from_bf16(U16(c)), s = p + z;
    const double big = fabs(p) > fabs(z) ? p : z, small = fabs(p) > fabs(z) ? z : p;
    const double lost = small - (s - big);
    uint64_t low, r;

    if (!isfinite(s))
        return isnan(s) ? 0x7fff : s < 0 ? 0xff80 : 0x7f80;
    r = B64(fabs(s));
    if (lost != 0 && (r & 0xffffffff) == 0) /* on a tie, as far as doubles see */
        r += (lost > 0) == (s > 0) ? 1 : -(uint64_t)1;
    if (fabs(s) < 0x1p-126) { /* multiples of 2^-133 */
        low = (uint64_t)even(ldexp(fabs(s), 133));
        return low | (signbit(s) ? 0x8000 : 0);
    }
    low = r >> 45 << 45;
    r = r - low > (uint64_t)1 << 44 || (r - low == (uint64_t)1 << 44 && (low >> 45 & 1))
            ? low + ((uint64_t)1 << 45)
            : low;
    if (F64(r) >= 0x1p128)
        return signbit(s) ? 0xff80 : 0x7f80;
    return B32((float)F64(r)) >> 16 | (signbit(s) ? 0x8000 : 0);
}

/* What instructions are tried on. */

typedef enum values { INT, FLOAT, SIMPLE, PAIR } values;

static const uint64_t ints[] = {0,
                                1,
                                2,
                                3,
                                5,
                                7,
                                8,
                                15,
                                16,
                                17,
                                31,
                                32,
                                33,
                                63,
                                64,
                                65,
                                100,
                                127,
                                128,
                                255,
                                256,
                                259,
                                32767,
                                32768,
                                65535,
                                65536,
                                0x12345678,
                                0x7fffffff,
                                0x80000000,
                                0x80000001,
                                0xfffffff9,
                                0xfffffffe,
                                0xffffffff,
                                0x100000000,
                                0x123456789abcdef0,
                                0x7fffffffffffffff,
                                0x8000000000000000,
                                0xffffffff80000000,
                                0xffffffffffffffff};
static const uint64_t floats[] = {
    0,          0x80000000, 1,          0x80000003, 0x007fffff, 0x00800000, 0x3f800000,
    0xbf800000, 0x3f800001, 0x3f7fffff, 0x3f000000, 0x40200000, 0xc0200000, 0x3fc00000,
    0x4b7fffff, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x7f7fffff,
    0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x477fefff, 0x477ff000, 0x33000000,
    0x38801000, 0x3dcccccd, 0x42f6e979};
static const uint64_t doubles[] = {0,
                                   0x8000000000000000,
                                   1,
                                   0x3ff0000000000000,
                                   0xbff0000000000000,
                                   0x3ff0000000000001,
                                   0x3fe0000000000000,
                                   0x4004000000000000,
                                   0x41dfffffffc00000,
                                   0x41efffffffe00000,
                                   0xc1e0000000000000,
                                   0x43e0000000000000,
                                   0x43f0000000000000,
                                   0x7fefffffffffffff,
                                   0x7ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff8000000000000,
                                   0x36a0000000000000,
                                   0x3810000000000001,
                                   0x47efffffe0000000,
                                   0x47effffff0000000,
                                   0x3ff0000010000000,
                                   0x3ff0000030000000};
static const uint64_t halves[] = {0,      0x8000, 1,      0x8001, 0x03ff, 0x0400,
                                  0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x3800, 0x4100,
                                  0xc100, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00,
                                  0x2e66, 0x57b7, 0x0555};
static const uint64_t simple[] = {0,          0x3f800000, 0xbf800000, 0x3f800001,
                                  0xbf800003, 0x3fffffff, 0x40490fdb, 0xc0490fdb,
                                  0x3dcccccd, 0x42f6e979, 0x3eaaaaab, 0xbeaaaaab};
static const uint64_t pairs[] = {0,          0x3c003c01, 0x00010400,
                                 0x7bff7bff, 0xfc003800, 0x7e00c100,
                                 0x03ff8001, 0x2e6657b7, 0xbc000555};

#define LIST(a)                                                                        \
    (list)                                                                             \
    {                                                                                  \
        a, sizeof(a) / sizeof *(a)                                                     \
    }

typedef struct list {
    const uint64_t *v;
    uint32_t n;
} list;

static list list_of(values kind, unsigned type)
{
    if (type == FT__TYPE_PRED)
        return (list){ints, 2};
    switch (kind) {
    case INT: return LIST(ints);
    case SIMPLE: return LIST(simple);
    case PAIR: return LIST(pairs);
    default: break;
    }
    return ft__ptx_type_bits(type) == 16   ? LIST(halves)
           : ft__ptx_type_bits(type) == 32 ? LIST(floats)
                                           : LIST(doubles);
}

static uint64_t low_bits(uint64_t v, unsigned type)
{
    const uint32_t bits = ft__ptx_type_bits(type);

    return bits >= 64 ? v : v & (((uint64_t)1 << bits) - 1);
}

enum { MOST = 64 * 1024 };

typedef struct trial {
    uint64_t *a[5], *d[4];
    uint32_t reg[3], n_regs, lanes; /* sources that are registers */
    ft__ptx_leaves leaf;
} trial;

/* All combinations of values, one a lane. */
static void fill(trial *t, const ft__ptx_function *f, const ft__ptx_insn *i,
                 values kind)
{
    list l[3];

    t->n_regs = 0;
    t->lanes = 1;
    ft__ptx_leaves_of(&t->leaf, f, i);
    for (uint32_t s = 0; s < t->leaf.n_s; s++)
        if (t->leaf.s[s]->kind == FT__PTX_REG && t->n_regs < 3) {
            l[t->n_regs] = list_of(kind, f->reg[t->leaf.s[s]->index].type);
            t->lanes *= l[t->n_regs].n;
            t->reg[t->n_regs++] = s;
        }
    for (uint32_t s = 0; s < t->leaf.n_s; s++)
        for (uint32_t lane = 0; lane < t->lanes; lane++)
            t->a[s][lane] = ft__ptx_literal(i, t->leaf.s[s]);
    for (uint32_t lane = 0; lane < t->lanes; lane++)
        for (uint32_t r = 0, rest = lane; r < t->n_regs; rest /= l[r++].n)
            t->a[t->reg[r]][lane] = low_bits(l[r].v[rest % l[r].n],
                                             f->reg[t->leaf.s[t->reg[r]]->index].type);
}

/* NaN may have any bits but those of a number. */
static int same(uint64_t got, uint64_t want, unsigned type, int floats_only)
{
    const uint32_t bits = ft__ptx_type_bits(type);

    if (got == want)
        return 1;
    return floats_only && bits == 64 && isnan(F64(got)) && isnan(F64(want));
}

typedef uint64_t oracle(uint64_t A, uint64_t B, uint64_t C);

static uint32_t destination(const trial *t)
{
    return t->leaf.n_d > 1 && t->leaf.d[0]->kind == FT__PTX_SINK ? 1 : 0;
}

static void compare(const trial *t, const ft__ptx_function *f, const char *text,
                    oracle *want, uint64_t *const before[3])
{
    const uint32_t d = destination(t);
    const unsigned type = f->reg[t->leaf.d[d]->index].type;
    int shown = 0;

    for (uint32_t lane = 0; lane < t->lanes && shown < 2; lane++) {
        uint64_t v[3] = {0, 0, 0}, w;

        for (uint32_t r = 0; r < t->n_regs; r++)
            v[r] = before[r][lane];
        w = want(v[0], v[1], v[2]);
        if (same(t->d[d][lane], w, type, type == FT__TYPE_F64))
            continue;
        shown++;
        check_failed++;
        fprintf(stderr, "%s of 0x%llx, 0x%llx, 0x%llx is 0x%llx, want 0x%llx\n", text,
                (unsigned long long)v[0], (unsigned long long)v[1],
                (unsigned long long)v[2], (unsigned long long)t->d[d][lane],
                (unsigned long long)w);
    }
}

/* Once into other memory, once over the first source of the same width. */
static void try_instruction(trial *t, const ft__ptx_function *f, const ft__ptx_insn *i,
                            values kind, const char *text, oracle *want)
{
    uint64_t *before[3];
    uint64_t *const kept = t->d[0];

    if (!ft__ptx_computable(f, i)) {
        fprintf(stderr, "%s: not computable\n", text);
        check_failed++;
        return;
    }
    fill(t, f, i, kind);
    for (uint32_t r = 0; r < t->n_regs; r++) {
        before[r] = malloc(MOST * sizeof *before[r]);
        memcpy(before[r], t->a[t->reg[r]], t->lanes * sizeof *before[r]);
    }
    ft__ptx_eval(t->d, f, i, (const uint64_t *const *)t->a, t->lanes);
    compare(t, f, text, want, before);
    if (t->n_regs > 0 && t->leaf.n_d == 1) {
        t->d[0] = t->a[t->reg[t->n_regs - 1]];
        ft__ptx_eval(t->d, f, i, (const uint64_t *const *)t->a, t->lanes);
        compare(t, f, text, want, before);
        t->d[0] = kept;
    }
    for (uint32_t r = 0; r < t->n_regs; r++)
        free(before[r]);
}

typedef struct eval_case {
    const char *text;
    values kind;
    oracle *want;
} eval_case;

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define PTX_EVAL(text, kind, result)                                                   \
    static uint64_t CONCAT(want_, __LINE__)(uint64_t A, uint64_t B, uint64_t C)        \
    {                                                                                  \
        (void)A;                                                                       \
        (void)B;                                                                       \
        (void)C;                                                                       \
        return (uint64_t)(result);                                                     \
    }
#include "ptx_eval_cases.def"
#undef PTX_EVAL

static const eval_case cases[] = {
#define PTX_EVAL(text, kind, result) {text, kind, CONCAT(want_, __LINE__)},
#include "ptx_eval_cases.def"
#undef PTX_EVAL
};

enum { CASES = sizeof cases / sizeof *cases };

/* All instructions as one kernel. */
static ft_ptx *parse(void)
{
    static char text[64 * 1024];
    const size_t size = sizeof text;
    ft_error err = {0};
    ft_ptx *m;
    int n = snprintf(text, size,
                     ".version 8.5\n.target sm_90\n.address_size 64\n.entry k() {\n"
                     ".reg .pred %%p<4>; .reg .b16 %%h<4>; .reg .b32 %%r<4>;\n"
                     ".reg .f32 %%f<4>; .reg .f64 %%d<4>; .reg .b64 %%l<4>;\n");

    for (int k = 0; k < CASES; k++)
        n += snprintf(text + n, size - (size_t)n, "%s;\n", cases[k].text);
    snprintf(text + n, size - (size_t)n, "}\n");
    CHECK_EQ(ft__ptx_parse(&m, text, strlen(text), "cases", &err), FT_OK);
    CHECK(SAME(err.msg, ""));
    return m;
}

TEST(instructions_compute_what_c_does)
{
    ft_ptx *m = parse();
    const ft__ptx_function *f = m ? &m->function[m->kernel_function[0]] : NULL;
    trial t;

    for (int k = 0; k < 5; k++)
        t.a[k] = malloc(MOST * sizeof **t.a);
    for (int k = 0; k < 4; k++)
        t.d[k] = malloc(MOST * sizeof **t.d);
    CHECK(f && EQ(f->n_insns, CASES));
    for (uint32_t k = 0; f && k < CASES && k < f->n_insns; k++)
        try_instruction(&t, f, &f->insn[k], cases[k].kind, cases[k].text,
                        cases[k].want);
    for (int k = 0; k < 5; k++)
        free(t.a[k]);
    for (int k = 0; k < 4; k++)
        free(t.d[k]);
    ft__ptx_free(m);
}

TEST(memory_lanes_and_clocks_are_not_computable)
{
    static const char text[] =
        ".version 8.5\n.target sm_90\n.address_size 64\n.entry k() {\n"
        ".reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %l<4>;\n"
        "ld.global.u32 %r0, [%l0];\nst.global.u32 [%l0], %r0;\n"
        "atom.global.add.u32 %r0, [%l0], %r1;\nmov.u32 %r0, %clock;\n"
        "shfl.sync.idx.b32 %r0, %r1, 0, 31, -1;\naddc.u32 %r0, %r1, %r2;\n"
        "activemask.b32 %r0;\nbar.sync 0;\nmov.u64 %l0, %globaltimer;\nret;\n}\n";
    const ft__ptx_function *f;
    ft_ptx *m;

    CHECK_EQ(ft__ptx_parse(&m, text, sizeof text - 1, "not", NULL), FT_OK);
    f = &m->function[m->kernel_function[0]];
    for (uint32_t k = 0; k < f->n_insns; k++)
        CHECK(!ft__ptx_computable(f, &f->insn[k]));
    ft__ptx_free(m);
}
