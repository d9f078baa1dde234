/* Which dimensions are facts and which rest on a guess.
 *
 * Some results have as many elements as the data says: what is not zero, what
 * is left of overlapping boxes. The import takes the most there can be, and the
 * rest of the network follows from that, shapes computed from shapes included.
 * Where there was any such guess, the file is imported a second time with other
 * guesses, as low as can be; every dimension that comes out differently depends
 * on the data. No rule has to know about it. */
#include <string.h>

#include "import/onnx/onnx.h"

/* A second guess is one that the first import did not make anywhere. */
static uint32_t unused(uint64_t used, uint32_t from)
{
    while (from < 63 && used >> from & 1)
        from++;
    return from;
}

static void remember(ft__onnx *o, const ft_shape *s, uint32_t open)
{
    o->guesses++;
    if (open & FT_OPEN_RANK)
        o->ranks |= 1u << s->rank;
    for (uint32_t i = 0; i < s->rank; i++)
        if (s->dim[i] < 63 && (open & (FT_OPEN_RANK | 1u << i)))
            o->sizes |= (uint64_t)1 << s->dim[i];
}

ft_shape ft__guess(ft__onnx *o, const ft_shape *most, uint32_t open)
{
    ft_shape s = *most;

    if (!open)
        return s;
    if (!o->low) {
        remember(o, most, open);
        return s;
    }
    if (open & FT_OPEN_RANK)
        s.rank = unused(o->ranks, 1) <= FT_MAX_RANK ? unused(o->ranks, 1) : 0;
    for (uint32_t i = 0; i < s.rank; i++)
        if (open & (FT_OPEN_RANK | 1u << i))
            s.dim[i] = unused(o->sizes, 1);
    return s;
}

static uint64_t mixed(uint64_t a, uint64_t b)
{
    const uint64_t prime = 0x9fb21c651e98df25u;

    a = (a ^ b) * prime;
    return a ^ a >> 32;
}

uint64_t ft__scope_inside(const ft__onnx_node *n, uint64_t salt)
{
    uint64_t place = (uint64_t)((const uint8_t *)n->op.s - n->import->doc.base);

    return mixed(mixed(n->import->scope + 1, place), salt);
}

/* ---- the two imports side by side ---- */

/* Values by scope and name; of two with the same the newer one. */
struct value_table {
    const ft__onnx_value **slot;
    uint64_t mask;
};

static bool same(const ft__onnx_value *a, const ft__onnx_value *b)
{
    return a->scope == b->scope && a->name.n == b->name.n &&
           memcmp(a->name.s, b->name.s, a->name.n) == 0;
}

static const ft__onnx_value **find(const struct value_table *t, const ft__onnx_value *v)
{
    uint64_t at = mixed(v->scope, ft__str_hash(v->name)) & t->mask;

    while (t->slot[at] && !same(t->slot[at], v))
        at = (at + 1) & t->mask;
    return &t->slot[at];
}

static bool fill(ft__onnx *high, const ft__onnx *low, struct value_table *t)
{
    uint64_t n = 0, size = 64;

    for (const ft__onnx_value *v = low->values; v; v = v->next)
        n++;
    while (size < 2 * n)
        size *= 2;
    t->slot = ft__onnx_alloc(high, size, sizeof(*t->slot));
    t->mask = size - 1;
    if (!t->slot)
        return false;
    for (const ft__onnx_value *v = low->values; v; v = v->next) {
        const ft__onnx_value **slot = find(t, v);

        if (!*slot)
            *slot = v;
    }
    return true;
}

static uint32_t difference(const ft__onnx_value *a, const ft__onnx_value *b)
{
    uint32_t open = 0;

    if (!b || b->state == FT__UNDEFINED)
        return a->guessed ? FT_OPEN_RANK : 0;
    if (a->shape.rank != b->shape.rank)
        return FT_OPEN_RANK;
    for (uint32_t i = 0; i < a->shape.rank; i++)
        open |= (uint32_t)(a->shape.dim[i] != b->shape.dim[i]) << i;
    return open;
}

bool ft__mark_unread(ft__onnx *o)
{
    for (const ft__onnx_value *v = o->values; v; v = v->next)
        if (v->guessed && (v->reader || !v->open))
            return false;
    for (const ft__onnx_value *v = o->values; v; v = v->next)
        if (v->open && v->tensor != FT_NONE)
            ft__build_open(o->b, v->tensor, v->open);
    return true;
}

void ft__mark_open(ft__onnx *high, const ft__onnx *low)
{
    struct value_table t;

    if (!fill(high, low, &t))
        return;
    for (ft__onnx_value *v = high->values; v; v = v->next)
        if (v->state != FT__UNDEFINED) {
            v->open |= difference(v, *find(&t, v));
            if (v->open && v->tensor != FT_NONE)
                ft__build_open(high->b, v->tensor, v->open);
        }
}
