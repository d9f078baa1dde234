/* Tables that others published, brought into a store. */
#include "foretell/dataset.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "measure/dataset_import.h"
#include "measure/dataset_inside.h"

#define FORMS(list) list, sizeof(list) / sizeof(*(list))

/* In the order in which they are shown. csv is our own form. */
static const struct {
    const char *name;
    const ft__form *forms;
    size_t n_forms;
    const char *what;
} sources[] = {
    {"csv", NULL, 0, "what export wrote"},
    {"neusight", FORMS(ft__neusight_forms), "operations, transformers and their nodes"},
    {"justus", FORMS(ft__justus_forms), "layers under TensorFlow 1"},
    {"aic", FORMS(ft__aic_forms), "operators of large language models, with power"},
    {"deepbench", FORMS(ft__deepbench_forms), "vendors' libraries"},
    {"thesis", FORMS(ft__thesis_forms),
     "torchvision's operations and networks, with energy"},
    {"dvfs", FORMS(ft__dvfs_forms), "GPU kernels at locked clocks"},
    {"timm", FORMS(ft__timm_forms), "PyTorch image models"},
};
enum { N_SOURCES = sizeof(sources) / sizeof(*sources) };

const char *ft_dataset_source(size_t i)
{
    return i < N_SOURCES ? sources[i].name : NULL;
}

const char *ft__dataset_what(size_t i)
{
    return i < N_SOURCES ? sources[i].what : NULL;
}

static const char *const column_names[FT__N_COLUMNS] = {
#define X(name) #name,
    FT__COLUMNS(X)
#undef X
};

/* ---- one table ---- */

static bool has_all(const ft__import *im, const ft__form *f)
{
    for (size_t i = 0; i < f->n_needs; i++)
        if (im->place[f->needs[i]] < 0)
            return false;
    return true;
}

/* The form of this table: the first whose columns are all there. */
static ft_status find_form(ft__import *im, size_t source, const char *name)
{
    ft__buf list = {0};

    for (int c = 0; c < FT__N_COLUMNS; c++)
        im->place[c] = ft__rows_find(im->rows, column_names[c]);
    for (size_t i = 0; i < sources[source].n_forms; i++)
        if (has_all(im, &sources[source].forms[i])) {
            im->form = &sources[source].forms[i];
            return FT_OK;
        }
    for (size_t i = 0; i < sources[source].n_forms; i++) {
        const ft__form *f = &sources[source].forms[i];

        for (size_t j = 0; j < f->n_needs; j++)
            ft__buf_fmt(&list, "%s%s",
                        j   ? ","
                        : i ? "; or "
                            : "",
                        column_names[f->needs[j]]);
    }
    im->st = ft_fail(im->err, FT_EFORMAT, 1,
                     "%s, line 1: not a table of %s, which has the columns %.700s",
                     name, im->source, list.s ? list.s : "");
    ft__buf_free(&list);
    return im->st;
}

static void begin_row(ft__import *im)
{
    memset(im->used, 0, ft__rows_n_columns(im->rows) * sizeof(*im->used));
    im->device = NULL;
    im->setting.len = im->conditions.len = im->text.len = 0;
    im->policy = "default";
    im->unknown = false;
    im->taken_at = 0;
    im->phase = FT_PHASE_FORWARD;
    im->n_waiting = 0;
    ft__engine(im, im->form->run_engine, im->form->run_version);
}

static ft_status take_rows(ft__import *im)
{
    bool more = true;
    ft_status st = FT_OK;

    while (!st && more) {
        st = ft__rows_next(im->rows, &more, im->err);
        if (st || !more)
            break;
        begin_row(im);
        im->form->row(im);
        st = ft__import_row_done(im);
    }
    im->out->rows = ft__rows_count(im->rows);
    return st ? st : ft__import_members_done(im);
}

static void import_free(ft__import *im)
{
    ft__rows_close(im->rows);
    ft__buf_free(&im->setting);
    ft__buf_free(&im->engine);
    ft__buf_free(&im->version);
    ft__buf_free(&im->conditions);
    ft__buf_free(&im->text);
    ft__index_free(&im->devices);
    ft__index_free(&im->wholes);
    ft__index_free(&im->parts);
    free(im->known);
    free(im->listed);
    ft__arena_free(&im->arena);
}

/* The file's name without folders: a run is found again wherever the file lies. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static ft_status import_table(ft_dataset_report *out, ft_store *s, size_t source,
                              const char *bytes, size_t len, const char *path,
                              const char *data_dir, ft_error *err)
{
    ft__import im = {.store = s,
                     .source = sources[source].name,
                     .data_dir = data_dir,
                     .out = out,
                     .err = err};
    char command[300];
    ft_status st = ft__rows_open(&im.rows, bytes, len, path, err);

    if (!st)
        st = find_form(&im, source, path);
    snprintf(command, sizeof(command), "import %s %.200s", im.source, base_name(path));
    im.command = command;
    if (!st)
        st = ft__bulk_begin(&im.bulk, s, true, err);
    if (!st)
        st = take_rows(&im);
    st = ft__bulk_end(im.bulk, st, err);
    import_free(&im);
    return st;
}

static ft_status import_own(ft_dataset_report *out, ft_store *s, const char *bytes,
                            size_t len, const char *path, ft_error *err)
{
    ft__buf text = {0};
    ft_status st = ft__rows_unpack(&text, bytes, len, FT__MAX_TABLE_FILE, path, err);

    if (!st)
        st = ft_store_import_csv(s, text.s ? text.s : "", text.len, path,
                                 &out->measurements, err);
    ft__buf_free(&text);
    return st;
}

ft_status ft__dataset_take(ft_dataset_report *out, ft_store *s, const char *source,
                           const void *bytes, size_t len, const char *path,
                           const char *data_dir, ft_error *err)
{
    size_t which = 0;
    ft_status st;

    *out = (ft_dataset_report){0};
    while (which < N_SOURCES && strcmp(sources[which].name, source) != 0)
        which++;
    if (which == N_SOURCES)
        return ft_fail(err, FT_EINVAL, 0, "nothing is known about tables of \"%s\"",
                       source);
    st = which ? import_table(out, s, which, bytes, len, path, data_dir, err)
               : import_own(out, s, bytes, len, path, err);
    if (st)
        *out = (ft_dataset_report){0};
    return st;
}

ft_status ft_dataset_import(ft_dataset_report *out, ft_store *s, const char *source,
                            const char *path, const char *data_dir, ft_error *err)
{
    ft_error own = {0};
    size_t len = 0;
    char *bytes;
    ft_status st;

    *out = (ft_dataset_report){0};
    err = err ? err : &own;
    st = ft__table_read(&bytes, &len, path, err);
    if (!st)
        st = ft__dataset_take(out, s, source, bytes, len, path, data_dir, err);
    free(bytes);
    return st;
}
