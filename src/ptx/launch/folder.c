/* Folders: which tool chain left them, and what its readers share. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "ptx/launch/folder.h"

bool ft__ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n >= m && memcmp(s + n - m, end, m) == 0;
}

const char *ft__base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

char *ft__ptx_fmt(ft__arena *a, const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    text = ft__arena_vfmt(a, fmt, ap);
    va_end(ap);
    return text;
}

void ft__ptx_say(const ft__ptx_rows *r, ft_log_level level, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    if (!r->log || !r->log->message)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    r->log->message(r->log->user, level, text);
}

ft_status ft__ptx_text(const char **out, ft__arena *a, const char *path, ft_error *err)
{
    size_t len;
    char *text;
    ft_status st = ft__ptx_load(&text, &len, path, FT__MAX_TABLE_FILE, err);

    *out = NULL;
    if (st)
        return st;
    *out = ft__arena_strndup(a, text, len);
    free(text);
    return *out ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%s", path);
}

bool ft__take_number(const char **s, const char *word, uint64_t *out)
{
    size_t n = strlen(word);
    char *end;

    if (strncmp(*s, word, n) != 0 || (*s)[n] < '0' || (*s)[n] > '9')
        return false;
    *out = strtoull(*s + n, &end, 10);
    *s = end;
    return true;
}

bool ft__find_dims(const char *s, const char *word, uint32_t out[3])
{
    static const char *const before[] = {"", ", ", ", "};
    uint64_t v;

    s = strstr(s, word);
    if (!s)
        return false;
    s += strlen(word);
    s += strspn(s, " ");
    if (*s != '{' && *s != '[')
        return false;
    s++;
    for (int i = 0; i < 3; i++) {
        if (!ft__take_number(&s, before[i], &v) || v == 0 || v > UINT32_MAX)
            return false;
        out[i] = (uint32_t)v;
    }
    return true;
}

/* ---- walking ---- */

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
        return depth < FT__PTX_MAX_FOLDER_DEPTH ? walk_folder(w, path, depth + 1, err)
                                                : FT_OK;
    if (!S_ISREG(s.st_mode))
        return FT_OK;
    if (w->n == FT__PTX_MAX_FOLDER_FILES)
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s: more than %d files; name the folder "
                       "below it that is meant",
                       path, FT__PTX_MAX_FOLDER_FILES);
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

/* ---- which tool chain ---- */

static bool has(const ft__ptx_files *f, const char *end)
{
    for (size_t i = 0; i < f->n; i++)
        if (ft__ends_with(f->path[i], end))
            return true;
    return false;
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
static ft_status plain(ft__ptx_rows *r, const ft__ptx_files *f, ft_error *err)
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

/* Rows come from one reader: the first that finds something. */
static ft_status read_files(ft__ptx_rows *r, ft_ptx_source *source,
                            const ft__ptx_files *f, ft_error *err)
{
    ft_status st = FT_OK;

    if (has(f, ".thunk_sequence.txt")) {
        *source = FT_PTX_XLA;
        st = ft__ptx_xla(r, f, err);
    }
    if (!st && !r->n) {
        *source = FT_PTX_INDUCTOR;
        st = ft__ptx_inductor(r, f, err);
    }
    if (!st && !r->n) {
        *source = FT_PTX_TRITON;
        st = ft__ptx_triton(r, f, err);
    }
    if (!st && !r->n) {
        *source = FT_PTX_FOLDER;
        st = plain(r, f, err);
    }
    if (!st && !r->n)
        st = ft_fail(err, FT_EFORMAT, 0,
                     "%s: neither launches.jsonl nor PTX is in it or below it",
                     f->folder);
    return st;
}

ft_status ft__ptx_folder(ft__ptx_rows *r, ft_ptx_source *source, const char *path,
                         ft_error *err)
{
    struct folder_walk w = {.arena = r->arena};
    ft__ptx_files f = {.folder = path};
    ft_status st = walk_folder(&w, path, 0, err);

    f.path = w.path;
    f.n = w.n;
    if (!st && f.n)
        qsort(f.path, f.n, sizeof(*f.path), by_name);
    if (!st)
        st = read_files(r, source, &f, err);
    free(w.path);
    return st;
}
