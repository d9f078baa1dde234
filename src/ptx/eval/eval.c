/* What one instruction computes, for many threads: bitwise operations, shifts,
 * selections, moves and comparisons here, arithmetic in other files. In: lanes of its
 * sources; out: lanes of its results, predicates or masks; and whether it can be
 * computed at all. */
#include "ptx/eval/eval.h"

#include <math.h>
#include <string.h>

#include "ptx/eval/lanes.h"

#define EACH FT__PTX_EACH

static void add_leaf(ft__ptx_leaves *out, const ft__ptx_operand *o, bool destination)
{
    if (destination && out->n_d < sizeof out->d / sizeof *out->d)
        out->d[out->n_d++] = o;
    else if (!destination && out->n_s < sizeof out->s / sizeof *out->s)
        out->s[out->n_s++] = o;
}

/* Trees are as deep as brackets can nest: [a, {x, y}] and (a, b). */
static void walk(ft__ptx_leaves *out, const ft__ptx_function *f,
                 const ft__ptx_operand *o, bool destination, unsigned depth)
{
    switch (o->kind) {
    case FT__PTX_ADDRESS:
        destination = false;
        /* fall through */
    case FT__PTX_VECTOR:
    case FT__PTX_LIST:
    case FT__PTX_PAIR:
        for (uint32_t k = 0; k < (o->n > 0 ? o->n : 1) && depth < 4; k++)
            walk(out, f, &f->operand[o->index + k], destination, depth + 1);
        break;
    case FT__PTX_LABEL:
    case FT__PTX_TARGETS:
    case FT__PTX_FUNCTION: break;
    default: add_leaf(out, o, destination); break;
    }
}

/* Instructions whose first operand, though a register, is read. */
static bool only_reads(const ft__ptx_function *f, const ft__ptx_insn *i)
{
    switch (i->opcode) {
    case FT__PTX_BAR:
    case FT__PTX_BARRIER: return !ft__ptx_has(f, i, FT__MOD_RED);
    case FT__PTX_CALL: return f->operand[i->operands].kind != FT__PTX_LIST;
    case FT__PTX_BRA:
    case FT__PTX_BRX:
    case FT__PTX_NANOSLEEP:
    case FT__PTX_SETMAXNREG:
    case FT__PTX_PMEVENT:
    case FT__PTX_STACKRESTORE:
    case FT__PTX_RET:
    case FT__PTX_EXIT: return true;
    case FT__PTX_TCGEN05: return !ft__ptx_has(f, i, FT__MOD_LD);
    default: return false;
    }
}

void ft__ptx_leaves_of(ft__ptx_leaves *out, const ft__ptx_function *f,
                       const ft__ptx_insn *i)
{
    bool destination = i->n_operands > 0 && !only_reads(f, i);

    out->n_d = out->n_s = 0;
    for (uint32_t k = 0; k < i->n_operands; k++) {
        const ft__ptx_operand *o = &f->operand[i->operands + k];

        if (o->kind == FT__PTX_FUNCTION && i->opcode == FT__PTX_MOV)
            add_leaf(out, o, false);
        else
            walk(out, f, o, destination, 0);
        destination = false;
    }
}

static uint64_t as_type(unsigned type, const ft__ptx_operand *o)
{
    const unsigned written = o->width == 32 ? FT__TYPE_F32 : FT__TYPE_F64;
    const double v = ft__ptx_to_double(written, o->bits);

    if (type == written)
        return o->bits;
    return ft__ptx_from_double(ft__ptx_is_float(type) ? type : written, v,
                               FT__ROUND_NEAREST, false);
}

uint64_t ft__ptx_literal(const ft__ptx_insn *i, const ft__ptx_operand *leaf)
{
    unsigned type = i->type[0];

    if (leaf->kind != FT__PTX_FLOAT)
        return leaf->bits;
    if (i->n_types > 1 && (i->opcode == FT__PTX_CVT || i->opcode == FT__PTX_SET))
        type = i->type[1];
    return as_type(type, leaf);
}

static bool pack_or_unpack(const ft__ptx_function *f, const ft__ptx_insn *i)
{
    return i->opcode == FT__PTX_MOV && i->n_operands == 2 &&
           (f->operand[i->operands].kind == FT__PTX_VECTOR ||
            f->operand[i->operands + 1].kind == FT__PTX_VECTOR);
}

