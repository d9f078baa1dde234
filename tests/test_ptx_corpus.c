#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "blocks.h"
#include "check.h"
#include "launches.h"
#include "ptx/interpret.h"
#include "ptx/module.h"
#include "ptx_compare.h"

/* The launches of examples/ptx/launches.jsonl, run thread by thread: none leaves its
 * memory; what is counted of them without running is the same where it is said to be
 * exact and within its bounds elsewhere; and counters inserted in front of basic
 * blocks, as tools/ptx-measure has a GPU run them, count what is executed. */

typedef struct image {
    ft__ptx_memory memory[LAUNCH_PARAMS];
    uint64_t address[LAUNCH_PARAMS];
    ft_ptx_arg arg[LAUNCH_PARAMS];
    uint32_t n_memory;
    ft_ptx_launch launch;
} image;

static void prepare(image *im, const launch *l)
{
    memset(im, 0, sizeof *im);
    for (uint32_t i = 0; i < l->n_args; i++) {
        const argument *a = &l->arg[i];

        im->arg[i] = (ft_ptx_arg){.index = i, .bytes = a->bytes, .size = a->size};
        if (a->memory) {
            ft__ptx_memory *m = &im->memory[im->n_memory++];

            *m =
                (ft__ptx_memory){(uint64_t)(i + 1) << 36, malloc(a->memory), a->memory};
            fill_bytes(m->bytes, a->memory, 0, &a->fill);
            im->address[i] = m->address + a->offset;
            im->arg[i].bytes = &im->address[i];
        }
    }
    im->launch = (ft_ptx_launch){.kernel = l->kernel,
                                 .dynamic_shared = l->shared,
                                 .arg = im->arg,
                                 .n_args = l->n_args};
    memcpy(im->launch.grid, l->grid, sizeof l->grid);
    memcpy(im->launch.block, l->block, sizeof l->block);
}

static void drop(image *im)
{
    for (uint32_t i = 0; i < im->n_memory; i++)
        free(im->memory[i].bytes);
}

/* Times each instruction of the kernel was issued, by threads; NULL: it does not run.
 */
static uint64_t *run(ft_ptx_counts *out, const ft_ptx *m, const launch *l)
{
    uint64_t *times = NULL;
    ft_error err;
    image im;
    uint32_t k;

    prepare(&im, l);
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
    drop(&im);
    return times;
}

/* 1: exact. */
static int check_counts(const launch *l, const ft_ptx *m, const ft_ptx_counts *ran)
{
    ft_ptx_counts counted = {0};
    ft_ptx_counter *c = NULL;
    ft_error err = {0};
    char what[400] = "";
    image im;

    prepare(&im, l);
    if (ft_ptx_counter_new(&c, m, &err) ||
        ft_ptx_count(&counted, c, &im.launch, &err) ||
        ptx_compare(&counted, ran, what, sizeof what)) {
        fprintf(stderr, "line %u, %s: %s%s\n", l->line, l->kernel, err.msg, what);
        check_failed++;
    }
    ft_ptx_counter_free(c);
    drop(&im);
    return counted.exact;
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
        CHECK(counted[to + 1] == plain[from]);
        to += length(b);
        for (uint32_t k = 0; k < b->at[i].instructions; k++)
            CHECK(plain[from++] == counted[to++]);
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
    CHECK(blocks_agree(&a, &own, threads, m, l, &err) == FT_OK);
    if (a.outside || a.unknown) {
        fprintf(stderr, "line %u, %s: %u outside, %u unknown, from line %u on\n",
                l->line, l->kernel, a.outside, a.unknown, a.line);
        check_failed++;
    }
    CHECK(a.same + a.within > 0);
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

    CHECK(blocks_insert(&b, m, &err) == FT_OK);
    CHECK(b.text &&
          ft_ptx_parse(&with, b.text, strlen(b.text), "with counters", &err) == FT_OK);
    counted = with ? run(&counts, with, l) : NULL;
    CHECK(counted);
    if (counted)
        compare(&b, l->kernel, plain, counted);
    if (b.text)
        check_agreement(l, m, &b, plain);
    free(counted);
    ft_ptx_free(with);
    blocks_free(&b);
}

static int check_launch(const launch *l)
{
    ft_ptx_counts ran;
    ft_error err;
    ft_ptx *m = NULL;
    uint64_t *plain = NULL;
    int exact = 0;

    CHECK(ft_ptx_open(&m, l->module, &err) == FT_OK);
    plain = m ? run(&ran, m, l) : NULL;
    CHECK(plain);
    if (plain) {
        exact = check_counts(l, m, &ran);
        check_blocks(l, m, plain);
    }
    free(plain);
    ft_ptx_free(m);
    return exact;
}

int main(int argc, char **argv)
{
    char path[1024];
    size_t exact = 0;
    launches all;
    ft_error err;

    snprintf(path, sizeof path, "%s/examples/ptx/launches.jsonl",
             argc > 1 ? argv[1] : ".");
    CHECK(launches_read(&all, path, &err) == FT_OK);
    for (size_t i = 0; i < all.n; i++)
        exact += (size_t)check_launch(&all.row[i]);
    printf("%zu launches, %zu counted exactly\n", all.n, exact);
    CHECK(all.n >= 700 && exact >= 650);
    launches_free(&all);
    CHECK_DONE();
}
