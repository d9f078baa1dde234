/* Accesses of a launch, instruction by instruction. */
#include "ptx/accesses.h"

const char *ft__ptx_source(uint32_t *line, const ft_ptx *m, const ft__ptx_insn *i)
{
    const ft__ptx_loc *loc = i->loc ? &m->loc[i->loc - 1] : NULL;

    *line = loc ? loc->line : 0;
    for (uint32_t k = 0; loc && k < m->n_files; k++)
        if (m->file[k].number == loc->file)
            return m->file[k].name;
    return NULL;
}

static size_t count_steps(const ft__plan *p)
{
    size_t n = 0;

    for (uint32_t k = 0; k < p->n_parts; k++)
        for (uint32_t s = 0; s < p->part[k].n_steps; s++)
            n += p->part[k].step[s].kind == FT__STEP_ACCESS;
    return n;
}

static void describe(ft_ptx_access *out, const ft_ptx *m, const ft__ptx_insn *i,
                     const ft__step *s)
{
    out->line = i->line;
    out->source = ft__ptx_source(&out->source_line, m, i);
    out->space = s->space;
    out->stored = s->store;
    out->bytes = s->bytes;
}

bool ft__accesses_fill(ft__plan *p, const ft_ptx_tally *item)
{
    size_t at = 0;

    if (!p->access) {
        p->n_accesses = count_steps(p);
        p->access = ft__arena_array(&p->arena, p->n_accesses + 1, sizeof(*p->access));
    }
    if (!p->access)
        return false;
    for (uint32_t k = 0; k < p->n_parts; k++)
        for (uint32_t s = 0; s < p->part[k].n_steps; s++) {
            const ft__step *step = &p->part[k].step[s];
            ft_ptx_access *out = &p->access[at];

            if (step->kind != FT__STEP_ACCESS)
                continue;
            describe(out, p->m, &p->part[k].f->insn[step->insn], step);
            out->requests = item[step->item];
            out->took = item[step->item + 1];
            at++;
        }
    return true;
}
