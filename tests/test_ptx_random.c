#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "ptx/count/counter.h"
#include "ptx/ptx_inside.h"
#include "ptx_compare.h"
#include "ptx_interpret/interpret.h"
#include "ptx_random.h"

/* Counting is held against running on programs from a generator: each N-th of them with
 * N as first argument. With a seed as second that program alone, printed. */

enum { PROGRAMS = 2000, DEPENDING = 400, MOST_STEPS = 1 << 20 };

typedef struct both {
    ft_ptx_counts counted, ran;
} both;

static uint32_t size_of(uint64_t seed)
{
    return 10 + (uint32_t)(seed % 50);
}

/* 0: the module is not what it should be, err says why. */
static int run_both(both *b, const ptx_random *p, ft_error *err)
{
    uint8_t *bytes = calloc(PTX_RANDOM_BYTES, 1);
    const ft__ptx_memory memory = {p->address, bytes, PTX_RANDOM_BYTES};
    const ft__ptx_run_options opt = {
        .memory = &memory, .n_memory = 1, .most_steps = MOST_STEPS};
    ft__ptx_counter *c = NULL;
    ft_ptx *m = NULL;
    int ok;

    for (uint32_t k = 0; k < PTX_RANDOM_BYTES; k++)
        bytes[k] = (uint8_t)(k * 37 >> (k & 3));
    ok = !ft__ptx_parse(&m, p->text, strlen(p->text), "random", err) &&
         !ft__ptx_run(&b->ran, m, &p->launch, &opt, err) &&
         !ft__ptx_counter_new(&c, m, err) &&
         !ft__ptx_count(&b->counted, NULL, c, &p->launch, err);
    ft__ptx_counter_free(c);
    ft__ptx_free(m);
    free(bytes);
    return ok;
}

/* Whether all is well with `size` statements of this seed; `what` says what is not. */
static int agrees(uint64_t seed, uint32_t size, int depends, char *what, size_t n)
{
    ft_error err = {0};
    ptx_random p;
    both b;
    int ok = 0;

    if (!ptx_random_make(&p, seed, size, depends)) {
        snprintf(what, n, "out of memory");
        return 0;
    }
    if (!run_both(&b, &p, &err))
        snprintf(what, n, "%.300s", err.msg);
    else if (!depends && !b.counted.exact)
        snprintf(what, n, "not exact: %.300s",
                 b.counted.because ? b.counted.because : "?");
    else
        ok = ptx_compare(&b.counted, &b.ran, what, n) == 0;
    ptx_random_free(&p);
    return ok;
}

static void show(uint64_t seed, uint32_t size, int depends)
{
    ptx_random p;

    if (ptx_random_make(&p, seed, size, depends)) {
        printf(
            "// %u x %u x %u blocks of %u x %u x %u threads; n %u, m %u, wide %" PRId64
            "\n%s",
            p.launch.grid[0], p.launch.grid[1], p.launch.grid[2], p.launch.block[0],
            p.launch.block[1], p.launch.block[2], p.number[0], p.number[1], p.wide,
            p.text);
        ptx_random_free(&p);
    }
}

/* The same seed with as few statements as still fail, and how these do. */
static void show_smallest(uint64_t seed, int depends)
{
    char what[400];
    uint32_t size = 1;

    while (size < size_of(seed) && agrees(seed, size, depends, what, sizeof what))
        size++;
    agrees(seed, size, depends, what, sizeof what);
    show(seed, size, depends);
    printf("// %u statements: %s\n", size, what);
}

static void try_seeds(uint64_t from, uint64_t to, uint64_t every, int depends)
{
    int shown = 0;

    for (uint64_t seed = from; seed < to; seed += every) {
        char what[400] = "";

        if (agrees(seed, size_of(seed), depends, what, sizeof what))
            continue;
        check_failed++;
        fprintf(stderr, "seed %" PRIu64 "%s: %s\n", seed,
                depends ? " (depends on data)" : "", what);
        if (shown++ == 0)
            show_smallest(seed, depends);
    }
}