static void repack(uint64_t *const *d, uint32_t n_d, uint32_t bits,
                   const uint64_t *const *a, uint32_t n_a, uint32_t lanes)
{
    const uint32_t each = bits / (n_d > n_a ? n_d : n_a);
    const uint64_t m = ft__ptx_mask(each);

    for (uint32_t l = 0; l < lanes; l++) {
        uint64_t v = n_a == 1 ? a[0][l] : 0;

        for (uint32_t k = 0; k < n_a && n_a > 1; k++)
            v |= (a[k][l] & m) << k * each;
        for (uint32_t k = 0; k < n_d; k++)
            d[k][l] = n_d == 1 ? v : v >> k * each & m;
    }
}

static bool bitwise(const ft__ptx_lanes *w)
{
    const uint64_t m = ft__ptx_mask(w->bits);

    switch (w->i->opcode) {
    case FT__PTX_AND: EACH(w, A & B & m); break;
    case FT__PTX_OR: EACH(w, (A | B) & m); break;
    case FT__PTX_XOR: EACH(w, (A ^ B) & m); break;
    case FT__PTX_NOT: EACH(w, ~A & m); break;
    default: EACH(w, (A & m) == 0); break;
    }
    return true;
}

/* The amount when all lanes shift by the same: the vectors of most processors know no
 * other shift. */
static bool same_amount(uint64_t *out, const ft__ptx_lanes *w)
{
    uint64_t differ = 0;

    *out = (uint32_t)w->b[0];
    for (uint32_t l = 1; l < w->n; l++)
        differ |= w->b[l] ^ w->b[0];
    return (uint32_t)differ == 0;
}

static void shift_left_by(const ft__ptx_lanes *w, uint64_t by)
{
    const uint64_t m = ft__ptx_mask(w->bits);

    if (by >= w->bits)
        EACH(w, A & 0);
    else
        EACH(w, A << by & m);
}

static void shift_right_by(const ft__ptx_lanes *w, uint64_t by)
{
    const uint64_t m = ft__ptx_mask(w->bits);
    const uint64_t most = by >= w->bits ? w->bits - 1 : by;

    if (w->kind == FT__KIND_SIGNED && w->bits == 32)
        EACH(w, (uint32_t)((int32_t)A >> most));
    else if (w->kind == FT__KIND_SIGNED)
        EACH(w, (uint64_t)(ft__ptx_signed(A, w->bits) >> most) & m);
    else if (by >= w->bits)
        EACH(w, A & 0);
    else
        EACH(w, (A & m) >> by);
}

/* Amounts beyond the width shift everything out. */
static uint64_t shifted_left(uint64_t a, uint64_t by, uint32_t bits)
{
    return (uint32_t)by >= bits ? 0 : a << (uint32_t)by & ft__ptx_mask(bits);
}

static uint64_t shifted_right(uint64_t a, uint64_t by, uint32_t bits, bool is_signed)
{
    const uint64_t m = ft__ptx_mask(bits);
    const uint32_t s = (uint32_t)by;

    if (is_signed)
        return (uint64_t)(ft__ptx_signed(a, bits) >> (s >= bits ? bits - 1 : s)) & m;
    return s >= bits ? 0 : (a & m) >> s;
}

static bool shift(const ft__ptx_lanes *w)
{
    const uint32_t bits = w->bits;
    const bool left = w->i->opcode == FT__PTX_SHL, s = w->kind == FT__KIND_SIGNED;
    uint64_t by;

    if (w->n == 0)
        return true;
    if (same_amount(&by, w)) {
        if (left)
            shift_left_by(w, by);
        else
            shift_right_by(w, by);
    } else if (left) {
        EACH(w, shifted_left(A, B, bits));
    } else {
        EACH(w, shifted_right(A, B, bits, s));
    }
    return true;
}

/* {b, a} as 64 bits, shifted; the high half of a left shift, the low of a right one. */
static bool funnel(const ft__ptx_lanes *w)
{
    const bool clamp = ft__ptx_lanes_has(w, FT__MOD_CLAMP);
    const bool left = ft__ptx_lanes_has(w, FT__MOD_L);
    const uint32_t m = clamp ? ~(uint32_t)0 : 31;

#define AMOUNT (((uint32_t)C & m) > 32 ? 32 : ((uint32_t)C & m))
#define BOTH ((uint64_t)(uint32_t)B << 32 | (uint32_t)A)
    if (left)
        EACH(w, (uint32_t)(BOTH << AMOUNT >> 32));
    else
        EACH(w, (uint32_t)(BOTH >> AMOUNT));
#undef AMOUNT
#undef BOTH
    return true;
}

