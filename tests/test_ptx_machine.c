#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "ptx/ptx_inside.h"
#include "ptx_interpret/interpret.h"

/* What the interpreter does and counts, against numbers that were worked out by hand.
 */

enum { BYTES = 4096, INSNS = 64 };

#define BUFFER ((uint64_t)1 << 32)

/* A launch of one kernel on a buffer of zeros. */
typedef struct rig {
    ft_ptx *m;
    ft_ptx_counts c;
    uint64_t warp[INSNS], thread[INSNS], on[INSNS];
    uint32_t word[BYTES / 4];
    ft_ptx_launch launch;
    ft_error err;
    ft_status st;
    uint64_t most_steps;
} rig;

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define REGISTERS                                                                      \
    ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %l<9>; .reg .f32 " \
    "%f<9>;\n"
/* Seven instructions: %r0 to %r2 are tid, %r3 the thread's number in a block of 32 x n,
 * %l0 the buffer, %l1 the thread's word in it. */
#define BODY                                                                           \
    "mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;\n"                 \
    "mad.lo.u32 %r3, %r1, 32, %r0; ld.param.u64 %l0, [buffer];\n"                      \
    "mul.wide.u32 %l1, %r3, 4; add.s64 %l1, %l1, %l0;\n"
#define KERNEL ".entry k(.param .u64 buffer) {\n" REGISTERS BODY

static rig launch_of(uint32_t gx, uint32_t bx, uint32_t by, uint32_t bz)
{
    return (rig){.launch = {.grid = {gx, 1, 1}, .block = {bx, by, bz}}};
}

static void run(rig *r, const char *text)
{
    const uint64_t address = BUFFER;
    const ft_ptx_arg arg = {.bytes = &address, .size = sizeof address};
    const ft__ptx_memory memory = {BUFFER, r->word, sizeof r->word};
    const ft__ptx_run_options opt = {.memory = &memory,
                                     .n_memory = 1,
                                     .warp = r->warp,
                                     .thread = r->thread,
                                     .on = r->on,
                                     .most_steps = r->most_steps};

    r->launch.arg = &arg;
    r->launch.n_args = 1;
    r->st = ft__ptx_parse(&r->m, text, strlen(text), "rig", &r->err);
    if (r->st == FT_OK)
        r->st = ft__ptx_run(&r->c, r->m, &r->launch, &opt, &r->err);
    ft__ptx_free(r->m);
    r->m = NULL;
}

/* One warp, unless said otherwise. */
static rig one(const char *text)
{
    rig r = launch_of(1, 32, 1, 1);

    run(&r, text);
    if (r.st) {
        fprintf(stderr, "%s\n", r.err.msg);
        check_failed++;
    }
    return r;
}

TEST(a_branch_that_is_not_taken_falls_through)
{
    const rig r = one(HEAD KERNEL "setp.lt.u32 %p0, %r0, 10;\n" /* 7 */
                                  "@!%p0 bra L;\n"              /* 8 */
                                  "add.u32 %r4, %r0, 1;\n"      /* 9 */
                                  "L: add.u32 %r4, %r0, 2;\nret;\n}\n");

    CHECK(EQ(r.warp[8], 1) && EQ(r.thread[8], 32) && EQ(r.on[8], 22));
    CHECK(EQ(r.warp[9], 1) && EQ(r.thread[9], 10) && EQ(r.on[9], 10));
    CHECK(EQ(r.warp[10], 1) && EQ(r.thread[10], 32));
    CHECK(EQ(r.c.branches.value, 1) && EQ(r.c.divergent.value, 1));
}

TEST(a_guard_takes_threads_away_but_no_issue)
{
    const rig r = one(HEAD KERNEL "setp.lt.u32 %p0, %r0, 10;\n"
                                  "@%p0 add.u32 %r4, %r0, 1;\n"
                                  "setp.gt.u32 %p0, %r0, 99;\n"
                                  "@%p0 add.u32 %r4, %r0, 1;\nret;\n}\n");

    CHECK(EQ(r.warp[8], 1) && EQ(r.thread[8], 32) && EQ(r.on[8], 10));
    CHECK(EQ(r.warp[10], 1) && EQ(r.thread[10], 32) && EQ(r.on[10], 0));
    CHECK_EQ(r.c.branches.value, 0);
}

