/* Arguments of launches: as they were written, into the bytes that parameters take. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/eval/lanes.h"
#include "ptx/launch/reader.h"

static void put(uint8_t *out, uint64_t bits, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++)
        out[i] = (uint8_t)(i < 8 ? bits >> 8 * i : 0);
}

void ft__ptx_float_bytes(uint8_t *out, double x, uint32_t size, bool brain)
{
    const unsigned type = size == 8   ? FT__TYPE_F64
                          : size == 4 ? FT__TYPE_F32
                          : brain     ? FT__TYPE_BF16
                                      : FT__TYPE_F16;

    put(out, ft__ptx_from_double(type, x, FT__ROUND_NEAREST, false), size);
}

/* From -2^(bits-1) to 2^bits - 1. */
static bool fits(int64_t v, uint32_t size)
{
    if (size >= 8)
        return true;
    return v >= -((int64_t)1 << (8 * size - 1)) && v < (int64_t)1 << 8 * size;
}

/* Memory of its own for each parameter, far from all others. */
static uint64_t address(uint32_t param, int64_t offset, uint32_t size)
{
    return ((uint64_t)(param + 1) << (size == 8 ? 40 : 22)) + (uint64_t)offset;
}

static ft_status refuse(ft_error *err, const ft_ptx_param *p, const char *what)
{
    return ft_fail(err, FT_EFORMAT, 0, "parameter %s of %u bytes %s", p->name, p->size,
                   what);
}

static ft_status put_value(uint8_t *out, const ft__ptx_value *v, uint32_t i,
                           const ft_ptx_param *p, const ft__ptx_variable *declared,
                           ft_error *err)
{
    bool scalar = p->size <= 8 && p->size * 8 == ft__ptx_type_bits(declared->type);
    bool real = ft__ptx_type_kind(declared->type) == FT__KIND_FLOAT;
    bool sized = v->kind == FT__VALUE_BYTES || v->kind == FT__VALUE_FLOAT;

    if (sized && v->size != p->size)
        return ft_fail(err, FT_EFORMAT, 0, "parameter %s of %u bytes is given %u",
                       p->name, p->size, v->size);
    if (v->kind == FT__VALUE_BYTES)
        memcpy(out, v->bytes, v->size);
    if (v->kind == FT__VALUE_FLOAT)
        ft__ptx_float_bytes(out, v->real, v->size, v->brain);
    if (sized)
        return FT_OK;
    if (!scalar)
        return refuse(err, p,
                      "is a struct or an array: give its bytes, bytes:00ff.. or "
                      "in a launch file {\"bytes\": \"00ff..\"}");
    if (v->kind == FT__VALUE_POINTER) {
        if (p->size < 4)
            return refuse(err, p, "is too small for a pointer");
        put(out, address(i, v->number, p->size), p->size);
    } else if (v->kind == FT__VALUE_INT && !real) {
        if (!fits(v->number, p->size))
            return refuse(err, p, "is given a number that does not fit");
        put(out, (uint64_t)v->number, p->size);
    } else if (p->size == 1 || ft__ptx_type_kind(declared->type) == FT__KIND_SIGNED ||
               ft__ptx_type_kind(declared->type) == FT__KIND_UNSIGNED) {
        return refuse(err, p, "is an integer, and is given a fraction");
    } else {
        ft__ptx_float_bytes(out, v->kind == FT__VALUE_INT ? (double)v->number : v->real,
                            p->size, declared->type == FT__TYPE_BF16);
    }
    return FT_OK;
}

/* By name or by "3", its position; n_params or more: there is none. */
static uint32_t find(const ft_ptx_kernel *k, const char *name, const char *const *alias,
                     size_t n_alias)
{
    for (uint32_t i = 0; i < k->n_params; i++)
        if (strcmp(k->param[i].name, name) == 0)
            return i;
    for (uint32_t i = 0; i < n_alias && i < k->n_params; i++)
        if (alias[i] && strcmp(alias[i], name) == 0)
            return i;
    if (*name && strlen(name) < 6 && strspn(name, "0123456789") == strlen(name))
        return (uint32_t)strtoul(name, NULL, 10);
    return k->n_params;
}

static ft_status put_argument(ft_ptx_arg *arg, uint32_t i, const ft__ptx_value *v,
                              const ft_ptx *m, const ft_ptx_kernel *k, ft__arena *a,
                              ft_error *err)
{
    const ft__ptx_function *f = &m->function[m->kernel_function[k - m->kernel]];
    uint8_t *bytes = ft__arena_alloc(a, k->param[i].size);

    if (!bytes)
        return ft_fail(err, FT_ENOMEM, 0, "arguments");
    *arg = (ft_ptx_arg){.index = i, .bytes = bytes, .size = k->param[i].size};
    return put_value(bytes, v, i, &k->param[i], &m->variable[f->param[i].index], err);
}

static ft_status unknown(const ft_ptx_kernel *k, const char *name,
                         const char *const *alias, size_t n_alias, ft_error *err)
{
    char all[400] = "";
    size_t len = 0;

    for (uint32_t i = 0; i < k->n_params && len < sizeof(all); i++)
        len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", i ? ", " : "",
                                i < n_alias && alias[i] ? alias[i] : k->param[i].name);
    return ft_fail(err, FT_ENOTFOUND, 0, "%s has no parameter %.100s; from 0 on: %s%s",
                   k->name, name, k->n_params ? all : "none",
                   len < sizeof(all) ? "" : " ...");
}

/* The values of row r in the order of the parameters, what is used as an address being
 * a pointer unless something else is said of it. */
static ft_status sort_values(const ft__ptx_value **of, const ft__ptx_row *r,
                             const ft_ptx_kernel *k, const char *const *alias,
                             size_t n_alias, ft_error *err)
{
    static const ft__ptx_value pointer = {.kind = FT__VALUE_POINTER};

    for (uint32_t i = 0; i < k->n_params; i++)
        of[i] = k->param[i].pointer ? &pointer : NULL;
    for (uint32_t v = 0; v < r->n_values; v++) {
        const char *name = r->value[v].name;
        uint32_t i = name ? find(k, name, alias, n_alias) : v;

        if (i < k->n_params)
            of[i] = r->value[v].kind ? &r->value[v] : NULL;
        else if (name && !r->lenient)
            return unknown(k, name, alias, n_alias, err);
        else if (!name)
            return ft_fail(err, FT_EFORMAT, 0, "%s has %u parameters, not %u", k->name,
                           k->n_params, r->n_values);
    }
    return FT_OK;
}

ft_status ft__ptx_bind(ft_ptx_listed *out, const ft__ptx_row *r,
                       const char *const *alias, size_t n_alias, ft__arena *a,
                       ft_error *err)
{
    const ft_ptx_kernel *k = out->kernel;
    const ft__ptx_value **of = ft__arena_array(a, k->n_params, sizeof(*of));
    const char **open = ft__arena_array(a, k->n_params, sizeof(*open));
    ft_ptx_arg *arg = ft__arena_array(a, k->n_params, sizeof(*arg));
    ft_status st;

    if (!arg || !of || !open)
        return ft_fail(err, FT_ENOMEM, 0, "arguments");
    st = sort_values(of, r, k, alias, n_alias, err);
    out->launch.arg = arg;
    out->open = open;
    for (uint32_t i = 0; i < k->n_params && !st; i++)
        if (of[i])
            st = put_argument(&arg[out->launch.n_args++], i, of[i], out->module, k, a,
                              err);
        else
            open[out->n_open++] = i < n_alias && alias[i] ? alias[i] : k->param[i].name;
    return st;
}
