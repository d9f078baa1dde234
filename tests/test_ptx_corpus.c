#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "ptx/ptx_inside.h"
#include "ptx_compare.h"
#include "ptx_image.h"

/* Counting is held against running on the launches of examples/ptx/launches.jsonl, each
 * also with what compilers made of the same kernel for other targets. */

static const char *const targets[] = {"sm_75",    "sm_90",    "sm_100",  "clang_35",
                                      "clang_50", "clang_60", "clang_70"};

enum { TARGETS = sizeof targets / sizeof *targets };

/* The module that launches come from, and its counter, which keeps what it found. */
typedef struct opened {
    char path[1200];
    ft_ptx *m;
    ft__ptx_counter *counter;
    int launches, exact;
} opened;

static void close_module(opened *o)
{
    ft__ptx_counter_free(o->counter);
    ft__ptx_free(o->m);
    o->counter = NULL;
    o->m = NULL;
}

static int has_kernel(const ft_ptx *m, const char *name)
{
    const ft_ptx_kernel *k = ft_ptx_get(m)->kernel;
    const size_t n = ft_ptx_get(m)->n_kernels;

    for (size_t i = 0; i < n; i++)
        if (strcmp(k[i].name, name) == 0)
            return 1;
    return 0;
}

/* Whether there is such a module with such a kernel. */
static int open_module(opened *o, const char *path, const char *kernel)
{
    if (strcmp(o->path, path) != 0) {
        close_module(o);
        snprintf(o->path, sizeof o->path, "%s", path);
        if (ft__ptx_open(&o->m, path, NULL) == FT_OK)
            CHECK_EQ(ft__ptx_counter_new(&o->counter, o->m, NULL), FT_OK);
    }
    return o->counter != NULL && has_kernel(o->m, kernel);
}

static void complain(const opened *o, const launch *l, const char *what)
{
    fprintf(stderr, "%s, %s of line %u: %s\n", o->path, l->kernel, l->line, what);
    check_failed++;
}

static void check_launch(opened *o, const launch *l)
{
    ft_ptx_counts counted, ran;
    ft__ptx_run_options opt = {0};
    char words[400] = "";
    ft_error err;
    image im;

    image_prepare(&im, l);
    opt.memory = im.memory;
    opt.n_memory = im.n_memory;
    if (ft__ptx_run(&ran, o->m, &im.launch, &opt, &err) ||
        ft__ptx_count(&counted, NULL, o->counter, &im.launch, &err)) {
        complain(o, l, err.msg);
    } else {
        o->launches++;
        o->exact += counted.exact;
        if (ptx_compare(&counted, &ran, words, sizeof words))
            complain(o, l, words);
    }
    image_drop(&im);
}

/* "compiled/sm_80/x.ptx" under another target. */
static void check_target(opened *o, const launch *l, const char *target)
{
    static const char usual[] = "/sm_80/";
    const char *at = strstr(l->module, usual);
    char path[1200];

    if (at == NULL || strstr(l->module, "triton") != NULL)
        return;
    snprintf(path, sizeof path, "%.*s/%s/%s", (int)(at - l->module), l->module, target,
             at + sizeof usual - 1);
    if (open_module(o, path, l->kernel))
        check_launch(o, l);
}

static void counts_are_those_of_running(const char *root, size_t every)
{
    char path[1024];
    opened o = {0};
    size_t n = 0;
    launches all;
    ft_error err;

    CHECK(CMP(every, >, 0));
    snprintf(path, sizeof path, "%s/examples/ptx/launches.jsonl", root);
    if (launches_read(&all, path, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        check_failed++;
        return;
    }
    for (size_t i = 0; every > 0 && i < all.n; i++)
        if (launch_is_run(&all, i, every)) {
            CHECK(open_module(&o, all.row[i].module, all.row[i].kernel));
            check_launch(&o, &all.row[i]);
            n++;
        }
    for (int k = 0; every > 0 && k < TARGETS; k++)
        for (size_t i = 0; i < all.n; i++)
            if (launch_is_run(&all, i, every))
                check_target(&o, &all.row[i], targets[k]);
    close_module(&o);
    CHECK(CMP(n * every, >=, 700) && CMP(o.launches, >=, 2000 / (int)every));
    printf("%zu launches, %d on all targets, %d counted exactly\n", n, o.launches,
           o.exact);
    launches_free(&all);
}

int main(int argc, char **argv)
{
    const size_t every = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

    counts_are_those_of_running(argc > 1 ? argv[1] : ".", every);
    CHECK_DONE();
}