TEST(a_warp_goes_round_as_often_as_its_busiest_lane)
{
    const rig r = one(HEAD KERNEL "mov.u32 %r4, 0;\n"
                                  "L: setp.ge.u32 %p0, %r4, %r0;\n" /* 8 */
                                  "@%p0 bra M;\n"
                                  "add.u32 %r4, %r4, 1;\n" /* 10 */
                                  "bra L;\n"
                                  "M: ret;\n}\n");

    CHECK(EQ(r.warp[8], 32) && EQ(r.thread[8], 32 * 33 / 2));
    CHECK(EQ(r.warp[10], 31) && EQ(r.thread[10], 31 * 32 / 2));
    CHECK(EQ(r.warp[12], 1) && EQ(r.thread[12], 32));
    CHECK(EQ(r.c.branches.value, 32) && EQ(r.c.divergent.value, 31));
}

TEST(a_loop_may_begin_with_the_kernel)
{
    const rig r = one(HEAD ".entry k(.param .u64 buffer) {\n" REGISTERS
                           "L: add.u32 %r4, %r4, 1;\nmov.u32 %r0, %tid.x;\n"
                           "setp.le.u32 %p0, %r4, %r0;\n@%p0 bra L;\nret;\n}\n");

    CHECK(EQ(r.warp[0], 32) && EQ(r.thread[0], 32 * 33 / 2));
    CHECK(EQ(r.warp[4], 1) && EQ(r.thread[4], 32));
}

TEST(threads_that_exit_do_not_keep_others_apart)
{
    const rig r = one(HEAD KERNEL "setp.lt.u32 %p0, %r0, 16; setp.lt.u32 %p1, %r0, 4;\n"
                                  "@%p0 bra L;\n"
                                  "add.u32 %r4, %r0, 1;\n" /* 10 */
                                  "bra M;\n"
                                  "L: @%p1 exit;\n"
                                  "M: add.u32 %r4, %r0, 2;\n" /* 13 */
                                  "ret;\n}\n");

    CHECK(EQ(r.warp[13], 1) && EQ(r.thread[13], 28));
    CHECK_EQ(r.c.divergent.value, 1);
}

TEST(sides_that_both_end_never_meet)
{
    const rig r = one(HEAD KERNEL "setp.lt.u32 %p0, %r0, 16;\n"
                                  "@%p0 bra L;\n"
                                  "ret;\n"
                                  "L: add.u32 %r4, %r0, 2;\n" /* 10 */
                                  "ret;\n}\n");

    CHECK(EQ(r.warp[9], 1) && EQ(r.thread[9], 16) && EQ(r.warp[11], 1) &&
          EQ(r.thread[11], 16));
}

TEST(an_indexed_branch_splits_by_target)
{
    const rig r = one(HEAD KERNEL "rem.u32 %r4, %r0, 3;\n"
                                  "T: .branchtargets A, B, C;\n"
                                  "brx.idx %r4, T;\n" /* 8 */
                                  "A: add.u32 %r5, %r0, 1;\nbra D;\n"
                                  "B: add.u32 %r5, %r0, 2;\nbra D;\n"
                                  "C: add.u32 %r5, %r0, 3;\n"
                                  "D: st.global.u32 [%l1], %r5;\nret;\n}\n");

    CHECK(EQ(r.thread[9], 11) && EQ(r.thread[11], 11) && EQ(r.thread[13], 10));
    CHECK(EQ(r.warp[9], 1) && EQ(r.warp[14], 1) && EQ(r.thread[14], 32));
    CHECK(EQ(r.c.branches.value, 1) && EQ(r.c.divergent.value, 1));
    CHECK(EQ(r.word[0], 1) && EQ(r.word[1], 3) && EQ(r.word[2], 5) &&
          EQ(r.word[31], 33));
}

