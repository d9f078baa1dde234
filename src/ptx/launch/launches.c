/* The list of launches. In: a launch file, or a folder that a tool chain left, of which
 * readers make rows; out: the launches with the modules that rows name, their arguments
 * in the types of the parameters, and counts of each. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/index.h"
#include "base/limits.h"
#include "ptx/launch/reader.h"
#include "ptx/ptx_inside.h"
#include "ptx/syntax/module.h"

/* A file of modules: opened once, analysed once. */
struct file {
    const char *path;
    ft_ptx **module;
    ft__ptx_counter **counter; /* of each; NULL: not yet */
    size_t n;
    ft__ptx_triton_facts triton;
};

struct ft_ptx_launches {
    ft_ptx_launches_facts facts;
    ft__arena arena;
    ft_ptx_source source;
    ft_ptx_listed *listed;
    struct file **file_of; /* of each listed; NULL: a library's call */
    size_t n;
    struct file *file;
    size_t n_files;
    ft__ptx_parts counted; /* of the last launch that was */
};

/* Errors of a row begin with where it was written. */
static ft_status at_row(const ft__ptx_row *r, ft_status st, const ft_error *inner,
                        ft_error *err)
{
    if (!r->where)
        return ft_fail(err, st, inner->pos, "%s", inner->msg);
    if (!r->line)
        return ft_fail(err, st, 0, "%s: %s", r->where, inner->msg);
    return ft_fail(err, st, 0, "%s, line %u: %s", r->where, r->line, inner->msg);
}

static ft_status open_file(struct file *f, const char *path, ft__arena *a,
                           ft_error *err)
{
    ft_status st = ft_ptx_modules_open(&f->module, &f->n, path, err);

    if (st)
        return st;
    f->path = path;
    f->counter = ft__arena_array(a, f->n, sizeof(f->counter[0]));
    if (!f->counter)
        return ft_fail(err, FT_ENOMEM, 0, "%s", path);
    return ft__ptx_triton_read(&f->triton, path, a, err);
}

static ft_status find_file(struct file **out, ft_ptx_launches *l, ft__index *paths,
                           const char *path, ft_error *err)
{
    uint64_t hash = ft__hash_text(FT__HASH_BEGIN, path);
    ft__index_slot *slot = ft__index_at(paths, hash, path);
    struct file *f;
    ft_status st;

    if (!slot)
        return ft_fail(err, FT_ENOMEM, 0, "%s", path);
    if (slot->hash) {
        *out = &l->file[slot->number];
        return FT_OK;
    }
    f = &l->file[l->n_files];
    *slot = (ft__index_slot){hash, path, (int64_t)l->n_files++};
    paths->n++;
    st = open_file(f, path, &l->arena, err);
    *out = f;
    return st;
}

static bool is_target(const ft_ptx *m, const char *target)
{
    const char *is = ft_ptx_get(m)->target;
    size_t n = strlen(target);

    return strncmp(is, target, n) == 0 && (is[n] == '\0' || is[n] == ',');
}

/* The first module of the file that has the row's kernel. */
static ft_status find_kernel(ft_ptx_listed *out, const struct file *f,
                             const ft__ptx_row *r, ft_error *err)
{
    ft_status st = ft_fail(err, FT_ENOTFOUND, 0, "%s has no module for %s", f->path,
                           r->target ? r->target : "any GPU");

    for (size_t i = 0; i < f->n && st == FT_ENOTFOUND; i++) {
        uint32_t k;

        if (r->target && !is_target(f->module[i], r->target))
            continue;
        st = ft__ptx_kernel_find(&k, f->module[i], r->kernel, err);
        if (!st) {
            out->module = f->module[i];
            out->kernel = &f->module[i]->kernel[k];
        }
    }
    return st;
}

