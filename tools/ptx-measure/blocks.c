#include "blocks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "ptx/syntax/module.h"

enum { ACTIVEMASK_SINCE = 62 };

static bool ends_block(const ft__ptx_insn *i)
{
    switch (i->opcode) {
    case FT__PTX_BRA:
    case FT__PTX_BRX:
    case FT__PTX_RET:
    case FT__PTX_EXIT: return true;
    default: return false;
    }
}

/* first[i]: a block begins at instruction i. */
static bool *find_starts(const ft__ptx_function *f)
{
    bool *first = calloc((size_t)f->n_insns + 1, sizeof(*first));

    if (!first)
        return NULL;
    first[0] = true;
    for (uint32_t l = 0; l < f->n_labels; l++)
        first[f->label[l].insn] = true;
    for (uint32_t i = 0; i + 1 < f->n_insns; i++)
        if (ends_block(&f->insn[i]))
            first[i + 1] = true;
    return first;
}

static ft_status add_block(blocks *b, const ft__ptx_function *f, const bool *first,
                           uint32_t i, ft_error *err)
{
    block *grown = realloc(b->at, (b->n + 1) * sizeof(*grown));
    uint32_t n = 0;

    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "blocks");
    b->at = grown;
    for (uint32_t k = i; k < f->n_insns && (k == i || !first[k]); k++)
        n += !f->insn[k].implied;
    grown[b->n++] =
        (block){.function = f->name, .line = f->insn[i].line, .instructions = n};
    return FT_OK;
}

static void write_counter(ft__buf *out, uint32_t at, uint32_t per)
{
    ft__buf_fmt(out,
                "{ .reg .b64 %%ft_at; mov.u64 %%ft_at, foretell_counters; "
                "red.global.add.u64 [%%ft_at+%u], 1; ",
                8 * per * at);
    if (per == 2) /* by the first lane of those that are here */
        ft__buf_fmt(
            out,
            ".reg .b32 %%ft_m, %%ft_l; .reg .pred %%ft_p; activemask.b32 %%ft_m; "
            "mov.u32 %%ft_l, %%lanemask_lt; and.b32 %%ft_l, %%ft_l, %%ft_m; "
            "setp.eq.u32 %%ft_p, %%ft_l, 0; "
            "@%%ft_p red.global.add.u64 [%%ft_at+%u], 1; ",
            8 * per * at + 8);
    ft__buf_fmt(out, "}\n");
}

typedef struct writer {
    ft__buf text;
    const ft_ptx *m;
    size_t copied; /* bytes of the module's text */
} writer;

static void copy_until(writer *w, size_t at)
{
    ft__buf_add(&w->text, w->m->text + w->copied, at - w->copied);
    w->copied = at;
}

/* Functions come in the order of the text. */
static ft_status insert_function(blocks *b, writer *w, const ft__ptx_function *f,
                                 ft_error *err)
{
    bool *first = find_starts(f);
    ft_status st = FT_OK;

    if (!first)
        return ft_fail(err, FT_ENOMEM, 0, "blocks");
    for (uint32_t i = 0; !st && i < f->n_insns; i++)
        if (first[i]) {
            copy_until(w, f->insn[i].at);
            write_counter(&w->text, b->n, b->per);
            st = add_block(b, f, first, i, err);
        }
    free(first);
    return st;
}

/* Behind ".address_size 64" and whatever else stands on its line. */
static size_t behind_header(const ft_ptx *m)
{
    const char *at = strstr(m->text, ".address_size");

    at = at ? strchr(at, '\n') : NULL;
    return at ? (size_t)(at - m->text) + 1 : 0;
}

static uint32_t count_blocks(const ft_ptx *m)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < m->n_functions; k++) {
        const ft__ptx_function *f = &m->function[k];
        bool *first = f->n_insns ? find_starts(f) : NULL;

        for (uint32_t i = 0; first && i < f->n_insns; i++)
            n += first[i];
        free(first);
    }
    return n;
}

ft_status blocks_insert(blocks *out, const ft_ptx *m, ft_error *err)
{
    writer w = {.m = m};
    size_t header = behind_header(m);
    ft_status st = FT_OK;

    *out = (blocks){.per = m->version >= ACTIVEMASK_SINCE ? 2 : 1};
    if (!header)
        return ft_fail(err, FT_EUNSUPPORTED, 0, "%s says no .address_size", m->name);
    copy_until(&w, header);
    ft__buf_fmt(&w.text, ".visible .global .align 8 .u64 foretell_counters[%u];\n",
                (count_blocks(m) + 1) * out->per);
    for (uint32_t k = 0; !st && k < m->n_functions; k++)
        if (m->function[k].n_insns)
            st = insert_function(out, &w, &m->function[k], err);
    copy_until(&w, m->len);
    if (!st && w.text.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "%s with its counters", m->name);
    out->text = w.text.s;
    if (st)
        blocks_free(out);
    return st;
}

void blocks_free(blocks *b)
{
    free(b->text);
    free(b->at);
    memset(b, 0, sizeof(*b));
}
