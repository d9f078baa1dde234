/* A fleet's file: kinds of devices, and what is wanted of them. */
#include "fleet/file.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "explore/space/yaml.h"
#include "foretell/names.h"

enum { MOST_LISTED = 10000, DEFAULT_POINTS = 40 };
static const double default_op_s = 0.2, default_overhead_s = 30, default_job_s = 600;
static const double default_calibration = 0.15;

static const char *text_or(ft__yaml *y, ft__node *map, const char *key,
                           const char *otherwise)
{
    ft__node *n = ft__yaml_get(y, map, key);

    return n ? ft__yaml_text(y, n, key) : otherwise;
}

static double number_at(ft__yaml *y, ft__node *n, const char *key, double least)
{
    const double v = ft__yaml_number(y, n, key);

    if (!y->st && !(v >= least && v <= 1e9))
        ft__yaml_fail(y, n, key, "a number from %g is wanted", least);
    return v;
}

static uint32_t count_at(ft__yaml *y, ft__node *n, const char *key)
{
    const double v = number_at(y, n, key, 1);

    if (!y->st && v != floor(v))
        ft__yaml_fail(y, n, key, "a whole number is wanted");
    return y->st ? 1 : (uint32_t)v;
}

static double number_or(ft__yaml *y, ft__node *map, const char *key, double least,
                        double otherwise)
{
    ft__node *n = ft__yaml_get(y, map, key);

    return n ? number_at(y, n, key, least) : otherwise;
}

static uint32_t count_or(ft__yaml *y, ft__node *map, const char *key,
                         uint32_t otherwise)
{
    ft__node *n = ft__yaml_get(y, map, key);

    return n ? count_at(y, n, key) : otherwise;
}

/* What is in a list, none where there is no key; `one` says what there is at least one
 * of, where that is wanted. */
static size_t count_listed(ft__yaml *y, ft__node *n, const char *key, const char *one,
                           size_t most)
{
    const size_t listed = ft__yaml_count(n);

    if (n && !listed && one)
        ft__yaml_fail(y, n, key, "at least one %s is wanted", one);
    if (listed > most)
        ft__yaml_fail(y, n, key, "more than %zu", most);
    return y->st ? 0 : listed;
}

/* A path in the folder whose name, with its slash, are so many letters. */
static const char *path_in(ft__yaml *y, const char *folder, size_t len,
                           const char *path)
{
    char *out;

    if (y->st || !path || *path == '/')
        return path;
    out = ft__yaml_array(y, len + strlen(path), 1);
    if (out)
        sprintf(out, "%.*s%s", (int)len, folder, path);
    return out;
}

/* A path, as it is from where the file lies. */
static const char *path_or(ft__yaml *y, ft__node *map, const char *key,
                           const char *otherwise)
{
    const char *path = text_or(y, map, key, otherwise), *slash = strrchr(y->file, '/');

    if (!y->st && path && !*path)
        ft__yaml_fail(y, ft__yaml_get(y, map, key), key, "a path is wanted");
    return path_in(y, y->file, slash ? (size_t)(slash - y->file) + 1 : 0, path);
}

/* The same wherever a job stands. */
static const char *absolute(ft__yaml *y, const char *path)
{
    char here[PATH_MAX];

    if (!getcwd(here, sizeof(here) - 1))
        ft__yaml_fail(y, NULL, "", "this folder: %s", strerror(errno));
    else
        strcat(here, "/");
    return path_in(y, here, strlen(here), path);
}

static void read_clocks(ft__yaml *y, ft__node *map, ft__fleet_kind *k)
{
    ft__node *n = ft__yaml_get(y, map, "clocks_mhz");

    k->n_clocks = n ? count_listed(y, n, "clocks_mhz", "clock", MOST_LISTED) : 1;
    k->clock_hz = ft__yaml_array(y, k->n_clocks, sizeof(*k->clock_hz));
    if (!n && !y->st)
        k->clock_hz[0] = NAN;
    for (size_t i = 0; i < k->n_clocks && n && !y->st; i++)
        k->clock_hz[i] = 1e6 * number_at(y, ft__yaml_at(y, n, i), "clocks_mhz", 1);
}

static void read_sbatch(ft__yaml *y, ft__node *map, ft__fleet_kind *k)
{
    ft__node *n = ft__yaml_get(y, map, "sbatch");

    k->n_sbatch = count_listed(y, n, "sbatch", NULL, MOST_OPTIONS);
    k->sbatch = ft__yaml_array(y, k->n_sbatch, sizeof(*k->sbatch));
    for (size_t i = 0; i < k->n_sbatch && !y->st; i++) {
        ft__node *at = ft__yaml_at(y, n, i);

        k->sbatch[i] = ft__yaml_text(y, at, "sbatch");
        if (!y->st && k->sbatch[i][0] != '-')
            ft__yaml_fail(y, at, "sbatch", "an option like --gres=gpu:1 is wanted");
    }
}

