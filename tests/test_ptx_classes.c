/* What counting costs: thread blocks that are executed, and steps of these. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "data_dir.h"
#include "foretell/ptx_launches.h"
#include "ptx/count/counter.h"
#include "ptx/ptx_inside.h"

enum { MODULES = 64 };

/* Counters of the modules that a list's launches are of. */
typedef struct counters {
    const ft_ptx *module[MODULES];
    ft__ptx_counter *counter[MODULES];
    int n;
} counters;

static ft__ptx_counter *counter_of(counters *c, const ft_ptx *m)
{
    int k = 0;

    while (k < c->n && c->module[k] != m)
        k++;
    if (k == c->n && k < MODULES) {
        CHECK_EQ(ft__ptx_counter_new(&c->counter[k], m, NULL), FT_OK);
        c->module[k] = m;
        c->n++;
    }
    return c->counter[k];
}

static ft__ptx_effort effort_of(const counters *c)
{
    ft__ptx_effort sum = {0};

    for (int k = 0; k < c->n; k++) {
        const ft__ptx_effort one = ft__ptx_counter_effort(c->counter[k]);

        sum.blocks += one.blocks;
        sum.steps += one.steps;
    }
    return sum;
}

static void close_all(counters *c)
{
    for (int k = 0; k < c->n; k++)
        ft__ptx_counter_free(c->counter[k]);
}

/* All launches of a list; which == NULL or of the kernel of that name alone. */
static ft__ptx_effort count_list(const char *file, const char *which, int times)
{
    ft_ptx_launches *l = NULL;
    const ft_ptx_listed *at;
    counters c = {.n = 0};
    ft__ptx_effort sum;
    char path[2048];
    size_t n;

    snprintf(path, sizeof(path), "%s/examples/ptx/%s", source_root, file);
    CHECK_EQ(ft_ptx_launches_open(&l, path, NULL, NULL), FT_OK);
    at = l ? ft_ptx_launches_get(l)->listed : NULL;
    n = l ? ft_ptx_launches_get(l)->n : 0;
    CHECK(CMP(n, >, 100));
    for (size_t i = 0; i < n * (size_t)times; i++) {
        const ft_ptx_listed *one = &at[i % n];
        ft_ptx_launch launch = one->launch;
        ft_ptx_counts counts;

        if (!one->module || (which && strcmp(one->kernel->name, which) != 0))
            continue;
        launch.kernel = one->kernel->name;
        CHECK_EQ(
            ft__ptx_count(&counts, NULL, counter_of(&c, one->module), &launch, NULL),
            FT_OK);
    }
    sum = effort_of(&c);
    close_all(&c);
    ft_ptx_launches_free(l);
    return sum;
}

/* Seven launches of 16,480 blocks: quotients and remainders of the pixel, guards on
 * both of its coordinates. 110 classes; were row and column both held where they are,
 * there would be thousands. */
TEST(a_convolution_by_patches_has_few_classes)
{
    const ft__ptx_effort e = count_list("resnet18.jsonl", "conv_implicit", 1);

    CHECK(CMP(e.blocks, >, 7) && CMP(e.blocks, <=, 140));
    CHECK(CMP(e.steps, <, 70 * 1000 * 1000));
}

/* Three launches, up to 131,072 blocks: what is executed depends on the thread's number
 * modulo 3, 5 and 7, divided by products. */
TEST(quotients_by_constants_leave_few_classes)
{
    const ft__ptx_effort e = count_list("measure.jsonl", "early_exit", 1);

    CHECK(CMP(e.blocks, >, 100) && CMP(e.blocks, <=, 300));
}

TEST(networks_take_little)
{
    const ft__ptx_effort net = count_list("resnet18.jsonl", NULL, 1);
    const ft__ptx_effort encoder = count_list("encoder.jsonl", NULL, 1);

    CHECK(CMP(net.blocks, >, 34) && CMP(net.blocks, <=, 260));
    CHECK(CMP(net.steps, <, 80 * 1000 * 1000));
    CHECK(CMP(encoder.blocks, <=, 16));
    CHECK(CMP(encoder.steps, <, 4 * 1000 * 1000));
}

