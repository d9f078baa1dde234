#include "launches.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx_inside.h"
#include "ptx/syntax/module.h"

enum { MOST_MEMORY_LOG2 = 36, DEFAULT_MEMORY = 1 << 20, MOST_SHARED = 1 << 20 };

static ft_status bad(ft_error *err, const launch *l, const char *what)
{
    return ft_fail(err, FT_EFORMAT, 0, "line %u: %s", l->line, what);
}

static const char *const fill_names[] = {"f32", "f64", "f16", "bf16", "s32", "s8"};

static bool read_type(fill *f, const char *name)
{
    for (int k = 0; name && k <= FILL_S8; k++)
        if (strcmp(name, fill_names[k]) == 0) {
            f->type = (fill_type)k;
            return true;
        }
    return false;
}

/* "f32", "zero", {"from": 0, "to": 99}, {"type": "f32", "from": 0, "step": 0.5} */
static bool read_fill(fill *f, const json_t *j)
{
    const json_t *type = json_object_get(j, "type"), *to = json_object_get(j, "to");

    if (json_is_string(j)) {
        if (strcmp(json_string_value(j), "zero") == 0) {
            *f = (fill){.type = FILL_S8};
            return true;
        }
        *f = (fill){.low = -1, .high = 1};
        if (!read_type(f, json_string_value(j)))
            return false;
        if (f->type == FILL_S8)
            *f = (fill){.type = FILL_S8, .low = -128, .high = 128};
        return true;
    }
    *f = (fill){.type = FILL_S32, .low = json_number_value(json_object_get(j, "from"))};
    if (type && !read_type(f, json_string_value(type)))
        return false;
    f->step = json_number_value(json_object_get(j, "step"));
    f->high =
        json_number_value(to) + (f->type == FILL_S32 || f->type == FILL_S8 ? 1 : 0);
    return json_is_object(j) && (f->step != 0 || (to && f->high > f->low));
}

static ft_status read_memory(argument *a, const launch *l, const json_t *j,
                             ft_error *err)
{
    const json_t *bytes = json_object_get(j, "pointer"),
                 *f = json_object_get(j, "fill");
    json_int_t n = json_is_integer(bytes) ? json_integer_value(bytes) : DEFAULT_MEMORY;
    json_int_t offset = json_integer_value(json_object_get(j, "offset"));

    a->fill = (fill){.low = -1, .high = 1};

    if (n < 1 || n > (json_int_t)1 << MOST_MEMORY_LOG2 || offset < 0 || offset >= n)
        return bad(err, l, "memory of so many bytes, or an address outside of it");
    if (f && !read_fill(&a->fill, f))
        return bad(err, l,
                   "a \"fill\" is \"f32\", \"f64\", \"f16\", \"bf16\", \"s8\", "
                   "\"zero\", or {\"type\": .., \"from\": .., \"to\" or \"step\": ..}");
    a->memory = (uint64_t)n;
    a->offset = (uint64_t)offset;
    return FT_OK;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static ft_status read_hex(argument *a, const launch *l, const char *text, ft_error *err)
{
    if (strlen(text) != 2 * (size_t)a->size)
        return bad(err, l, "\"bytes\" are not as many as the parameter has");
    for (uint32_t i = 0; i < a->size; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return bad(err, l, "\"bytes\" have other letters than 0 .. 9 and a .. f");
        a->bytes[i] = (uint8_t)(high << 4 | low);
    }
    return FT_OK;
}

static ft_status read_number(argument *a, const launch *l, const json_t *j, bool real,
                             ft_error *err)
{
    double d = json_number_value(j);
    float f = (float)d;
    uint64_t bits = (uint64_t)json_integer_value(j);

    if (json_is_real(j) || real) {
        if (a->size != 4 && a->size != 8)
            return bad(err, l, "a float for a parameter that is not of 4 or 8 bytes");
        memcpy(a->bytes, a->size == 8 ? (void *)&d : (void *)&f, a->size);
        return FT_OK;
    }
    if (a->size > 8)
        return bad(err, l, "a number for a struct; give its \"bytes\"");
    for (uint32_t i = 0; i < a->size; i++)
        a->bytes[i] = (uint8_t)(bits >> 8 * i);
    return FT_OK;
}

static ft_status read_argument(argument *a, const launch *l, const json_t *j, bool real,
                               ft_error *err)
{
    const json_t *v = NULL;

    if (json_is_string(j) || json_object_get(j, "pointer"))
        return read_memory(a, l, j, err);
    if (json_is_number(j))
        return read_number(a, l, j, real, err);
    if ((v = json_object_get(j, "f32")) || (v = json_object_get(j, "f64")))
        return read_number(a, l, v, true, err);
    if ((v = json_object_get(j, "bytes")) && json_is_string(v))
        return read_hex(a, l, json_string_value(v), err);
    return bad(err, l,
               "an argument that is not known, or of a kind that cannot be run");
}

static bool read_three(uint32_t out[3], const json_t *j)
{
    size_t n = json_is_array(j) ? json_array_size(j) : 1;

    out[0] = out[1] = out[2] = 1;
    for (size_t i = 0; i < n && i < 3; i++) {
        json_int_t v = json_integer_value(json_is_array(j) ? json_array_get(j, i) : j);

        if (v < 1 || v > INT32_MAX)
            return false;
        out[i] = (uint32_t)v;
    }
    return n >= 1 && n <= 3;
}

static const json_t *parameter(const json_t *params, const ft_ptx_kernel *k, uint32_t i)
{
    return json_is_array(params) ? json_array_get(params, i)
                                 : json_object_get(params, k->param[i].name);
}

static ft_status read_arguments(launch *l, const ft_ptx *m, const ft_ptx_kernel *k,
                                ft_error *err)
{
    const ft__ptx_function *f = &m->function[m->kernel_function[k - m->kernel]];
    const json_t *params = json_object_get(l->row, "params");
    ft_status st = FT_OK;

    if (k->n_params > LAUNCH_PARAMS)
        return bad(err, l, "more parameters than can be given");
    for (uint32_t i = 0; !st && i < k->n_params; i++) {
        unsigned type = m->variable[f->param[i].index].type;

        l->arg[i].size = k->param[i].size;
        l->arg[i].bytes = calloc(k->param[i].size < 8 ? 8 : k->param[i].size, 1);
        l->n_args = i + 1;
        if (!l->arg[i].bytes)
            return ft_fail(err, FT_ENOMEM, 0, "an argument");
        st = read_argument(&l->arg[i], l, parameter(params, k, i),
                           ft__ptx_type_kind(type) == FT__KIND_FLOAT, err);
    }
    return st;
}

/* The file's folder in front. */
static char *beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash && name[0] != '/' ? (size_t)(slash - path) + 1 : 0;
    char *out = malloc(n + strlen(name) + 1);

    if (out) {
        memcpy(out, path, n);
        strcpy(out + n, name);
    }
    return out;
}

