/* What one execution of an instruction moves and computes. In: an instruction; out:
 * bytes by space of memory, operations. */
#include "ptx/count/work.h"

/* Bytes of a thread: elements of the vector together. */
static uint32_t own_bytes(const ft__ptx_insn *i)
{
    return (i->n_types ? (ft__ptx_type_bits(i->type[i->n_types - 1]) + 7) / 8 : 0) *
           i->vector;
}

static uint32_t one(ft__work_traffic *out, unsigned space, unsigned store,
                    uint32_t operand, uint32_t bytes)
{
    *out = (ft__work_traffic){.space = (uint8_t)space,
                              .store = (uint8_t)store,
                              .operand = operand,
                              .bytes = bytes};
    return 1;
}

static uint32_t both(ft__work_traffic *out, unsigned space, uint32_t bytes)
{
    return one(out, space, FT_PTX_LOADED, 0, bytes) +
           one(out + 1, space, FT_PTX_STORED, 0, bytes);
}

/* Matrices of 8 rows of 16 bytes; of .m16n16 twice that. Each thread has a share. */
static uint32_t matrix_bytes(const ft__ptx_insn *i)
{
    return (i->shape[0] == 16 ? 8u : 4u) * i->vector;
}

/* wmma.load.a: m x k elements and so on, a 32nd for each thread. */
static uint32_t fragment_bytes(const ft__ptx_function *f, const ft__ptx_insn *i)
{
    const uint32_t m = i->shape[0], n = i->shape[1], k = i->shape[2];
    const uint32_t elements = ft__ptx_has(f, i, FT__MOD_A)   ? m * k
                              : ft__ptx_has(f, i, FT__MOD_B) ? k * n
                                                             : m * n;
    const uint32_t bits = i->n_types ? ft__ptx_type_bits(i->type[0]) : 0;

    return elements * bits / 8 / 32;
}

static uint64_t constant_operand(const ft__ptx_function *f, const ft__ptx_insn *i,
                                 uint32_t k)
{
    const ft__ptx_operand *o = &f->operand[i->operands + k];

    return k < i->n_operands && o->kind == FT__PTX_INT ? o->bits : 0;
}

static unsigned space_of(unsigned mod)
{
    switch (mod) {
    case FT__MOD_GLOBAL: return FT_PTX_GLOBAL;
    case FT__MOD_SHARED:
    case FT__MOD_SHARED_CTA:
    case FT__MOD_SHARED_CLUSTER: return FT_PTX_SHARED;
    default: return FT_PTX_SPACES;
    }
}

/* cp.async: spaces stand there as to, from; bytes behind the addresses. */
static uint32_t copied(ft__work_traffic out[2], const ft__ptx_function *f,
                       const ft__ptx_insn *i)
{
    const bool tensor = ft__ptx_has(f, i, FT__MOD_TENSOR);
    const uint64_t bytes = tensor ? 0 : constant_operand(f, i, 2);
    unsigned space[2];
    uint32_t n = 0;

    for (uint32_t k = 0; k < i->n_mods && n < 2; k++)
        if (space_of(f->mod[i->mods + k]) != FT_PTX_SPACES)
            space[n++] = space_of(f->mod[i->mods + k]);
    if (i->class != FT_PTX_COPY || n < 2)
        return 0;
    return one(out, space[1], FT_PTX_LOADED, 1, (uint32_t)bytes) +
           one(out + 1, space[0], FT_PTX_STORED, 0, (uint32_t)bytes);
}

static uint32_t vector_leaves(const ft__ptx_function *f, const ft__ptx_insn *i)
{
    for (uint32_t k = 0; k < i->n_operands; k++)
        if (f->operand[i->operands + k].kind == FT__PTX_VECTOR)
            return f->operand[i->operands + k].n;
    return 1;
}

/* Of four texels' worth that the text always asks for, those whose registers are read:
 * ptxas asks for no others. */
static uint32_t taken_leaves(const ft__ptx_function *f, const ft__ptx_insn *i,
                             const bool *read)
{
    const ft__ptx_operand *d = &f->operand[i->operands];
    uint32_t n = 0;

    for (uint32_t k = 0; d->kind == FT__PTX_VECTOR && k < d->n; k++) {
        const ft__ptx_operand *leaf = &f->operand[d->index + k];

        n += leaf->kind == FT__PTX_REG && read[leaf->index];
    }
    return n ? n : 1;
}

static uint32_t tensor_memory(ft__work_traffic out[2], const ft__ptx_function *f,
                              const ft__ptx_insn *i)
{
    const uint32_t registers = vector_leaves(f, i) * 4;

    if (i->class == FT_PTX_LOAD)
        return one(out, FT_PTX_TENSOR_MEMORY, FT_PTX_LOADED, 0, registers);
    if (i->class == FT_PTX_STORE)
        return one(out, FT_PTX_TENSOR_MEMORY, FT_PTX_STORED, 0, registers);
    if (i->class == FT_PTX_COPY && ft__ptx_has(f, i, FT__MOD_CP))
        return one(out, FT_PTX_TENSOR_MEMORY, FT_PTX_STORED, 0,
                   (uint32_t)i->shape[0] * i->shape[1] / 8);
    return 0;
}