/* p = (d != 0) op q, of lop3.op d|p. */
static void lop3_predicate(const ft__ptx_lanes *w, const uint64_t *q)
{
    const unsigned op = ft__ptx_lanes_has(w, FT__MOD_OR)    ? FT__MOD_OR
                        : ft__ptx_lanes_has(w, FT__MOD_XOR) ? FT__MOD_XOR
                                                            : FT__MOD_AND;

    for (uint32_t l = 0; l < w->n; l++) {
        const uint64_t p = w->d[l] != 0;

        w->q[l] = op == FT__MOD_OR ? p | q[l] : op == FT__MOD_XOR ? p ^ q[l] : p & q[l];
    }
}

static bool lop3(const ft__ptx_lanes *w, const uint64_t *q)
{
    const uint64_t table = w->n > 0 ? w->e[0] : 0;
    uint64_t m[8];

    for (unsigned k = 0; k < 8; k++)
        m[k] = table >> k & 1 ? 0xffffffff : 0;
    EACH(w,
         (~A & ((~B & ((~C & m[0]) | (C & m[1]))) | (B & ((~C & m[2]) | (C & m[3]))))) |
             (A &
              ((~B & ((~C & m[4]) | (C & m[5]))) | (B & ((~C & m[6]) | (C & m[7]))))));
    if (q != NULL)
        lop3_predicate(w, q);
    return true;
}

static bool select_by(const ft__ptx_lanes *w)
{
    const uint64_t m = ft__ptx_mask(w->bits);

    if (w->i->opcode == FT__PTX_SELP)
        EACH(w, (B ^ ((A ^ B) & (0 - C))) & m);
    else if (w->i->type[1] == FT__TYPE_S32)
        EACH(w, ((int32_t)C >= 0 ? A : B) & m);
    else /* floats: -0 is not less than 0, NaN not more */
        EACH(w, (ft__ptx_to_double(FT__TYPE_F32, C) >= 0 ? A : B) & m);
    return true;
}

static bool move(const ft__ptx_lanes *w)
{
    const uint64_t m = ft__ptx_mask(w->bits);

    EACH(w, A & m);
    return true;
}

/* The comparison among the words: FT__MOD_EQ .. FT__MOD_NUM, FT__MOD_COMPARE_NAN. */
static unsigned comparison(const ft__ptx_lanes *w)
{
    for (uint32_t k = 0; k < w->i->n_mods; k++) {
        const unsigned mod = w->f->mod[w->i->mods + k];

        if ((mod >= FT__MOD_EQ && mod <= FT__MOD_NUM) || mod == FT__MOD_COMPARE_NAN)
            return mod;
    }
    return FT__MOD_EQ;
}

/* Results for a < b and a == b of 32-bit numbers as unsigned ones, without a branch and
 * without a comparison, so that any vector unit will do: bit 63 of a difference. */
#define LESS32(x, y) (((uint64_t)(uint32_t)(x) - (uint64_t)(uint32_t)(y)) >> 63)
#define SAME(x, y, m) (((((x) ^ (y)) & (m)) - 1) >> 63 & 1)

static void less(const ft__ptx_lanes *w, bool is_signed)
{
    if (w->bits == 32 && is_signed)
        EACH(w, LESS32(A ^ 0x80000000, B ^ 0x80000000));
    else if (w->bits == 32)
        EACH(w, LESS32(A, B));
    else if (w->bits == 16)
        EACH(w, is_signed ? (int16_t)A < (int16_t)B : (uint16_t)A < (uint16_t)B);
    else if (is_signed)
        EACH(w, (int64_t)A < (int64_t)B);
    else
        EACH(w, A < B);
}

static void same(const ft__ptx_lanes *w)
{
    const uint64_t m = ft__ptx_mask(w->bits);

    if (w->bits < 64)
        EACH(w, SAME(A, B, m));
    else
        EACH(w, A == B);
}

static void invert(const ft__ptx_lanes *w)
{
    ft__ptx_lanes r = *w;

    r.a = w->d;
    EACH(&r, A ^ 1);
}