static ft_status read_row(launch *l, const char *path, ft_error *err)
{
    const char *module = json_string_value(json_object_get(l->row, "module"));
    const char *kernel = json_string_value(json_object_get(l->row, "kernel"));
    json_int_t shared = json_integer_value(json_object_get(l->row, "shared"));
    const ft_ptx_kernel *k;
    ft_ptx *m = NULL;
    uint32_t i = 0;
    ft_error why;
    ft_status st;

    if (!module)
        return bad(err, l, "\"module\" is missing: the PTX file");
    if (!read_three(l->grid, json_object_get(l->row, "grid")) ||
        !read_three(l->block, json_object_get(l->row, "block")))
        return bad(err, l, "\"grid\" and \"block\" are one to three numbers from 1 on");
    if (shared < 0 || shared > MOST_SHARED)
        return bad(err, l, "\"shared\" is a number of bytes that a block can have");
    l->shared = (uint32_t)shared;
    l->module = beside(path, module);
    if (!l->module)
        return ft_fail(err, FT_ENOMEM, 0, "a name");
    st = ft__ptx_open(&m, l->module, &why);
    st = st ? st : ft__ptx_kernel_find(&i, m, kernel, &why);
    if (st) {
        ft_fail(err, FT_EFORMAT, 0, "line %u: %.900s", l->line, why.msg);
    } else {
        k = &m->kernel[i];
        if (!kernel)
            json_object_set_new(l->row, "kernel", json_string(k->name));
        l->kernel = json_string_value(json_object_get(l->row, "kernel"));
        st = read_arguments(l, m, k, err);
    }
    ft__ptx_free(m);
    return st ? FT_EFORMAT : FT_OK;
}

/* Apart from what it is called and how often it comes. */
static bool same(const launch *a, const json_t *b)
{
    static const char *const key[] = {"module", "kernel", "grid",
                                      "block",  "shared", "params"};

    for (size_t k = 0; k < sizeof(key) / sizeof(*key); k++) {
        const json_t *x = json_object_get(a->row, key[k]),
                     *y = json_object_get(b, key[k]);

        if ((x || y) && !json_equal(x, y))
            return false;
    }
    return true;
}

static ft_status add(launches *out, const char *path, json_t *row, uint32_t line,
                     ft_error *err)
{
    launch *grown;

    for (size_t i = 0; i < out->n; i++)
        if (same(&out->row[i], row)) {
            json_decref(row);
            return FT_OK;
        }
    grown = realloc(out->row, (out->n + 1) * sizeof(*grown));
    if (!grown) {
        json_decref(row);
        return ft_fail(err, FT_ENOMEM, 0, "launches");
    }
    out->row = grown;
    grown[out->n] = (launch){.row = row, .line = line};
    return read_row(&grown[out->n++], path, err);
}

static ft_status read_line(launches *out, const char *path, const char *text,
                           uint32_t line, ft_error *err)
{
    json_error_t why;
    json_t *row;

    if (text[strspn(text, " \t\r\n")] == '\0')
        return FT_OK;
    row = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(row)) {
        json_decref(row);
        return ft_fail(err, FT_EFORMAT, 0, "line %u: a launch is a JSON object, %.200s",
                       line, row ? "not this" : why.text);
    }
    if (json_object_get(row, "library")) {
        json_decref(row);
        return FT_OK;
    }
    return add(out, path, row, line, err);
}

ft_status launches_read(launches *out, const char *path, ft_error *err)
{
    FILE *fp = fopen(path, "r");
    char *text = NULL;
    size_t cap = 0;
    ft_status st = FT_OK;
    ft_error why;

    memset(out, 0, sizeof(*out));
    if (!fp)
        return ft_fail(err, FT_EIO, 0, "%s: %s", path, strerror(errno));
    for (uint32_t line = 1; !st && getline(&text, &cap, fp) >= 0; line++)
        st = read_line(out, path, text, line, &why);
    if (st)
        ft_fail(err, st, 0, "%s, %.900s", path, why.msg);
    else if (ferror(fp))
        st = ft_fail(err, FT_EIO, 0, "%s cannot be read to its end", path);
    free(text);
    fclose(fp);
    if (st)
        launches_free(out);
    return st;
}

void launches_free(launches *l)
{
    for (size_t i = 0; i < l->n; i++) {
        for (uint32_t a = 0; a < l->row[i].n_args; a++)
            free(l->row[i].arg[a].bytes);
        free(l->row[i].module);
        json_decref(l->row[i].row);
    }
    free(l->row);
    memset(l, 0, sizeof(*l));
}
