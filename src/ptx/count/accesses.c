/* Accesses of a launch, instruction by instruction. */
#include "ptx/count/accesses.h"

#include <stdlib.h>

static int by_number(const void *number, const void *file)
{
    const uint32_t a = *(const uint32_t *)number,
                   b = ((const ft__ptx_file *)file)->number;

    return (a > b) - (a < b);
}

const char *ft__ptx_source(uint32_t *line, const ft_ptx *m, const ft__ptx_insn *i)
{
    const ft__ptx_loc *loc = i->loc ? &m->loc[i->loc - 1] : NULL;

    const ft__ptx_file *file =
        loc ? bsearch(&loc->file, m->file, m->n_files, sizeof(*file), by_number) : NULL;

    *line = loc ? loc->line : 0;
    return file ? file->name : NULL;
}

static size_t count_steps(const ft__count_plan *p)
{
    size_t n = 0;

    for (uint32_t k = 0; k < p->n_parts; k++)
        for (uint32_t s = 0; s < p->part[k].n_steps; s++)
            n += p->part[k].step[s].kind == FT__STEP_ACCESS;
    return n;
}

static void describe(ft_ptx_access *out, const ft_ptx *m, const ft__ptx_insn *i,
                     const ft__plan_step *s)
{
    out->line = i->line;
    out->source = ft__ptx_source(&out->source_line, m, i);
    out->space = s->space;
    out->stored = s->store;
    out->bytes = s->bytes;
}

/* What does not depend on the launch, once for each plan. */
static bool make_list(ft__count_plan *p)
{
    size_t at = 0;

    p->n_accesses = count_steps(p);
    p->access = ft__arena_array(&p->arena, p->n_accesses + 1, sizeof(*p->access));
    for (uint32_t k = 0; p->access && k < p->n_parts; k++)
        for (uint32_t s = 0; s < p->part[k].n_steps; s++) {
            const ft__plan_step *step = &p->part[k].step[s];

            if (step->kind == FT__STEP_ACCESS)
                describe(&p->access[at++], p->m, &p->part[k].f->insn[step->insn], step);
        }
    return p->access != NULL;
}

bool ft__accesses_fill(ft__count_plan *p, const ft_ptx_tally *item)
{
    ft_ptx_access *out;

    if (!p->access && !make_list(p))
        return false;
    out = p->access;
    for (uint32_t k = 0; k < p->n_parts; k++)
        for (uint32_t s = 0; s < p->part[k].n_steps; s++) {
            const ft__plan_step *step = &p->part[k].step[s];

            if (step->kind != FT__STEP_ACCESS)
                continue;
            out->requests = item[step->item];
            out->took = item[step->item + 1];
            out++;
        }
    return true;
}