TEST(a_function_is_entered_once_by_all_who_call_it)
{
    const rig r = one(
        HEAD
        ".func (.param .b32 out) f(.param .b32 in) {\n.reg .b32 %r<4>; .reg .pred %p;\n"
        "ld.param.u32 %r1, [in];\nadd.u32 %r2, %r1, 100;\n"
        "st.param.u32 [out], %r2;\nsetp.lt.u32 %p, %r1, 8;\n@%p ret;\n"
        "mul.lo.u32 %r2, %r1, 2;\nst.param.u32 [out], %r2;\nret;\n}\n" KERNEL
        "setp.lt.u32 %p0, %r0, 20;\n@!%p0 bra L;\n"
        "{ .param .b32 a; .param .b32 b;\nst.param.b32 [a], %r0;\n" /* 9 */
        "call (b), f, (a);\n"                                       /* 10 */
        "ld.param.b32 %r4, [b]; }\n"
        "st.global.u32 [%l1], %r4;\n"
        "L: ret;\n}\n");

    CHECK(EQ(r.word[0], 100) && EQ(r.word[7], 107) && EQ(r.word[8], 16) &&
          EQ(r.word[19], 38));
    CHECK_EQ(r.word[20], 0);
    CHECK(EQ(r.thread[10], 20) && EQ(r.thread[12], 20) && EQ(r.warp[12], 1));
    CHECK_EQ(r.c.warp[FT_PTX_MUL].value, 3); /* two of the kernel's, one of f */
    CHECK_EQ(r.c.thread[FT_PTX_MUL].value, 2 * 32 + 12);
}

TEST(blocks_have_three_dimensions)
{
    rig r = launch_of(3, 8, 3, 2);

    run(&r, HEAD ".entry k(.param .u64 buffer) {\n" REGISTERS
                 "mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;\n"
                 "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.y; mov.u32 %r5, %ntid.x;\n"
                 "mad.lo.u32 %r6, %r2, %r4, %r1; mad.lo.u32 %r6, %r6, %r5, %r0;\n"
                 "mad.lo.u32 %r7, %r3, 48, %r6; mul.wide.u32 %l1, %r7, 4;\n"
                 "ld.param.u64 %l0, [buffer]; add.s64 %l1, %l1, %l0;\n"
                 "mov.u32 %r8, %laneid; mad.lo.u32 %r8, %r2, 1000, %r8;\n"
                 "st.global.u32 [%l1], %r8;\nret;\n}\n");
    CHECK(EQ(r.st, FT_OK) && EQ(r.c.blocks, 3) && EQ(r.c.warps, 6) &&
          EQ(r.c.threads, 144));
    CHECK(EQ(r.word[0], 0) && EQ(r.word[31], 1031) && EQ(r.word[32], 1000) &&
          EQ(r.word[47], 1015));
    CHECK_EQ(r.word[143], 1015);
}

/* ld.global of `type` at tid * step + offset. */
static rig load(const char *type, const char *into, int step, int offset,
                const char *space)
{
    char text[2000];

    snprintf(text, sizeof text,
             "%s%smad.lo.u32 %%r4, %%r0, %d, %d;\ncvt.u64.u32 %%l2, %%r4;\n"
             "add.s64 %%l3, %%l2, %s;\nld.%s.%s %s, [%%l3];\nret;\n}\n",
             HEAD ".shared .align 16 .b8 s[4096];\n", KERNEL, step, offset,
             strcmp(space, "shared") == 0 ? "0" : "%l0", space, type, into);
    return one(text);
}

TEST(global_requests_touch_sectors_of_32_bytes)
{
    CHECK_EQ(load("u32", "%r5", 4, 0, "global").c.sectors[0].value, 4);
    CHECK_EQ(load("u32", "%r5", 4, 16, "global").c.sectors[0].value, 5);
    CHECK_EQ(load("u32", "%r5", 0, 0, "global").c.sectors[0].value, 1);
    CHECK_EQ(load("u32", "%r5", 32, 0, "global").c.sectors[0].value, 32);
    CHECK_EQ(load("u8", "%r5", 1, 0, "global").c.sectors[0].value, 1);
    CHECK_EQ(load("v4.u32", "{%r5, %r6, %r7, %r8}", 16, 0, "global").c.sectors[0].value,
             16);
    CHECK_EQ(
        load("v4.u32", "{%r5, %r6, %r7, %r8}", 16, 0, "global").c.requests[0].value, 1);
    CHECK_EQ(load("v2.u32", "{%r5, _}", 8, 0, "global").c.bytes[FT_PTX_GLOBAL][0].value,
             256);
    CHECK_EQ(
        load("v2.u32", "{%r5, _}", 8, 0, "global").c.access[FT_PTX_GLOBAL][0][3].value,
        32);
}

