/* Launches that ptx-measure timed: lines of launch files, and what came of them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "device/spec/device.h"
#include "predict/data/sample.h"
#include "predict/model/kernels.h"

/* The state of reading one line. */
struct launch_line {
    ft__buf launch; /* the members that launch files have */
    char device[128];
    double time_s;
    bool has_kernel;
};

static bool is_of_launch(ft__text name)
{
    return FT__IS(name, "module") || FT__IS(name, "target") || FT__IS(name, "kernel") ||
           FT__IS(name, "grid") || FT__IS(name, "block") || FT__IS(name, "cluster") ||
           FT__IS(name, "shared") || FT__IS(name, "params") || FT__IS(name, "name") ||
           FT__IS(name, "registers") || FT__IS(name, "block_bytes") ||
           FT__IS(name, "call");
}

static bool read_member(struct launch_line *l, ft__json *j, ft__text name)
{
    ft__text v;
    size_t len = 0;

    if (FT__IS(name, "time_s"))
        return ft__json_number(j, &l->time_s);
    if (FT__IS(name, "device")) {
        if (!ft__json_string(j, &v) ||
            !ft__json_unescape(v, l->device, sizeof(l->device) - 1, &len))
            return false;
        l->device[len] = '\0';
        return true;
    }
    if (!ft__json_skip(j, &v))
        return false;
    l->has_kernel |= FT__IS(name, "kernel");
    if (!is_of_launch(name))
        return true;
    ft__buf_str(&l->launch, l->launch.len ? ", \"" : "{\"");
    ft__buf_add(&l->launch, name.s, name.n);
    ft__buf_str(&l->launch, "\": ");
    ft__buf_add(&l->launch, v.s, v.n);
    return true;
}

static ft_status read_line(struct launch_line *out, const char *text, size_t len,
                           const char *path, size_t line, ft_error *err)
{
    ft__json_doc doc = {.base = text, .len = len};
    ft__json j = ft__json_open(&doc, (ft__text){text, len});
    ft__text name;
    bool good = ft__json_object(&j);

    while (good && ft__json_member(&j, &name))
        good = read_member(out, &j, name);
    if (good && ft__json_done(&j) && !doc.why)
        return out->launch.bad ? ft_fail(err, FT_ENOMEM, 0, "%s", path) : FT_OK;
    return ft_fail(err, FT_EFORMAT, 0, "%s:%zu:%zu: %s", path, line, doc.pos + 1,
                   doc.why ? doc.why : "an object in braces was expected");
}

static ft_status set_device(ft__kernel_file *f, const char *title, const char *data_dir,
                            size_t line, ft_error *err)
{
    char name[80];
    ft_status st;

    if (f->device)
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s:%zu: a second device; give it a file of its own", f->path,
                       line);
    st = ft__device_find(name, sizeof(name), data_dir ? data_dir : "", title, err);
    return st ? st : ft_device_load(&f->device, data_dir ? data_dir : "", name, err);
}

/* Lines keep their numbers, so that errors name the file's own. */
static ft_status add_launch(ft__kernel_file *f, ft__buf *text,
                            const struct launch_line *l, size_t line, ft_error *err)
{
    ft__kernel_timed *t;

    if (!f->device)
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s:%zu: a launch before the line that names the device; give "
                       "what ptx-measure wrote",
                       f->path, line);
    t = realloc(f->timed, (f->n + 1) * sizeof(*t));
    if (!t)
        return ft_fail(err, FT_ENOMEM, 0, "%s", f->path);
    f->timed = t;
    t += f->n++;
    *t = (ft__kernel_timed){l->time_s, line, text->len, l->launch.len + 1};
    ft__buf_add(text, l->launch.s, l->launch.len);
    ft__buf_str(text, "}");
    return FT_OK;
}

