#include "ptx_random.h"

#include <stdlib.h>
#include <string.h>

#include "ptx_random_writer.h"

static void ids(writer *w)
{
    static const char *const sreg[] = {"tid.x",   "tid.y",   "tid.z",  "ctaid.x",
                                       "ctaid.y", "ctaid.z", "ntid.x", "nctaid.x"};

    for (int k = 0; k < 8; k++)
        ADD("\tmov.u32 %%r%d, %%%s;\n", k, sreg[k]);
    ADD("\tmov.u32 %%t0, %%ntid.y;\n\tmad.lo.s32 %%t1, %%r2, %%t0, %%r1;\n"
        "\tmad.lo.s32 %%r10, %%t1, %%r6, %%r0;\n\tmad.lo.s32 %%r11, %%r3, %%r6, "
        "%%r0;\n");
    w->t = 2;
}

static void first_values(writer *w)
{
    for (int k = 0; k < VARIABLES; k++)
        ADD("\tmad.lo.s32 %%v%d, %%r%u, %u, %%r%u;\n", k, below(w, FIXED),
            1 + below(w, 5), below(w, FIXED));
    for (int k = 0; k < DATA; k++)
        ADD("\tmov.b32 %%d%d, %d;\n", k, k);
    for (int k = 0; k < WIDE; k++)
        ADD("\tcvt.u64.u32 %%l%d, %%r%u;\n", k, below(w, FIXED));
    for (int k = 0; k < FLOATS; k++)
        ADD("\tmov.f32 %%f%d, 0f3F800000;\n", k);
    for (int k = 0; k < HALVES; k++)
        ADD("\tmov.b32 %%h%d, 0x3C003C00;\n", k);
    for (int k = 0; k < COUNTERS; k++)
        ADD("\tmov.b32 %%c%d, 0;\n", k);
}

static void registers(ft__buf *out, const writer *w)
{
    ft__buf_fmt(
        out,
        "\t.reg .pred %%p<%u>;\n\t.reg .b32 %%r<%d>, %%v<%d>, %%c<%d>, %%d<%d>, "
        "%%h<%d>;\n"
        "\t.reg .b32 %%t<%u>;\n\t.reg .f32 %%f<%d>, %%g<%u>;\n\t.reg .b64 %%l<%d>, "
        "%%a<%u>;\n",
        w->p + 1, FIXED, VARIABLES, COUNTERS, DATA, HALVES, w->t + 1, FLOATS, w->t + 1,
        WIDE, w->a + 1);
}

static void begin(writer *w)
{
    w->t = w->p = w->a = w->labels = w->depth = w->n_loops = w->lists = 0;
    w->uniform = 1;
}

static void function(ft__buf *out, writer *w, uint32_t number, uint32_t size)
{
    begin(w);
    w->in_function = 1;
    w->uniform = 0;
    w->left = size;
    ids(w);
    ADD("\tld.param.b32 %%r8, [one];\n\tld.param.b32 %%r9, [two];\n"
        "\tst.param.b32 [result+0], %%r8;\n"); /* for early returns */
    first_values(w);
    ptx_random_statements(w, size);
    ADD("\tst.param.b32 [result+0], %%v%u;\n\tret;\n", below(w, VARIABLES));
    ft__buf_fmt(out,
                ".func (.param .b32 result) f%u(.param .b32 one, .param .b32 two)\n{\n",
                number);
    registers(out, w);
    ft__buf_add(out, w->body.s, w->body.len);
    ft__buf_str(out, "}\n\n");
    ft__buf_free(&w->body);
    w->body = (ft__buf){0};
    w->functions = number + 1;
    w->in_function = 0;
}

static void kernel(ft__buf *out, writer *w, const ft_ptx_launch *l, uint32_t size)
{
    begin(w);
    w->left = size;
    ids(w);
    ADD("\tld.param.u64 %%given, [buffer];\n\tcvta.to.global.u64 %%buffer, %%given;\n"
        "\tmov.u64 %%block, shared;\n\tmov.u64 %%own, mine;\n"
        "\tld.param.u32 %%r8, [n];\n\tld.param.u32 %%r9, [m];\n");
    first_values(w);
    ADD("\tld.param.u64 %%l0, [wide];\n");
    ptx_random_statements(w, size);
    ADD("\tret;\n");
    ft__buf_str(out,
                ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 m, "
                ".param .u64 wide)\n");
    if (chance(w, 30))
        ft__buf_fmt(out, ".reqntid %u, %u, %u\n", l->block[0], l->block[1],
                    l->block[2]);
    ft__buf_str(
        out,
        "{\n\t.shared .align 16 .b8 shared[2048];\n\t.local .align 16 .b8 mine[64];\n"
        "\t.reg .b64 %given, %buffer, %block, %own;\n");
    registers(out, w);
    ft__buf_add(out, w->body.s, w->body.len);
    ft__buf_str(out, "}\n");
}

static void shape(writer *w, ft_ptx_launch *l)
{
    static const uint32_t block[][3] = {
        {32, 1, 1}, {64, 1, 1},  {128, 1, 1}, {33, 1, 1}, {100, 1, 1},
        {16, 4, 1}, {8, 8, 2},   {10, 10, 1}, {5, 3, 7},  {1, 1, 1},
        {1, 70, 1}, {256, 1, 1}, {17, 2, 2},  {32, 3, 1}};
    static const uint32_t grid[][3] = {{1, 1, 1}, {2, 1, 1},  {5, 1, 1}, {3, 2, 1},
                                       {2, 2, 2}, {12, 1, 1}, {1, 5, 1}};
    const uint32_t b = below(w, 14), g = below(w, 7);

    memcpy(l->block, block[b], sizeof l->block);
    memcpy(l->grid, grid[g], sizeof l->grid);
}

static void arguments(writer *w, ptx_random *p)
{
    p->address = (uint64_t)1 << 32;
    p->number[0] = below(w, 40);
    p->number[1] = chance(w, 20) ? 0xfffffff0 + below(w, 16) : below(w, 300);
    p->wide = (int64_t)below(w, 1000);
    p->arg[0] = (ft_ptx_arg){.index = 0, .bytes = &p->address, .size = 8};
    p->arg[1] = (ft_ptx_arg){.index = 1, .bytes = &p->number[0], .size = 4};
    p->arg[2] = (ft_ptx_arg){.index = 2, .bytes = &p->number[1], .size = 4};
    p->arg[3] = (ft_ptx_arg){.index = 3, .bytes = &p->wide, .size = 8};
    p->launch.arg = p->arg;
    p->launch.n_args = 4;
}

int ptx_random_make(ptx_random *p, uint64_t seed, uint32_t size, int depends)
{
    writer w = {.r = ft__prng_stream(seed, size), .depends = depends};
    ft__buf out = {0};
    uint32_t functions;

    memset(p, 0, sizeof *p);
    p->depends = depends;
    shape(&w, &p->launch);
    arguments(&w, p);
    functions = below(&w, 3);
    ft__buf_str(&out, ".version 7.8\n.target sm_80\n.address_size 64\n\n");
    for (uint32_t k = 0; k < functions; k++)
        function(&out, &w, k, size / 4);
    kernel(&out, &w, &p->launch, size);
    ft__buf_free(&w.body);
    if (out.bad) {
        ft__buf_free(&out);
        return 0;
    }
    p->text = out.s;
    return 1;
}

void ptx_random_free(ptx_random *p)
{
    free(p->text);
    p->text = NULL;
}