static ft_status choose_block(ft_ptx_launch *l, const ft__ptx_row *r,
                              const ft_ptx_kernel *k, uint32_t usual, ft_error *err)
{
    memcpy(l->grid, r->grid, sizeof(l->grid));
    memcpy(l->block, r->block, sizeof(l->block));
    memcpy(l->cluster, r->cluster, sizeof(l->cluster));
    for (int d = 0; d < 3; d++) {
        if (!r->block[0])
            l->block[d] = k->required[0] && !k->required[d] ? 1 : k->required[d];
        if (!r->cluster[0])
            l->cluster[d] = k->cluster[0] && !k->cluster[d] ? 1 : k->cluster[d];
    }
    if (!l->block[0] && usual) {
        l->block[0] = usual;
        l->block[1] = l->block[2] = 1;
    }
    if (!l->block[0] && !r->missing)
        return ft_fail(err, FT_EFORMAT, 0,
                       "block is missing: %s has no .reqntid that says it", k->name);
    return FT_OK;
}

/* 0: the size of some buffer is not given. */
static uint64_t all_buffers(const ft__ptx_row *r, const ft_ptx_kernel *k)
{
    uint64_t sum = 0; /* each at most 2^52, at most 1024 */
    uint32_t sized = 0, pointers = 0;

    for (uint32_t i = 0; i < r->n_values; i++) {
        sum += r->value[i].memory;
        sized += r->value[i].memory > 0;
    }
    for (uint32_t i = 0; i < k->n_params; i++)
        pointers += k->param[i].pointer != 0;
    return sized < pointers ? 0 : sum;
}

static ft_status list_kernel(ft_ptx_listed *out, ft_ptx_launches *l, struct file *f,
                             const ft__ptx_row *r, ft_error *err)
{
    ft_status st = find_kernel(out, f, r, err);

    if (st)
        return st;
    out->memory_bytes = all_buffers(r, out->kernel);
    out->block_bytes = r->block_bytes;
    out->registers = r->registers;
    out->call = r->call;
    out->path = f->path;
    out->launch.kernel = out->kernel->name;
    out->launch.dynamic_shared = r->shared ? r->shared : f->triton.shared;
    st = choose_block(&out->launch, r, out->kernel, f->triton.block, err);
    if (st)
        return st;
    return ft__ptx_bind(out, r, f->triton.name, f->triton.n_names, &l->arena, err);
}

