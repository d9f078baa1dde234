/* Operations of networks: from a folder of lists, or from one table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/pairs.h"
#include "foretell/names.h"
#include "foretell/networks.h"
#include "import/graph_inside.h"
#include "store/csv.h"

enum { NETWORK, FAMILY, SHAPE, OPERATION, COUNT, N_COLUMNS };
static const char *const columns[N_COLUMNS] = {"network", "family", "x", "operation",
                                               "count"};

/* A list of the table and what it is found by. */
struct entry {
    char *name;
    char *shape; /* "256x3x224x224" */
    char *family;
    ft__buf text; /* of each operation its count, a blank, its spec, end of line */
    double batch;
};

struct ft_network_lists {
    char *folder;    /* NULL: a table */
    struct entry *v; /* by name, then image */
    size_t n, cap;
};

void ft_network_lists_free(ft_network_lists *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n; i++) {
        free(l->v[i].name);
        free(l->v[i].shape);
        free(l->v[i].family);
        ft__buf_free(&l->v[i].text);
    }
    free(l->v);
    free(l->folder);
    free(l);
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

struct reading {
    ft_network_lists *l;
    ft__csv *rows;
    int at[N_COLUMNS];
    ft_error *err;
};

static const char *text(const struct reading *r, int column)
{
    return ft__csv_text(r->rows, (size_t)r->at[column]);
}

static ft_status no_memory(const struct reading *r)
{
    return ft_fail(r->err, FT_ENOMEM, 0, "operations of %s", text(r, NETWORK));
}

static ft_status add_entry(struct reading *r)
{
    ft_network_lists *l = r->l;
    struct entry *e;
    char *end;

    e = ft__list_grow(l->v, l->n, &l->cap, sizeof(*e));
    if (!e)
        return no_memory(r);
    l->v = e;
    e = &l->v[l->n++];
    *e = (struct entry){.name = strdup(text(r, NETWORK)),
                        .shape = strdup(text(r, SHAPE)),
                        .family = strdup(text(r, FAMILY)),
                        .batch = (double)strtoll(text(r, SHAPE), &end, 10)};
    if (!e->name || !e->shape || !e->family)
        return no_memory(r);
    if (!(e->batch >= 1 && e->batch <= 1e9) || *end != 'x')
        return ft__csv_bad(r->rows, (size_t)r->at[SHAPE], "256x3x224x224 is wanted",
                           r->err);
    return FT_OK;
}

static ft_status add_operation(struct reading *r)
{
    struct entry *e = &r->l->v[r->l->n - 1];
    ft_error inner = {0};
    ft_op op;
    char *end;
    long long count;

    if (ft_op_parse(&op, text(r, OPERATION), strlen(text(r, OPERATION)), &inner))
        return ft__csv_bad(r->rows, (size_t)r->at[OPERATION], inner.msg, r->err);
    count = strtoll(text(r, COUNT), &end, 10);
    if (!(count > 0 && count <= 1000000000) || *end)
        return ft__csv_bad(r->rows, (size_t)r->at[COUNT],
                           "a whole number above 0 is wanted", r->err);
    ft__buf_fmt(&e->text, "%lld %s\n", count, text(r, OPERATION));
    return e->text.bad ? no_memory(r) : FT_OK;
}

static ft_status take_row(struct reading *r)
{
    const struct entry *last = r->l->n ? &r->l->v[r->l->n - 1] : NULL;
    ft_status st = FT_OK;

    if (!last || strcmp(last->name, text(r, NETWORK)) != 0 ||
        strcmp(last->shape, text(r, SHAPE)) != 0)
        st = add_entry(r);
    return st ? st : add_operation(r);
}

static ft_status read_rows(struct reading *r, const char *path)
{
    bool more = true;
    ft_status st = FT_OK;

    for (int i = 0; i < N_COLUMNS; i++) {
        r->at[i] = ft__csv_find(r->rows, columns[i]);
        if (r->at[i] < 0)
            return ft_fail(r->err, FT_EFORMAT, 0,
                           "%s: no column \"%s\"; network, family, x, operation and "
                           "count are needed",
                           path, columns[i]);
    }
    while (!st) {
        st = ft__csv_next(r->rows, &more, r->err);
        if (st || !more)
            break;
        st = take_row(r);
    }
    return st;
}

