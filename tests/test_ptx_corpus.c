#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "ptx_compare.h"
#include "ptx_image.h"

/* Counting is held against running on the launches of examples/ptx/launches.jsonl, each
 * on all folders of compiled kernels that have the kernel. */

static const char *const targets[] = {"sm_75",    "sm_80",    "sm_90",    "sm_100",
                                      "clang_35", "clang_50", "clang_60", "clang_70"};

enum { TARGETS = sizeof targets / sizeof *targets };

typedef struct totals {
    int launches, exact, missing;
} totals;

static void complain(const char *path, const launch *l, const char *what)
{
    fprintf(stderr, "%s, %s of line %u: %s\n", path, l->kernel, l->line, what);
    check_failed++;
}

static void check_launch(totals *t, const char *path, const ft_ptx *m, const launch *l)
{
    ft_ptx_counts counted, ran;
    ft_ptx_counter *c = NULL;
    ft__ptx_run_options opt = {0};
    char words[400] = "";
    ft_error err;
    image im;

    image_prepare(&im, l);
    opt.memory = im.memory;
    opt.n_memory = im.n_memory;
    if (ft__ptx_run(&ran, m, &im.launch, &opt, &err) ||
        ft_ptx_counter_new(&c, m, &err) ||
        ft_ptx_count(&counted, c, &im.launch, &err)) {
        complain(path, l, err.msg);
    } else {
        t->launches++;
        t->exact += counted.exact;
        if (ptx_compare(&counted, &ran, words, sizeof words))
            complain(path, l, words);
    }
    ft_ptx_counter_free(c);
    image_drop(&im);
}

static int has_kernel(const ft_ptx *m, const char *name)
{
    const ft_ptx_kernel *k;
    const size_t n = ft_ptx_kernels(m, &k);

    for (size_t i = 0; i < n; i++)
        if (strcmp(k[i].name, name) == 0)
            return 1;
    return 0;
}

static void check_module(totals *t, const char *path, const launch *l)
{
    ft_ptx *m;

    if (ft_ptx_open(&m, path, NULL))
        return;
    if (has_kernel(m, l->kernel))
        check_launch(t, path, m, l);
    ft_ptx_free(m);
}

/* "compiled/sm_80/x.ptx" under every target; others only where they are. */
static void check_targets(totals *t, const launch *l)
{
    static const char usual[] = "/sm_80/";
    const char *at = strstr(l->module, usual);

    if (at == NULL || strstr(l->module, "triton") != NULL) {
        check_module(t, l->module, l);
        return;
    }
    for (int k = 0; k < TARGETS; k++) {
        char path[1200];

        snprintf(path, sizeof path, "%.*s/%s/%s", (int)(at - l->module), l->module,
                 targets[k], at + sizeof usual - 1);
        check_module(t, path, l);
    }
}

static void counts_are_those_of_running(const char *root)
{
    char path[1024];
    totals t = {0};
    launches all;
    ft_error err;

    snprintf(path, sizeof path, "%s/examples/ptx/launches.jsonl", root);
    if (launches_read(&all, path, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        check_failed++;
        return;
    }
    for (size_t i = 0; i < all.n; i++)
        check_targets(&t, &all.row[i]);
    CHECK(all.n >= 700 && t.launches >= 2000);
    printf("%zu launches, %d on all targets, %d counted exactly\n", all.n, t.launches,
           t.exact);
    launches_free(&all);
}

int main(int argc, char **argv)
{
    counts_are_those_of_running(argc > 1 ? argv[1] : ".");
    CHECK_DONE();
}