static uint64_t hash_of(const ft_ptx_listed *v)
{
    const ft_ptx_launch *l = &v->launch;
    uint64_t h = ft__hash_bytes(FT__HASH_BEGIN, &v->kernel, sizeof(v->kernel));

    if (v->library)
        h = ft__hash_text(h, v->library);
    if (v->operation)
        h = ft__hash_text(h, v->operation);
    if (v->missing)
        h = ft__hash_text(h, v->missing);
    if (v->call)
        h = ft__hash_text(h, v->call);
    h = ft__hash_bytes(h, &v->memory_bytes, sizeof(v->memory_bytes));
    h = ft__hash_bytes(h, &v->block_bytes, sizeof(v->block_bytes));
    h = ft__hash_bytes(h, &v->registers, sizeof(v->registers));
    h = ft__hash_bytes(h, l->grid, sizeof(l->grid));
    h = ft__hash_bytes(h, l->block, sizeof(l->block));
    h = ft__hash_bytes(h, l->cluster, sizeof(l->cluster));
    h = ft__hash_bytes(h, &l->dynamic_shared, sizeof(l->dynamic_shared));
    for (uint32_t i = 0; i < l->n_args; i++)
        h = ft__hash_bytes(h, l->arg[i].bytes, l->arg[i].size);
    return h;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_args(const ft_ptx_launch *a, const ft_ptx_launch *b)
{
    if (a->n_args != b->n_args)
        return false;
    for (uint32_t i = 0; i < a->n_args; i++)
        if (a->arg[i].index != b->arg[i].index || a->arg[i].size != b->arg[i].size ||
            memcmp(a->arg[i].bytes, b->arg[i].bytes, a->arg[i].size) != 0)
            return false;
    return true;
}

static bool same(const ft_ptx_listed *a, const ft_ptx_listed *b)
{
    const ft_ptx_launch *x = &a->launch, *y = &b->launch;

    return a->kernel == b->kernel && a->memory_bytes == b->memory_bytes &&
           a->block_bytes == b->block_bytes && a->registers == b->registers &&
           same_text(a->call, b->call) && same_text(a->library, b->library) &&
           same_text(a->operation, b->operation) && same_text(a->missing, b->missing) &&
           memcmp(x->grid, y->grid, sizeof(x->grid)) == 0 &&
           memcmp(x->block, y->block, sizeof(x->block)) == 0 &&
           memcmp(x->cluster, y->cluster, sizeof(x->cluster)) == 0 &&
           x->dynamic_shared == y->dynamic_shared && same_args(x, y);
}

static ft_status find_same(ft_ptx_launches *l, ft__index *seen, size_t i, ft_error *err)
{
    uint64_t hash = hash_of(&l->listed[i]);
    ft__index_slot *slot = ft__index_at(seen, hash, NULL);

    if (!slot)
        return ft_fail(err, FT_ENOMEM, 0, "launches");
    l->listed[i].same = i;
    if (!slot->hash) {
        *slot = (ft__index_slot){hash, NULL, (int64_t)i};
        seen->n++;
    } else if (same(&l->listed[i], &l->listed[slot->number])) {
        l->listed[i].same = (size_t)slot->number;
    }
    return FT_OK;
}

static ft_status list_row(ft_ptx_launches *l, size_t i, const ft__ptx_row *r,
                          ft__index *paths, ft_error *err)
{
    ft_ptx_listed *out = &l->listed[i];
    ft_error inner = {0};
    ft_status st;

    *out = (ft_ptx_listed){.name = r->name,
                           .count = r->count,
                           .library = r->library,
                           .operation = r->operation,
                           .missing = r->missing};
    if (!r->module)
        return FT_OK;
    st = find_file(&l->file_of[i], l, paths, r->module, &inner);
    if (!st)
        st = list_kernel(out, l, l->file_of[i], r, &inner);
    return st ? at_row(r, st, &inner, err) : FT_OK;
}

/* Rows' texts live in l's arena. */
static ft_status list_rows(ft_ptx_launches *l, const ft__ptx_rows *rows, ft_error *err)
{
    ft__index paths = {0}, seen = {0};
    ft_status st = FT_OK;

    l->listed = ft__arena_array(&l->arena, rows->n, sizeof(*l->listed));
    l->file_of = ft__arena_array(&l->arena, rows->n, sizeof(*l->file_of));
    l->file = ft__arena_array(&l->arena, rows->n, sizeof(*l->file));
    if (!l->listed || !l->file_of || !l->file)
        return ft_fail(err, FT_ENOMEM, 0, "launches");
    for (size_t i = 0; i < rows->n && !st; i++) {
        st = list_row(l, i, &rows->row[i], &paths, err);
        if (!st)
            st = find_same(l, &seen, i, err);
    }
    l->n = rows->n;
    ft__index_free(&paths);
    ft__index_free(&seen);
    return st;
}

static ft_status add_kernels(ft__ptx_rows *r, const char *path, const ft_ptx *m,
                             ft_error *err)
{
    const ft_ptx_kernel *k = ft_ptx_get(m)->kernel;
    size_t n = ft_ptx_get(m)->n_kernels;

    for (size_t i = 0; i < n; i++) {
        char *name = ft__arena_strndup(r->arena, k[i].name, strlen(k[i].name));
        ft__ptx_row *row;
        ft_status st = ft__ptx_row_add(&row, r, path, err);

        if (st)
            return st;
        if (!name)
            return ft_fail(err, FT_ENOMEM, 0, "%s", path);
        row->module = path;
        row->kernel = name;
        row->missing = "its launch: a launch file says it";
    }
    return FT_OK;
}

/* Modules of which nothing is known but themselves. */
static ft_status read_plain(ft__ptx_rows *r, const ft__ptx_files *f, ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < f->n && !st; i++) {
        ft_ptx **m;
        size_t n;

        if (!ft__ends_with(f->path[i], ".ptx"))
            continue;
        st = ft_ptx_modules_open(&m, &n, f->path[i], err);
        for (size_t j = 0; j < n && !st; j++)
            st = add_kernels(r, f->path[i], m[j], err);
        ft_ptx_modules_free(m, n);
    }
    return st;
}

