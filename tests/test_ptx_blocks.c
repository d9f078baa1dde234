#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "blocks.h"
#include "check.h"
#include "ptx/ptx_inside.h"
#include "ptx/syntax/module.h"
#include "ptx_image.h"

/* The launches of examples/ptx/launches.jsonl, run thread by thread: counters inserted
 * in front of basic blocks, as tools/ptx-measure has a GPU run them, count what is
 * executed, and that is what is counted of the blocks without running them. */

/* Times threads issued each instruction of the kernel; NULL: it does not run. */
static uint64_t *run(ft_ptx_counts *out, const ft_ptx *m, const launch *l)
{
    uint64_t *times = NULL;
    ft_error err;
    image im;
    uint32_t k;

    image_prepare(&im, l);
    if (ft__ptx_kernel_find(&k, m, l->kernel, &err) == FT_OK) {
        ft__ptx_run_options opt = {.memory = im.memory, .n_memory = im.n_memory};

        times = calloc(m->function[m->kernel_function[k]].n_insns + 1, sizeof *times);
        opt.thread = times;
        if (ft__ptx_run(out, m, &im.launch, &opt, &err)) {
            fprintf(stderr, "line %u, %s: %s\n", l->line, l->kernel, err.msg);
            free(times);
            times = NULL;
        }
    }
    image_drop(&im);
    return times;
}

/* Instructions of a counter: two for threads, five more for warps. */
static uint32_t length(const blocks *b)
{
    return b->per == 2 ? 7 : 2;
}

/* plain[] is of the kernel, counted[] of the same with counters, whose second
 * instruction adds one. */
static void compare(const blocks *b, const char *kernel, const uint64_t *plain,
                    const uint64_t *counted)
{
    uint32_t from = 0, to = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        if (strcmp(b->at[i].function, kernel))
            continue;
        CHECK_EQ(counted[to + 1], plain[from]);
        to += length(b);
        for (uint32_t k = 0; k < b->at[i].instructions; k++)
            CHECK_EQ(plain[from++], counted[to++]);
    }
}

/* What the counters of the kernel's own blocks hold is what is counted without running.
 */
static void check_agreement(const launch *l, const ft_ptx *m, const blocks *b,
                            const uint64_t *plain)
{
    blocks own = {.per = 1, .at = malloc((b->n + 1) * sizeof *own.at)};
    uint64_t *threads = calloc((size_t)b->n + 1, sizeof *threads);
    uint32_t from = 0;
    agreement a;
    ft_error err;

    for (uint32_t i = 0; i < b->n; i++)
        if (strcmp(b->at[i].function, l->kernel) == 0) {
            threads[own.n] = plain[from];
            own.at[own.n++] = b->at[i];
            from += b->at[i].instructions;
        }
    CHECK_EQ(blocks_agree(&a, &own, threads, m, l, &err), FT_OK);
    if (a.outside || a.unknown) {
        fprintf(stderr, "line %u, %s: %u outside, %u unknown, from line %u on\n",
                l->line, l->kernel, a.outside, a.unknown, a.line);
        check_failed++;
    }
    CHECK(CMP(a.same + a.within, >, 0));
    free(threads);
    free(own.at);
}

static void check_blocks(const launch *l, const ft_ptx *m, const uint64_t *plain)
{
    ft_ptx_counts counts;
    ft_ptx *with = NULL;
    uint64_t *counted = NULL;
    blocks b = {0};
    ft_error err;

    CHECK_EQ(blocks_insert(&b, m, &err), FT_OK);
    CHECK(
        b.text &&
        EQ(ft__ptx_parse(&with, b.text, strlen(b.text), "with counters", &err), FT_OK));
    counted = with ? run(&counts, with, l) : NULL;
    CHECK(counted);
    if (counted)
        compare(&b, l->kernel, plain, counted);
    if (b.text)
        check_agreement(l, m, &b, plain);
    free(counted);
    ft__ptx_free(with);
    blocks_free(&b);
}

static void check_launch(const launch *l)
{
    ft_ptx_counts ran;
    ft_error err;
    ft_ptx *m = NULL;
    uint64_t *plain = NULL;

    CHECK_EQ(ft__ptx_open(&m, l->module, &err), FT_OK);
    plain = m ? run(&ran, m, l) : NULL;
    CHECK(plain);
    if (plain)
        check_blocks(l, m, plain);
    free(plain);
    ft__ptx_free(m);
}

int main(int argc, char **argv)
{
    const size_t every = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    char path[1024];
    size_t n = 0;
    launches all;
    ft_error err;

    CHECK(CMP(every, >, 0));
    snprintf(path, sizeof path, "%s/examples/ptx/launches.jsonl",
             argc > 1 ? argv[1] : ".");
    CHECK_EQ(launches_read(&all, path, &err), FT_OK);
    for (size_t i = 0; every > 0 && i < all.n; i++)
        if (launch_is_run(&all, i, every)) {
            check_launch(&all.row[i]);
            n++;
        }
    CHECK(CMP(n * every, >=, 700));
    launches_free(&all);
    CHECK_DONE();
}
