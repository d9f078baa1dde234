#include <stdlib.h>
#include <string.h>

#include "ptx/ptx_inside.h"
#include "ptx/syntax/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every operand that an operand refers to is there. */
static void walk(const ft__ptx_function *f)
{
    for (uint32_t i = 0; i < f->n_operands; i++) {
        const ft__ptx_operand *o = &f->operand[i];

        if (o->kind == FT__PTX_REG && o->index >= f->n_regs)
            abort();
        if (o->kind == FT__PTX_LABEL && o->index > f->n_insns)
            abort();
        if ((o->kind == FT__PTX_ADDRESS || o->kind == FT__PTX_VECTOR ||
             o->kind == FT__PTX_LIST || o->kind == FT__PTX_PAIR) &&
            (o->index > f->n_operands || o->n > f->n_operands - o->index))
            abort();
    }
    for (uint32_t i = 0; i < f->n_insns; i++)
        if (f->insn[i].operands + f->insn[i].n_operands > f->n_operands ||
            f->insn[i].mods + f->insn[i].n_mods > f->n_mods ||
            f->insn[i].guard >= (int64_t)f->n_regs)
            abort();
}

/* Whatever the bytes: refused with a sentence, or a module without loose ends. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size ? size : 1); /* exactly as long */
    ft_error err = {0};
    ft_ptx *m;

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    if (ft__ptx_parse(&m, text, size, "fuzz", &err) == FT_OK) {
        for (uint32_t i = 0; i < m->n_functions; i++)
            walk(&m->function[i]);
    } else if (m || !err.msg[0] || err.pos > size) {
        abort();
    }
    ft__ptx_free(m);
    free(text);
    return 0;
}
