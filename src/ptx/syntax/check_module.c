#include <stdlib.h>
#include <string.h>

#include "ptx/syntax/parse.h"

/* Checks of what stands around instructions. */

/* ---- header ---- */

void ft__check_version(ft__parser *p, const char *at)
{
    /* the last minor version of each major one; of the present one there may be more */
    static const uint8_t last[] = {0, 5, 3, 2, 3, 1, 5, 8, 8, 9};
    const uint32_t major = p->m->version / 10, minor = p->m->version % 10;

    if (major < 1 || major > 9 || minor > last[major])
        ft__ptx_fail(p, at, "there is no PTX version %u.%u", major, minor);
}

/* Targets and the PTX version that each came with. */
static const struct {
    uint16_t sm, version;
    const char *suffixes;
} targets[] = {
    {10, 10, ""},    {11, 10, ""},    {12, 12, ""},    {13, 12, ""},    {20, 20, ""},
    {21, 20, ""},    {30, 30, ""},    {32, 40, ""},    {35, 31, ""},    {37, 41, ""},
    {50, 40, ""},    {52, 41, ""},    {53, 42, ""},    {60, 50, ""},    {61, 50, ""},
    {62, 50, ""},    {70, 60, ""},    {72, 61, ""},    {75, 63, ""},    {80, 70, ""},
    {82, 70, ""},    {86, 71, ""},    {87, 74, ""},    {88, 90, ""},    {89, 78, ""},
    {90, 78, "a"},   {100, 86, "af"}, {101, 86, "af"}, {103, 88, "af"}, {110, 90, "af"},
    {120, 87, "af"}, {121, 88, "af"},
};

void ft__check_target(ft__parser *p, const char *at, const char *name)
{
    const char *s = strchr(name, '_');
    char *end = NULL;

    if (!s || (strncmp(name, "sm_", 3) != 0 && strncmp(name, "compute_", 8) != 0)) {
        ft__ptx_fail(p, at, "found '%s', expected a target such as sm_90", name);
        return;
    }
    p->check.sm = (uint32_t)strtoul(s + 1, &end, 10);
    p->check.suffix = *end;
    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
        if (targets[i].sm == p->check.sm &&
            (!*end || (!end[1] && strchr(targets[i].suffixes, *end)))) {
            p->check.since = targets[i].version;
            return;
        }
    ft__ptx_fail(p, at, "there is no target '%s'", name);
}

void ft__check_target_version(ft__parser *p, const char *at)
{
    uint32_t since = p->check.since;

    if (p->check.suffix == 'a' && p->check.sm == 90)
        since = 80;
    if (p->check.suffix == 'f')
        since = since < 88 ? 88 : since;
    if (p->m->version < since)
        ft__ptx_fail(p, at, "PTX %u.%u does not know %s, which came with %u.%u",
                     p->m->version / 10, p->m->version % 10, p->m->target, since / 10,
                     since % 10);
}

/* ---- declarations ---- */

void ft__check_variable_type(ft__parser *p, const char *at, unsigned type,
                             uint32_t vector)
{
    const char *name = ft__ptx_mod_name(type);

    switch (type) {
    case FT__TYPE_B128:
        if (p->m->version < 83 || p->check.sm < 70)
            ft__ptx_fail(p, at, ".b128 needs PTX 8.3 and sm_70");
        break;
    case FT__TYPE_PRED:
        if (vector > 1)
            ft__ptx_fail(p, at, "there are no vectors of predicates");
        break;
    case FT__TYPE_TEXREF:
    case FT__TYPE_SAMPLERREF:
    case FT__TYPE_SURFREF:
    case FT__TYPE_F16X2: break;
    default:
        if (type > FT__TYPE_F64 || type == FT__TYPE_BF16 || type == FT__TYPE_BF16X2 ||
            type == FT__TYPE_TF32 || type == FT__TYPE_F32X2)
            ft__ptx_fail(p, at, "'.%s' is a type of instructions only", name);
        break;
    }
    if (vector > 1 && ft__ptx_type_bits(type) * vector > 128)
        ft__ptx_fail(p, at, "vectors have up to 128 bits");
}

static bool same(const ft__ptx_variable *a, const ft__ptx_variable *b)
{
    return a->size == b->size && a->type == b->type && a->align == b->align;
}

static bool same_variables(const ft__parser *p, const uint32_t *a, const uint32_t *b,
                           size_t n)
{
    const ft__ptx_variable *v = p->variables.at;

    for (size_t i = 0; i < n; i++)
        if (!same(&v[a[i]], &v[b[i]]))
            return false;
    return true;
}

void ft__check_again(ft__parser *p, const char *at, const ft__ptx_function *before)
{
    if (before->n_params != p->params.n || before->n_results != p->results.n ||
        before->params_are_regs != p->f->params_are_regs ||
        before->results_are_regs != p->f->results_are_regs ||
        (!before->params_are_regs &&
         !same_variables(p, before->param, p->params.at, p->params.n)) ||
        (!before->results_are_regs &&
         !same_variables(p, before->result, p->results.at, p->results.n)))
        ft__ptx_fail(p, at, "'%s' was declared with other parameters", p->f->name);
}

void ft__check_parameters(ft__parser *p, const char *at)
{
    const ft__ptx_variable *v = p->variables.at;
    const uint32_t *param = p->params.at;
    const uint64_t most = p->m->version >= 81 && p->check.sm >= 70 ? 32764 : 4352;

    if (!p->f->entry) {
        if (p->results.n > 1 && !p->f->results_are_regs)
            ft__ptx_fail(p, at, "several results have to be .reg");
        return;
    }
    if (p->params.n && p->f->params_are_regs) {
        ft__ptx_fail(p, at, "parameters of kernels are .param");
        return;
    }
    for (size_t i = 0; i < p->params.n; i++)
        if (v[param[i]].size == 0)
            ft__ptx_fail(p, at, "parameters of kernels have a size");
    if (p->offset[FT_PTX_PARAM] > most)
        ft__ptx_fail(p, at, "%llu bytes of parameters, the most is %llu",
                     (unsigned long long)p->offset[FT_PTX_PARAM],
                     (unsigned long long)most);
}
