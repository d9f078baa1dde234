#include "check.h"
#include "ptx_kernel.h"

/* What kernels move: requests, sectors, cycles of banks, bytes by space; worked out by
 * hand. */

TEST(sectors_are_those_that_warps_touch)
{
    static const struct {
        const char *scale;
        uint32_t grid;
        uint64_t sectors;
    } at[] = {{"4", 8, 4}, {"8", 8, 8}, {"32", 8, 32}, {"128", 8, 32}, {"0", 8, 1}};
    const uint64_t x = 1 << 20;

    for (size_t n = 0; n < sizeof at / sizeof *at; n++) {
        kernel k;

        begin_with(&k,
                   KERNEL(".param .u64 x", INDEX "ld.param.u64 %d0, [x];\n"
                                                 "mul.wide.u32 %d1, %r1, ?;\n"
                                                 "add.s64 %d2, %d0, %d1;\n"
                                                 "ld.global.u32 %r4, [%d2];\nret;\n"),
                   at[n].scale, at[n].grid, 64);
        give(&k, 0, &x, 8);
        count(&k);
        CHECK(is(&k.n.requests[FT_PTX_LOADED], at[n].grid * 2));
        CHECK(is(&k.n.sectors[FT_PTX_LOADED], at[n].grid * 2 * at[n].sectors));
        CHECK(is(&k.n.bytes[FT_PTX_GLOBAL][FT_PTX_LOADED], at[n].grid * 64 * 4));
        CHECK(is(&k.n.access[FT_PTX_GLOBAL][FT_PTX_LOADED][2], at[n].grid * 64));
        end(&k);
    }
}

TEST(banks_conflict)
{
    static const struct {
        const char *scale;
        uint64_t cycles;
    } at[] = {{"4", 1}, {"8", 2}, {"128", 32}, {"132", 1}, {"0", 1}};

    for (size_t n = 0; n < sizeof at / sizeof *at; n++) {
        kernel k;

        begin_with(&k,
                   KERNEL("", ".shared .align 16 .b8 s[8192];\n" TID
                              "mov.u32 %r1, s;\nmad.lo.s32 %r2, %r0, ?, %r1;\n"
                              "st.shared.u32 [%r2], %r0;\nret;\n"),
                   at[n].scale, 5, 32);
        count(&k);
        CHECK(is(&k.n.shared[FT_PTX_STORED], 5));
        CHECK(is(&k.n.wavefronts[FT_PTX_STORED], 5 * at[n].cycles));
        end(&k);
    }
}

TEST(loops_over_memory_are_counted_whole)
{
    const uint64_t x = 1 << 20;
    kernel k;

    begin(&k,
          KERNEL(".param .u64 x", INDEX
                 "ld.param.u64 %d0, [x];\nmul.wide.u32 %d1, %r1, 4;\n"
                 "add.s64 %d0, %d0, %d1;\nmov.u32 %r5, 0;\n"
                 "L: ld.global.u32 %r4, [%d0];\nadd.s64 %d0, %d0, 4096;\n"
                 "add.s32 %r5, %r5, 1;\nsetp.ne.s32 %p1, %r5, 100000;\n@%p1 bra L;\n"
                 "bar.sync 0;\nret;\n"),
          1000, 128);
    give(&k, 0, &x, 8);
    count(&k);
    CHECK(k.n.exact);
    CHECK(is(&k.n.requests[FT_PTX_LOADED], 1000ull * 4 * 100000));
    CHECK(is(&k.n.sectors[FT_PTX_LOADED], 1000ull * 4 * 100000 * 4));
    CHECK(is(&k.n.barriers, 1000));
    end(&k);
}

/* Of one access of 4 bytes by 32 threads. */
TEST(generic_accesses_are_global_where_only_pointers_given_lead_there)
{
#define GIVEN "ld.param.u64 %d1, [p];\n"
#define LANE "mul.wide.u32 %d2, %r0, 4;\nadd.s64 %d3, %d1, %d2;\n"
    static const struct {
        const char *body;
        ft_ptx_space space;
    } cases[] = {
        {GIVEN TID LANE "st.f32 [%d3+8], %f1;\n", FT_PTX_GLOBAL},
        {GIVEN "cvta.to.global.u64 %d2, %d1;\ncvta.global.u64 %d3, %d2;\n"
               "st.f32 [%d3], %f1;\n",
         FT_PTX_GLOBAL},
        {GIVEN "mov.u64 %d3, %d1;\nL: st.f32 [%d3], %f1;\nadd.s64 %d3, %d3, 4;\n",
         FT_PTX_GLOBAL},
        {GIVEN "ld.param.u64 %d2, [q];\nselp.b64 %d3, %d1, %d2, %p1;\n"
               "and.b64 %d3, %d3, -16;\nst.f32 [%d3], %f1;\n",
         FT_PTX_GLOBAL},
        {GIVEN "ld.global.u32 %r1, [%d1];\ncvt.u64.u32 %d2, %r1;\n"
               "shl.b64 %d2, %d2, 2;\nadd.s64 %d3, %d2, %d1;\nst.f32 [%d3], %f1;\n",
         FT_PTX_GLOBAL},
        {"mov.u64 %d1, s;\ncvta.shared.u64 %d3, %d1;\nst.f32 [%d3], %f1;\n",
         FT_PTX_GENERIC},
        {GIVEN "ld.global.u64 %d3, [%d1];\nst.f32 [%d3], %f1;\n", FT_PTX_GENERIC},
        {GIVEN "mov.u64 %d2, s;\ncvta.shared.u64 %d3, %d2;\n"
               "selp.b64 %d3, %d3, %d1, %p1;\nst.f32 [%d3], %f1;\n",
         FT_PTX_GENERIC},
        {GIVEN "mov.b64 {%r1, %r2}, %d1;\nmov.b64 %d3, {%r1, %r2};\n"
               "st.f32 [%d3], %f1;\n",
         FT_PTX_GENERIC},
        {GIVEN ".reg .b128 %q;\nld.global.b128 %q, [%d1];\n"
               "mov.b128 {%d2, %d3}, %q;\nst.f32 [%d3], %f1;\n",
         FT_PTX_GENERIC},
        {GIVEN "mov.u64 %d3, 64;\nst.f32 [%d3], %f1;\n", FT_PTX_GENERIC},
    };
#undef GIVEN
#undef LANE

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kernel k;

        begin_with(
            &k, KERNEL(".param .u64 p, .param .u64 q", ".shared .f32 s[32];\n?ret;\n"),
            cases[i].body, 1, 32);
        count(&k);
        CHECK(is(&k.n.bytes[cases[i].space][FT_PTX_STORED], 128));
        CHECK(is(&k.n.requests[FT_PTX_STORED], cases[i].space == FT_PTX_GLOBAL));
        end(&k);
    }
}
