#ifndef PTX_SYNTAX_MODULE_H
#define PTX_SYNTAX_MODULE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/index.h"
#include "foretell/ptx.h"

/* A parsed module. One arena, names point into the text (with their length) or the
 * arena. Everything is resolved: registers, variables, labels and functions are
 * numbers, scopes are gone. A function's parts:
 *
 *   insn[]     -> mod[]      words behind the opcode, types included, as written
 *              -> operand[]  which may refer to others: {a, b}, [a + 4], p|q
 *
 * so that an instruction is flat and the whole is walked by index. */

typedef enum ft__ptx_opcode {
#define FT__PTX_OPCODE(e, name, class, least, most, types) FT__PTX_##e,
#include "ptx/syntax/opcodes.def"
#undef FT__PTX_OPCODE
    FT__PTX_OPCODES
} ft__ptx_opcode;

/* Types first, then all other words: FT__MOD_U32 is FT__TYPE_U32. */
typedef enum ft__ptx_type {
#define FT__PTX_TYPE(e, name, bits, kind) FT__TYPE_##e,
#include "ptx/syntax/types.def"
#undef FT__PTX_TYPE
    FT__PTX_TYPES,
    FT__TYPE_NONE = 255
} ft__ptx_type;

typedef enum ft__ptx_mod {
#define FT__PTX_TYPE(e, name, bits, kind) FT__MOD_##e,
#include "ptx/syntax/types.def"
#undef FT__PTX_TYPE
#define FT__PTX_MOD(e, name) FT__MOD_##e,
#include "ptx/syntax/mods.def"
#undef FT__PTX_MOD
    FT__MOD_OTHER, /* of other_words.def */
    FT__MOD_SHAPE, /* m16n8k16, 16x64b, ...: numbers in insn.shape */
    FT__PTX_MODS
} ft__ptx_mod;

/* What the bits of a type mean. */
typedef enum ft__ptx_kind {
    FT__KIND_BITS,
    FT__KIND_UNSIGNED,
    FT__KIND_SIGNED,
    FT__KIND_FLOAT,
    FT__KIND_PRED,
    FT__KIND_OPAQUE, /* texref, samplerref, surfref */
} ft__ptx_kind;

typedef struct ft__ptx_opcode_facts {
    const char *name;
    uint8_t class;              /* ft_ptx_class, unless its words say more */
    uint8_t least, most, types; /* operands it has, and types at least */
} ft__ptx_opcode_facts;
extern const ft__ptx_opcode_facts ft__ptx_opcodes[FT__PTX_OPCODES];

typedef struct ft__ptx_type_facts {
    uint16_t bits; /* PRED: 1 */
    uint16_t kind;
} ft__ptx_type_facts;
extern const ft__ptx_type_facts ft__ptx_types[FT__PTX_TYPES];

/* FT__TYPE_NONE has no bits. */
static inline uint32_t ft__ptx_type_bits(unsigned type)
{
    return type < FT__PTX_TYPES ? ft__ptx_types[type].bits : 0;
}

static inline ft__ptx_kind ft__ptx_type_kind(unsigned type)
{
    return type < FT__PTX_TYPES ? (ft__ptx_kind)ft__ptx_types[type].kind
                                : FT__KIND_BITS;
}

typedef enum ft__ptx_sreg {
#define FT__PTX_SREG(e, name) FT__SREG_##e,
#include "ptx/syntax/sregs.def"
#undef FT__PTX_SREG
    FT__PTX_SREGS
} ft__ptx_sreg;
extern const char *const ft__ptx_sregs[FT__PTX_SREGS]; /* "%tid.x" */

typedef enum ft__ptx_operand_kind {
    FT__PTX_REG,     /* index: register */
    FT__PTX_INT,     /* bits: the value, 64 bits, two's complement */
    FT__PTX_FLOAT,   /* bits: of a double; width 32: written 0f........, bits of a float
                      */
    FT__PTX_SPECIAL, /* index: ft__ptx_sreg, %tid.x ... */
    FT__PTX_VARIABLE, /* index: its address, plus bits */
    FT__PTX_LABEL,    /* index: instruction it stands before (may be n_insns) */
    FT__PTX_TARGETS,  /* index: list of .branchtargets, .calltargets, or a prototype */
    FT__PTX_FUNCTION, /* index: function; bits: what is added, 32 bits up */
    FT__PTX_ADDRESS,  /* [a + bits]: operand `index` is REG, VARIABLE or INT; n > 1:
                         coordinates or so follow it: [a, {x, y}] */
    FT__PTX_VECTOR,   /* {a, b}: operands index .. index + n */
    FT__PTX_LIST,     /* (a, b) of a call: as VECTOR */
    FT__PTX_PAIR,     /* p|q: as VECTOR, n = 2 */
    FT__PTX_SINK,     /* _ */
} ft__ptx_operand_kind;

typedef struct ft__ptx_operand {
    uint8_t kind;
    bool negated; /* !p, or -x */
    uint8_t width;
    uint8_t half; /* REG of a video instruction: its selector, 1 .. 4 b0 .. b3, 5 and 6
                     h0 and h1, more: several at once, digits in bits; else 0 */
    uint32_t index, n;
    uint64_t bits;
} ft__ptx_operand;

