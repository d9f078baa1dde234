#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "check.h"
#include "ptx/count/plan.h"
#include "ptx/ptx_inside.h"
#include "ptx_kernel.h"

/* What kernels execute, against numbers worked out by hand and against running them. */

TEST(a_negated_guard_jumps_where_it_does_not_hold)
{
    kernel k;

    begin(&k,
          KERNEL("", INDEX "setp.lt.u32 %p1, %r1, 40;\n@!%p1 bra L;\n"
                           "add.f32 %f1, %f2, %f3;\nL: ret;\n"),
          2, 64);
    check_ran(&k);
    CHECK(is(&k.n.thread[FT_PTX_FP32], 40));
    CHECK(is(&k.n.warp[FT_PTX_FP32], 2));
    CHECK(is(&k.n.branches, 4));
    CHECK(is(&k.n.divergent, 1));
    end(&k);
}

TEST(a_branch_not_taken_falls_through)
{
    kernel k;

    begin(&k,
          KERNEL("", TID "setp.eq.u32 %p1, %r0, 9999;\n@%p1 bra L;\n"
                         "add.f32 %f1, %f2, %f3;\nadd.f32 %f1, %f2, %f3;\n"
                         "L: mul.f32 %f1, %f2, %f3;\nret;\n"),
          3, 96);
    check_ran(&k);
    CHECK(is(&k.n.on[FT_PTX_FP32], 3 * 96 * 3));
    CHECK(is(&k.n.flops[0], 3 * 96 * 3));
    end(&k);
}

TEST(blocks_and_grids_have_three_dimensions)
{
    kernel k;

    begin(&k,
          KERNEL("",
                 "mov.u32 %r0, %tid.y;\nmov.u32 %r1, %tid.z;\nmov.u32 %r2, %ctaid.y;\n"
                 "mov.u32 %r3, %ctaid.z;\nadd.s32 %r4, %r0, %r2;\n"
                 "mad.lo.s32 %r4, %r3, %r1, %r4;\nsetp.gt.s32 %p1, %r4, 6;\n"
                 "@%p1 add.f32 %f1, %f2, %f3;\n@%p1 exit;\nmul.lo.s32 %r5, %r4, 3;\n"
                 "ret;\n"),
          3, 12);
    k.launch.block[1] = 11;
    k.launch.block[2] = 4;
    k.launch.grid[1] = 10;
    k.launch.grid[2] = 5;
    check_ran(&k);
    CHECK_EQ(k.n.threads, 12ull * 11 * 4 * 3 * 10 * 5);
    CHECK_EQ(k.n.warps, 17ull * 150);
    end(&k);
}

TEST(counts_have_64_bits)
{
    kernel k;

    begin(&k,
          KERNEL("", "mov.u32 %r0, 0;\nL: add.s32 %r0, %r0, 1;\n"
                     "fma.rn.f32 %f1, %f2, %f3, %f1;\nsetp.lt.u32 %p1, %r0, 3000000;\n"
                     "@%p1 bra L;\nret;\n"),
          100000, 1024);
    count(&k);
    CHECK(is(&k.n.thread[FT_PTX_FP32], 3000000ull * 100000 * 1024));
    CHECK(is(&k.n.flops[0], 2 * 3000000ull * 100000 * 1024));
    CHECK(is(&k.n.branches, 3000000ull * 100000 * 32));
    CHECK(is(&k.n.divergent, 0));
    CHECK(k.n.exact);
    end(&k);
}

TEST(a_grid_may_be_as_large_as_any)
{
    const uint32_t n = 0x1fffff00;
    kernel k;

    begin(&k,
          KERNEL(".param .u32 n", INDEX "ld.param.u32 %r4, [n];\n"
                                        "setp.ge.u32 %p1, %r1, %r4;\n@%p1 bra L;\n"
                                        "add.f32 %f1, %f2, %f3;\nL: ret;\n"),
          INT32_MAX / 1024 + 1, 256);
    give(&k, 0, &n, 4);
    k.launch.grid[1] = k.launch.grid[2] = 65535;
    count(&k);
    CHECK(is(&k.n.thread[FT_PTX_FP32], (uint64_t)n * 65535 * 65535));
    CHECK(k.n.exact);
    end(&k);
}