static void compare_integers(const ft__ptx_lanes *w, unsigned how)
{
    const bool s = w->kind == FT__KIND_SIGNED;
    ft__ptx_lanes r = *w; /* a > b is b < a */

    r.a = w->b;
    r.b = w->a;
    switch (how) {
    case FT__MOD_EQ:
    case FT__MOD_NE: same(w); break;
    case FT__MOD_LT:
    case FT__MOD_GE: less(w, s); break;
    case FT__MOD_LO:
    case FT__MOD_HS: less(w, false); break;
    case FT__MOD_GT:
    case FT__MOD_LE: less(&r, s); break;
    default: less(&r, false); break; /* hi, ls */
    }
    if (how == FT__MOD_NE || how == FT__MOD_GE || how == FT__MOD_HS ||
        how == FT__MOD_LE || how == FT__MOD_LS)
        invert(w);
}

static bool compare_two(double a, double b, unsigned how)
{
    const bool unordered = isnan(a) || isnan(b);

    switch (how) {
    case FT__MOD_EQ: return a == b;
    case FT__MOD_NE: return !unordered && a != b;
    case FT__MOD_LT: return a < b;
    case FT__MOD_LE: return a <= b;
    case FT__MOD_GT: return a > b;
    case FT__MOD_GE: return a >= b;
    case FT__MOD_EQU: return unordered || a == b;
    case FT__MOD_NEU: return a != b;
    case FT__MOD_LTU: return !(a >= b);
    case FT__MOD_LEU: return !(a > b);
    case FT__MOD_GTU: return !(a <= b);
    case FT__MOD_GEU: return !(a < b);
    case FT__MOD_NUM: return !unordered;
    default: return unordered;
    }
}

static void compare_floats(uint64_t *d, const ft__ptx_lanes *w, unsigned type,
                           unsigned how, uint32_t shift)
{
    const bool ftz = ft__ptx_lanes_has(w, FT__MOD_FTZ) && type == FT__TYPE_F32;

    for (uint32_t l = 0; l < w->n; l++)
        d[l] = compare_two(
            ft__ptx_flushed(ft__ptx_to_double(type, w->a[l] >> shift), ftz),
            ft__ptx_flushed(ft__ptx_to_double(type, w->b[l] >> shift), ftz), how);
}

/* p = comparison op c, q = the comparison's opposite op c. c NULL: no op. */
static void combine(const ft__ptx_lanes *w, uint64_t *p, uint64_t *q, const uint64_t *c)
{
    const bool either = ft__ptx_lanes_has(w, FT__MOD_OR);
    const bool differ = ft__ptx_lanes_has(w, FT__MOD_XOR);

    for (uint32_t l = 0; l < w->n; l++) {
        const uint64_t t = p[l], not_t = t ^ 1, k = c != NULL ? c[l] : 1;

        p[l] = c == NULL ? t : either ? t | k : differ ? t ^ k : t & k;
        if (q != NULL)
            q[l] = c == NULL ? not_t
                   : either  ? not_t | k
                   : differ  ? not_t ^ k
                             : not_t & k;
    }
}

static bool set_predicate(const ft__ptx_lanes *w, const uint64_t *third)
{
    const unsigned type = w->i->type[0], how = comparison(w);
    const bool two = type == FT__TYPE_F16X2 || type == FT__TYPE_BF16X2;
    const unsigned half = type == FT__TYPE_F16X2 ? FT__TYPE_F16 : FT__TYPE_BF16;

    if (two && w->n > 0) { /* p of the low halves, q of the high ones */
        compare_floats(w->q, w, half, how, 16);
        compare_floats(w->d, w, half, how, 0);
        combine(w, w->q, NULL, third);
        combine(w, w->d, NULL, third);
        return true;
    }
    if (w->kind == FT__KIND_FLOAT) {
        if (!two && !ft__ptx_is_float(type))
            return false;
        compare_floats(w->d, w, type, how, 0);
    } else {
        compare_integers(w, how);
    }
    combine(w, w->d, w->q, third);
    return true;
}

/* What stands for true: all bits of an integer, one of a float. */
static uint64_t truth(unsigned type)
{
    switch (type) {
    case FT__TYPE_F32: return 0x3f800000;
    case FT__TYPE_F16: return 0x3c00;
    case FT__TYPE_BF16: return 0x3f80;
    default: return ft__ptx_mask(ft__ptx_type_bits(type));
    }
}