static uint32_t multimem(ft__work_traffic out[2], const ft__ptx_insn *i)
{
    if (i->class == FT_PTX_ATOMIC)
        return both(out, FT_PTX_GLOBAL, own_bytes(i));
    return one(out, FT_PTX_GLOBAL,
               i->class == FT_PTX_STORE ? FT_PTX_STORED : FT_PTX_LOADED, 0,
               own_bytes(i));
}

uint32_t ft__work_moved(ft__work_traffic out[2], const ft__ptx_function *f,
                        const ft__ptx_insn *i, const bool *read)
{
    const unsigned space = i->global ? FT_PTX_GLOBAL : i->space;

    switch (i->opcode) {
    case FT__PTX_LD:
    case FT__PTX_LDU: return one(out, space, FT_PTX_LOADED, 0, own_bytes(i));
    case FT__PTX_ST: return one(out, space, FT_PTX_STORED, 0, own_bytes(i));
    case FT__PTX_ATOM:
    case FT__PTX_RED: return both(out, space, own_bytes(i));
    case FT__PTX_LDMATRIX:
        return one(out, FT_PTX_SHARED, FT_PTX_LOADED, 0, matrix_bytes(i));
    case FT__PTX_STMATRIX:
        return one(out, FT_PTX_SHARED, FT_PTX_STORED, 0, matrix_bytes(i));
    case FT__PTX_WMMA:
        if (i->class != FT_PTX_LOAD && i->class != FT_PTX_STORE)
            return 0;
        return one(out, i->space,
                   i->class == FT_PTX_LOAD ? FT_PTX_LOADED : FT_PTX_STORED, 0,
                   fragment_bytes(f, i));
    case FT__PTX_TEX:
    case FT__PTX_TLD4:
        return one(out, FT_PTX_TEXTURE, FT_PTX_LOADED, 0, taken_leaves(f, i, read) * 4);
    case FT__PTX_SULD: return one(out, FT_PTX_TEXTURE, FT_PTX_LOADED, 0, own_bytes(i));
    case FT__PTX_SUST: return one(out, FT_PTX_TEXTURE, FT_PTX_STORED, 0, own_bytes(i));
    case FT__PTX_SURED: return both(out, FT_PTX_TEXTURE, own_bytes(i));
    case FT__PTX_CP: return copied(out, f, i);
    case FT__PTX_TCGEN05: return tensor_memory(out, f, i);
    case FT__PTX_MULTIMEM: return multimem(out, i);
    default: return 0;
    }
}

static uint32_t operations(unsigned opcode)
{
    switch (opcode) {
    case FT__PTX_FMA:
    case FT__PTX_MAD: return 2;
    case FT__PTX_ADD:
    case FT__PTX_SUB:
    case FT__PTX_MUL: return 1;
    default: return 0;
    }
}

uint32_t ft__work_flops(unsigned *which, const ft__ptx_insn *i)
{
    const uint32_t n = operations(i->opcode);

    *which = 3;
    if (!n || !i->n_types)
        return 0;
    switch (i->type[0]) {
    case FT__TYPE_F32: *which = 0; return n;
    case FT__TYPE_F32X2: *which = 0; return 2 * n;
    case FT__TYPE_F64: *which = 1; return n;
    case FT__TYPE_F16:
    case FT__TYPE_BF16: *which = 2; return n;
    case FT__TYPE_F16X2:
    case FT__TYPE_BF16X2: *which = 2; return 2 * n;
    default: return 0;
    }
}

uint64_t ft__work_tensor_flops(const ft__ptx_insn *i)
{
    const uint64_t product =
        2 * (uint64_t)i->shape[0] * i->shape[1] * (i->shape[2] ? i->shape[2] : 1);

    if (i->class != FT_PTX_TENSOR)
        return 0;
    switch (i->opcode) {
    case FT__PTX_MMA: /* four of the smallest at once */
        return i->shape[0] == 8 && i->shape[2] == 4 && i->type[1] == FT__TYPE_F16
                   ? 4 * product
                   : product;
    case FT__PTX_WMMA: return product;
    case FT__PTX_WGMMA: return product / 4;
    default: return 0;
    }
}

uint64_t ft__work_descriptor_bytes(const ft__ptx_function *f, const ft__ptx_insn *i)
{
    uint64_t row, a;

    if (i->opcode != FT__PTX_WGMMA || i->class != FT_PTX_TENSOR || i->n_operands < 3)
        return 0;
    row = (uint64_t)i->shape[2] * ft__ptx_type_bits(i->type[1]) / 8;
    a = f->operand[i->operands + 1].kind == FT__PTX_VECTOR ? 0 : i->shape[0] * row;
    if (ft__ptx_has(f, i, FT__MOD_SP))
        a /= 2;
    return (a + i->shape[1] * row) / 4;
}