TEST(counts_that_do_not_fit_64_bits_are_not_exact)
{
    kernel k;

    begin(&k,
          KERNEL("", "mov.u32 %r0, 0;\nL: add.s32 %r0, %r0, 1;\n"
                     "setp.lt.u32 %p1, %r0, 3000000;\n@%p1 bra L;\nret;\n"),
          INT32_MAX, 1024);
    k.launch.grid[1] = k.launch.grid[2] = 65535;
    count(&k);
    CHECK(EQ(k.st, FT_OK) && !k.n.exact);
    CHECK(k.n.because && HAS(k.n.because, "beyond 2^64 - 1"));
    CHECK_EQ(k.n.thread[FT_PTX_INT].low, UINT64_MAX);
    CHECK_EQ(k.n.blocks, (uint64_t)INT32_MAX * 65535 * 65535);
    CHECK_EQ(k.n.warps, UINT64_MAX);
    end(&k);
}

/* n values of each thread, and as many loops at whose headers all of them live. */
static char *many_loops(int n)
{
    char *text = malloc((size_t)n * 140 + 1000), *at = text;

    if (!text)
        return NULL;
    at += sprintf(at,
                  HEAD ".entry k()\n{\n.reg .pred %%p<%d>;\n.reg .b32 %%r<%d>;\n"
                       "mov.u32 %%r0, %%tid.x;\n",
                  n + 1, n + 1);
    for (int i = 0; i < n; i++)
        at += sprintf(at, "add.u32 %%r%d, %%r%d, 1;\n", i + 1, i);
    for (int i = 0; i < n; i++)
        at += sprintf(at,
                      "L%d: add.u32 %%r%d, %%r%d, 1;\nsetp.lt.u32 %%p%d, %%r%d, %d;\n"
                      "@%%p%d bra L%d;\n",
                      i, i, i, i, i, i + 70, i, i);
    sprintf(at, "ret;\n}\n");
    return text;
}

TEST(memory_does_not_grow_with_the_square_of_loops)
{
    char *text = many_loops(16000);
    struct rusage use;
    kernel k;

    CHECK(text != NULL);
    if (!text)
        return;
    begin(&k, text, 2, 64);
    count(&k);
    CHECK_EQ(k.st, FT_OK);
    getrusage(RUSAGE_SELF, &use);
    CHECK(CMP(use.ru_maxrss, <, 2 << 20)); /* KiB */
    /* thread t goes round 70 - t times; most loops are not summed up */
    CHECK(k.n.exact);
    CHECK(is(&k.n.thread[FT_PTX_INT],
             2ull * 16000 * 64 * (1 + 70) - 2ull * 16000 * 2016));
    CHECK(is(&k.n.warp[FT_PTX_INT], 2ull * 16000 * (1 + 70 + 1 + 38)));
    end(&k);
    free(text);
}

TEST(divisions_and_bit_fields_guard)
{
    kernel k;

    begin(&k,
          KERNEL("", INDEX "rem.u32 %r4, %r1, 7;\ndiv.u32 %r5, %r1, 11;\n"
                           "bfe.u32 %r6, %r1, 3, 2;\nsetp.lt.u32 %p1, %r4, 3;\n"
                           "@%p1 add.f32 %f1, %f2, %f3;\nsetp.gt.u32 %p2, %r5, 20;\n"
                           "@%p2 bra L;\nadd.f32 %f1, %f2, %f3;\nL:\n"
                           "setp.eq.u32 %p3, %r6, 2;\n@%p3 exit;\n"
                           "mul.f32 %f1, %f2, %f3;\nret;\n"),
          30, 96);
    check_ran(&k);
    end(&k);
}

TEST(exits_with_a_guard_take_threads_away)
{
    kernel k;

    begin(&k,
          KERNEL("", INDEX "setp.ge.u32 %p1, %r1, 100;\n@%p1 exit;\n"
                           "add.f32 %f1, %f2, %f3;\nret;\n"),
          2, 64);
    check_ran(&k);
    CHECK(is(&k.n.thread[FT_PTX_FP32], 100));
    CHECK(is(&k.n.warp[FT_PTX_FP32], 4));
    CHECK(is(&k.n.on[FT_PTX_CONTROL], 28 + 100));
    CHECK(is(&k.n.branches, 0));
    end(&k);
}

