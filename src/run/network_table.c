/* Networks' operations from one table. */
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "foretell/networks.h"
#include "run/rows.h"

enum { NETWORK, FAMILY, SHAPE, OPERATION, COUNT, N_COLUMNS };
static const char *const columns[N_COLUMNS] = {"network", "family", "x", "operation",
                                               "count"};

/* A list and what it is found by. */
struct entry {
    char *name;
    char *shape; /* "256x3x224x224" */
    char *family;
    ft_op *op;
    double *count;
    size_t n, cap;
    double batch;
    ft_network_list list;
};

struct ft_network_table {
    struct entry *v; /* by name, then image */
    size_t n, cap;
};

void ft_network_table_free(ft_network_table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++) {
        free(t->v[i].name);
        free(t->v[i].shape);
        free(t->v[i].family);
        free(t->v[i].op);
        free(t->v[i].count);
    }
    free(t->v);
    free(t);
}

/* What follows the batch: "3x224x224". */
static const char *image_of(const char *shape)
{
    const char *x = strchr(shape, 'x');

    return x ? x + 1 : "";
}

static int compare(const void *a, const void *b)
{
    const struct entry *p = a, *q = b;
    int by_name = strcmp(p->name, q->name);

    return by_name ? by_name : strcmp(image_of(p->shape), image_of(q->shape));
}

/* ---- reading ---- */

struct reading {
    ft_network_table *t;
    ft__rows *rows;
    int at[N_COLUMNS];
    ft_error *err;
};

static const char *text(const struct reading *r, int column)
{
    return ft__rows_text(r->rows, (size_t)r->at[column]);
}

static ft_status no_memory(const struct reading *r)
{
    return ft_fail(r->err, FT_ENOMEM, 0, "operations of %s", text(r, NETWORK));
}

static ft_status add_entry(struct reading *r)
{
    ft_network_table *t = r->t;
    struct entry *e;
    char *end;

    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 64;

        e = realloc(t->v, cap * sizeof(*e));
        if (!e)
            return no_memory(r);
        t->v = e;
        t->cap = cap;
    }
    e = &t->v[t->n++];
    *e = (struct entry){.name = strdup(text(r, NETWORK)),
                        .shape = strdup(text(r, SHAPE)),
                        .family = strdup(text(r, FAMILY)),
                        .batch = (double)strtoll(text(r, SHAPE), &end, 10)};
    if (!e->name || !e->shape || !e->family)
        return no_memory(r);
    if (!(e->batch >= 1 && e->batch <= 1e9) || *end != 'x')
        return ft__rows_bad(r->rows, r->at[SHAPE], "256x3x224x224 is wanted", r->err);
    return FT_OK;
}

static ft_status add_operation(struct reading *r)
{
    struct entry *e = &r->t->v[r->t->n - 1];
    ft_error inner = {0};
    char *end;

    if (e->n == e->cap) {
        size_t cap = e->cap ? 2 * e->cap : 32;
        ft_op *op = realloc(e->op, cap * sizeof(*op));
        double *count;

        if (op)
            e->op = op;
        count = op ? realloc(e->count, cap * sizeof(*count)) : NULL;
        if (!count)
            return no_memory(r);
        e->count = count;
        e->cap = cap;
    }
    if (ft_op_parse(&e->op[e->n], text(r, OPERATION), strlen(text(r, OPERATION)),
                    &inner))
        return ft__rows_bad(r->rows, r->at[OPERATION], inner.msg, r->err);
    e->count[e->n] = strtod(text(r, COUNT), &end);
    if (!(e->count[e->n] > 0 && e->count[e->n] <= 1e9) || *end)
        return ft__rows_bad(r->rows, r->at[COUNT], "a number above 0 is wanted",
                            r->err);
    e->n++;
    return FT_OK;
}

static ft_status take_row(struct reading *r)
{
    const struct entry *last = r->t->n ? &r->t->v[r->t->n - 1] : NULL;
    ft_status st = FT_OK;

    if (!last || strcmp(last->name, text(r, NETWORK)) != 0 ||
        strcmp(last->shape, text(r, SHAPE)) != 0)
        st = add_entry(r);
    return st ? st : add_operation(r);
}

static ft_status find_columns(struct reading *r, const char *path)
{
    for (int i = 0; i < N_COLUMNS; i++) {
        r->at[i] = ft__rows_find(r->rows, columns[i]);
        if (r->at[i] < 0)
            return ft_fail(r->err, FT_EFORMAT, 0,
                           "%s: no column \"%s\"; network, family, x, operation and "
                           "count are needed",
                           path, columns[i]);
    }
    return FT_OK;
}

static ft_status read_rows(struct reading *r, const char *path)
{
    ft_status st = find_columns(r, path);
    bool more = true;

    while (!st) {
        st = ft__rows_next(r->rows, &more, r->err);
        if (st || !more)
            break;
        st = take_row(r);
    }
    return st;
}

ft_status ft_network_table_open(ft_network_table **out, const char *path, ft_error *err)
{
    ft_error own = {0};
    struct reading r = {.t = calloc(1, sizeof(*r.t)), .err = err ? err : &own};
    size_t len = 0;
    char *bytes = NULL;
    ft_status st = r.t ? ft__table_read(&bytes, &len, path, r.err)
                       : ft_fail(r.err, FT_ENOMEM, 0, "%s", path);

    *out = NULL;
    if (!st)
        st = ft__rows_open(&r.rows, bytes, len, path, r.err);
    if (!st)
        st = read_rows(&r, path);
    ft__rows_close(r.rows);
    free(bytes);
    if (st) {
        ft_network_table_free(r.t);
        return st;
    }
    if (r.t->n)
        qsort(r.t->v, r.t->n, sizeof(*r.t->v), compare);
    for (size_t i = 0; i < r.t->n; i++) {
        struct entry *e = &r.t->v[i];

        e->list = (ft_network_list){.family = e->family,
                                    .batch = e->batch,
                                    .op = e->op,
                                    .count = e->count,
                                    .n = e->n};
    }
    *out = r.t;
    return FT_OK;
}

/* ---- finding ---- */

const ft_network_list *ft_network_table_find(void *table, const char *spec)
{
    const ft_network_table *t = table;
    size_t n_name = 0, n_x = 0;
    const char *name = ft__pair(spec, "name", &n_name), *x = ft__pair(spec, "x", &n_x);
    char names[256], shape[256];
    const struct entry key = {.name = names, .shape = shape}, *found;

    if (!name || !x || n_name >= sizeof(names) || n_x >= sizeof(shape) || !t->n)
        return NULL;
    memcpy(names, name, n_name);
    names[n_name] = 0;
    memcpy(shape, x, n_x);
    shape[n_x] = 0;
    found = bsearch(&key, t->v, t->n, sizeof(*t->v), compare);
    return found ? &found->list : NULL;
}