TEST(banks_of_shared_memory_give_one_word_at_a_time)
{
    CHECK_EQ(load("u32", "%r5", 4, 0, "shared").c.wavefronts[0].value, 1);
    CHECK_EQ(load("u32", "%r5", 8, 0, "shared").c.wavefronts[0].value, 2);
    CHECK_EQ(load("u32", "%r5", 12, 0, "shared").c.wavefronts[0].value, 1);
    CHECK_EQ(load("u32", "%r5", 128, 0, "shared").c.wavefronts[0].value, 32);
    CHECK_EQ(load("u32", "%r5", 0, 64, "shared").c.wavefronts[0].value, 1);
    CHECK_EQ(load("u8", "%r5", 1, 0, "shared").c.wavefronts[0].value, 1);
    CHECK_EQ(load("u64", "%l5", 8, 0, "shared").c.wavefronts[0].value, 2);
    CHECK_EQ(load("u64", "%l5", 16, 0, "shared").c.wavefronts[0].value, 4);
    CHECK_EQ(
        load("v4.u32", "{%r5, %r6, %r7, %r8}", 16, 0, "shared").c.wavefronts[0].value,
        4);
    CHECK_EQ(load("u32", "%r5", 4, 0, "shared").c.shared[0].value, 1);
}

TEST(atomics_load_and_store)
{
    rig r = launch_of(2, 64, 1, 1);

    run(&r, HEAD KERNEL "atom.global.add.u32 %r4, [%l0], %r0;\n"
                        "red.global.max.u32 [%l0+4], %r0;\n"
                        "setp.lt.u32 %p0, %r0, 3;\n"
                        "@%p0 atom.global.inc.u32 %r4, [%l0+8], 4;\n"
                        "atom.global.cas.b32 %r5, [%l0+12], 0, 77;\n"
                        "red.global.add.f32 [%l0+16], 0f3F000000;\n"
                        "atom.global.exch.b64 %l2, [%l0+24], 5;\nret;\n}\n");
    CHECK(EQ(r.st, FT_OK) && EQ(r.word[0], 2 * 63 * 64 / 2) && EQ(r.word[1], 63));
    CHECK(EQ(r.word[2], 1) && EQ(r.word[3], 77) && EQ(r.word[4], 0x42800000) &&
          EQ(r.word[6], 5));
    CHECK_EQ(r.c.bytes[FT_PTX_GLOBAL][0].value, 128 * (4 * 4 + 8) + 6 * 4);
    CHECK_EQ(r.c.bytes[FT_PTX_GLOBAL][1].value, r.c.bytes[FT_PTX_GLOBAL][0].value);
    CHECK_EQ(r.c.requests[0].value, 4 * 5 + 2);
}

TEST(generic_addresses_lead_everywhere)
{
    const rig r = one(
        HEAD
        ".shared .align 8 .b8 s[128];\n.const .align 4 .u32 c[3] = {7, 8, 9};\n"
        ".global .align 4 .u32 g[2] = {5, 6};\n" KERNEL ".local .align 8 .b8 own[16];\n"
        "mov.u64 %l2, s; cvta.shared.u64 %l3, %l2; st.u32 [%l3+4], %r0;\n"
        "mov.u64 %l2, own; cvta.local.u64 %l4, %l2; st.u32 [%l4+8], %r0;\n"
        "mov.u64 %l2, c; cvta.const.u64 %l5, %l2; ld.u32 %r4, [%l5+8];\n"
        "mov.u64 %l2, g; cvta.global.u64 %l6, %l2; ld.u32 %r5, [%l6+4];\n"
        "ld.shared.u32 %r6, [s+4]; ld.local.u32 %r7, [own+8];\n"
        "cvta.to.shared.u64 %l7, %l3; ld.shared.u32 %r8, [%l7+4];\n"
        "isspacep.shared %p0, %l3; isspacep.global %p1, %l3; isspacep.global %p2, "
        "%l0;\n"
        "isspacep.local %p3, %l4; selp.u32 %r9, 1, 0, %p0; @%p1 add.u32 %r9, %r9, 2;\n"
        "@%p2 add.u32 %r9, %r9, 4; @%p3 add.u32 %r9, %r9, 8;\n"
        "add.u32 %r4, %r4, %r5; add.u32 %r6, %r6, %r8; mad.lo.u32 %r4, %r4, 100, %r9;\n"
        "mad.lo.u32 %r4, %r6, 10000, %r4; mad.lo.u32 %r4, %r7, 1000000, %r4;\n"
        "st.u32 [%l1], %r4;\nret;\n}\n");

    /* 9 + 6, spaces 1 + 4 + 8, the last lane twice from .shared, its own from .local */
    CHECK(EQ(r.word[0], 620000 + 1513) && EQ(r.word[5], 5620000 + 1513));
    CHECK(EQ(r.c.bytes[FT_PTX_SHARED][1].value, 128) &&
          EQ(r.c.bytes[FT_PTX_LOCAL][1].value, 128));
    CHECK(EQ(r.c.bytes[FT_PTX_CONST][0].value, 128) &&
          EQ(r.c.bytes[FT_PTX_GENERIC][0].value, 0));
}