static bool set_halves(const ft__ptx_lanes *w)
{
    const bool f16 = w->i->type[1] == FT__TYPE_F16X2;
    const unsigned half = f16 ? FT__TYPE_F16 : FT__TYPE_BF16, how = comparison(w);
    const uint64_t yes = w->i->type[0] == FT__TYPE_F16X2    ? 0x3c00
                         : w->i->type[0] == FT__TYPE_BF16X2 ? 0x3f80
                                                            : 0xffff;

    if (w->sources != 2)
        return false;
    for (uint32_t l = 0; l < w->n; l++) {
        const double al = ft__ptx_to_double(half, w->a[l]),
                     bl = ft__ptx_to_double(half, w->b[l]);
        const double ah = ft__ptx_to_double(half, w->a[l] >> 16);
        const double bh = ft__ptx_to_double(half, w->b[l] >> 16);

        w->d[l] = (compare_two(al, bl, how) ? yes : 0) |
                  (compare_two(ah, bh, how) ? yes << 16 : 0);
    }
    return true;
}

static bool set(const ft__ptx_lanes *w, const uint64_t *third)
{
    const unsigned type = w->i->type[1];
    const uint64_t yes = truth(w->i->type[0]);
    ft__ptx_lanes r = *w;

    if (type == FT__TYPE_F16X2 || type == FT__TYPE_BF16X2)
        return set_halves(w);
    r.bits = ft__ptx_type_bits(type);
    r.kind = ft__ptx_type_kind(type);
    if (r.kind == FT__KIND_FLOAT && !ft__ptx_is_float(type))
        return false;
    if (r.kind == FT__KIND_FLOAT)
        compare_floats(w->d, w, type, comparison(w), 0);
    else
        compare_integers(&r, comparison(w));
    combine(w, w->d, NULL, third);
    r.a = w->d;
    EACH(&r, yes & (0 - A));
    return true;
}

static bool is_such(const ft__ptx_lanes *w, double x, double least)
{
    if (ft__ptx_lanes_has(w, FT__MOD_FINITE))
        return isfinite(x);
    if (ft__ptx_lanes_has(w, FT__MOD_INFINITE))
        return isinf(x);
    if (ft__ptx_lanes_has(w, FT__MOD_NUMBER))
        return !isnan(x);
    if (ft__ptx_lanes_has(w, FT__MOD_NOTANUMBER))
        return isnan(x);
    if (ft__ptx_lanes_has(w, FT__MOD_NORMAL))
        return isfinite(x) && fabs(x) >= least;
    return fabs(x) < least && x != 0;
}

static bool test_float(const ft__ptx_lanes *w)
{
    const unsigned type = w->i->type[0];
    const double least = type == FT__TYPE_F32 ? 0x1p-126 : 0x1p-1022;

    if (!ft__ptx_is_float(type))
        return false;
    for (uint32_t l = 0; l < w->n; l++)
        w->d[l] = is_such(w, ft__ptx_to_double(type, w->a[l]), least);
    return true;
}

static bool logic(const ft__ptx_lanes *w)
{
    switch (w->i->opcode) {
    case FT__PTX_AND:
    case FT__PTX_OR:
    case FT__PTX_XOR:
    case FT__PTX_NOT:
    case FT__PTX_CNOT: return bitwise(w);
    case FT__PTX_SHL:
    case FT__PTX_SHR: return shift(w);
    case FT__PTX_SHF: return funnel(w);
    case FT__PTX_LOP3: return lop3(w, w->o);
    case FT__PTX_SELP:
    case FT__PTX_SLCT: return select_by(w);
    case FT__PTX_MOV: return move(w);
    case FT__PTX_SETP: return set_predicate(w, w->sources > 2 ? w->c : NULL);
    case FT__PTX_SET: return set(w, w->sources > 2 ? w->c : NULL);
    case FT__PTX_TESTP: return test_float(w);
    default: return false;
    }
}

static bool compute(const ft__ptx_lanes *w)
{
    return ft__ptx_eval_convert(w) || ft__ptx_eval_float(w) || logic(w) ||
           ft__ptx_eval_int(w);
}

static void begin(ft__ptx_lanes *w, const ft__ptx_function *f, const ft__ptx_insn *i)
{
    const unsigned type = i->type[0];

    memset(w, 0, sizeof *w);
    w->f = f;
    w->i = i;
    w->bits = type == FT__TYPE_NONE ? 64 : ft__ptx_type_bits(type);
    w->kind = type == FT__TYPE_NONE ? FT__KIND_BITS : ft__ptx_type_kind(type);
}

/* Differs from one reading to the next, or from machine to machine. */
static bool is_clock(unsigned sreg)
{
    switch (sreg) {
    case FT__SREG_CLOCK:
    case FT__SREG_CLOCK_HI:
    case FT__SREG_CLOCK64:
    case FT__SREG_GLOBALTIMER:
    case FT__SREG_GLOBALTIMER_LO:
    case FT__SREG_GLOBALTIMER_HI:
    case FT__SREG_SMID:
    case FT__SREG_NSMID:
    case FT__SREG_GRIDID: return true;
    default: return sreg >= FT__SREG_PM0 && sreg <= FT__SREG_PM7_64;
    }
}