TEST(launches_counted_before_execute_nothing)
{
    const ft__ptx_effort once = count_list("encoder.jsonl", NULL, 1);
    const ft__ptx_effort twice = count_list("encoder.jsonl", NULL, 2);

    CHECK(CMP(once.blocks, >, 0) && EQ(once.blocks, twice.blocks));
    CHECK_EQ(once.steps, twice.steps);
}

/* What is the same launch. */

/* n decides, x only where the store goes, unused nothing. */
static const char text[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".entry k(.param .u64 x, .param .u32 n, .param .u32 unused)\n"
    "{ .reg .pred p; .reg .b32 r<4>; .reg .b64 d<4>;\n"
    "ld.param.u64 d1, [x]; ld.param.u32 r1, [n];\n"
    "ld.param.u32 r3, [unused];\n"
    "mov.u32 r2, %tid.x; setp.ge.u32 p, r2, r1; @p bra L;\n"
    "mul.wide.u32 d2, r2, 4; add.s64 d1, d1, d2;\n"
    "st.global.u32 [d1], r3;\nL: ret; }\n";

typedef struct asked {
    uint64_t x;
    uint32_t n, unused, grid, block, shared, known;
} asked;

static ft_ptx_counts count(ft__ptx_parts *parts, ft__ptx_counter *c, const asked *a)
{
    const ft_ptx_arg arg[] = {{.index = 0, .bytes = &a->x, .size = 8},
                              {.index = 1, .bytes = &a->n, .size = 4},
                              {.index = 2, .bytes = &a->unused, .size = 4}};
    const ft_ptx_launch l = {.grid = {a->grid, 1, 1},
                             .block = {a->block, 1, 1},
                             .dynamic_shared = a->shared,
                             .arg = arg,
                             .n_args = a->known};
    ft_ptx_counts counts;

    CHECK_EQ(ft__ptx_count(&counts, parts, c, &l, NULL), FT_OK);
    return counts;
}

TEST(only_what_is_the_same_is_known_from_before)
{
    static const struct {
        asked a;
        int known;
    } cases[] = {
        {{0, 40, 1, 9, 64, 0, 3}, 0},  {{0, 40, 1, 9, 64, 0, 3}, 1},
        {{0, 41, 1, 9, 64, 0, 3}, 0},  {{0, 40, 2, 9, 64, 0, 3}, 1},
        {{16, 40, 1, 9, 64, 0, 3}, 0}, {{0, 40, 1, 8, 64, 0, 3}, 0},
        {{0, 40, 1, 9, 32, 0, 3}, 0},  {{0, 40, 1, 9, 64, 4, 3}, 0},
        {{0, 40, 1, 9, 64, 0, 1}, 0},  {{0, 40, 1, 9, 64, 0, 2}, 1},
        {{0, 40, 1, 9, 64, 0, 3}, 1},
    };
    ft__ptx_counter *c = NULL, *fresh = NULL;
    ft_ptx *m = NULL;

    CHECK_EQ(ft__ptx_parse(&m, text, strlen(text), "k", NULL), FT_OK);
    CHECK_EQ(ft__ptx_counter_new(&c, m, NULL), FT_OK);
    for (size_t i = 0; m && c && i < sizeof(cases) / sizeof(*cases); i++) {
        const uint64_t before = ft__ptx_counter_effort(c).blocks;
        ft__ptx_parts is, wanted;
        const ft_ptx_counts now = count(&is, c, &cases[i].a);
        ft_ptx_counts want;

        CHECK_EQ((ft__ptx_counter_effort(c).blocks == before), cases[i].known);
        CHECK_EQ(ft__ptx_counter_new(&fresh, m, NULL), FT_OK);
        want = count(&wanted, fresh, &cases[i].a);
        CHECK(BYTES(&now, &want, offsetof(ft_ptx_counts, exact) + sizeof(int)));
        CHECK_EQ((now.because != NULL), (want.because != NULL));
        CHECK(!now.because || SAME(now.because, want.because));
        CHECK_EQ(is.n_blocks, wanted.n_blocks);
        CHECK(EQ(is.block[1].thread.high, wanted.block[1].thread.high) &&
              EQ(is.block[1].exact, wanted.block[1].exact));
        CHECK(EQ(is.n_accesses, 1) && EQ(wanted.n_accesses, 1));
        CHECK(EQ(is.access->took.low, wanted.access->took.low) &&
              EQ(is.access->took.high, wanted.access->took.high));
        ft__ptx_counter_free(fresh);
    }
    ft__ptx_counter_free(c);
    ft__ptx_free(m);
}

/* Launches that differ in sizes. */

/* By a counter that is used on, and by one of its own. */
static ft_ptx_counts same_alone(ft__ptx_counter *used, const ft_ptx *m,
                                const ft_ptx_launch *l)
{
    ft__ptx_counter *own = NULL;
    ft_ptx_counts a, b;

    CHECK_EQ(ft__ptx_count(&a, NULL, used, l, NULL), FT_OK);
    CHECK_EQ(ft__ptx_counter_new(&own, m, NULL), FT_OK);
    CHECK_EQ(ft__ptx_count(&b, NULL, own, l, NULL), FT_OK);
    CHECK(BYTES(&a, &b, offsetof(ft_ptx_counts, exact) + sizeof(int)));
    ft__ptx_counter_free(own);
    return a;
}

/* A kernel in 12 launches with other n, in r1; r3 is the thread's number in the grid.
 */
static void of_lengths(const char *body, bool repeats)
{
    char source[2048];
    ft__ptx_counter *c = NULL;
    ft_ptx *m = NULL;

    snprintf(source, sizeof(source),
             ".version 7.0\n.target sm_75\n.address_size 64\n"
             ".entry k(.param .u64 x, .param .u32 n)\n"
             "{ .reg .pred p, q; .reg .b32 r<8>; .reg .b64 d<4>;\n"
             "ld.param.u64 d1, [x]; ld.param.u32 r1, [n];\n"
             "mov.u32 r2, %%tid.x; mov.u32 r3, %%ctaid.x; mov.u32 r4, 0;\n"
             "mad.lo.s32 r3, r3, 64, r2; %s\nL: ret; }\n",
             body);
    CHECK_EQ(ft__ptx_parse(&m, source, strlen(source), "k", NULL), FT_OK);
    CHECK_EQ(ft__ptx_counter_new(&c, m, NULL), FT_OK);
    for (uint32_t n = 130; m && c && n < 142; n++) {
        const uint64_t x = 4096;
        const ft_ptx_arg arg[] = {{.index = 0, .bytes = &x, .size = 8},
                                  {.index = 1, .bytes = &n, .size = 4}};
        const ft_ptx_launch l = {
            .grid = {5, 1, 1}, .block = {64, 1, 1}, .arg = arg, .n_args = 2};

        same_alone(c, m, &l);
    }
    CHECK_EQ((c && ft__ptx_counter_effort(c).repeated > 0), repeats);
    ft__ptx_counter_free(c);
    ft__ptx_free(m);
}

TEST(blocks_are_repeated_where_lengths_decide_the_same)
{
    /* Who takes part, and where it stores. */
    of_lengths("setp.ge.u32 p, r3, r1; @p bra L; mad.lo.s32 r5, r1, 3, r3;\n"
               "mul.wide.u32 d2, r5, 4; add.s64 d3, d1, d2; st.global.u32 [d3], r3;",
               true);
    /* How often a loop goes round. */
    of_lengths("M: add.s32 r4, r4, 1; setp.lt.u32 p, r4, r1; @p bra M;", false);
    /* By how much it goes on. */
    of_lengths("M: add.s32 r4, r4, r1; setp.lt.u32 p, r4, 4000; @p bra M;", false);
    /* Of some threads alone. */
    of_lengths("setp.lt.u32 p, r2, 20; mov.u32 r5, r1; @p mov.u32 r5, 7;\n"
               "M: add.s32 r4, r4, 1; setp.lt.u32 q, r4, r5; @q bra M;",
               false);
    /* What is accessed in a loop. */
    of_lengths("mad.lo.s32 r5, r1, 3, r3; mul.wide.u32 d2, r5, 4; add.s64 d1, d1, d2;\n"
               "M: ld.global.u32 r6, [d1]; add.s32 r4, r4, 1; setp.lt.u32 p, r4, 9;\n"
               "@p bra M;",
               false);
    /* Quotients. */
    of_lengths("div.u32 r5, r3, r1; setp.gt.u32 p, r5, 0; @p bra L; add.s32 r4, r4, 1;",
               false);
}

/* The first layer of ResNet-18 in batches of 1 to 24. */
TEST(batches_of_a_convolution_have_most_blocks_in_common)
{
    ft_ptx_launches *l = NULL;
    const ft_ptx_listed *at = NULL;
    ft__ptx_counter *c = NULL;
    ft__ptx_effort e;
    char path[2048];

    snprintf(path, sizeof(path), "%s/examples/ptx/resnet18.jsonl", source_root);
    CHECK_EQ(ft_ptx_launches_open(&l, path, NULL, NULL), FT_OK);
    for (size_t k = 0; l && k < ft_ptx_launches_get(l)->n; k++)
        if (strcmp(ft_ptx_launches_get(l)->listed[k].kernel->name, "conv_implicit") ==
            0)
            at = &ft_ptx_launches_get(l)->listed[k];
    CHECK(at && EQ(at->launch.n_args, 4) && EQ(at->launch.arg[3].size, 40));
    if (at)
        CHECK_EQ(ft__ptx_counter_new(&c, at->module, NULL), FT_OK);
    for (int32_t batch = 1; c && batch <= 24; batch++) {
        ft_ptx_launch launch = at->launch;
        ft_ptx_arg arg[4];
        int32_t sizes[10];

        memcpy(arg, launch.arg, sizeof(arg));
        memcpy(sizes, arg[3].bytes, sizeof(sizes));
        sizes[0] = batch;
        arg[3].bytes = sizes;
        launch.arg = arg;
        launch.kernel = at->kernel->name;
        launch.grid[0] = ((uint32_t)(batch * sizes[8] * sizes[9]) + 31) / 32;
        same_alone(c, at->module, &launch);
    }
    e = c ? ft__ptx_counter_effort(c) : (ft__ptx_effort){0};
    CHECK(CMP(e.repeated, >, 3 * e.blocks));
    ft__ptx_counter_free(c);
    ft_ptx_launches_free(l);
}

TEST(what_is_kept_stays_within_its_bound)
{
    enum { ITEMS = 20000, TIMES = 200 };
    ft_ptx_tally *item = calloc(ITEMS, sizeof(*item));
    ft__recall w = {.bytes = 0};
    const ft_ptx_counts counts = {.because = "line 1: it does"};

    for (uint32_t k = 0; item && k < TIMES; k++) {
        const ft__recalled *r;

        item[k].low = k;
        ft__recall_keep(&w, &k, sizeof(k), &counts, item, ITEMS);
        CHECK(CMP(w.bytes, <=, FT__RECALL_BYTES));
        r = ft__recall_find(&w, &k, sizeof(k));
        CHECK(r && EQ(r->item[k].low, k) && SAME(r->why, counts.because));
        CHECK(r && EQ(r->counts.because, r->why));
    }
    CHECK(EQ(ft__recall_find(&w, &(uint32_t){0}, sizeof(uint32_t)), NULL));
    CHECK(ft__recall_find(&w, &(uint32_t){TIMES - 2}, sizeof(uint32_t)) != NULL);
    CHECK(EQ(ft__recall_find(&w, &(uint32_t){TIMES}, sizeof(uint32_t)), NULL));
    ft__recall_free(&w);
    CHECK_EQ(w.bytes, 0);
    free(item);
}
