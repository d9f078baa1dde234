#include "ptx/syntax/parse.h"

/* What an operand may be. A register fits a type of its size where either is only bits,
 * both are integers, or they are the same; loads, stores and conversions take wider
 * ones. */

static const ft__ptx_operand *child(const ft__parser *p, const ft__ptx_operand *o,
                                    uint32_t k)
{
    return (const ft__ptx_operand *)p->operands.at + o->index + k;
}

static unsigned reg_type(const ft__parser *p, const ft__ptx_operand *o)
{
    return ((const ft__ptx_reg *)p->regs.at + o->index)->type;
}

static bool is_integer(unsigned type)
{
    const ft__ptx_kind k = ft__ptx_type_kind(type);

    return k == FT__KIND_UNSIGNED || k == FT__KIND_SIGNED;
}

static bool same_sort(unsigned type, unsigned reg)
{
    if (ft__ptx_type_kind(reg) == FT__KIND_BITS)
        return ft__ptx_type_kind(type) != FT__KIND_PRED;
    if (ft__ptx_type_kind(type) == FT__KIND_BITS)
        return ft__ptx_type_kind(reg) != FT__KIND_PRED;
    if (reg == FT__TYPE_F16X2)
        return is_integer(type) || type == FT__TYPE_F16X2;
    if (type == FT__TYPE_U16X2 || type == FT__TYPE_S16X2)
        return false;
    return type == reg || (is_integer(type) && is_integer(reg));
}

static bool fits_register(unsigned type, unsigned reg, bool wider)
{
    const uint32_t want = ft__ptx_type_bits(type), have = ft__ptx_type_bits(reg);

    if (type == FT__TYPE_NONE)
        return true;
    if (type == FT__TYPE_BF16 || type == FT__TYPE_TF32)
        wider = false;
    return (want == have || (wider && have > want)) && same_sort(type, reg);
}

static bool literal(unsigned type, const ft__ptx_operand *o)
{
    switch (type) {
    case FT__TYPE_F32:
    case FT__TYPE_F64: return o->kind == FT__PTX_FLOAT;
    case FT__TYPE_B32: return o->kind == FT__PTX_INT || o->width == 32;
    case FT__TYPE_B64: return o->kind == FT__PTX_INT || o->width == 64;
    case FT__TYPE_PRED: return o->kind == FT__PTX_INT;
    case FT__TYPE_NONE: return true;
    default:
        return o->kind == FT__PTX_INT &&
               (is_integer(type) || ft__ptx_type_kind(type) == FT__KIND_BITS) &&
               type != FT__TYPE_U16X2 && type != FT__TYPE_S16X2;
    }
}

static unsigned sreg_type(uint32_t sreg)
{
    switch (sreg) {
    case FT__SREG_CLOCK64:
    case FT__SREG_GLOBALTIMER:
    case FT__SREG_GRIDID:
    case FT__SREG_CURRENT_GRAPH_EXEC: return FT__TYPE_U64;
    case FT__SREG_IS_EXPLICIT_CLUSTER: return FT__TYPE_PRED;
    default:
        return sreg >= FT__SREG_PM0_64 && sreg <= FT__SREG_PM7_64 ? FT__TYPE_U64
                                                                  : FT__TYPE_U32;
    }
}

/* Identifiers of threads and blocks were 16 bits wide once. */
static bool was_short(uint32_t sreg)
{
    return sreg <= FT__SREG_NCTAID_W; /* they are the first of all */
}

/* %tid itself, of which %tid.x is a component. */
static bool is_vector(uint32_t sreg)
{
    return was_short(sreg) && sreg % 5 == 0;
}

static bool special(unsigned type, uint32_t sreg)
{
    if (is_vector(sreg) || ft__ptx_type_kind(type) == FT__KIND_FLOAT)
        return false;
    if (sreg == FT__SREG_GRIDID && ft__ptx_type_bits(type) == 32)
        return true;
    if (ft__ptx_type_bits(type) == 16)
        return was_short(sreg);
    return fits_register(type, sreg_type(sreg), false);
}

/* ---- addresses ---- */

bool ft__ptx_is_parameter(const ft__parser *p, uint32_t variable)
{
    const uint32_t *param = p->params.at;

    for (size_t k = 0; k < p->params.n; k++)
        if (param[k] == variable)
            return true;
    return false;
}

static bool in_space(const ft__parser *p, const ft__ptx_insn *i,
                     const ft__ptx_operand *base)
{
    const ft__ptx_variable *v = (const ft__ptx_variable *)p->variables.at + base->index;

    if (i->space == FT_PTX_GENERIC)
        return v->space != FT_PTX_PARAM;
    return v->space == i->space;
}