TEST(copies_go_from_global_to_shared)
{
    const rig r =
        one(HEAD ".shared .align 16 .b8 s[1024];\n" KERNEL
                 "st.global.u32 [%l1], %r3; st.global.u32 [%l1+128], %r3;\n"
                 "st.global.u32 [%l1+256], %r3; st.global.u32 [%l1+384], %r3;\n"
                 "mul.lo.u32 %r4, %r3, 16; mov.u32 %r5, s; add.u32 %r5, %r5, %r4;\n"
                 "cvt.u64.u32 %l2, %r4; add.s64 %l2, %l2, %l0;\n"
                 "setp.lt.u32 %p0, %r0, 2; selp.u32 %r6, 16, 8, %p0;\n"
                 "cp.async.cg.shared.global [%r5], [%l2], 16, %r6;\n"
                 "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n"
                 "ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5];\n"
                 "add.u32 %r6, %r6, %r9; st.global.u32 [%l1+1024], %r6;\nret;\n}\n");

    CHECK(EQ(r.word[256], 0 + 3) && EQ(r.word[257], 4 + 7) && EQ(r.word[258], 8));
    CHECK(EQ(r.c.bytes[FT_PTX_GLOBAL][0].value, 512) && EQ(r.c.sectors[0].value, 16));
    CHECK(EQ(r.c.bytes[FT_PTX_SHARED][1].value, 512) && EQ(r.c.wavefronts[1].value, 4));
}

TEST(lanes_tell_each_other)
{
    const rig r = one(
        HEAD KERNEL
        "shfl.sync.up.b32 %r4|%p0, %r0, 3, 0, -1;\n"
        "selp.u32 %r5, 1000, 0, %p0; add.u32 %r4, %r4, %r5; st.global.u32 [%l1], %r4;\n"
        "shfl.sync.down.b32 %r4, %r0, 2, 0x181f, -1; st.global.u32 [%l1+128], %r4;\n"
        "shfl.sync.idx.b32 %r4, %r0, 5, 0x181f, -1; st.global.u32 [%l1+256], %r4;\n"
        "setp.gt.u32 %p1, %r0, 29; vote.sync.ballot.b32 %r4, %p1, -1;\n"
        "vote.sync.any.pred %p2, !%p1, -1; vote.sync.all.pred %p3, %p1, -1;\n"
        "@%p2 add.u32 %r4, %r4, 1; @%p3 add.u32 %r4, %r4, 2; st.global.u32 [%l1+384], "
        "%r4;\n"
        "shr.u32 %r5, %r0, 3; match.any.sync.b32 %r4, %r5, -1; st.global.u32 "
        "[%l1+512], %r4;\n"
        "redux.sync.add.u32 %r4, %r0, -1; st.global.u32 [%l1+640], %r4;\n"
        "redux.sync.max.s32 %r4, %r0, -1; activemask.b32 %r5; add.u32 %r4, %r4, %r5;\n"
        "st.global.u32 [%l1+768], %r4;\nret;\n}\n");

    CHECK(EQ(r.word[2], 2) && EQ(r.word[3], 1000) && EQ(r.word[31], 1028));
    CHECK(EQ(r.word[32], 2) && EQ(r.word[32 + 5], 7) && EQ(r.word[32 + 6], 6) &&
          EQ(r.word[32 + 8], 10));
    CHECK(EQ(r.word[64], 5) && EQ(r.word[64 + 8], 13) && EQ(r.word[64 + 31], 29));
    CHECK_EQ(r.word[96], 0xc0000001);
    CHECK(EQ(r.word[128], 0xff) && EQ(r.word[128 + 9], 0xff00));
    CHECK(EQ(r.word[160], 496) && EQ(r.word[192], 30));
}

