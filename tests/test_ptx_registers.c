/* Registers that kernels need: what lives at once, by hand. */
#include <string.h>

#include "check.h"
#include "foretell/ptx.h"
#include "ptx/ptx_inside.h"

static uint32_t needed(const char *body)
{
    char text[4096];
    ft_ptx *m = NULL;
    ft_error err = {0};
    uint32_t n = 0;

    snprintf(text, sizeof(text),
             ".version 7.0\n.target sm_75\n.address_size 64\n"
             ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
             ".reg .pred %%p<9>;\n.reg .b32 %%r<99>;\n.reg .f32 %%f<99>;\n"
             ".reg .b64 %%rd<99>;\n%s\nret;\n}\n",
             body);
    if (ft__ptx_parse(&m, text, strlen(text), "k.ptx", &err)) {
        fprintf(stderr, "%s\n", err.msg);
        check_failed++;
        return 0;
    }
    CHECK_EQ(ft_ptx_registers(&n, m, 0, NULL), FT_OK);
    CHECK_EQ(ft_ptx_registers(&(uint32_t){0}, m, 1, &err), FT_ENOTFOUND);
    ft__ptx_free(m);
    return n;
}

/* Eight values that are all summed up at the end live at once. */
static const char eight[] = "mov.u32 %r1, %tid.x;\n"
                            "add.s32 %r2, %r1, 2; add.s32 %r3, %r1, 3;\n"
                            "add.s32 %r4, %r1, 4; add.s32 %r5, %r1, 5;\n"
                            "add.s32 %r6, %r1, 6; add.s32 %r7, %r1, 7;\n"
                            "add.s32 %r8, %r1, 8;\n"
                            "add.s32 %r9, %r1, %r2; add.s32 %r9, %r9, %r3;\n"
                            "add.s32 %r9, %r9, %r4; add.s32 %r9, %r9, %r5;\n"
                            "add.s32 %r9, %r9, %r6; add.s32 %r9, %r9, %r7;\n"
                            "add.s32 %r9, %r9, %r8;\n"
                            "ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], %r9;\n";
/* One after the other, two do. */
static const char chain[] = "mov.u32 %r1, %tid.x;\n"
                            "add.s32 %r2, %r1, 2; add.s32 %r3, %r2, 3;\n"
                            "add.s32 %r4, %r3, 4; add.s32 %r5, %r4, 5;\n"
                            "ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], %r5;\n";

TEST(values_that_live_at_once_are_what_counts)
{
    CHECK_EQ(needed(""), 8);
    CHECK_NEAR(needed(eight), 7.5 + 0.95 * 8, 1);
    CHECK_NEAR(needed(chain), 7.5 + 0.95, 1);
}

TEST(what_64_bits_hold_counts_twice)
{
    CHECK_NEAR(needed("mov.u32 %r1, %tid.x; cvt.u64.u32 %rd2, %r1;\n"
                      "add.s64 %rd3, %rd2, 1; add.s64 %rd4, %rd2, 2;\n"
                      "add.s64 %rd5, %rd2, %rd3; add.s64 %rd5, %rd5, %rd4;\n"
                      "st.global.u64 [%rd5], %rd5;\n"),
               7.5 + 0.95 * 6, 1);
}

/* The eight live across a loop that uses none of them. */
TEST(what_is_needed_behind_a_loop_lives_in_it)
{
    char text[2000];

    snprintf(text, sizeof(text),
             "mov.u32 %%r20, %%tid.x;\n%.*s"
             "L: add.s32 %%r20, %%r20, 1; add.s32 %%r21, %%r20, 3;\n"
             "mul.lo.s32 %%r20, %%r21, %%r20;\n"
             "setp.lt.s32 %%p1, %%r20, 100;\n@%%p1 bra L;\n%s",
             (int)(strstr(eight, "add.s32 %r9") - eight), eight,
             strstr(eight, "add.s32 %r9"));
    CHECK_NEAR(needed(text), 7.5 + 0.95 * 10, 1);
}