static const ft__ptx_reader plain = {FT_PTX_FOLDER, read_plain};

enum { MAX_FILES = 1 << 18, MAX_DEPTH = 8 };

struct folder_walk {
    ft__arena *arena;
    const char **path;
    size_t n, cap;
};

static ft_status walk_folder(struct folder_walk *w, const char *folder, int depth,
                             ft_error *err);

static ft_status walk_entry(struct folder_walk *w, const char *path, int depth,
                            ft_error *err)
{
    const char **grown;
    struct stat s;

    if (lstat(path, &s))
        return FT_OK; /* it went away meanwhile */
    if (S_ISDIR(s.st_mode))
        return depth < MAX_DEPTH ? walk_folder(w, path, depth + 1, err) : FT_OK;
    if (!S_ISREG(s.st_mode))
        return FT_OK;
    if (w->n == MAX_FILES)
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s: more than %d files; name the folder "
                       "below it that is meant",
                       path, MAX_FILES);
    grown = ft__list_grow(w->path, w->n, &w->cap, sizeof(*grown));
    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "%s", path);
    w->path = grown;
    w->path[w->n++] = path;
    return FT_OK;
}

static ft_status walk_folder(struct folder_walk *w, const char *folder, int depth,
                             ft_error *err)
{
    DIR *d = opendir(folder);
    struct dirent *e;
    ft_status st = FT_OK;

    if (!d)
        return ft_fail(err, FT_EIO, 0, "%s: the folder cannot be read", folder);
    while (!st && (e = readdir(d)) != NULL) {
        char *path;

        if (e->d_name[0] == '.')
            continue;
        path = ft__ptx_fmt(w->arena, "%s/%s", folder, e->d_name);
        st = path ? walk_entry(w, path, depth, err)
                  : ft_fail(err, FT_ENOMEM, 0, "%s", folder);
    }
    closedir(d);
    return st;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static ft_status find_files(ft__ptx_files *out, const char *folder, ft__arena *a,
                            ft_error *err)
{
    struct folder_walk w = {.arena = a};
    ft_status st = walk_folder(&w, folder, 0, err);

    *out = (ft__ptx_files){.folder = folder, .path = w.path, .n = w.n};
    if (!st && w.n)
        qsort(w.path, w.n, sizeof(*w.path), by_name);
    return st;
}

/* Rows come from one reader: the first that finds something. */
static ft_status read_folder(ft__ptx_rows *r, ft_ptx_source *source, const char *path,
                             ft_error *err)
{
    static const ft__ptx_reader *const readers[] = {
        &ft__ptx_xla, &ft__ptx_xla_ir, &ft__ptx_inductor, &ft__ptx_triton, &plain};
    ft__ptx_files f;
    ft_status st = find_files(&f, path, r->arena, err);

    for (size_t i = 0; i < sizeof(readers) / sizeof(*readers) && !st && !r->n; i++) {
        *source = readers[i]->source;
        st = readers[i]->read(r, &f, err);
    }
    if (!st && !r->n)
        st = ft_fail(err, FT_EFORMAT, 0,
                     "%s: neither launches.jsonl nor PTX is in it or below it", path);
    free(f.path);
    return st;
}

static char *folder_of(const char *path, ft__arena *a)
{
    const char *slash = strrchr(path, '/');

    return slash ? ft__arena_strndup(a, path, (size_t)(slash - path) + (slash == path))
                 : ft__arena_strndup(a, ".", 1);
}

static ft_status read_launch_file(ft__ptx_rows *rows, const char *path, ft_error *err)
{
    size_t len;
    char *text, *folder = folder_of(path, rows->arena);
    ft_status st = ft__file_read(&text, &len, path, FT__MAX_TABLE_FILE, err);

    if (!st && !folder)
        st = ft_fail(err, FT_ENOMEM, 0, "%s", path);
    if (!st)
        st = ft__ptx_launch_file(rows, text, len, path, folder, err);
    free(text);
    return st;
}

static ft_status read_path(ft_ptx_launches *l, ft__ptx_rows *rows, const char *path,
                           ft_error *err)
{
    struct stat s;
    size_t len = strlen(path);
    char *inside;

    if (stat(path, &s) || !S_ISDIR(s.st_mode))
        return read_launch_file(rows, path, err);
    while (len > 1 && path[len - 1] == '/')
        len--;
    path = ft__arena_strndup(rows->arena, path, len);
    inside = path ? ft__arena_alloc(rows->arena, len + 32) : NULL;
    if (!inside)
        return ft_fail(err, FT_ENOMEM, 0, "launches");
    sprintf(inside, "%s/launches.jsonl", path);
    if (stat(inside, &s) == 0)
        return read_launch_file(rows, inside, err);
    return read_folder(rows, &l->source, path, err);
}

static ft_status finish(ft_ptx_launches **out, ft_ptx_launches *l, ft__ptx_rows *rows,
                        ft_status st, ft_error *err)
{
    if (!st)
        st = list_rows(l, rows, err);
    free(rows->row);
    l->facts = (ft_ptx_launches_facts){l->source, l->listed, l->n};
    if (st)
        ft_ptx_launches_free(l);
    else
        *out = l;
    return st;
}

ft_status ft_ptx_launches_open(ft_ptx_launches **out, const char *path,
                               const ft_log *log, ft_error *err)
{
    ft_ptx_launches *l = calloc(1, sizeof(*l));
    ft__ptx_rows rows = {.arena = l ? &l->arena : NULL, .log = log};

    *out = NULL;
    if (!l)
        return ft_fail(err, FT_ENOMEM, 0, "%s", path);
    return finish(out, l, &rows, read_path(l, &rows, path, err), err);
}

ft_status ft_ptx_launches_parse(ft_ptx_launches **out, const char *text, size_t len,
                                const char *name, const char *folder, ft_error *err)
{
    ft_ptx_launches *l = calloc(1, sizeof(*l));
    ft__ptx_rows rows = {.arena = l ? &l->arena : NULL};

    *out = NULL;
    if (!l)
        return ft_fail(err, FT_ENOMEM, 0, "%s", name ? name : "launches");
    return finish(out, l, &rows,
                  ft__ptx_launch_file(&rows, text, len, name, folder, err), err);
}

void ft_ptx_launches_free(ft_ptx_launches *l)
{
    if (!l)
        return;
    for (size_t f = 0; f < l->n_files; f++) {
        for (size_t i = 0; l->file[f].counter && i < l->file[f].n; i++)
            ft__ptx_counter_free(l->file[f].counter[i]);
        ft_ptx_modules_free(l->file[f].module, l->file[f].n);
    }
    ft__arena_free(&l->arena);
    free(l);
}

const ft_ptx_launches_facts *ft_ptx_launches_get(const ft_ptx_launches *l)
{
    return &l->facts;
}

ft_status ft_ptx_launches_count(ft_ptx_counts *out, ft_ptx_launches *l, size_t i,
                                ft_error *err)
{
    const ft_ptx_listed *v = i < l->n ? &l->listed[i] : NULL;
    struct file *f;
    size_t m = 0;
    ft_status st = FT_OK;

    if (!v || !v->module || v->missing)
        return ft_fail(err, FT_EINVAL, 0, "launch %zu cannot be counted%s%s", i,
                       v && v->missing ? ": " : "", v && v->missing ? v->missing : "");
    f = l->file_of[i];
    while (f->module[m] != v->module)
        m++;
    if (!f->counter[m])
        st = ft__ptx_counter_new(&f->counter[m], v->module, err);
    if (st)
        return st;
    return ft__ptx_count(out, &l->counted, f->counter[m], &v->launch, err);
}

ft_ptx_launches_parts ft_ptx_launches_last(const ft_ptx_launches *l)
{
    return (ft_ptx_launches_parts){l->counted.block, l->counted.n_blocks,
                                   l->counted.access, l->counted.n_accesses};
}