static void read_kind(ft__yaml *y, ft__node *map, ft__fleet_kind *k)
{
    static const char *const keys[] = {
        "name",       "device",      "engine",         "threads", "clocks_mhz",
        "constraint", "partition",   "account",        "sbatch",  "nodes",
        "foretell",   "portable",    "setup",          "power",   "op_seconds",
        "overhead_s", "job_minutes", "job_operations", NULL};

    if (!ft__yaml_keys(y, map, "kinds", keys))
        return;
    *k = (ft__fleet_kind){
        .name = ft__yaml_name(y, ft__yaml_need(y, map, "kinds", "name"), "name"),
        .device = ft__yaml_name(y, ft__yaml_need(y, map, "kinds", "device"), "device"),
        .engine = text_or(y, map, "engine", FT_DEFAULT_ENGINE),
        .threads = count_or(y, map, "threads", 1),
        .constraint = text_or(y, map, "constraint", ""),
        .partition = text_or(y, map, "partition", ""),
        .account = text_or(y, map, "account", ""),
        .nodes = count_or(y, map, "nodes", 1),
        .foretell = absolute(y, path_or(y, map, "foretell", NULL)),
        .portable = absolute(y, path_or(y, map, "portable", NULL)),
        .setup = text_or(y, map, "setup", ""),
        .power = text_or(y, map, "power", ""),
        .op_seconds = number_or(y, map, "op_seconds", 1e-4, default_op_s),
        .overhead_s = number_or(y, map, "overhead_s", 0, default_overhead_s),
        .job_s = 60 * number_or(y, map, "job_minutes", 1e-3, default_job_s / 60),
        .job_operations = count_or(y, map, "job_operations", 1000000)};
    read_clocks(y, map, k);
    read_sbatch(y, map, k);
    if (!y->st && k->foretell && k->portable)
        ft__yaml_fail(y, map, k->name, "either \"foretell:\" or \"portable:\"");
}

static void read_kinds(ft__yaml *y, ft__node *root, ft_fleet *f)
{
    ft__node *n = ft__yaml_need(y, root, "", "kinds");

    f->n_kinds = count_listed(y, n, "kinds", "kind of device", MOST_LISTED);
    f->kind = ft__yaml_array(y, f->n_kinds, sizeof(*f->kind));
    for (size_t i = 0; i < f->n_kinds && !y->st; i++) {
        read_kind(y, ft__yaml_at(y, n, i), &f->kind[i]);
        for (size_t j = 0; j < i && !y->st; j++)
            if (strcmp(f->kind[i].name, f->kind[j].name) == 0)
                ft__yaml_fail(y, ft__yaml_at(y, n, i), "kinds",
                              "\"%s\" stands here twice", f->kind[i].name);
    }
}

static void read_batches(ft__yaml *y, ft__node *map, ft__fleet_wanted *w)
{
    ft__node *n = ft__yaml_get(y, map, "batches");

    w->n_batches = n ? count_listed(y, n, "batches", "batch", MOST_LISTED) : 1;
    w->batch = ft__yaml_array(y, w->n_batches, sizeof(*w->batch));
    for (size_t i = 0; i < w->n_batches && n && !y->st; i++)
        w->batch[i] = count_at(y, ft__yaml_at(y, n, i), "batches");
}

static void read_of_kinds(ft__yaml *y, ft__node *map, ft__fleet_wanted *w,
                          const ft_fleet *f)
{
    ft__node *n = ft__yaml_get(y, map, "kinds");

    w->of_kind = ft__yaml_array(y, f->n_kinds, sizeof(*w->of_kind));
    for (size_t k = 0; k < f->n_kinds && !y->st; k++)
        w->of_kind[k] = !n;
    for (size_t i = 0; i < ft__yaml_count(n) && !y->st; i++) {
        ft__node *at = ft__yaml_at(y, n, i);
        const char *name = ft__yaml_text(y, at, "kinds");
        size_t k = 0;

        while (!y->st && k < f->n_kinds && strcmp(f->kind[k].name, name) != 0)
            k++;
        if (!y->st && k == f->n_kinds)
            ft__yaml_fail(y, at, "wanted", "there is no kind \"%s\"", name);
        else if (!y->st)
            w->of_kind[k] = true;
    }
}

static void read_design(ft__yaml *y, ft__node *map, ft__fleet_wanted *w)
{
    static const char *const not_here[] = {"model", "batches",   "mode",
                                           "dtype", "optimizer", "measure"};
    const char *design = text_or(y, map, "design", "full");
    const int d = y->st ? 0 : ft_from_name(FT_NAMES_DESIGN, design, strlen(design));

    for (size_t i = 0; i < sizeof(not_here) / sizeof(*not_here); i++)
        if (ft__yaml_get(y, map, not_here[i]))
            ft__yaml_fail(y, map, "wanted", "\"%s:\" says nothing of \"explore:\"",
                          not_here[i]);
    if (d < 0)
        ft__yaml_fail(y, ft__yaml_get(y, map, "design"), "design",
                      "full, fractional, random, latin or sobol is wanted");
    w->design.design = (ft_design)d;
    w->design.seed = 1;
    w->design.n =
        count_or(y, map, "points",
                 d == FT_DESIGN_FULL || d == FT_DESIGN_FRACTIONAL ? 0 : DEFAULT_POINTS);
}