TEST(calls_give_what_branches_need)
{
    kernel k;

    begin(&k,
          HEAD
          ".func (.param .b32 out) twice(.param .b32 a)\n{\n.reg .b32 %r<4>;\n"
          ".reg .pred %p;\nld.param.b32 %r0, [a];\nsetp.gt.u32 %p, %r0, 20;\n"
          "@%p bra L;\nadd.s32 %r0, %r0, %r0;\nL: st.param.b32 [out], %r0;\nret;\n}\n"
          ".func (.param .b32 out) more(.param .b32 a)\n{\n.reg .b32 %r<4>;\n"
          "ld.param.b32 %r0, [a];\n{\n.param .b32 x;\n.param .b32 y;\n"
          "st.param.b32 [x], %r0;\ncall (y), twice, (x);\nld.param.b32 %r1, [y];\n}\n"
          "add.s32 %r1, %r1, 1;\nst.param.b32 [out], %r1;\nret;\n}\n"
          ".entry k()\n{\n.reg .b32 %r<8>;\n.reg .pred %p<4>;\n.reg .f32 %f<4>;\n" INDEX
          "{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r1;\n"
          "call (y), more, (x);\nld.param.b32 %r4, [y];\n}\n"
          "L: add.f32 %f1, %f2, %f3;\nsub.u32 %r4, %r4, 1;\n"
          "setp.ne.u32 %p1, %r4, 0;\n@%p1 bra L;\nret;\n}\n",
          2, 48);
    check_ran(&k);
    end(&k);
}

TEST(recursion_ends)
{
    kernel k;

    begin(&k,
          HEAD
          ".func f(.param .b32 a)\n{\n.reg .b32 %r<4>;\nld.param.b32 %r0, [a];\n{\n"
          ".param .b32 x;\nst.param.b32 [x], %r0;\ncall f, (x);\n}\nret;\n}\n"
          ".entry k()\n{\n.reg .b32 %r<4>;\n{\n.param .b32 x;\n"
          "st.param.b32 [x], %r0;\ncall f, (x);\n}\nret;\n}\n",
          1, 32);
    count(&k);
    CHECK(EQ(k.st, FT_OK) && !k.n.exact);
    CHECK(k.n.because && HAS(k.n.because, "nested too deep"));
    CHECK_EQ(k.n.warp[FT_PTX_CONTROL].high, UINT64_MAX);
    end(&k);
}

TEST(indexed_branches_part_warps)
{
    kernel k;

    begin(&k,
          KERNEL("", INDEX "and.b32 %r4, %r1, 3;\nmin.u32 %r4, %r4, 2;\n"
                           "T: .branchtargets A, B, C;\nbrx.idx %r4, T;\n"
                           "A: add.f32 %f1, %f2, %f3;\nbra E;\n"
                           "B: mul.lo.s32 %r5, %r4, 3;\nbra E;\n"
                           "C: and.b32 %r5, %r4, 1;\nE: ret;\n"),
          2, 48);
    check_ran(&k);
    CHECK(is(&k.n.divergent, 4));
    CHECK(is(&k.n.thread[FT_PTX_FP32], 24));
    CHECK(is(&k.n.warp[FT_PTX_FP32], 4));
    end(&k);
}

TEST(constants_behind_the_initial_values_are_0)
{
    kernel k;

    begin(&k,
          HEAD ".const .align 4 .b32 tab[100000000] = {1, 2};\n.entry k()\n{\n"
               ".reg .pred %p<2>;\n.reg .b32 %r<4>;\n"
               "ld.const.u32 %r1, [tab+399999000];\nsetp.eq.u32 %p1, %r1, 0;\n"
               "@%p1 bra L;\nadd.u32 %r2, %r2, 1;\nL: ret;\n}\n",
          1, 32);
    CHECK_EQ(ft__ptx_count(&k.n, NULL, k.c, &k.launch, &k.err), FT_OK);
    CHECK(k.n.exact && is(&k.n.warp[FT_PTX_INT], 0));
    end(&k);
}