static void counts_are_those_of_running(uint64_t every)
{
    try_seeds(0, PROGRAMS, every, 0);
}

static void bounds_hold_where_data_decides(uint64_t every)
{
    try_seeds(0, DEPENDING, every, 1);
    try_seeds(1789, 1790, 1, 1); /* returns from several places, nobody knows which */
    try_seeds(53894, 53895, 1,
              1);                /* a guess has fewer sectors than there are for sure */
    try_seeds(7546, 7547, 1, 1); /* ends in a function, where an unknown index leads */
}

/* Launches of one kernel after each other. */

enum { VARIANTS = 6, VARIED = 1000 };

/* The launch with another number, at times another pointer, and last another grid. */
static void vary(ptx_random *p, uint32_t k)
{
    p->number[0]++;
    p->address += k % 3 == 2 ? 4 : 0;
    p->launch.grid[0] += k + 1 == VARIANTS;
}

static int same_counts(ft_ptx_counts a, ft_ptx_counts b)
{
    a.because = b.because = NULL;
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static int same_parts(const ft__ptx_parts *a, const ft__ptx_parts *b)
{
    int same = a->n_blocks == b->n_blocks && a->n_accesses == b->n_accesses;

    for (size_t k = 0; same && k < a->n_blocks; k++)
        same = memcmp(&a->block[k].warp, &b->block[k].warp, sizeof(ft_ptx_tally)) == 0;
    for (size_t k = 0; same && k < a->n_accesses; k++)
        same =
            memcmp(&a->access[k].requests, &b->access[k].requests,
                   sizeof(ft_ptx_tally)) == 0 &&
            memcmp(&a->access[k].took, &b->access[k].took, sizeof(ft_ptx_tally)) == 0;
    return same;
}

/* By a counter that is used on, and by one of its own. */
static void count_twice(const ft_ptx *m, ft__ptx_counter *used, const ptx_random *p,
                        uint64_t seed)
{
    ft__ptx_counter *own = NULL;
    ft_ptx_counts a, b;
    ft__ptx_parts of_a, of_b;

    CHECK_EQ(ft__ptx_counter_new(&own, m, NULL), FT_OK);
    CHECK_EQ(ft__ptx_count(&a, &of_a, used, &p->launch, NULL), FT_OK);
    CHECK_EQ(ft__ptx_count(&b, &of_b, own, &p->launch, NULL), FT_OK);
    if (!same_counts(a, b) || !same_parts(&of_a, &of_b)) {
        check_failed++;
        fprintf(stderr, "seed %" PRIu64 ", n %u: other counts after other launches\n",
                seed, p->number[0]);
    }
    ft__ptx_counter_free(own);
}

static void launches_before_make_no_difference(uint64_t every)
{
    uint64_t repeated = 0;

    for (uint64_t seed = 0; seed < VARIED; seed += every) {
        ft__ptx_counter *used = NULL;
        ft_ptx *m = NULL;
        ptx_random p;

        if (!ptx_random_make(&p, seed, size_of(seed), seed % 5 == 0))
            continue;
        CHECK_EQ(ft__ptx_parse(&m, p.text, strlen(p.text), "random", NULL), FT_OK);
        CHECK_EQ(ft__ptx_counter_new(&used, m, NULL), FT_OK);
        for (uint32_t k = 0; m && used && k < VARIANTS; k++) {
            vary(&p, k);
            count_twice(m, used, &p, seed);
        }
        repeated += used ? ft__ptx_counter_effort(used).repeated : 0;
        ft__ptx_counter_free(used);
        ft__ptx_free(m);
        ptx_random_free(&p);
    }
    CHECK(CMP(repeated, >, VARIED / every));
}

int main(int argc, char **argv)
{
    const uint64_t every = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;

    if (argc > 2) {
        const uint64_t seed = strtoull(argv[2], NULL, 10);

        try_seeds(seed, seed + 1, 1, argc > 3);
        CHECK_DONE();
    }
    counts_are_those_of_running(every);
    bounds_hold_where_data_decides(every);
    launches_before_make_no_difference(every);
    CHECK_DONE();
}
