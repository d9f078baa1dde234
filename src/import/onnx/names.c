/* Names of values, and what is allocated for one import. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "import/onnx/onnx.h"

void *ft__onnx_alloc(ft__onnx *o, size_t n, size_t size)
{
    void *p = ft__arena_array(&o->arena, n, size);

    if (!p)
        ft__build_fail(o->b, FT_ENOMEM, 0, "out of memory");
    return p;
}

FT_PRINTF(3, 0)
static void fail(const ft__onnx_node *n, ft_status st, const char *fmt, va_list ap)
{
    char text[384];
    ft__str name = n->name.n || !n->n_out || !n->out[0] ? n->name : n->out[0]->name;
    ft__onnx *o = n->import;

    o->gave_up |= o->trying;
    if (o->trying)
        return;
    vsnprintf(text, sizeof(text), fmt, ap);
    ft__build_fail(o->b, st, (uint64_t)(n->attrs.p - o->doc.base),
                   "node %.*s (%.*s): %s", ft__shown(name.n, 100), name.s,
                   ft__shown(n->op.n, 40), n->op.s, text);
}

bool ft__onnx_fail(const ft__onnx_node *n, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fail(n, FT_EFORMAT, fmt, ap);
    va_end(ap);
    return false;
}

void ft__onnx_unsupported(const ft__onnx_node *n, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fail(n, FT_EUNSUPPORTED, fmt, ap);
    va_end(ap);
}

/* The slot of a name, with value NULL when it is new. */
static ft__table_slot *slot_of(ft__onnx *o, ft__str name)
{
    ft__table_slot *s;

    if (name.n > FT__MAX_NAME) {
        ft__build_fail(o->b, FT_EFORMAT,
                       (uint64_t)((const uint8_t *)name.s - o->doc.base),
                       "a name of %zu bytes is too long", name.n);
        return NULL;
    }
    s = ft__table_at(&o->names, &o->arena, name.s, name.n);
    if (!s)
        ft__build_fail(o->b, FT_ENOMEM, 0, "out of memory");
    else
        s->name = name.s;
    return s;
}

/* Names are copied: looking at one among the weights in the file again would
 * bring the pages around it in. */
static ft__onnx_value *new_value(ft__onnx *o, ft__str name)
{
    ft__onnx_value *v = ft__onnx_alloc(o, 1, sizeof(*v) + name.n);

    if (v) {
        v->name = (ft__str){memcpy(v + 1, name.s, name.n), name.n};
        v->tensor = v->memory = FT_NONE;
        v->scope = o->scope;
        v->next = o->values;
        o->values = v;
    }
    return v;
}

ft__onnx_value *ft__onnx_name(ft__onnx *o, ft__str name)
{
    ft__table_slot *s = slot_of(o, name);
    ft__onnx_value *v = s ? s->value : NULL;

    if (s && !v) {
        s->value = v = new_value(o, name);
        s->name = v ? v->name.s : name.s;
        o->names.n += v != NULL;
    }
    return v;
}

void ft__onnx_bind(ft__onnx *o, ft__str name, ft__onnx_value *v)
{
    ft__table_slot *s = slot_of(o, name);

    if (!s || !v)
        return;
    o->names.n += !s->value;
    s->value = v;
}

ft__onnx_value *ft__onnx_hide(ft__onnx *o, ft__str name)
{
    ft__onnx_value *v = new_value(o, name);

    ft__onnx_bind(o, name, v);
    return v;
}

ft__onnx_value *ft__onnx_temp(const ft__onnx_node *n, const ft__onnx_value *like)
{
    ft__onnx *o = n->import;
    ft__str name = like ? like->name : (ft__str){"", 0};
    char *s = ft__onnx_alloc(o, name.n + 2, 1);

    if (!s)
        return NULL;
    memcpy(s, name.s, name.n);
    s[name.n] = '\'';
    return new_value(o, (ft__str){s, name.n + 1});
}