/* 2^13 branches of 2^13 labels each. */
TEST(more_branches_than_can_be_kept_are_refused)
{
    enum { LABELS = 1 << 13, ROOM = 1 << 18 };
    char *text = malloc(ROOM);
    size_t n = 0;
    kernel k;

    n += (size_t)snprintf(text, ROOM,
                          "%s.entry k()\n{\n.reg .b32 %%r<2>;\n"
                          "t: .branchtargets L",
                          HEAD);
    for (int i = 1; i < LABELS; i++)
        n += (size_t)snprintf(text + n, ROOM - n, ",L");
    n += (size_t)snprintf(text + n, ROOM - n, ";\n");
    for (int i = 0; i <= LABELS; i++)
        n += (size_t)snprintf(text + n, ROOM - n, "brx.idx %%r1, t;\n");
    snprintf(text + n, ROOM - n, "L: ret;\n}\n");
    begin(&k, text, 1, 32);
    CHECK_EQ(ft__ptx_count(&k.n, NULL, k.c, &k.launch, &k.err), FT_EUNSUPPORTED);
    CHECK(HAS(k.err.msg, "more than 67108864 branches"));
    end(&k);
    free(text);
}

TEST(halves_and_tensors_have_their_operations)
{
    kernel k;

    begin(&k,
          KERNEL("",
                 "fma.rn.f16x2 %r1, %r2, %r3, %r4;\nadd.f16 %h1, %h2, %h3;\n"
                 "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, "
                 "%f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};\n"
                 "ret;\n"),
          5, 64);
    count(&k);
    CHECK(is(&k.n.flops[2], 5 * 64 * (4 + 1)));
    CHECK(is(&k.n.on[FT_PTX_FP16], 5 * 64 * 2));
    CHECK(is(&k.n.warp[FT_PTX_TENSOR], 10));
    CHECK(is(&k.n.tensor_flops, 10ull * 2 * 16 * 8 * 16));
    end(&k);
}

/* Of 64 x 32 halves and of 8 x 16, or 64 x 32 of which half are there; 4 warps. */
TEST(operands_behind_descriptors_have_the_bytes_of_their_shape)
{
#define D4 "{%f0, %f1, %f2, %f3}, "
#define F16 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " D4
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {F16 "%d0, %d1, 1, 1, 1, 0, 0;\n", 64 * 16 * 2 + 8 * 16 * 2},
        {F16 "{%r0, %r1, %r2, %r3}, %d1, 1, 1, 1, 0;\n", 8 * 16 * 2},
        {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 " D4
         "%d0, %d1, 1, 1, 1;\n",
         64 * 8 * 4 + 8 * 8 * 4},
        {"wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r4, %r5, %r6, %r7}, %d0, "
         "%d1, 1;\n",
         64 * 32 + 8 * 32},
        {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 " D4
         "%d0, %d1, %r9, 0, 1, 1, 1, 0, 0;\n",
         64 * 16 * 2 + 8 * 32 * 2},
        {"wgmma.fence.sync.aligned;\nwgmma.commit_group.sync.aligned;\n", 0},
    };
#undef D4
#undef F16

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kernel k;

        begin_with(&k,
                   ".version 8.0\n.target sm_90a\n.address_size 64\n.entry k()\n{\n"
                   ".reg .b32 %r<10>;\n.reg .b64 %d<2>;\n.reg .f32 %f<4>;\n?ret;\n}\n",
                   cases[i].text, 3, 256);
        count(&k);
        CHECK(is(&k.n.descriptor_bytes, 3 * 2 * cases[i].bytes));
        CHECK(is(&k.n.bytes[FT_PTX_SHARED][FT_PTX_LOADED], 0));
        end(&k);
    }
}