static ft_status add_line(ft__kernel_file *f, ft__buf *text, const char *s, size_t len,
                          const char *data_dir, size_t line, ft_error *err)
{
    struct launch_line l = {.time_s = NAN};
    ft_status st = read_line(&l, s, len, f->path, line, err);

    if (!st && *l.device && !l.has_kernel)
        st = set_device(f, l.device, data_dir, line, err);
    else if (!st && l.launch.len && l.time_s > 0 && isfinite(l.time_s))
        st = add_launch(f, text, &l, line, err);
    /* Otherwise it failed, and says so. */
    ft__buf_free(&l.launch);
    return st;
}

static ft_status read_lines(ft__kernel_file *f, FILE *fp, const char *data_dir,
                            ft_error *err)
{
    ft__buf text = {0};
    char *s = NULL;
    size_t room = 0, line = 0;
    ssize_t len;
    ft_status st = FT_OK;

    while (!st && (len = getline(&s, &room, fp)) > 0) {
        len -= s[len - 1] == '\n';
        if (++line > 1)
            ft__buf_str(&text, "\n");
        if (len)
            st = add_line(f, &text, s, (size_t)len, data_dir, line, err);
    }
    if (!st && text.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "%s", f->path);
    free(s);
    f->text = text.s;
    f->len = text.len;
    return st;
}

/* Modules are where the launch file had them: beside what was measured. */
static ft_status open_launches(ft__kernel_file *f, ft_error *err)
{
    const char *slash = strrchr(f->path, '/');
    char *folder = slash ? strndup(f->path, (size_t)(slash - f->path) + 1) : NULL;
    ft_status st = slash && !folder
                       ? ft_fail(err, FT_ENOMEM, 0, "%s", f->path)
                       : ft_ptx_launches_parse(&f->launches, f->text ? f->text : "",
                                               f->len, f->path, folder, err);

    free(folder);
    return st;
}

static ft_status read_file(ft__kernel_file *f, const char *path, const char *data_dir,
                           ft_error *err)
{
    FILE *fp = fopen(path, "r");
    ft_status st;

    if (!fp)
        return ft_fail(err, FT_EIO, 0, "cannot read %s: %s", path, strerror(errno));
    f->path = strdup(path);
    st = f->path ? read_lines(f, fp, data_dir, err)
                 : ft_fail(err, FT_ENOMEM, 0, "%s", path);
    fclose(fp);
    return st ? st : open_launches(f, err);
}

static bool is_asked_for(const ft__kernel_file *f, const ft_ptx_listed *v,
                         const char *where)
{
    char setting[512];
    const ft_key key = {.device = ft_device_get(f->device)->name,
                        .setting = setting,
                        .engine = "",
                        .engine_version = "",
                        .dtype_policy = "",
                        .phase = "",
                        .spec = "kernel"};

    snprintf(setting, sizeof(setting), "kernel=%.500s", ft__kernel_name_of(v));
    return ft__where_has(where, &key);
}

/* Adds file and line to an error. */
static ft_status in_line(const ft__kernel_file *f, size_t i, ft_status st,
                         const ft_error *why, ft_error *err)
{
    return ft_fail(err, st == FT_EINVAL ? FT_EFORMAT : st, 0, "%s:%zu: %s", f->path,
                   f->timed[i].line, why->msg);
}

static ft_status query(ft_kernel_query *out, ft_ptx_counts *counts,
                       const ft__kernel_file *f, size_t i, ft_error *err)
{
    const ft_ptx_listed *list = ft_ptx_launches_get(f->launches)->listed;
    ft_error why = {0};
    ft_status st;

    *out = (ft_kernel_query)FT_KERNEL_QUERY_INIT;
    out->device = ft_device_get(f->device);
    out->launch = &list[i];
    out->counts = counts;
    st = ft_ptx_launches_count(counts, f->launches, i, &why);
    return st ? in_line(f, i, st, &why, err) : FT_OK;
}

