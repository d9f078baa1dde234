/* The words of the language by number: what opcodes, types and special registers are,
 * and the class of an instruction, by which it is counted. */
#include "ptx/syntax/parser.h"

const ft__ptx_opcode_facts ft__ptx_opcodes[FT__PTX_OPCODES] = {
#define FT__PTX_OPCODE(e, name, class, least, most, types)                             \
    {name, FT_PTX_##class, least, most, types},
#include "ptx/syntax/opcodes.def"
#undef FT__PTX_OPCODE
};

const ft__ptx_type_facts ft__ptx_types[FT__PTX_TYPES] = {
#define FT__PTX_TYPE(e, name, bits, kind) {bits, FT__KIND_##kind},
#include "ptx/syntax/types.def"
#undef FT__PTX_TYPE
};

const char *const ft__ptx_sregs[FT__PTX_SREGS] = {
#define FT__PTX_SREG(e, name) name,
#include "ptx/syntax/sregs.def"
#undef FT__PTX_SREG
};

/* ---- classes ---- */

static bool has(const ft__ptx_insn *i, const uint16_t *mods, unsigned mod)
{
    for (unsigned k = 0; k < i->n_mods; k++)
        if (mods[k] == mod)
            return true;
    return false;
}

/* Arithmetic that the opcode calls integer's, by its type. */
static unsigned arithmetic(const ft__ptx_insn *i, unsigned otherwise)
{
    unsigned type = i->n_types ? i->type[0] : FT__TYPE_NONE;

    if (ft__ptx_type_kind(type) != FT__KIND_FLOAT)
        return otherwise;
    switch (type) {
    case FT__TYPE_F64: return FT_PTX_FP64;
    case FT__TYPE_F32:
    case FT__TYPE_TF32:
    case FT__TYPE_F32X2: return FT_PTX_FP32;
    default: return FT_PTX_FP16;
    }
}

static bool is_float(const ft__ptx_insn *i)
{
    return i->n_types && ft__ptx_type_kind(i->type[0]) == FT__KIND_FLOAT;
}

/* With a rounding it is a sequence around the special unit's approximation. */
static unsigned divided(const ft__ptx_insn *i, const uint16_t *mods)
{
    return has(i, mods, FT__MOD_RN) || has(i, mods, FT__MOD_RZ) ||
                   has(i, mods, FT__MOD_RM) || has(i, mods, FT__MOD_RP)
               ? FT_PTX_FDIV
               : FT_PTX_SPECIAL;
}

static unsigned copy(const ft__ptx_insn *i, const uint16_t *mods)
{
    if (has(i, mods, FT__MOD_COMMIT_GROUP) || has(i, mods, FT__MOD_WAIT_GROUP) ||
        has(i, mods, FT__MOD_WAIT_ALL) || has(i, mods, FT__MOD_MBARRIER))
        return FT_PTX_SYNC;
    return has(i, mods, FT__MOD_PREFETCH) ? FT_PTX_LOAD : FT_PTX_COPY;
}

static unsigned tensor(const ft__ptx_insn *i, const uint16_t *mods)
{
    switch (mods && i->n_mods ? mods[0] : FT__PTX_MODS) {
    case FT__MOD_LD:
    case FT__MOD_LOAD: return FT_PTX_LOAD;
    case FT__MOD_ST:
    case FT__MOD_STORE: return FT_PTX_STORE;
    case FT__MOD_CP:
    case FT__MOD_SHIFT: return FT_PTX_COPY;
    case FT__MOD_FENCE:
    case FT__MOD_FENCE_BEFORE_THREAD_SYNC:
    case FT__MOD_FENCE_AFTER_THREAD_SYNC:
    case FT__MOD_WAIT_LD:
    case FT__MOD_WAIT_ST:
    case FT__MOD_COMMIT:
    case FT__MOD_COMMIT_GROUP:
    case FT__MOD_WAIT_GROUP:
    case FT__MOD_ALLOC:
    case FT__MOD_DEALLOC:
    case FT__MOD_RELINQUISH_ALLOC_PERMIT: return FT_PTX_SYNC;
    default: return FT_PTX_TENSOR;
    }
}

unsigned ft__ptx_classify(const ft__ptx_insn *i, const uint16_t *mods)
{
    const unsigned usual = ft__ptx_opcodes[i->opcode].class;

    switch (i->opcode) {
    case FT__PTX_ADD:
    case FT__PTX_SUB:
    case FT__PTX_MIN:
    case FT__PTX_MAX:
    case FT__PTX_ABS:
    case FT__PTX_NEG:
    case FT__PTX_MUL:
    case FT__PTX_MAD:
    case FT__PTX_FMA:
    case FT__PTX_COPYSIGN: return arithmetic(i, usual);
    case FT__PTX_DIV: return is_float(i) ? divided(i, mods) : usual;
    case FT__PTX_RCP:
    case FT__PTX_SQRT: return divided(i, mods);
    case FT__PTX_CP: return copy(i, mods);
    case FT__PTX_WMMA:
    case FT__PTX_WGMMA:
    case FT__PTX_TCGEN05: return tensor(i, mods);
    case FT__PTX_BAR:
    case FT__PTX_BARRIER: return FT_PTX_SYNC;
    case FT__PTX_MULTIMEM:
        return has(i, mods, FT__MOD_ST)          ? FT_PTX_STORE
               : has(i, mods, FT__MOD_LD_REDUCE) ? FT_PTX_LOAD
                                                 : FT_PTX_ATOMIC;
    default: return usual;
    }
}
