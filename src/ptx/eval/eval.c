/* What one instruction computes, for many threads. In: lanes of its sources; out: lanes
 * of its results; and whether it can be computed at all. */
#include "ptx/eval/eval.h"

#include <string.h>

#include "ptx/eval/lanes.h"

/* ---- leaves ---- */

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

/* ---- literals ---- */

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

/* ---- moves of vectors ---- */

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

/* ---- the whole ---- */

static bool compute(const ft__ptx_lanes *w)
{
    if (w->kind == FT__KIND_FLOAT && ft__ptx_eval_float(w))
        return true;
    return ft__ptx_eval_logic(w) || ft__ptx_eval_int(w) || ft__ptx_eval_convert(w);
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