TEST(loads_that_feed_branches_give_bounds)
{
    const uint64_t x = 1 << 20;
    kernel k;

    begin(&k,
          KERNEL(".param .u64 x",
                 TID "ld.param.u64 %d0, [x];\nld.global.u32 %r4, [%d0];\n"
                     "setp.eq.u32 %p1, %r4, 0;\n@%p1 bra L;\nadd.f32 %f1, %f2, %f3;\n"
                     "L: mul.lo.s32 %r5, %r0, 2;\nret;\n"),
          3, 64);
    give(&k, 0, &x, 8);
    count(&k);
    CHECK(!k.n.exact && SAME(k.n.because, "line 15: a branch depends on data"));
    CHECK_EQ(k.n.thread[FT_PTX_FP32].low, 0);
    CHECK_EQ(k.n.thread[FT_PTX_FP32].value, 3 * 32);
    CHECK_EQ(k.n.thread[FT_PTX_FP32].high, 3 * 64);
    CHECK(is(&k.n.thread[FT_PTX_MUL], 3 * 64));
    CHECK(EQ(k.n.divergent.low, 0) && EQ(k.n.divergent.high, 6));
    end(&k);
}

TEST(spins_count_once)
{
    kernel k;

    begin(
        &k,
        KERNEL(".param .u64 x",
               "ld.param.u64 %d0, [x];\nL: atom.global.cas.b32 %r4, [%d0], 0, 1;\n"
               "setp.ne.u32 %p1, %r4, 0;\n@%p1 bra L;\nadd.f32 %f1, %f2, %f3;\nret;\n"),
        4, 32);
    count(&k);
    CHECK(!k.n.exact);
    CHECK(EQ(k.n.on[FT_PTX_ATOMIC].low, 128) && EQ(k.n.on[FT_PTX_ATOMIC].value, 128));
    CHECK_EQ(k.n.on[FT_PTX_ATOMIC].high, UINT64_MAX);
    CHECK(is(&k.n.thread[FT_PTX_FP32], 128));
    end(&k);
}

TEST(what_is_not_given_gives_bounds)
{
    kernel k;

    begin(&k,
          KERNEL(".param .u32 n", INDEX "ld.param.u32 %r4, [n];\n"
                                        "setp.ge.u32 %p1, %r1, %r4;\n@%p1 bra L;\n"
                                        "add.f32 %f1, %f2, %f3;\nL: ret;\n"),
          4, 64);
    count(&k);
    CHECK(!k.n.exact && EQ(k.n.thread[FT_PTX_FP32].high, 256));
    end(&k);
}

TEST(traps_are_not_expected)
{
    kernel k;

    begin(&k,
          KERNEL(".param .u64 x",
                 "ld.param.u64 %d0, [x];\nld.global.u32 %r4, [%d0];\n"
                 "setp.eq.u32 %p1, %r4, 0;\n@%p1 bra L;\nadd.f32 %f1, %f2, %f3;\nret;\n"
                 "L: mul.lo.s32 %r5, %r4, 2;\ntrap;\n"),
          1, 64);
    count(&k);
    CHECK(EQ(k.n.thread[FT_PTX_FP32].value, 64) && EQ(k.n.thread[FT_PTX_MUL].value, 0));
    CHECK(EQ(k.n.thread[FT_PTX_FP32].low, 0) && EQ(k.n.thread[FT_PTX_MUL].high, 64));
    end(&k);

    /* In every round, as grid.sync() does. */
    begin(&k,
          KERNEL(".param .u64 x",
                 "ld.param.u64 %d0, [x];\nmov.u32 %r5, 0;\n"
                 "L: ld.global.u32 %r4, [%d0];\nsetp.ne.u32 %p1, %r4, 0;\n"
                 "@%p1 bra M;\ntrap;\nM: add.f32 %f1, %f2, %f3;\n"
                 "add.s32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 1000;\n@%p2 bra L;\n"),
          1, 64);
    count(&k);
    CHECK(EQ(k.n.thread[FT_PTX_FP32].value, 64000));
    CHECK(EQ(k.n.thread[FT_PTX_FP32].low, 0));
    CHECK(EQ(k.n.thread[FT_PTX_FP32].high, 64000));
    end(&k);
}

TEST(textures_load_what_is_read_of_them)
{
    kernel k;

    begin(&k,
          KERNEL(".param .u64 x",
                 "ld.param.u64 %d0, [x];\n"
                 "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f4, %f4}];\n"
                 "add.f32 %f0, %f1, %f1;\nret;\n"),
          2, 64);
    count(&k);
    CHECK(is(&k.n.bytes[FT_PTX_TEXTURE][FT_PTX_LOADED], 2 * 64 * 4));
    end(&k);
}

