#include <string.h>

#include "check.h"
#include "foretell/ptx.h"
#include "ptx/ptx_inside.h"
#include "refuse.h"

/* Every allocation of counting may be refused, and is reported. */

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".func (.param .b32 out) f(.param .b32 a)\n{\n.reg .b32 %r<4>;\n"
    "ld.param.b32 %r0, [a];\nadd.s32 %r0, %r0, 1;\nst.param.b32 [out], %r0;\nret;\n}\n"
    ".entry k(.param .u64 x)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n"
    ".reg .b64 %d<8>;\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n"
    "mov.u32 %r2, %ctaid.y;\nmad.lo.s32 %r3, %r1, 48, %r0;\nadd.s32 %r3, %r3, %r2;\n"
    "ld.param.u64 %d0, [x];\nmul.wide.u32 %d1, %r3, 4;\nadd.s64 %d0, %d0, %d1;\n"
    "rem.u32 %r4, %r3, 7;\n{\n.param .b32 y;\n.param .b32 z;\nst.param.b32 [y], %r4;\n"
    "call (z), f, (y);\nld.param.b32 %r4, [z];\n}\n"
    "L: ld.global.u32 %r5, [%d0];\nadd.s64 %d0, %d0, 128;\nsub.s32 %r4, %r4, 1;\n"
    "setp.gt.s32 %p1, %r4, 0;\n@%p1 bra L;\nmov.u32 %r6, 0;\n"
    "M: add.s32 %r6, %r6, 1;\nsetp.lt.u32 %p3, %r6, 90;\n@%p3 bra M;\n"
    "setp.eq.u32 %p2, %r5, 9;\n@%p2 bra E;\nadd.s32 %r4, %r4, 1;\nE: ret;\n}\n";

static ft_ptx *m;

static ft_status count_all(void)
{
    const uint64_t x = 4096;
    const ft_ptx_arg arg = {.index = 0, .bytes = &x, .size = sizeof x};
    const ft_ptx_launch l = {
        .grid = {5, 3, 1}, .block = {96, 1, 1}, .arg = &arg, .n_args = 1};
    ft__ptx_counter *c;
    ft_ptx_counts n;
    ft_error err = {0};
    ft_status st = ft__ptx_counter_new(&c, m, &err);

    if (st == FT_OK) {
        st = ft__ptx_count(&n, NULL, c, &l, &err);
        CHECK(CMP(st, !=, FT_OK) || (EQ(n.threads, 15 * 96) && !n.exact));
        ft__ptx_counter_free(c);
    }
    CHECK_EQ(err.status, st);
    return st;
}

/* What was refused once is there the next time. */
static void a_counter_goes_on_after_that(void)
{
    ft_ptx_launch l = {.grid = {2, 1, 1}, .block = {32, 1, 1}};
    ft__ptx_counter *c;
    ft_ptx_counts n;

    CHECK_EQ(ft__ptx_counter_new(&c, m, NULL), FT_OK);
    for (int left = 1; left < 60; left++) {
        l.grid[0]++; /* another launch: nothing is known of it from before */
        allocs_left = left;
        CHECK(EQ(ft__ptx_count(&n, NULL, c, &l, NULL), FT_ENOMEM) || CMP(left, >, 4));
        allocs_left = -1;
        CHECK(EQ(ft__ptx_count(&n, NULL, c, &l, NULL), FT_OK) &&
              EQ(n.threads, 32 * (uint64_t)l.grid[0]));
    }
    ft__ptx_counter_free(c);
}

/* n decides who takes part, and later launches differ by it alone. */
static const char bounded[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".entry k(.param .u64 x, .param .u32 n)\n{\n.reg .pred %p;\n.reg .b32 %r<8>;\n"
    ".reg .b64 %d<4>;\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n"
    "mad.lo.s32 %r2, %r1, 32, %r0;\nld.param.u32 %r3, [n];\n"
    "setp.ge.u32 %p, %r2, %r3;\n@%p ret;\nld.param.u64 %d0, [x];\n"
    "mul.wide.u32 %d1, %r3, 4;\nadd.s64 %d0, %d0, %d1;\nmul.wide.u32 %d1, %r2, 4;\n"
    "add.s64 %d0, %d0, %d1;\nst.global.u32 [%d0], %r2;\nret;\n}\n";

static ft_status count_growing(const ft_ptx *kernel, uint64_t *threads)
{
    ft__ptx_counter *c;
    ft_status st = ft__ptx_counter_new(&c, kernel, NULL);

    for (uint32_t k = 0; st == FT_OK && k < 6; k++) {
        const uint32_t n = 32 * (7 + k);
        const ft_ptx_arg arg = {.index = 1, .bytes = &n, .size = sizeof n};
        const ft_ptx_launch l = {
            .grid = {12, 1, 1}, .block = {32, 1, 1}, .arg = &arg, .n_args = 1};
        ft_ptx_counts counts;

        st = ft__ptx_count(&counts, NULL, c, &l, NULL);
        *threads = st ? 0 : counts.thread[FT_PTX_STORE].value;
    }
    ft__ptx_counter_free(c);
    return st;
}

static void traces_may_be_refused(void)
{
    ft_ptx *kernel = NULL;
    uint64_t threads = 0;

    CHECK_EQ(ft__ptx_parse(&kernel, bounded, strlen(bounded), "test", NULL), FT_OK);
    CHECK_REFUSALS(count_growing(kernel, &threads), 1);
    CHECK_EQ(threads, 32 * 12);
    ft__ptx_free(kernel);
}

int main(void)
{
    ft_error err;

    if (ft__ptx_parse(&m, text, strlen(text), "test", &err) != FT_OK)
        fprintf(stderr, "%s\n", err.msg);
    CHECK(m != NULL);
    CHECK_REFUSALS(count_all(), 20);
    a_counter_goes_on_after_that();
    traces_may_be_refused();
    ft__ptx_free(m);
    CHECK_DONE();
}
