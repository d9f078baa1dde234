/* Bitwise operations, shifts, selections and moves. In: lanes of sources; out: lanes of
 * results. */
#include "ptx/eval/lanes.h"

#define EACH FT__PTX_EACH

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

bool ft__ptx_eval_logic(const ft__ptx_lanes *w)
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
    default: return false;
    }
}