/* Of 32 lanes 31 have one above, 28 one four below, and 24 are no further than the
 * 23rd; in segments of eight seven have one above, and seven one below. */
TEST(lanes_that_a_shuffle_takes_from_are_known)
{
    static const struct {
        const char *how;
        uint64_t on;
    } c[] = {{"down.b32 %r4|%p1, %r0, 1, 31, -1", 31},
             {"up.b32 %r4|%p1, %r0, 4, 0, -1", 28},
             {"bfly.b32 %r4|%p1, %r0, 16, 31, -1", 32},
             {"idx.b32 %r4|%p1, %r0, %r0, 23, -1", 24},
             {"bfly.b32 %r4|%p1, %r0, 16, 4111, -1", 16},
             {"idx.b32 %r4|%p1, %r0, 20, 4103, -1", 32},
             {"down.b32 %r4|%p1, %r0, 1, 6175, -1", 28},
             {"up.b32 %r4|%p1, %r0, 1, 6144, -1", 28}};

    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        kernel k;

        begin_with(&k,
                   KERNEL("", "mov.u32 %r0, %tid.x;\nshfl.sync.?;\n@%p1 add.f32 %f1, "
                              "%f2, %f3;\nret;\n"),
                   c[i].how, 2, 64);
        count(&k);
        CHECK(k.n.exact && is(&k.n.on[FT_PTX_FP32], 4 * c[i].on));
        end(&k);
    }
}

/* What was shuffled is not known, whatever the lanes; the mask decides nothing, and a
 * vector is no value to shuffle. */
TEST(of_a_shuffle_is_followed_what_says_whether_there_is_a_lane)
{
    ft__count_plan *p;
    kernel k;

    begin(&k,
          KERNEL(".param .u32 n, .param .u32 m",
                 "ld.param.u32 %r1, [n];\nld.param.u32 %r2, [m];\n"
                 "shfl.sync.down.b32 %r4|%p3, %r0, %r1, 31, -1;\n"
                 "setp.ne.u32 %p1, %r4, 0;\n@%p1 add.f32 %f1, %f2, %f3;\n"
                 "shfl.sync.down.b32 %r4|%p2, {%r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0},"
                 " 1, 31, %r2;\n@%p2 add.f32 %f1, %f2, %f3;\nret;\n"),
          2, 64);
    count(&k);
    CHECK(EQ(k.st, FT_OK) && !k.n.exact);
    CHECK_EQ(ft__ptx_plan_make(&p, k.m, 0, &k.err), FT_OK);
    CHECK(!p->reads[0] && !p->reads[4]);
    ft__ptx_plan_free(p);
    end(&k);
}

TEST(endless_loops_end)
{
    static const char *const body[] = {
        "L: bra L;\n",
        "L: add.s32 %r1, %r1, 1;\nbra L;\n",
        "mov.u32 %r1, 1;\nL: mad.lo.s32 %r1, %r1, 1664525, 1013904223;\n"
        "setp.ne.u32 %p1, %r1, 1;\n@%p1 bra L;\nret;\n",
        TID "L: xor.b32 %r0, %r0, 1;\nsetp.lt.u32 %p1, %r0, 2000;\n@%p1 bra L;\nret;\n",
    };

    for (size_t b = 0; b < sizeof body / sizeof *body; b++) {
        kernel k;

        begin_with(&k, KERNEL("", "?"), body[b], 1000, 256);
        count(&k);
        CHECK(EQ(k.st, FT_OK) && !k.n.exact && k.n.because);
        CHECK_EQ(k.n.warp[FT_PTX_CONTROL].high, UINT64_MAX);
        end(&k);
    }
}

TEST(graphs_may_be_of_any_shape)
{
    kernel k;

    /* Two ways into a loop, and one out of its middle. */
    begin(&k,
          KERNEL("",
                 TID "mov.u32 %r4, 0;\nand.b32 %r5, %r0, 1;\n"
                     "setp.eq.u32 %p1, %r5, 0;\n@%p1 bra B;\n"
                     "A: add.s32 %r4, %r4, 1;\nsetp.gt.u32 %p2, %r4, 9;\n@%p2 bra E;\n"
                     "B: add.s32 %r4, %r4, 2;\nsetp.lt.u32 %p3, %r4, 20;\n@%p3 bra A;\n"
                     "E: ret;\n"),
          2, 64);
    check_ran(&k);
    end(&k);
}