static bool reads_only_values(const ft__ptx_leaves *v, const ft__ptx_function *f)
{
    for (uint32_t k = 0; k < v->n_s; k++) {
        const ft__ptx_operand *o = v->s[k];

        if (o->kind == FT__PTX_SPECIAL && is_clock(o->index))
            return false;
        if (o->kind == FT__PTX_REG && ft__ptx_type_bits(f->reg[o->index].type) > 64)
            return false;
    }
    return true;
}

/* Results have a place: both predicates of a comparison of pairs, that of lop3, and all
 * bits of a wide product. */
static bool has_room(const ft__ptx_lanes *w, uint32_t n_d)
{
    const unsigned type = w->i->type[0];

    switch (w->i->opcode) {
    case FT__PTX_SETP:
        return n_d == 2 || (type != FT__TYPE_F16X2 && type != FT__TYPE_BF16X2);
    case FT__PTX_LOP3: return n_d == 2 || w->sources < 5;
    case FT__PTX_MUL:
    case FT__PTX_MAD: return w->bits <= 32 || !ft__ptx_lanes_has(w, FT__MOD_WIDE);
    default: return n_d <= 2;
    }
}

bool ft__ptx_computable(const ft__ptx_function *f, const ft__ptx_insn *i)
{
    ft__ptx_leaves v;
    ft__ptx_lanes w;

    ft__ptx_leaves_of(&v, f, i);
    if (v.n_d == 0 || v.n_s == 0 || v.n_s > 5 || i->vector > 1 ||
        !reads_only_values(&v, f))
        return false;
    begin(&w, f, i);
    w.sources = v.n_s;
    if (w.bits > 64 || (w.kind == FT__KIND_OPAQUE && i->opcode != FT__PTX_MOV))
        return false;
    if (pack_or_unpack(f, i))
        return v.n_d == 1 || v.n_s == 1;
    /* each source is one value */
    return v.n_s + 1 == i->n_operands && has_room(&w, v.n_d) && compute(&w);
}

/* Sources that stand there as !p, turned round in memory of our own, or copied there
 * because p of a setp may be the predicate that is combined with it. */
enum { FEW = 256 };

static void some(ft__ptx_lanes *w, const ft__ptx_leaves *v, uint64_t *const *d,
                 const uint64_t *const *a, uint32_t from, uint32_t n)
{
    const uint64_t *s[5];
    uint64_t own[5][FEW];

    for (uint32_t k = 0; k < 5; k++) {
        const uint32_t at = k < v->n_s ? k : 0;

        s[k] = a[at] + from;
        if (k < v->n_s &&
            (v->s[at]->negated || (w->i->opcode == FT__PTX_SETP && k == 2))) {
            for (uint32_t l = 0; l < n; l++)
                own[k][l] = s[k][l] ^ v->s[at]->negated;
            s[k] = own[k];
        }
    }
    w->a = s[0];
    w->b = s[1];
    w->c = s[2];
    w->e = s[3];
    w->o = v->n_s > 4 ? s[4] : NULL;
    w->d = d[0] + from;
    w->q = v->n_d > 1 ? d[1] + from : NULL;
    w->n = n;
    compute(w);
}

static bool needs_copies(const ft__ptx_lanes *w, const ft__ptx_leaves *v)
{
    bool negated = false;

    for (uint32_t k = 0; k < v->n_s; k++)
        negated |= v->s[k]->negated;
    return negated || (w->i->opcode == FT__PTX_SETP && v->n_s > 2);
}

void ft__ptx_eval(uint64_t *const *d, const ft__ptx_function *f, const ft__ptx_insn *i,
                  const uint64_t *const *a, uint32_t lanes)
{
    ft__ptx_leaves v;
    ft__ptx_lanes w;
    uint32_t most;

    ft__ptx_leaves_of(&v, f, i);
    begin(&w, f, i);
    w.sources = v.n_s;
    if (pack_or_unpack(f, i)) {
        repack(d, v.n_d, w.bits, a, v.n_s, lanes);
        return;
    }
    most = needs_copies(&w, &v) ? FEW : lanes;
    for (uint32_t from = 0; from < lanes; from += most)
        some(&w, &v, d, a, from, lanes - from < most ? lanes - from : most);
}