static ft_status add_rows(ft__kernel_rows *r, uint32_t file, const char *where,
                          ft_error *err)
{
    const ft__kernel_file *f = &r->file[file];
    const ft_ptx_listed *list = ft_ptx_launches_get(f->launches)->listed;
    const size_t n = ft_ptx_launches_get(f->launches)->n;
    ft_status st = FT_OK;

    for (size_t i = 0; i < n && i < f->n && !st; i++) {
        ft__kernel_row *row = &r->row[r->n];
        ft_ptx_counts counts;
        ft_kernel_query q;
        ft_error why = {0};

        if (!is_asked_for(f, &list[i], where))
            continue;
        st = query(&q, &counts, f, i, err);
        if (st)
            break;
        *row = (ft__kernel_row){.device = q.device,
                                .kernel = ft__kernel_name_of(&list[i]),
                                .call = list[i].call,
                                .time_s = f->timed[i].time_s};
        st = ft__kernel_work_of(&row->work, &q, &why);
        if (st)
            return in_line(f, i, st, &why, err);
        r->file_of[r->n] = file;
        r->index[r->n++] = (uint32_t)i;
    }
    return st;
}

static ft_status make_room(ft__kernel_rows *r, ft_error *err)
{
    size_t n = 1;

    for (size_t i = 0; i < r->n_files; i++)
        n += r->file[i].n;
    r->row = calloc(n, sizeof(*r->row));
    r->file_of = calloc(n, sizeof(*r->file_of));
    r->index = calloc(n, sizeof(*r->index));
    return r->row && r->file_of && r->index
               ? FT_OK
               : ft_fail(err, FT_ENOMEM, 0, "%zu launches", n);
}

static ft_status read_files(ft__kernel_rows *r, const char *paths, const char *data_dir,
                            ft_error *err)
{
    char *copy = strdup(paths), *rest = NULL, *path;
    size_t n = 1;
    ft_status st = FT_OK;

    for (const char *s = paths; *s; s++)
        n += *s == ',';
    r->file = calloc(n, sizeof(*r->file));
    if (!copy || !r->file)
        st = ft_fail(err, FT_ENOMEM, 0, "%s", paths);
    path = st ? NULL : strtok_r(copy, ",", &rest);
    for (; path && !st; path = strtok_r(NULL, ",", &rest))
        st = read_file(&r->file[r->n_files++], path, data_dir, err);
    free(copy);
    return st;
}

ft_status ft__kernel_rows_read(ft__kernel_rows *out, const char *paths,
                               const char *where, const char *data_dir, ft_error *err)
{
    ft_status st = ft__where_check(where ? where : "", err);

    *out = (ft__kernel_rows){0};
    if (!st)
        st = read_files(out, paths, data_dir, err);
    if (!st)
        st = make_room(out, err);
    for (uint32_t i = 0; i < out->n_files && !st; i++)
        st = add_rows(out, i, where ? where : "", err);
    if (!st && !out->n)
        st = ft_fail(err, FT_ENOTFOUND, 0, "%s: no launch with a time%s%s", paths,
                     where ? " that is asked for by " : "", where ? where : "");
    if (st)
        ft__kernel_rows_free(out);
    return st;
}

void ft__kernel_rows_free(ft__kernel_rows *r)
{
    for (size_t i = 0; i < r->n_files; i++) {
        ft_device_free(r->file[i].device);
        ft_ptx_launches_free(r->file[i].launches);
        free(r->file[i].timed);
        free(r->file[i].text);
        free(r->file[i].path);
    }
    free(r->file);
    free(r->row);
    free(r->file_of);
    free(r->index);
    *r = (ft__kernel_rows){0};
}

ft_status ft__kernel_rows_query(ft_kernel_query *out, ft_ptx_counts *counts,
                                const ft__kernel_rows *r, size_t i, ft_error *err)
{
    return query(out, counts, &r->file[r->file_of[i]], r->index[i], err);
}