TEST(launches_no_gpu_takes_are_refused)
{
    static const struct {
        uint32_t grid[3], block[3];
        const char *says;
    } bad[] = {
        {{0, 1, 1}, {32, 1, 1}, "a grid of 0 x 1 x 1"},
        {{1, 65536, 1}, {32, 1, 1}, "a grid of 1 x 65536 x 1"},
        {{1, 1, 1}, {1025, 1, 1}, "a block of 1025 x 1 x 1"},
        {{1, 1, 1}, {32, 32, 2}, "at most 1024"},
        {{1, 1, 1}, {1, 1, 65}, "a block of 1 x 1 x 65"},
    };
    kernel k;

    begin(&k, KERNEL(".param .u32 n", "ret;\n"), 1, 32);
    for (size_t n = 0; n < sizeof bad / sizeof *bad; n++) {
        memcpy(k.launch.grid, bad[n].grid, sizeof k.launch.grid);
        memcpy(k.launch.block, bad[n].block, sizeof k.launch.block);
        CHECK_EQ(ft__ptx_count(&k.n, NULL, k.c, &k.launch, &k.err), FT_EINVAL);
        CHECK(HAS(k.err.msg, bad[n].says));
    }
    k.launch.grid[1] = k.launch.block[0] = k.launch.block[1] = k.launch.block[2] = 1;
    k.launch.kernel = "other";
    CHECK_EQ(ft__ptx_count(&k.n, NULL, k.c, &k.launch, &k.err), FT_ENOTFOUND);
    k.launch.kernel = NULL;
    k.launch.n_args = 1;
    k.arg[0] = (ft_ptx_arg){.name = "m", .bytes = "abcd", .size = 4};
    CHECK_EQ(ft__ptx_count(&k.n, NULL, k.c, &k.launch, &k.err), FT_ENOTFOUND);
    CHECK(SAME(k.err.msg, "k has no parameter 'm'"));
    k.arg[0] = (ft_ptx_arg){.name = "n", .bytes = "abcdefgh", .size = 8};
    CHECK_EQ(ft__ptx_count(&k.n, NULL, k.c, &k.launch, &k.err), FT_EINVAL);
    k.arg[0] = (ft_ptx_arg){.index = 1, .bytes = "abcd", .size = 4};
    CHECK_EQ(ft__ptx_count(&k.n, NULL, k.c, &k.launch, &k.err), FT_ENOTFOUND);
    end(&k);
}

TEST(a_block_is_the_one_that_is_required)
{
    kernel k;

    begin(&k, HEAD ".entry k()\n.reqntid 64\n{\nret;\n}\n", 1, 32);
    CHECK_EQ(ft__ptx_count(&k.n, NULL, k.c, &k.launch, &k.err), FT_EINVAL);
    CHECK(HAS(k.err.msg, ".reqntid says 64 x 1 x 1"));
    k.launch.block[0] = 64;
    CHECK_EQ(ft__ptx_count(&k.n, NULL, k.c, &k.launch, &k.err), FT_OK);
    end(&k);
}

TEST(blocks_are_those_of_the_text)
{
    ft__ptx_parts parts;
    kernel k;

    begin(&k,
          KERNEL("", INDEX "setp.lt.u32 %p1, %r1, 40;\n@!%p1 bra L;\n"
                           "add.f32 %f1, %f2, %f3;\nL: ret;\n"),
          2, 64);
    CHECK_EQ(ft__ptx_count(&k.n, &parts, k.c, &k.launch, &k.err), FT_OK);
    CHECK_EQ(parts.n_blocks, 3);
    CHECK(EQ(parts.block[0].instructions, 6) && parts.block[0].exact &&
          is(&parts.block[0].thread, 128));
    CHECK(EQ(parts.block[1].line, parts.block[1].last_line) &&
          is(&parts.block[1].warp, 2));
    CHECK(parts.block[2].label && SAME(parts.block[2].label, "L") &&
          is(&parts.block[2].warp, 4));
    end(&k);
}