TEST(barriers_hold_all_and_reduce)
{
    rig r = launch_of(3, 64, 1, 1);

    run(&r, HEAD
        ".shared .align 4 .b8 s[256];\n" KERNEL
        "setp.lt.u32 %p1, %r0, 40; bar.red.popc.u32 %r4, 0, %p1;\n"
        "mov.u64 %l2, s; mul.wide.u32 %l3, %r0, 4; add.s64 %l3, %l3, %l2;\n"
        "st.shared.u32 [%l3], %r0; bar.sync 0;\n"
        "sub.u32 %r5, 63, %r0; mul.wide.u32 %l4, %r5, 4; add.s64 %l4, %l4, %l2;\n"
        "ld.shared.u32 %r6, [%l4]; add.u32 %r6, %r6, %r4;\n"
        "mul.wide.u32 %l5, %r0, 4; add.s64 %l5, %l5, %l0; st.global.u32 [%l5], %r6;\n"
        "setp.lt.u32 %p2, %r0, 32; @%p2 bra L;\nbar.arrive 3, 64;\nret;\n"
        "L: bar.sync 3, 64;\nret;\n}\n");
    CHECK(EQ(r.st, FT_OK) && EQ(r.c.barriers.value, 9));
    CHECK(EQ(r.word[0], 63 + 40) && EQ(r.word[63], 40));
}

TEST(carries_go_from_word_to_word)
{
    const rig r =
        one(HEAD KERNEL "add.cc.u32 %r4, 0xfffffff0, %r0; addc.u32 %r5, 0, 5;\n"
                        "st.global.u32 [%l1], %r4; st.global.u32 [%l1+128], %r5;\n"
                        "sub.cc.u32 %r4, 4, %r0; subc.u32 %r5, 9, 0;\n"
                        "st.global.u32 [%l1+256], %r5;\n"
                        "mad.lo.cc.u32 %r4, %r0, 0x10000000, 0; madc.hi.u32 %r5, %r0, "
                        "0x10000000, 100;\n"
                        "st.global.u32 [%l1+384], %r5;\nret;\n}\n");

    CHECK(EQ(r.word[15], 0xffffffff) && EQ(r.word[16], 0) && EQ(r.word[32 + 15], 5) &&
          EQ(r.word[32 + 16], 6));
    CHECK(EQ(r.word[64 + 4], 9) && EQ(r.word[64 + 5], 8));
    CHECK(EQ(r.word[96 + 15], 100) && EQ(r.word[96 + 16], 101));
}

TEST(operations_of_floats_are_counted)
{
    const rig r = one(
        HEAD KERNEL
        "fma.rn.f32 %f1, %f1, %f2, %f3; add.f32 %f1, %f1, %f2; max.f32 %f1, %f1, %f2;\n"
        "setp.lt.u32 %p0, %r0, 10; @%p0 mul.f32 %f1, %f1, %f2; div.rn.f32 %f1, %f1, "
        "%f2;\n"
        "fma.rn.f16x2 %r4, %r4, %r4, %r4; add.f16 %h1, %h1, %h1;\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, "
        "{%r4,%r5,%r6,%r7}, {%r8,%r9}, {%f1,%f2,%f3,%f4};\nret;\n}\n");

    CHECK(EQ(r.c.flops[0].value, 3 * 32 + 10) && EQ(r.c.flops[1].value, 0));
    CHECK(EQ(r.c.flops[2].value, 4 * 32 + 32) &&
          EQ(r.c.tensor_flops.value, 2 * 16 * 8 * 16));
    CHECK(EQ(r.c.warp[FT_PTX_TENSOR].value, 1) && EQ(r.c.warp[FT_PTX_FDIV].value, 1));
}

