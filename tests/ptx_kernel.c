#include "ptx_kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "ptx/ptx_inside.h"
#include "ptx_compare.h"
#include "ptx_interpret/interpret.h"

void begin(kernel *k, const char *text, uint32_t grid, uint32_t block)
{
    memset(k, 0, sizeof *k);
    k->launch.grid[0] = grid;
    k->launch.block[0] = block;
    k->launch.grid[1] = k->launch.grid[2] = 1;
    k->launch.block[1] = k->launch.block[2] = 1;
    k->launch.arg = k->arg;
    k->st = ft__ptx_parse(&k->m, text, strlen(text), "test", &k->err);
    if (!k->st)
        k->st = ft__ptx_counter_new(&k->c, k->m, &k->err);
    if (k->st)
        fprintf(stderr, "%s\n", k->err.msg);
    CHECK_EQ(k->st, FT_OK);
}

void begin_with(kernel *k, const char *text, const char *with, uint32_t grid,
                uint32_t block)
{
    static char all[2000]; /* borrowed by the module */
    size_t n = 0;

    for (const char *c = text; *c; c++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%.*s", *c == '?' ? 400 : 1,
                              *c == '?' ? with : c);
    begin(k, all, grid, block);
}

void give(kernel *k, uint32_t index, const void *bytes, uint32_t size)
{
    k->arg[k->launch.n_args++] =
        (ft_ptx_arg){.index = index, .bytes = bytes, .size = size};
}

void count(kernel *k)
{
    if (!k->st)
        k->st = ft__ptx_count(&k->n, NULL, k->c, &k->launch, &k->err);
}

void end(kernel *k)
{
    ft__ptx_counter_free(k->c);
    ft__ptx_free(k->m);
}

void check_ran(kernel *k)
{
    ft__ptx_run_options opt = {.most_steps = 1 << 22};
    ft_ptx_counts ran;
    char what[400] = "";

    count(k);
    if (k->st || ft__ptx_run(&ran, k->m, &k->launch, &opt, &k->err) != FT_OK) {
        fprintf(stderr, "%s\n", k->err.msg);
        CHECK(0);
    } else if (!k->n.exact || ptx_compare(&k->n, &ran, what, sizeof what)) {
        fprintf(stderr, "%s %s\n", what, k->n.because ? k->n.because : "");
        CHECK(0);
    }
}

int is(const ft_ptx_tally *t, uint64_t n)
{
    if (t->low == n && t->value == n && t->high == n)
        return 1;
    fprintf(stderr, "%" PRIu64 " (%" PRIu64 " .. %" PRIu64 "), want %" PRIu64 "\n",
            t->value, t->low, t->high, n);
    return 0;
}