static ft_status read_table(ft_network_lists *l, const char *path, ft_error *err)
{
    struct reading r = {.l = l, .err = err};
    size_t len = 0;
    char *bytes = NULL;
    ft_status st = ft__file_read(&bytes, &len, path, FT__MAX_TABLE_FILE, err);

    if (!st)
        st = ft__csv_open(&r.rows, NULL, bytes, len, path, err);
    if (!st)
        st = read_rows(&r, path);
    ft__csv_close(r.rows);
    free(bytes);
    if (!st && l->n)
        qsort(l->v, l->n, sizeof(*l->v), compare);
    return st;
}

ft_status ft_network_lists_open(ft_network_lists **out, const char *path, ft_error *err)
{
    ft_network_lists *l = calloc(1, sizeof(*l));
    ft_error own = {0};
    struct stat is;
    ft_status st = FT_OK;

    *out = NULL;
    err = err ? err : &own;
    if (!l)
        return ft_fail(err, FT_ENOMEM, 0, "%s", path);
    if (stat(path, &is) == 0 && !S_ISDIR(is.st_mode)) {
        st = read_table(l, path, err);
    } else {
        l->folder = strdup(path);
        if (!l->folder)
            st = ft_fail(err, FT_ENOMEM, 0, "%s", path);
    }
    if (st) {
        ft_network_lists_free(l);
        return st;
    }
    *out = l;
    return FT_OK;
}

struct name {
    char name[256], shape[256];
};

static bool read_name(struct name *out, const char *spec)
{
    size_t n_name = 0, n_x = 0;
    const char *name = ft__pair(spec, "name", &n_name), *x = ft__pair(spec, "x", &n_x);

    if (!name || !x || n_name >= sizeof(out->name) || n_x >= sizeof(out->shape))
        return false;
    snprintf(out->name, sizeof(out->name), "%.*s", (int)n_name, name);
    snprintf(out->shape, sizeof(out->shape), "%.*s", (int)n_x, x);
    return true;
}

static ft_status find_file(ft_network_list *out, const char *folder,
                           const struct name *of, const char *phase, ft_error *err)
{
    static const ft_import_options as_it_is = {0};
    const char *forward = ft_name(FT_NAMES_PHASE, FT_PHASE_FORWARD);
    const char *kind =
        strcmp(phase, forward) == 0 ? forward : ft_name(FT_NAMES_PHASE, FT_PHASE_STEP);
    char path[4096];

    if (strchr(of->name, '/') ||
        (size_t)snprintf(path, sizeof(path), "%s/%s@%s.%s.ops", folder, of->name,
                         of->shape, kind) >= sizeof(path) ||
        access(path, R_OK))
        return FT_OK;
    return ft__import_file(&out->graph, path, &as_it_is, err);
}

static ft_status take_entry(ft_network_list *out, const struct entry *e,
                            const char *phase, ft_error *err)
{
    const bool forward = strcmp(phase, ft_name(FT_NAMES_PHASE, FT_PHASE_FORWARD)) == 0;
    ft__buf list = {0};
    ft_status st;

    for (const char *at = e->text.s; *at;) {
        size_t count = strcspn(at, " "), len = strcspn(at, "\n");

        ft__buf_fmt(&list, "%.*s%s *%.*s\n", (int)(len - count - 1), at + count + 1,
                    forward ? "" : " phase=forward_backward", (int)count, at);
        at += len + 1;
    }
    st = list.bad ? ft_fail(err, FT_ENOMEM, 0, "operations of %s", e->name)
                  : ft_import_ops(&out->graph, list.s, list.len, e->name, err);
    ft__buf_free(&list);
    out->batch = e->batch;
    snprintf(out->architecture, sizeof(out->architecture), "%s", e->family);
    return st;
}

ft_status ft_network_lists_find(void *lists, ft_network_list *out, const char *spec,
                                const char *phase, ft_error *err)
{
    const ft_network_lists *l = lists;
    const struct entry *found;
    struct name of;

    if (!read_name(&of, spec))
        return FT_OK;
    if (l->folder)
        return find_file(out, l->folder, &of, phase, err);
    found = l->n ? bsearch(&(const struct entry){.name = of.name, .shape = of.shape},
                           l->v, l->n, sizeof(*l->v), compare)
                 : NULL;
    return found ? take_entry(out, found, phase, err) : FT_OK;
}