/* As the same numbers in registers. */
TEST(constants_stand_among_fragments_and_as_targets)
{
    const rig r =
        one(HEAD KERNEL
            "mov.u32 %r4, 0x3c003c00; mov.u32 %r5, 0; mov.u32 %r6, 0x40004000;\n"
            "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40400000;\n"
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f3,%f4,%f5,%f6}, "
            "{%r4,%r5,%r6,%r4}, {%r6,%r4}, {%f1,%f2,%f1,%f2};\n"
            "st.global.f32 [%l1], %f3; st.global.f32 [%l1+128], %f6;\n"
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f3,%f4,%f5,%f6}, "
            "{0x3c003c00,0,%r6,0x3c003c00}, {0x40004000,%r4}, {%f1,3.0,1.0,%f2};\n"
            "st.global.f32 [%l1+256], %f3; st.global.f32 [%l1+384], %f6;\n"
            "T: .branchtargets A, B;\nbrx.idx 1, T;\n"
            "A: st.global.u32 [%l1], 7;\nB: st.global.u32 [%l1+512], 8;\nret;\n}\n");

    CHECK(CMP(r.word[0], !=, 7) && CMP(r.word[0], !=, 0) && EQ(r.word[128], 8));
    for (int i = 0; i < 64; i++)
        CHECK_EQ(r.word[i], r.word[64 + i]);
}

static void refused(const char *body, ft_status st, const char *says)
{
    char text[4000];
    rig r = launch_of(1, 64, 1, 1);

    snprintf(text, sizeof text, "%s%s%s", HEAD KERNEL, body, "ret;\n}\n");
    r.most_steps = 10000;
    run(&r, text);
    if (r.st != st || strstr(r.err.msg, says) == NULL) {
        fprintf(stderr, "%s: %d, \"%s\"\n", body, r.st, r.err.msg);
        check_failed++;
    }
}

TEST(what_goes_wrong_is_told_with_its_place)
{
    refused("st.global.u32 [%l1+4000], %r0;\n", FT_EINVAL,
            "rig:9: 4 bytes at 0x100001000 of global memory are outside of it (block "
            "0,0,0, thread 24)");
    refused("ld.global.u32 %r4, [%l1+2];\n", FT_EINVAL, "no address for 4 bytes");
    refused("ld.shared.u32 %r4, [%r0];\n", FT_EINVAL, "of shared memory");
    refused("mov.u64 %l2, 0; ld.u32 %r4, [%l2];\n", FT_EINVAL, "of global memory");
    refused("setp.lt.u32 %p0, %r0, 32; @%p0 bar.sync 1; bar.sync 0;\n", FT_EINVAL,
            "waits for ever");
    refused("mov.u32 %r4, 16; bar.sync %r4;\n", FT_EINVAL, "there is no barrier 16");
    refused("L: bra L;\n", FT_EUNSUPPORTED, "more than 10000 instructions");
    refused("T: .branchtargets A, B;\nbrx.idx %r0, T;\nA: B:\n", FT_EINVAL,
            "index 2 of 2 targets");
    refused("mbarrier.init.shared.b64 [%r0], 1;\n", FT_EUNSUPPORTED,
            "rig:9: mbarrier: ");
    refused("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [t, {%f1,%f2}];\n", FT_EFORMAT,
            "rig:9:");
}

TEST(launches_are_checked)
{
    rig r = launch_of(1, 64, 32, 1);

    run(&r, HEAD KERNEL "ret;\n}\n");
    CHECK_EQ(r.st, FT_EINVAL);
    r = launch_of(0, 64, 1, 1);
    run(&r, HEAD KERNEL "ret;\n}\n");
    CHECK_EQ(r.st, FT_EINVAL);
    r = launch_of(1, 64, 1, 1);
    r.launch.kernel = "other";
    run(&r, HEAD KERNEL "ret;\n}\n");
    CHECK_EQ(r.st, FT_ENOTFOUND);
    r = launch_of(1, 64, 1, 1);
    run(&r, HEAD ".entry k(.param .u32 small) { ret; }\n");
    CHECK_EQ(r.st, FT_EINVAL);
}
