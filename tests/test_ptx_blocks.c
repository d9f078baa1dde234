#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "check.h"
#include "launches.h"
#include "ptx/interpret.h"
#include "ptx/module.h"

/* The launches of examples/ptx/launches.jsonl, run thread by thread: none leaves its
 * memory, and counters inserted in front of basic blocks count what is executed. */

typedef struct image {
    ft__ptx_memory memory[LAUNCH_PARAMS];
    uint64_t address[LAUNCH_PARAMS];
    ft_ptx_arg arg[LAUNCH_PARAMS];
    uint32_t n_memory;
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
}

/* Runs it; times each instruction of the kernel was issued, by threads. */
static uint64_t *run(const ft_ptx *m, const launch *l, ft_ptx_counts *counts)
{
    image im;
    ft_error err;
    uint32_t k;
    uint64_t *times = NULL;

    prepare(&im, l);
    if (ft__ptx_kernel_find(&k, m, l->kernel, &err) == FT_OK) {
        ft_ptx_launch what = {.kernel = l->kernel,
                              .dynamic_shared = l->shared,
                              .arg = im.arg,
                              .n_args = l->n_args};
        ft__ptx_run_options opt = {.memory = im.memory, .n_memory = im.n_memory};

        times = calloc(m->function[m->kernel_function[k]].n_insns + 1, sizeof *times);
        opt.thread = times;
        memcpy(what.grid, l->grid, sizeof what.grid);
        memcpy(what.block, l->block, sizeof what.block);
        if (ft__ptx_run(counts, m, &what, &opt, &err)) {
            fprintf(stderr, "%s, line %u: %s\n", l->kernel, l->line, err.msg);
            check_failed++;
            free(times);
            times = NULL;
        }
    }
    for (uint32_t i = 0; i < im.n_memory; i++)
        free(im.memory[i].bytes);
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
        CHECK(counted[to + 1] == plain[from]);
        to += length(b);
        for (uint32_t k = 0; k < b->at[i].instructions; k++)
            CHECK(plain[from++] == counted[to++]);
    }
}

static void check_launch(const launch *l, const ft_ptx *m, const ft_ptx *with,
                         const blocks *b)
{
    ft_ptx_counts counts;
    uint64_t *plain = run(m, l, &counts),
             *counted = plain ? run(with, l, &counts) : NULL;

    CHECK(plain && counted);
    if (plain && counted)
        compare(b, l->kernel, plain, counted);
    free(plain);
    free(counted);
}

static void counters_in_front_of_blocks_count_what_is_executed(const char *path)
{
    launches all;
    ft_error err;

    CHECK(launches_read(&all, path, &err) == FT_OK);
    for (size_t i = 0; i < all.n; i++) {
        ft_ptx *m = NULL, *with = NULL;
        blocks b = {0};

        CHECK(ft_ptx_open(&m, all.row[i].module, &err) == FT_OK);
        CHECK(blocks_insert(&b, m, &err) == FT_OK);
        CHECK(ft_ptx_parse(&with, b.text, strlen(b.text), "with counters", &err) ==
              FT_OK);
        if (m && with)
            check_launch(&all.row[i], m, with, &b);
        ft_ptx_free(with);
        ft_ptx_free(m);
        blocks_free(&b);
    }
    printf("%zu launches\n", all.n);
    CHECK(all.n >= 700);
    launches_free(&all);
}

int main(int argc, char **argv)
{
    char path[1024];

    snprintf(path, sizeof path, "%s/examples/ptx/launches.jsonl",
             argc > 1 ? argv[1] : ".");
    counters_in_front_of_blocks_count_what_is_executed(path);
    CHECK_DONE();
}
