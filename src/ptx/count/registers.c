/* How many registers a kernel needs: values that live at once where most of them do. */
#include <math.h>

#include "ptx/count/flow.h"
#include "ptx/eval/eval.h"

/* Beside what lives, ptxas needs some for addresses, and keeps loads in flight; fitted
 * to what it takes for the kernels of examples/ptx (docs/notes/ptx-prediction.md). */
static const double ALWAYS = 7.5, EACH = 0.95;
/* MOST_WORDS: of all blocks' sets together; beyond, the answer is MOST. */
enum { LEAST = 8, MOST = 255, WORD_BITS = 64, MOST_WORDS = 1 << 22 };

struct life {
    const ft__ptx_function *f;
    ft__flow flow;
    uint32_t words;
    uint64_t *in, *now; /* [block][words]; [words] */
    uint8_t *size;      /* of each register, in 32 bits; 0: it costs none */
    ft__ptx_leaves leaves;
};

static bool has(const uint64_t *set, uint32_t r)
{
    return set[r / WORD_BITS] >> r % WORD_BITS & 1;
}

static uint8_t size_of(unsigned type)
{
    static const uint16_t bits[] = {
#define FT__PTX_TYPE(e, name, bits, kind) [FT__TYPE_##e] = bits,
#include "ptx/syntax/types.def"
#undef FT__PTX_TYPE
    };

    return type == FT__TYPE_PRED ? 0 : (uint8_t)((bits[type] + 31) / 32);
}

/* Parameters and numbers are read where they are used, from the constant bank. */
static bool is_constant(const struct life *l, const ft__ptx_insn *i)
{
    if (i->opcode == FT__PTX_LD)
        return i->space == FT_PTX_PARAM && i->guard < 0;
    if ((i->opcode != FT__PTX_MOV && i->opcode != FT__PTX_CVTA) || i->guard >= 0)
        return false;
    for (uint32_t k = 0; k < l->leaves.n_s; k++) {
        const ft__ptx_operand *o = l->leaves.s[k];

        if (o->kind == FT__PTX_SPECIAL || (o->kind == FT__PTX_REG && l->size[o->index]))
            return false;
    }
    return true;
}

static void find_sizes(struct life *l)
{
    const ft__ptx_function *f = l->f;

    for (uint32_t r = 0; r < f->n_regs; r++)
        l->size[r] = 0;
    for (uint32_t k = 0; k < f->n_insns; k++) {
        ft__ptx_leaves_of(&l->leaves, f, &f->insn[k]);
        if (is_constant(l, &f->insn[k]))
            continue;
        for (uint32_t d = 0; d < l->leaves.n_d; d++)
            if (l->leaves.d[d]->kind == FT__PTX_REG)
                l->size[l->leaves.d[d]->index] =
                    size_of(f->reg[l->leaves.d[d]->index].type);
    }
}

static uint32_t put(struct life *l, uint32_t r, bool lives)
{
    const uint64_t bit = (uint64_t)1 << r % WORD_BITS;
    const bool did = has(l->now, r);

    l->now[r / WORD_BITS] =
        lives ? l->now[r / WORD_BITS] | bit : l->now[r / WORD_BITS] & ~bit;
    return did == lives ? 0 : l->size[r];
}

/* What lives in front of an instruction, of what lives behind it. */
static uint32_t step_back(struct life *l, const ft__ptx_insn *i, uint32_t alive)
{
    ft__ptx_leaves_of(&l->leaves, l->f, i);
    for (uint32_t k = 0; k < l->leaves.n_d && i->guard < 0; k++)
        if (l->leaves.d[k]->kind == FT__PTX_REG)
            alive -= put(l, l->leaves.d[k]->index, false);
    for (uint32_t k = 0; k < l->leaves.n_s; k++)
        if (l->leaves.s[k]->kind == FT__PTX_REG)
            alive += put(l, l->leaves.s[k]->index, true);
    return alive;
}

static uint32_t begin_behind(struct life *l, uint32_t b)
{
    uint32_t alive = 0;

    for (uint32_t k = 0; k < l->words; k++) {
        l->now[k] = 0;
        for (uint32_t e = l->flow.edges[b]; e < l->flow.edges[b + 1]; e++)
            if (l->flow.edge[e] < l->flow.n)
                l->now[k] |= l->in[(size_t)l->flow.edge[e] * l->words + k];
    }
    for (uint32_t r = 0; r < l->f->n_regs; r++)
        alive += has(l->now, r) ? l->size[r] : 0;
    return alive;
}

/* The most that live within a block; *changed: its beginning is another than before. */
static uint32_t walk_block(struct life *l, uint32_t b, bool *changed)
{
    const ft__flow_block *block = &l->flow.block[b];
    uint64_t *in = l->in + (size_t)b * l->words;
    uint32_t alive = begin_behind(l, b), most = alive;

    for (uint32_t k = block->end; k-- > block->first;) {
        alive = step_back(l, &l->f->insn[k], alive);
        most = alive > most ? alive : most;
    }
    for (uint32_t k = 0; k < l->words; k++) {
        *changed |= in[k] != l->now[k];
        in[k] = l->now[k];
    }
    return most;
}

static uint32_t most_alive(struct life *l)
{
    bool changed = true;
    uint32_t most = 0;

    find_sizes(l);
    while (changed) {
        changed = false;
        most = 0;
        for (uint32_t b = l->flow.n; b-- > 0;) {
            const uint32_t here = walk_block(l, b, &changed);

            most = here > most ? here : most;
        }
    }
    return most;
}

ft_status ft_ptx_registers(uint32_t *out, const ft_ptx *m, uint32_t kernel,
                           ft_error *err)
{
    struct life *l;
    ft__arena a = {0};
    size_t n = 0;
    double need;
    ft_status st = FT_OK;

    *out = 0;
    if (kernel >= m->n_kernels)
        return ft_fail(err, FT_ENOTFOUND, 0, "%s has no kernel %u", m->name, kernel);
    l = ft__arena_alloc(&a, sizeof(*l));
    if (l) {
        l->f = &m->function[m->kernel_function[kernel]];
        l->words = l->f->n_regs / WORD_BITS + 1;
        l->size = ft__arena_alloc(&a, l->f->n_regs + 1u);
        l->now = ft__arena_array(&a, l->words, sizeof(*l->now));
        st = ft__flow_make(&l->flow, &a, m, l->f, err);
        n = (size_t)l->flow.n * l->words;
        if (!st)
            l->in = ft__arena_array(&a, n > MOST_WORDS ? 1 : n + 1, sizeof(*l->in));
    }
    if (!st && (!l || !l->size || !l->now || !l->in))
        st = ft_fail(err, FT_ENOMEM, 0, "registers of kernel %u", kernel);
    if (!st) {
        need = n > MOST_WORDS ? MOST : ALWAYS + EACH * most_alive(l);
        *out = (uint32_t)fmin(fmax(need, LEAST), MOST);
    }
    ft__arena_free(&a);
    return st;
}
