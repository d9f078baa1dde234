#include <stdlib.h>

#include "check.h"
#include "ptx_kernel.h"

/* Sectors that launches touch, against the addresses of all threads written down one by
 * one: each case has its kernel and, in C, where thread t of block b reads in round k.
 */

#define ROW "ld.param.u64 %d0, [x];\n" INDEX
#define READ                                                                           \
    "mul.wide.u32 %d1, %r5, 4;\nadd.s64 %d2, %d0, %d1;\nld.global.u32 %r6, [%d2];\n"
#define LOOP(n, step)                                                                  \
    "mul.wide.u32 %d1, %r5, 4;\nadd.s64 %d0, %d0, %d1;\nmov.u32 %r7, 0;\n"             \
    "L: ld.global.u32 %r6, [%d0];\nadd.s64 %d0, %d0, " #step ";\n"                     \
    "add.s32 %r7, %r7, 1;\nsetp.ne.s32 %p1, %r7, " #n ";\n@%p1 bra L;\n"

enum { THREADS = 128 };

static uint64_t stride_1(uint64_t i, uint64_t k)
{
    return i + 0 * k;
}
static uint64_t stride_2(uint64_t i, uint64_t k)
{
    return 2 * i + 0 * k;
}
static uint64_t stride_8(uint64_t i, uint64_t k)
{
    return 8 * i + 0 * k;
}
static uint64_t stride_9(uint64_t i, uint64_t k)
{
    return 9 * i + 0 * k;
}
static uint64_t stride_32(uint64_t i, uint64_t k)
{
    return 32 * i + 0 * k;
}
static uint64_t one_line(uint64_t i, uint64_t k)
{
    return i % 8 + 0 * k;
}
static uint64_t same_of_block(uint64_t i, uint64_t k)
{
    return i % THREADS + 0 * k;
}
static uint64_t turned(uint64_t i, uint64_t k)
{
    return i % THREADS * 64 + i / THREADS + 0 * k;
}
static uint64_t own_row(uint64_t i, uint64_t k)
{
    return 64 * i + k;
}
static uint64_t own_row_apart(uint64_t i, uint64_t k)
{
    return 64 * i + 8 * k;
}
static uint64_t grid_stride(uint64_t i, uint64_t k)
{
    return i + 8192 * k;
}
static uint64_t again(uint64_t i, uint64_t k)
{
    return i + 0 * k;
}
static uint64_t four(uint64_t i, uint64_t k)
{
    return 4 * i + k;
}
static uint64_t quotient(uint64_t i, uint64_t k)
{
    return i / THREADS % 8 * 512 + i % THREADS + i / THREADS / 8 * 128 * 32 + 0 * k;
}
static uint64_t before_and_after(uint64_t i, uint64_t k)
{
    return i + 16 * k;
}

static const struct {
    const char *name, *text;
    uint64_t (*at)(uint64_t i, uint64_t k);
    uint64_t rounds;
} cases[] = {
    {"stride 1", KERNEL(".param .u64 x", ROW "mov.u32 %r5, %r1;\n" READ "ret;\n"),
     stride_1, 1},
    {"stride 2", KERNEL(".param .u64 x", ROW "shl.b32 %r5, %r1, 1;\n" READ "ret;\n"),
     stride_2, 1},
    {"stride 8", KERNEL(".param .u64 x", ROW "shl.b32 %r5, %r1, 3;\n" READ "ret;\n"),
     stride_8, 1},
    {"stride 9", KERNEL(".param .u64 x", ROW "mul.lo.u32 %r5, %r1, 9;\n" READ "ret;\n"),
     stride_9, 1},
    {"stride 32", KERNEL(".param .u64 x", ROW "shl.b32 %r5, %r1, 5;\n" READ "ret;\n"),
     stride_32, 1},
    {"within a line",
     KERNEL(".param .u64 x", ROW "and.b32 %r5, %r0, 7;\n" READ "ret;\n"), one_line, 1},
    {"shared by blocks",
     KERNEL(".param .u64 x", ROW "mov.u32 %r5, %r0;\n" READ "ret;\n"), same_of_block,
     1},
    {"transposed",
     KERNEL(".param .u64 x", ROW "mad.lo.u32 %r5, %r0, 64, %r2;\n" READ "ret;\n"),
     turned, 1},
    {"a row of each thread's",
     KERNEL(".param .u64 x", ROW "shl.b32 %r5, %r1, 6;\n" LOOP(64, 4) "ret;\n"),
     own_row, 64},
    {"every eighth of it",
     KERNEL(".param .u64 x", ROW "shl.b32 %r5, %r1, 6;\n" LOOP(8, 32) "ret;\n"),
     own_row_apart, 8},
    {"grid stride",
     KERNEL(".param .u64 x", ROW "mov.u32 %r5, %r1;\n" LOOP(20, 32768) "ret;\n"),
     grid_stride, 20},
    {"again and again",
     KERNEL(".param .u64 x", ROW "mov.u32 %r5, %r1;\n" LOOP(20, 0) "ret;\n"), again,
     20},
    {"four side by side",
     KERNEL(".param .u64 x",
            ROW "mul.wide.u32 %d1, %r1, 16;\nadd.s64 %d2, %d0, %d1;\n"
                "ld.global.u32 %r6, [%d2];\nld.global.u32 %r6, [%d2+4];\n"
                "ld.global.u32 %r6, [%d2+8];\nld.global.u32 %r6, [%d2+12];\n"
                "ret;\n"),
     four, 4},
    {"a quotient of the block",
     KERNEL(
         ".param .u64 x", ROW
         "div.u32 %r8, %r2, 8;\nrem.u32 %r9, %r2, 8;\nmad.lo.u32 %r5, %r9, 512, %r0;\n"
         "mad.lo.u32 %r5, %r8, 4096, %r5;\n" READ "ret;\n"),
     quotient, 1},
    {"before the buffer and after",
     KERNEL(".param .u64 x",
            ROW "mul.wide.u32 %d1, %r1, 4;\nadd.s64 %d2, %d0, %d1;\n"
                "ld.global.u32 %r6, [%d2+-32];\nld.global.u32 %r6, [%d2+32];\nret;\n"),
     before_and_after, 2},
};

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static uint64_t written_down(size_t c, uint64_t threads)
{
    const uint64_t rounds = cases[c].rounds;
    uint64_t *sector = malloc(threads * rounds * sizeof *sector), n = 0, distinct = 0;

    for (uint64_t i = 0; i < threads; i++)
        for (uint64_t k = 0; k < rounds; k++)
            sector[n++] = cases[c].at(i, k) * 4 / 32;
    qsort(sector, n, sizeof *sector, by_number);
    for (uint64_t k = 0; k < n; k++)
        distinct += !k || sector[k] != sector[k - 1];
    free(sector);
    return distinct;
}

TEST(sectors_are_counted_once)
{
    static const uint32_t grids[] = {1, 8, 64};

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t g = 0; g < 3; g++) {
            const uint64_t want = written_down(c, (uint64_t)grids[g] * THREADS);
            kernel k;

            begin(&k, cases[c].text, grids[g], THREADS);
            count(&k);
            if (k.n.distinct[FT_PTX_LOADED] != want)
                fprintf(stderr, "%s, %u blocks:\n", cases[c].name, grids[g]);
            CHECK_EQ(k.n.distinct[FT_PTX_LOADED], want);
            CHECK_EQ(k.n.distinct[FT_PTX_STORED], 0);
            end(&k);
        }
}