static bool address(const ft__parser *p, const ft__ptx_insn *i,
                    const ft__ptx_operand *o, bool any_space)
{
    const ft__ptx_operand *base = child(p, o, 0);
    ft__ptx_kind kind;
    unsigned type;

    if (o->kind != FT__PTX_ADDRESS)
        return false;
    switch (base->kind) {
    case FT__PTX_VARIABLE:
        if (i->opcode == FT__PTX_ST && ft__ptx_is_parameter(p, base->index))
            return false;
        return any_space || in_space(p, i, base);
    case FT__PTX_REG:
        type = reg_type(p, base);
        kind = ft__ptx_type_kind(type);
        return !base->negated && kind != FT__KIND_FLOAT && kind != FT__KIND_PRED &&
               type != FT__TYPE_B128;
    case FT__PTX_INT: return any_space || i->space == FT_PTX_LOCAL;
    default: return false;
    }
}

/* Registers of a vector are of one size and sort, and one of them is there. */
static bool alike(const ft__parser *p, const ft__ptx_operand *o)
{
    bool integers = false, floats = false, any = false;
    uint32_t bits = 0;

    for (uint32_t k = 0; k < o->n; k++) {
        const ft__ptx_operand *e = child(p, o, k);
        const unsigned type = e->kind == FT__PTX_REG ? reg_type(p, e) : FT__TYPE_NONE;

        if (e->kind == FT__PTX_VECTOR || e->kind == FT__PTX_VARIABLE)
            return false;
        if (e->kind == FT__PTX_REG && bits && ft__ptx_type_bits(type) != bits)
            return false;
        if (e->kind == FT__PTX_REG)
            bits = ft__ptx_type_bits(type);
        any = any || e->kind != FT__PTX_SINK;
        integers = integers || e->kind == FT__PTX_INT || is_integer(type);
        floats = floats || e->kind == FT__PTX_FLOAT ||
                 (e->kind == FT__PTX_REG && ft__ptx_type_kind(type) == FT__KIND_FLOAT);
    }
    return any && !(integers && floats);
}

/* ---- mov ---- */

/* {a, b} of half the size each, {a, b, c, d} of a quarter. */
static bool pack(const ft__parser *p, unsigned type, const ft__ptx_operand *o)
{
    const uint32_t bits = ft__ptx_type_bits(type) / (o->n ? o->n : 1);

    if ((o->n != 2 && o->n != 4) || ft__ptx_type_kind(type) != FT__KIND_BITS ||
        bits < 8)
        return false;
    for (uint32_t k = 0; k < o->n; k++) {
        const ft__ptx_operand *e = child(p, o, k);

        if (e->kind == FT__PTX_REG &&
            (ft__ptx_type_bits(reg_type(p, e)) != bits || e->negated))
            return false;
    }
    return alike(p, o);
}

/* Variables that arguments are passed in have none. */
static bool has_address(const ft__parser *p, const ft__ptx_operand *o)
{
    const ft__ptx_variable *v = (const ft__ptx_variable *)p->variables.at + o->index;

    return v->space != FT_PTX_PARAM || ft__ptx_is_parameter(p, o->index);
}

static bool of_mov(const ft__parser *p, const ft__ptx_insn *i, unsigned type,
                   const ft__ptx_operand *o)
{
    const bool destination = o == (const ft__ptx_operand *)p->operands.at + i->operands;

    if (destination && o->kind != FT__PTX_REG && o->kind != FT__PTX_VECTOR)
        return false;
    switch (o->kind) {
    case FT__PTX_VECTOR: return i->vector > 1 ? o->n == i->vector : pack(p, type, o);
    case FT__PTX_REG:
        return fits_register(type, reg_type(p, o), false) &&
               (!o->negated || (!destination && type == FT__TYPE_PRED));
    case FT__PTX_SPECIAL: return i->vector > 1 || special(type, o->index);
    case FT__PTX_VARIABLE:
    case FT__PTX_FUNCTION:
        return !o->negated && (o->kind == FT__PTX_FUNCTION || has_address(p, o)) &&
               ft__ptx_type_bits(type) >= 32 && type != FT__TYPE_B128 &&
               ft__ptx_type_kind(type) != FT__KIND_FLOAT;
    case FT__PTX_INT:
    case FT__PTX_FLOAT: return literal(type, o);
    default: return false;
    }
}

/* ---- roles ---- */

static bool predicate(const ft__parser *p, const ft__ptx_operand *o)
{
    return o->kind == FT__PTX_REG && reg_type(p, o) == FT__TYPE_PRED && !o->half;
}

static bool source(const ft__parser *p, const ft__want *w, const ft__ptx_operand *o,
                   bool wider)
{
    if (o->kind == FT__PTX_REG)
        return !o->negated && !o->half && fits_register(w->type, reg_type(p, o), wider);
    if (o->kind == FT__PTX_INT || o->kind == FT__PTX_FLOAT)
        return literal(w->type, o);
    return false;
}

