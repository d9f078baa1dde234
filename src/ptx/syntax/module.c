/* Modules. In: a file or text; out: the parsed module, and what callers ask of one. */
#include "ptx/syntax/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/launch/launches.h"
#include "ptx/ptx_inside.h"

static const char *const class_abouts[] = {
#define FT_PTX_CLASS(e, name, about) about,
#include "foretell/ptx_classes.def"
#undef FT_PTX_CLASS
};

const char *ft__ptx_class_about(ft_ptx_class c)
{
    return (unsigned)c < FT_PTX_CLASSES ? class_abouts[c] : "?";
}

/* ---- reading ---- */

static ft_status new_module(ft_ptx **out, const char *text, size_t len,
                            const char *name, ft_error *err)
{
    ft_ptx *m = calloc(1, sizeof(*m));
    ft_status st;

    *out = NULL;
    if (!m)
        return ft_fail(err, FT_ENOMEM, 0, "%s", name);
    m->text = text;
    m->len = len;
    m->name = ft__arena_strndup(&m->arena, name, strlen(name));
    if (!m->name)
        st = ft_fail(err, FT_ENOMEM, 0, "%s", name);
    else if (len >= UINT32_MAX)
        st = ft_fail(err, FT_EFORMAT, 0, "%s: more than 4 GiB of text", name);
    else
        st = ft__ptx_read(m, err);
    m->facts = (ft_ptx_facts){.kernel = m->kernel,
                              .n_kernels = m->n_kernels,
                              .version = m->version,
                              .target = m->target,
                              .text = m->text,
                              .len = m->len};
    if (st)
        ft__ptx_free(m);
    else
        *out = m;
    return st;
}

ft_status ft__ptx_parse(ft_ptx **out, const char *text, size_t len, const char *name,
                        ft_error *err)
{
    return new_module(out, text, len, name, err);
}

ft_status ft__ptx_open(ft_ptx **out, const char *path, ft_error *err)
{
    char *text;
    size_t len = 0;
    ft_status st = ft__ptx_load(&text, &len, path, FT__PTX_MAX_FILE, err);

    *out = NULL;
    if (!st)
        st = new_module(out, text, len, path, err);
    if (st)
        free(text);
    else
        (*out)->owned = text;
    return st;
}

void ft__ptx_free(ft_ptx *m)
{
    if (!m)
        return;
    free(m->owned);
    ft__index_free(&m->by_name);
    ft__arena_free(&m->arena);
    free(m);
}

/* ---- asking ---- */

const ft_ptx_facts *ft_ptx_get(const ft_ptx *m)
{
    return &m->facts;
}

bool ft__ptx_has(const ft__ptx_function *f, const ft__ptx_insn *i, unsigned mod)
{
    for (unsigned k = 0; k < i->n_mods; k++)
        if (f->mod[i->mods + k] == mod)
            return true;
    return false;
}

const char *ft__ptx_reg_name(char buf[64], const ft__ptx_function *f, uint32_t reg)
{
    const ft__ptx_reg *r = &f->reg[reg];
    const int len = r->len < 40 ? (int)r->len : 40;

    if (r->number)
        snprintf(buf, 64, "%.*s%u", len, r->name, r->number - 1);
    else if (r->component)
        snprintf(buf, 64, "%.*s.%c", len, r->name, r->component);
    else
        snprintf(buf, 64, "%.*s", len, r->name);
    return buf;
}

ft_status ft__ptx_kernel_find(uint32_t *out, const ft_ptx *m, const char *name,
                              ft_error *err)
{
    const ft__index_slot *slot;

    *out = 0;
    if (!name && m->n_kernels == 1)
        return FT_OK;
    if (m->n_kernels == 0)
        return ft_fail(err, FT_ENOTFOUND, 0, "%s: there is no kernel in it", m->name);
    if (!name)
        return ft_fail(err, FT_ENEEDED, 0,
                       "%s: %u kernels are in it: say which, such as %s", m->name,
                       m->n_kernels, m->kernel[0].name);
    slot = ft__index_find(&m->by_name, ft__hash_text(FT__HASH_BEGIN, name), name);
    if (slot) {
        *out = (uint32_t)slot->number;
        return FT_OK;
    }
    return ft_fail(err, FT_ENOTFOUND, 0, "%s: there is no kernel '%s'", m->name, name);
}