typedef struct ft__ptx_insn {
    uint32_t at, line;       /* byte and line in the text */
    uint32_t loc;            /* 1 + index into module.loc; 0: none */
    uint32_t mods, operands; /* first of each in the function's */
    int32_t guard;           /* register; -1: none */
    bool guard_not;
    bool global;  /* of a generic access: it is seen to be to global memory */
    bool implied; /* it adds the number of an operand `a + 1` of the one behind it, and
                     is counted nowhere */
    uint8_t opcode, class, space; /* ft__ptx_opcode, ft_ptx_class, ft_ptx_space */
    uint8_t n_mods, n_operands, n_types;
    uint8_t vector;    /* elements of .v2 .v4 .v8, .x1 .x2 .x4; else 1 */
    uint8_t type[4];   /* types among the words, in order; FT__TYPE_NONE behind them */
    uint16_t shape[3]; /* of a SHAPE: m, n, k */
} ft__ptx_insn;

typedef struct ft__ptx_reg {
    uint8_t type;
    bool implied; /* what an implied instruction writes */
} ft__ptx_reg;

typedef struct ft__ptx_variable {
    const char *name;
    uint32_t len, align;
    uint64_t size; /* bytes; 0: .extern of unknown size */
    uint8_t space, type;
    bool external;
    uint32_t seen;    /* by the parser */
    int32_t function; /* whose it is; -1: the module's */
    bool pointer;     /* a parameter declared .ptr */
    bool array;       /* [n] stands behind its name */
    const uint8_t
        *initial; /* its first bytes, the others are 0. Addresses in it are 0 */
    uint64_t initial_size;
    uint64_t offset; /* of its space: PARAM from the first parameter on; SHARED and
                        LOCAL of a function, CONST and GLOBAL of the module, aligned */
} ft__ptx_variable;

typedef struct ft__ptx_label {
    const char *name;
    uint32_t len, insn;
} ft__ptx_label;

/* .branchtargets: labels as instruction indices; .calltargets: function indices;
 * .callprototype: none. */
typedef struct ft__ptx_targets {
    const uint32_t *index;
    uint32_t n;
    bool functions; /* of calls; else of brx.idx */
} ft__ptx_targets;

/* A parameter or result: a .param variable, or the registers that a vector is. */
typedef struct ft__ptx_formal {
    uint32_t index, n; /* variable; first of n registers */
    bool is_reg;
} ft__ptx_formal;

typedef struct ft__ptx_function {
    const char *name; /* terminated */
    uint32_t line;
    bool entry, declared_only, noreturn;
    ft__ptx_insn *insn;
    ft__ptx_operand *operand;
    uint16_t *mod;
    ft__ptx_reg *reg;
    ft__ptx_label *label; /* in the order of the text */
    ft__ptx_targets *targets;
    uint32_t n_insns, n_operands, n_mods, n_regs, n_labels;
    ft__ptx_formal *param, *result; /* in order; registers only of .func */
    uint32_t n_params, n_results;
    uint32_t n_module_regs; /* the first registers are the module's, of all functions */
    uint32_t first_variable, end_variable; /* of its own, params among them */
    uint64_t shared_bytes, param_bytes;
    uint64_t local_bytes; /* those of the module in front */
} ft__ptx_function;

typedef struct ft__ptx_loc {
    uint32_t file, line;
} ft__ptx_loc;

typedef struct ft__ptx_file {
    uint32_t number;
    const char *name; /* terminated */
} ft__ptx_file;

struct ft_ptx {
    ft_ptx_facts facts;
    ft__arena arena;
    const char *text, *name;
    char *owned; /* the text, where the module opened the file */
    size_t len;
    uint32_t version, address_size;
    const char *target;
    ft__ptx_function *function;
    ft__ptx_variable *variable; /* of module and functions */
    ft__ptx_loc *loc;
    ft__ptx_file *file; /* by number */
    uint32_t n_functions, n_variables, n_files;
    ft_ptx_kernel *kernel; /* entries, in order */
    uint32_t *kernel_function;
    uint32_t n_kernels;
    ft__index by_name;                  /* of kernels */
    uint64_t shared_bytes, local_bytes; /* of the module's own variables */
};

/* Does the instruction have the word? */
static inline bool ft__ptx_has(const ft__ptx_function *f, const ft__ptx_insn *i,
                               unsigned mod)
{
    for (unsigned k = 0; k < i->n_mods; k++)
        if (f->mod[i->mods + k] == mod)
            return true;
    return false;
}

/* Name in the source of a symbol; the symbol itself where it is none of C++'s, or
 * memory is short. */
const char *ft__ptx_source_name(ft__arena *arena, const char *symbol);

enum { FT__PTX_MAX_FILE = 1 << 30 }; /* bytes of PTX in one file */
/* The kernel of that name, or the only one: its index. FT_ENOTFOUND, FT_ENEEDED. */
ft_status ft__ptx_kernel_find(uint32_t *out, const ft_ptx *m, const char *name,
                              ft_error *err);

#endif
