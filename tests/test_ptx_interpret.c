#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "data_dir.h"
#include "ptx/ptx_inside.h"
#include "ptx_interpret/interpret.h"
#include "ptx_kernels.h"

/* Kernels of examples/ptx, run thread by thread on real inputs, give what plain C
 * computes. */

/* Folders of compiled kernels; a kernel that one lacks is not run there. */
static const char *const targets[] = {"sm_75",    "sm_80",    "sm_90",    "sm_100",
                                      "clang_35", "clang_50", "clang_60", "clang_70"};

enum { TARGETS = sizeof targets / sizeof *targets };

/* Arguments of a launch, memory where the kernel and the reference each have theirs. */
typedef struct arguments {
    void *given[PTX_ARGS], *wanted[PTX_ARGS];
    uint64_t address[PTX_ARGS];
    ft__ptx_memory memory[PTX_ARGS];
    ft_ptx_arg arg[PTX_ARGS];
    uint32_t n, n_memory;
} arguments;

static void fill(arguments *a, const ptx_case *c)
{
    memset(a, 0, sizeof *a);
    a->n = ptx_case_args(c);
    for (uint32_t k = 0; k < a->n; k++) {
        const size_t size = ptx_arg_bytes(&c->arg[k]);

        a->given[k] = calloc(size + 1, 1);
        a->wanted[k] = calloc(size + 1, 1);
        ptx_arg_fill(a->given[k], &c->arg[k], k + 1);
        ptx_arg_fill(a->wanted[k], &c->arg[k], k + 1);
        a->arg[k] =
            (ft_ptx_arg){.index = k, .bytes = a->given[k], .size = (uint32_t)size};
        if (c->arg[k].size == 0) {
            a->address[k] = (uint64_t)(k + 1) << 32;
            a->memory[a->n_memory++] =
                (ft__ptx_memory){a->address[k], a->given[k], size};
            a->arg[k].bytes = &a->address[k];
            a->arg[k].size = sizeof a->address[k];
        }
    }
}

static void drop(arguments *a)
{
    for (uint32_t k = 0; k < a->n; k++) {
        free(a->given[k]);
        free(a->wanted[k]);
    }
}

/* The same counts in two ways: by class, and of each instruction. */
static void counts_agree(const ft_ptx_counts *c, const uint64_t *on, size_t n)
{
    uint64_t by_class = 0, by_instruction = 0;

    for (int k = 0; k < FT_PTX_CLASSES; k++) {
        CHECK(CMP(c->warp[k].value * 32, >=, c->thread[k].value));
        CHECK(CMP(c->thread[k].value, >=, c->on[k].value));
        by_class += c->on[k].value;
    }
    for (size_t k = 0; k < n; k++)
        by_instruction += on[k];
    CHECK(CMP(by_class, >=, by_instruction) && CMP(by_instruction, >, 0));
    CHECK(CMP(c->sectors[0].value, <=, 32 * c->requests[0].value));
    CHECK(CMP(c->wavefronts[0].value, >=, c->shared[0].value));
}

static void compare(const ptx_case *c, const arguments *a, const char *target)
{
    for (uint32_t k = 0; k < a->n; k++) {
        size_t at;
        const double d = c->arg[k].size ? 0
                                        : ptx_arg_difference(&c->arg[k], a->given[k],
                                                             a->wanted[k], &at);

        if (d > c->tolerance) {
            fprintf(stderr, "%s/%s, %s: argument %u differs by %g at %zu\n", target,
                    c->module, c->kernel, k, d, at);
            check_failed++;
        }
    }
}

static size_t instructions_of(const ft_ptx *m, const char *kernel)
{
    uint32_t k;

    return ft__ptx_kernel_find(&k, m, kernel, NULL)
               ? 0
               : m->function[m->kernel_function[k]].n_insns;
}

/* Whether the folder has this kernel. */
static int run_case(const char *target, const ptx_case *c)
{
    char path[1024];
    ft_ptx_launch l = {.kernel = c->kernel, .dynamic_shared = c->dynamic_shared};
    ft__ptx_run_options opt = {.most_steps = 50000000};
    ft_ptx_counts counts;
    ft_error err;
    arguments a;
    ft_ptx *m;
    size_t n;

    snprintf(path, sizeof path, "%s/examples/ptx/compiled/%s/%s.ptx", source_root,
             target, c->module);
    if (ft__ptx_open(&m, path, &err))
        return 0;
    n = instructions_of(m, c->kernel);
    if (n > 0) {
        fill(&a, c);
        memcpy(l.grid, c->grid, sizeof l.grid);
        memcpy(l.block, c->block, sizeof l.block);
        l.arg = a.arg;
        l.n_args = a.n;
        opt.memory = a.memory;
        opt.n_memory = a.n_memory;
        opt.on = calloc(n, sizeof *opt.on);
        if (ft__ptx_run(&counts, m, &l, &opt, &err)) {
            fprintf(stderr, "%s, %s: %s\n", path, c->kernel, err.msg);
            check_failed++;
        } else {
            c->reference(a.wanted);
            compare(c, &a, target);
            counts_agree(&counts, opt.on, n);
        }
        free(opt.on);
        drop(&a);
    }
    ft__ptx_free(m);
    return n > 0;
}

TEST(kernels_give_what_plain_c_computes)
{
    int kernels = 0, runs = 0;

    for (size_t k = 0; k < ptx_n_cases; k++) {
        int ran = 0;

        for (int t = 0; t < TARGETS; t++)
            ran += run_case(targets[t], &ptx_cases[k]);
        CHECK(CMP(ran, >, 0));
        kernels += ran > 0;
        runs += ran;
    }
    CHECK(CMP(kernels, >=, 20));
    printf("%d kernels, %d runs\n", kernels, runs);
}
