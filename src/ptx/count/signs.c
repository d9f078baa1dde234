/* Slots of which only the sign is ever read: `or.b32 r, y, x; setp.lt.s32 p, r, 0` asks
 * whether one of two numbers is negative. */
#include "ptx/count/plan.h"
#include "ptx/eval/lanes.h"

/* Rounds over the steps until nothing changes; after that nothing is known. */
enum { MOST_ROUNDS = 64 };

/* It compares its first source with 0 (or -1), so that only the sign matters. */
static bool asks_sign(const ft__plan_part *part, const ft__plan_step *s,
                      const ft__ptx_insn *i)
{
    const ft__step_source *with = &part->source[s->source + 1];
    const uint64_t all = ft__ptx_mask(ft__ptx_type_bits(i->type[0]));

    if (i->opcode != FT__PTX_SETP || s->n_source != 2 ||
        with->kind != FT__SOURCE_CONSTANT ||
        ft__ptx_type_kind(i->type[0]) != FT__KIND_SIGNED)
        return false;
    if (ft__ptx_has(part->f, i, FT__MOD_LT) || ft__ptx_has(part->f, i, FT__MOD_GE))
        return (with->bits & all) == 0;
    return (ft__ptx_has(part->f, i, FT__MOD_GT) ||
            ft__ptx_has(part->f, i, FT__MOD_LE)) &&
           (with->bits & all) == all;
}

bool ft__plan_sign_only(const ft__plan_part *part, const ft__plan_step *s)
{
    const uint32_t dest = s->n_dest == 1 ? part->dest[s->dest] : FT__NO_SLOT;

    return dest != FT__NO_SLOT && part->signs[dest] &&
           ft__ptx_type_bits(part->f->insn[s->insn].type[0]) == part->bits[dest];
}

/* The sign of its result comes from the signs of its sources, and is all that is read.
 */
static bool passes_sign(const ft__plan_part *part, const ft__plan_step *s,
                        const ft__ptx_insn *i)
{
    return (i->opcode == FT__PTX_OR || i->opcode == FT__PTX_AND) &&
           ft__plan_sign_only(part, s);
}

/* Source k of a step reads no more of its slot than the sign. */
static bool reads_sign(const ft__plan_part *part, const ft__plan_step *s, uint32_t k)
{
    const ft__ptx_insn *i = &part->f->insn[s->insn];
    const uint32_t slot = part->source[s->source + k].index;

    return s->kind == FT__STEP_EVAL && i->n_types == 1 &&
           ft__ptx_type_bits(i->type[0]) == part->bits[slot] &&
           ((k == 0 && asks_sign(part, s, i)) || passes_sign(part, s, i));
}

static bool drop(ft__plan_part *part, uint32_t slot)
{
    const bool was = slot != FT__NO_SLOT && part->signs[slot];

    if (was)
        part->signs[slot] = false;
    return was;
}

/* Slots that this step reads more of; false: none anew. */
static bool drop_read(ft__plan_part *part, const ft__plan_step *s)
{
    bool any = drop(part, s->guard);

    for (uint32_t k = 0; k < s->n_source; k++) {
        const ft__step_source *from = &part->source[s->source + k];

        if (from->kind == FT__SOURCE_SLOT && from->index != FT__NO_SLOT &&
            part->signs[from->index] && !reads_sign(part, s, k))
            any |= drop(part, from->index);
    }
    return any;
}

bool ft__plan_signs(ft__count_plan *p, ft__plan_part *part)
{
    bool again = true;

    part->signs = ft__arena_array(&p->arena, (size_t)part->n_slots + 1, 1);
    if (!part->signs)
        return false;
    /* What calls read is no source of a step. */
    for (uint32_t k = 0; k < part->n_slots; k++)
        part->signs[k] = part->f->entry && !part->calls && part->bits[k] > 1;
    for (uint32_t n = 0; again && n < MOST_ROUNDS; n++) {
        again = false;
        for (uint32_t s = part->n_steps; s-- > 0;)
            again |= drop_read(part, &part->step[s]);
    }
    for (uint32_t k = 0; again && k < part->n_slots; k++)
        part->signs[k] = false;
    return true;
}