static bool destination(const ft__parser *p, const ft__want *w,
                        const ft__ptx_operand *o, bool wider)
{
    return o->kind == FT__PTX_REG && !o->negated && !o->half &&
           fits_register(w->type, reg_type(p, o), wider);
}

/* Sixteen barriers, whole warps at them. */
static bool barrier(const ft__parser *p, const ft__want *w, const ft__ptx_operand *o)
{
    const ft__want number = {.role = 's', .type = FT__TYPE_U32};

    if (o->kind == FT__PTX_INT)
        return w->role == 'b' ? o->bits < 16 : o->bits % 32 == 0;
    return source(p, &number, o, false);
}

bool ft__ptx_is_list(const ft__parser *p, const ft__ptx_operand *o, bool functions)
{
    const ft__ptx_targets *list = p->targets.at;

    return o->kind == FT__PTX_TARGETS && list[o->index].functions == functions;
}

static bool plays(const ft__parser *p, const ft__ptx_insn *i, const ft__want *w,
                  const ft__ptx_operand *o)
{
    switch (w->role) {
    case 'd': return destination(p, w, o, false);
    case 'D': return o->kind == FT__PTX_SINK || destination(p, w, o, false);
    case 'w': return destination(p, w, o, true);
    case 's': return source(p, w, o, false);
    case 'W': return source(p, w, o, true);
    case 'V':
        return source(p, w, o, true) ||
               (o->kind == FT__PTX_SPECIAL && special(w->type, o->index));
    case 'r': return o->kind == FT__PTX_REG && source(p, w, o, false);
    case 'p': return predicate(p, o) || o->kind == FT__PTX_INT;
    case 'q': return o->kind == FT__PTX_SINK || (predicate(p, o) && !o->negated);
    case 'i': return o->kind == FT__PTX_INT;
    case 'a': return address(p, i, o, false);
    case 'A': return address(p, i, o, true);
    case 'm': return of_mov(p, i, w->type, o);
    case 'v':
        return (o->kind == FT__PTX_VARIABLE && in_space(p, i, o)) ||
               (o->kind == FT__PTX_REG && source(p, w, o, false)) ||
               o->kind == FT__PTX_INT;
    case 'z':
        return o->kind == FT__PTX_INT ||
               (o->kind == FT__PTX_REG &&
                fits_register(FT__TYPE_U32, reg_type(p, o), false));
    case 'b':
    case 'n': return barrier(p, w, o);
    case 'c':
        return o->kind == FT__PTX_INT &&
               (o->bits == 4 || o->bits == 8 || o->bits == 16);
    case 'g': return o->kind == FT__PTX_INT && o->bits == 16;
    case 'l': return o->kind == FT__PTX_LABEL;
    case 't': return ft__ptx_is_list(p, o, false);
    default: return true;
    }
}

/* Fragments of matrices may have constants among their registers. */
static bool has_register(const ft__parser *p, const ft__ptx_operand *o)
{
    for (uint32_t k = 0; k < o->n; k++)
        if (child(p, o, k)->kind == FT__PTX_REG)
            return true;
    return false;
}

static bool is_fragment(const ft__ptx_insn *i, const ft__want *w)
{
    return w->role == 's' && (i->opcode == FT__PTX_MMA || i->opcode == FT__PTX_WMMA ||
                              i->opcode == FT__PTX_STMATRIX);
}

static bool elements(const ft__parser *p, const ft__ptx_insn *i, const ft__want *w,
                     const ft__ptx_operand *o)
{
    if (o->kind != FT__PTX_VECTOR || o->n != w->count || !alike(p, o) ||
        (is_fragment(i, w) && !has_register(p, o)))
        return false;
    for (uint32_t k = 0; k < o->n; k++) {
        const ft__ptx_operand *e = child(p, o, k);

        if (e->kind == FT__PTX_SINK && (w->role == 'w' || w->role == 'd'))
            continue;
        if (e->kind == FT__PTX_SPECIAL && w->role == 'W' && special(w->type, e->index))
            continue;
        if (!plays(p, i, w, e))
            return false;
    }
    return true;
}

bool ft__check_operand(const ft__parser *p, const ft__ptx_insn *i, const ft__want *w,
                       const ft__ptx_operand *o)
{
    if (o->kind == FT__PTX_PAIR) {
        const ft__want second = {.role = 'q'};

        if (!w->pair)
            return w->role == 'x';
        return plays(p, i, w, child(p, o, 0)) && plays(p, i, &second, child(p, o, 1));
    }
    if (w->pair == '&')
        return false;
    if (o->kind == FT__PTX_VECTOR && o->n == 1 && w->count == 0 &&
        (w->role == 'w' || w->role == 'W'))
        o = child(p, o, 0);
    return w->count ? elements(p, i, w, o) : plays(p, i, w, o);
}