static void read_model(ft__yaml *y, ft__node *map, ft__fleet_wanted *w)
{
    const char *what = text_or(y, map, "measure", "operations"), *dot;

    w->model = path_or(y, map, "model", "");
    if (y->st)
        return;
    dot = strrchr(w->model, '.');
    w->whole = strcmp(what, "operations") != 0;
    w->ops = strcmp(what, "whole") != 0;
    if (w->whole && w->ops && strcmp(what, "both") != 0)
        ft__yaml_fail(y, ft__yaml_get(y, map, "measure"), "measure",
                      "operations, whole or both is wanted");
    if (w->whole && ((dot && strcmp(dot, ".ops") == 0) ||
                     (w->mode && strcmp(w->mode, "training") == 0)))
        ft__yaml_fail(y, map, "measure",
                      "models are run whole in inference, lists of operations are not");
}

static void read_wanted(ft__yaml *y, ft__node *root, ft_fleet *f)
{
    static const char *const keys[] = {"model",  "batches",   "mode",    "dtype",
                                       "kinds",  "optimizer", "measure", "explore",
                                       "design", "points",    NULL};
    ft__node *n = ft__yaml_need(y, root, "", "wanted");

    f->n_wanted = count_listed(y, n, "wanted", "model", MOST_LISTED);
    f->wanted = ft__yaml_array(y, f->n_wanted, sizeof(*f->wanted));
    for (size_t i = 0; i < f->n_wanted && !y->st; i++) {
        ft__node *map = ft__yaml_at(y, n, i);
        ft__fleet_wanted *w = &f->wanted[i];

        if (!ft__yaml_keys(y, map, "wanted", keys))
            return;
        *w = (ft__fleet_wanted){.mode = text_or(y, map, "mode", NULL),
                                .dtype = text_or(y, map, "dtype", NULL),
                                .optimizer = text_or(y, map, "optimizer", NULL)};
        w->explore = path_or(y, map, "explore", NULL);
        if (w->explore)
            read_design(y, map, w);
        else if (ft__yaml_need(y, map, "wanted", "model"))
            read_model(y, map, w);
        read_batches(y, map, w);
        read_of_kinds(y, map, w, f);
    }
}

/* "lab.yaml" -> "lab.fleet" */
static const char *folder_beside(ft__yaml *y)
{
    const char *end = strstr(y->file, ".yaml");
    const size_t len = strlen(y->file);

    while (end && end[strlen(".yaml")])
        end = strstr(end + 1, ".yaml");
    return path_in(y, y->file, end ? (size_t)(end - y->file) : len, ".fleet");
}

static void read_all(ft__yaml *y, ft_fleet *f)
{
    static const char *const keys[] = {"kinds",  "wanted",      "error", "node_hours",
                                       "folder", "calibration", NULL};
    ft__node *root = yaml_document_get_root_node(&y->doc);

    if (!root)
        ft__yaml_fail(y, NULL, "", "the file is empty");
    if (!ft__yaml_keys(y, root, "", keys))
        return;
    read_kinds(y, root, f);
    read_wanted(y, root, f);
    f->error = number_or(y, root, "error", 0, 0);
    f->budget_s = 3600 * number_or(y, root, "node_hours", 0, INFINITY);
    f->calibration = number_or(y, root, "calibration", 0.01, default_calibration);
    f->folder = path_or(y, root, "folder", NULL);
    f->folder = absolute(y, f->folder ? f->folder : folder_beside(y));
}

ft_status ft__fleet_read(ft_fleet **out, const char *text, size_t len, const char *path,
                         ft_error *err)
{
    ft_fleet *f = calloc(1, sizeof(*f));
    ft__yaml y = {.file = path, .err = err};

    *out = NULL;
    if (!f)
        return ft_fail(err, FT_ENOMEM, 0, "%s", path);
    y.arena = &f->arena;
    if (ft__yaml_parse(&y, text, len)) {
        read_all(&y, f);
        yaml_document_delete(&y.doc);
    }
    if (y.st)
        ft_fleet_free(f);
    else
        *out = f;
    return y.st ? y.st : FT_OK;
}

ft_status ft_fleet_load(ft_fleet **out, const char *path, ft_error *err)
{
    char *text;
    size_t len;
    ft_status st = ft__file_read(&text, &len, path, FT__MAX_YAML_FILE, err);

    *out = NULL;
    if (!st)
        st = ft__fleet_read(out, text, len, path, err);
    free(text);
    return st;
}

void ft_fleet_free(ft_fleet *f)
{
    if (!f)
        return;
    ft__arena_free(&f->arena);
    free(f);
}
