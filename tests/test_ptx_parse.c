#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "ptx/count/counter.h"
#include "ptx/ptx_inside.h"
#include "refuse.h"

static const char HEAD[] = ".version 8.0\n.target sm_90\n.address_size 64\n";

static ft_ptx *parse(const char *body, ft_error *err)
{
    static char text[1 << 16]; /* borrowed by the module */
    ft_ptx *m;
    const int len = snprintf(text, sizeof(text), "%s%s", HEAD, body);

    (void)ft__ptx_parse(&m, text, (size_t)len, "t", err);
    return m;
}

static ft_ptx *kernel(const char *body)
{
    static char text[1 << 15];
    ft_error err = {0};
    ft_ptx *m;

    snprintf(text, sizeof(text),
             ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n%s\n}\n", body);
    m = parse(text, &err);
    if (!m)
        printf("%s\n", err.msg);
    return m;
}

static void folder(const char *root, const char *name,
                   void (*each)(const char *path, const char *first))
{
    char path[2048], file[3072], first[512];
    struct dirent *e;
    int n = 0;
    DIR *d;

    snprintf(path, sizeof(path), "%s/tests/data/ptx/%s", root, name);
    d = opendir(path);
    CHECK(d != NULL);
    while (d && (e = readdir(d)) != NULL) {
        FILE *fp;

        if (e->d_name[0] == '.')
            continue;
        snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
        fp = fopen(file, "r");
        CHECK(fp && fgets(first, sizeof(first), fp));
        if (fp)
            fclose(fp);
        each(file, first);
        n++;
    }
    if (d)
        closedir(d);
    CHECK(CMP(n, >, 0));
}

static void is_read(const char *path, const char *first)
{
    ft_error err = {0};
    ft_ptx *m;

    (void)first;
    CHECK_EQ(ft__ptx_open(&m, path, &err), FT_OK);
    if (err.msg[0])
        printf("%s\n", err.msg);
    ft__ptx_free(m);
}

/* Its first line says "// line:column: what". */
static void is_refused_as_it_says(const char *path, const char *first)
{
    ft_error err = {0};
    char want[1024];
    ft_ptx *m;

    snprintf(want, sizeof(want), "%s:%.*s", path, (int)strcspn(first + 3, "\n"),
             first + 3);
    CHECK_EQ(ft__ptx_open(&m, path, &err), FT_EFORMAT);
    CHECK(EQ(m, NULL));
    CHECK(SAME(err.msg, want));
    if (strcmp(err.msg, want) != 0)
        printf("%s, but\n%s\n", want, err.msg);
}

TEST(a_kernel_is_described)
{
    ft_error err;
    const ft_ptx_kernel *k;
    ft_ptx *m =
        parse(".shared .align 16 .b8 tile[1024];\n"
              ".visible .entry add(.param .u64 x, .param .u64 y, .param .f32 a)\n"
              ".reqntid 64, 2\n.minnctapersm 3\n{\n"
              ".reg .pred %p<2>; .reg .b32 %r<5>; .reg .f32 %f<3>; .reg .b64 %rd<7>;\n"
              ".shared .align 8 .b64 bar;\n"
              "ld.param.u64 %rd1, [x]; cvta.to.global.u64 %rd2, %rd1;\n"
              "ld.global.f32 %f1, [%rd2]; fma.rn.f32 %f1, %f1, %f1, %f1;\n"
              "mov.u32 %r1, tile; st.shared.f32 [%r1], %f1;\nret;\n}\n",
              &err);

    CHECK(m != NULL);
    if (!m)
        return;
    k = ft_ptx_get(m)->kernel;
    CHECK_EQ(ft_ptx_get(m)->n_kernels, 1);
    CHECK(SAME(k->name, "add") && EQ(k->line, 5));
    CHECK(EQ(k->n_params, 3) && EQ(k->param[0].pointer, 1) &&
          EQ(k->param[1].pointer, 0));
    CHECK(SAME(k->param[2].name, "a") && EQ(k->param[2].size, 4));
    CHECK(EQ(k->required[0], 64) && EQ(k->required[1], 2) && EQ(k->required[2], 1));
    CHECK(EQ(k->blocks_per_sm, 3) && EQ(k->shared_bytes, 1024 + 8));
    CHECK(EQ(k->registers[0], 2) && EQ(k->registers[2], 8) && EQ(k->registers[3], 7));
    CHECK(EQ(k->instructions[FT_PTX_FP32], 1) && EQ(k->instructions[FT_PTX_LOAD], 2));
    CHECK(EQ(k->instructions[FT_PTX_STORE], 1) && EQ(k->instructions[FT_PTX_MOVE], 1));
    CHECK(EQ(ft_ptx_get(m)->version, 80) && SAME(ft_ptx_get(m)->target, "sm_90"));
    ft__ptx_free(m);
}

TEST(labels_of_a_scope_hide_those_around_it)
{
    ft_ptx *m = kernel("L: { bra L; L: ret; }\nbra L;\nret;");

    CHECK(m != NULL);
    if (!m)
        return;
    const ft__ptx_function *f = &m->function[0];

    CHECK(EQ(f->n_insns, 4) && EQ(f->n_labels, 2));
    CHECK_EQ(f->operand[f->insn[0].operands].index, 1);
    CHECK_EQ(f->operand[f->insn[2].operands].index, 0);
    ft__ptx_free(m);
}

TEST(a_label_of_a_scope_is_not_that_of_a_branch_before_it)
{
    ft_ptx *m = kernel("bra D; { D: bra D; }\nD: ret;");

    CHECK(m != NULL);
    if (!m)
        return;
    const ft__ptx_function *f = &m->function[0];

    CHECK_EQ(f->operand[f->insn[0].operands].index, 2);
    CHECK_EQ(f->operand[f->insn[1].operands].index, 1);
    ft__ptx_free(m);
}

TEST(a_prototype_that_does_not_return_says_nothing_of_the_function)
{
    ft_error err;
    ft_ptx *m =
        parse(".func f()\n{\np: .callprototype _ () .noreturn;\nret;\n}\n", &err);

    CHECK(m && !m->function[0].noreturn);
    ft__ptx_free(m);
}

TEST(a_kernel_that_was_declared_is_described_by_its_definition)
{
    ft_error err;
    const ft_ptx_kernel *k;
    ft_ptx *m = parse(".entry k(.param .u64 a);\n"
                      ".entry k(.param .u64 a) .maxntid 128\n{\n"
                      ".reg .b32 %r<4>; .shared .b32 s[4];\nmov.u32 %r1, s; ret;\n}\n",
                      &err);

    CHECK(m != NULL);
    if (!m)
        return;
    k = ft_ptx_get(m)->kernel;
    CHECK(EQ(ft_ptx_get(m)->n_kernels, 1) && EQ(k->n_params, 1));
    CHECK(EQ(k->registers[2], 4) && EQ(k->shared_bytes, 16) && EQ(k->most[0], 128));
    CHECK(EQ(k->instructions[FT_PTX_MOVE], 1) &&
          EQ(k->instructions[FT_PTX_CONTROL], 1));
    ft__ptx_free(m);
}

TEST(registers_of_a_scope_are_others)
{
    ft_ptx *m = kernel(".reg .b32 %r<3>;\nmov.b32 %r1, 1;\n"
                       "{ .reg .b64 %r1; mov.b64 %r1, 2; }\nmov.b32 %r1, 3;\nret;");

    CHECK(m != NULL);
    if (!m)
        return;
    const ft__ptx_function *f = &m->function[0];

    CHECK_EQ(f->operand[f->insn[0].operands].index, 1);
    CHECK_EQ(f->operand[f->insn[1].operands].index, 3);
    CHECK_EQ(f->operand[f->insn[2].operands].index, 1);
    CHECK_EQ(f->reg[3].type, FT__TYPE_B64);
    ft__ptx_free(m);
}

TEST(numbers_are_read_in_all_ways_of_writing)
{
    static const struct {
        const char *text;
        uint64_t bits;
    } cases[] = {
        {"0x1F", 31},
        {"0b101", 5},
        {"017", 15},
        {"5U", 5},
        {"-3", (uint64_t)-3},
        {"(2+3)*4", 20},
        {"7/2", 3},
        {"-7 % 4", (uint64_t)-3},
        {"1<<5|3", 35},
        {"(.s64)-5+3", (uint64_t)-2},
        {"~0", UINT64_MAX},
        {"1?2:3", 2},
        {"WARP_SZ-1", 31},
        {"5>3&&0", 0},
        {"!5", 0},
        {"0xffffffffffffffff/2", UINT64_MAX / 2},
    };
    char text[128];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        snprintf(text, sizeof(text), ".reg .b64 d; mov.b64 d, %s; ret;", cases[i].text);
        ft_ptx *m = kernel(text);

        CHECK(m != NULL);
        if (!m)
            continue;
        CHECK_EQ(m->function[0].operand[1].bits, cases[i].bits);
        ft__ptx_free(m);
    }
}

TEST(classes_depend_on_types_and_words)
{
    static const struct {
        const char *text;
        ft_ptx_class class;
    } cases[] = {
        {"add.s32 r, r, r;", FT_PTX_INT},
        {"add.f32 f, f, f;", FT_PTX_FP32},
        {"add.f64 d, d, d;", FT_PTX_FP64},
        {"fma.rn.f16x2 b, b, b, b;", FT_PTX_FP16},
        {"mul.lo.s32 r, r, r;", FT_PTX_MUL},
        {"mul.f32 f, f, f;", FT_PTX_FP32},
        {"div.s32 r, r, r;", FT_PTX_DIV},
        {"div.rn.f32 f, f, f;", FT_PTX_FDIV},
        {"div.approx.f32 f, f, f;", FT_PTX_SPECIAL},
        {"div.full.f32 f, f, f;", FT_PTX_SPECIAL},
        {"sqrt.rz.ftz.f32 f, f;", FT_PTX_FDIV},
        {"rcp.approx.f32 f, f;", FT_PTX_SPECIAL},
        {"rsqrt.approx.f32 f, f;", FT_PTX_SPECIAL},
        {"cp.async.commit_group;", FT_PTX_SYNC},
        {"cp.async.ca.shared.global [r], [p], 4;", FT_PTX_COPY},
        {"bar.sync 0;", FT_PTX_SYNC},
    };
    char text[256];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        snprintf(text, sizeof(text),
                 ".reg .s32 r; .reg .f32 f; .reg .f64 d; .reg .b32 b;\n%s\nret;",
                 cases[i].text);
        ft_ptx *m = kernel(text);

        CHECK(m != NULL);
        if (!m)
            continue;
        CHECK_EQ(m->function[0].insn[0].class, (uint8_t)cases[i].class);
        ft__ptx_free(m);
    }
}

TEST(initial_values_are_bytes)
{
    static const uint8_t want[] = {1, 0, 2, 0, 0, 0, 3, 0};
    ft_error err;
    ft_ptx *m = parse(".global .u16 x[2][3] = {{1, 2}, {3}};\n", &err);

    CHECK(m != NULL);
    if (!m)
        return;
    CHECK(EQ(m->variable[0].size, 12) && EQ(m->variable[0].initial_size, 12));
    CHECK(BYTES(m->variable[0].initial, want, sizeof(want)));
    ft__ptx_free(m);
}

TEST(kernels_are_found_by_name_or_alone)
{
    ft_error err;
    uint32_t k = 9;
    ft_ptx *m = parse(".entry a(){ret;}\n.entry b(){ret;}\n", &err);

    CHECK(m != NULL);
    if (!m)
        return;
    CHECK(EQ(ft__ptx_kernel_find(&k, m, "b", &err), FT_OK) && EQ(k, 1));
    CHECK_EQ(ft__ptx_kernel_find(&k, m, "c", &err), FT_ENOTFOUND);
    CHECK_EQ(ft__ptx_kernel_find(&k, m, NULL, &err), FT_ENEEDED);
    ft__ptx_free(m);
}

TEST(kernels_have_the_names_of_their_source)
{
    static const struct {
        const char *symbol, *source;
    } cases[] = {
        {"saxpy", "saxpy"},
        {"_Z7rmsnormPf", "rmsnorm"},
        {"_ZN2nn7softmaxIfLi256EEEvPT_i", "nn::softmax<...>"},
        {"_ZN2nn7softmaxI6__halfLi256EEEvPT_i", "nn::softmax<...>"},
        {"_Z2byIPFiiEXadL_Z5twiceiEEEv1SPi", "by<...>"},
        {"_ZN36_GLOBAL__N__5c35729a_4_k_cu_dbf0ac976hiddenEPi",
         "(anonymous namespace)::hidden"},
        {"_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_16abs_kernel_"
         "cudaERNS_"
         "18TensorIteratorBaseEENKUlvE_clEvENKUlvE0_clEvEUlfE_St5arrayIPcLm2EEEEviT0_"
         "T1_",
         "at::native::vectorized_elementwise_kernel<...>"},
        {"_ZN3foo3BarIiE3runEv", "foo::Bar<...>::run"},
        {"_ZL6staticv", "static"},
        {"_Z", "_Z"},
        {"_Z9short", "_Z9short"},
        {"_Z99999999999999999999x", "_Z99999999999999999999x"},
        {"_ZN", "_ZN"},
        {"_ZN1aI", "a<...>"},
        {"_ZN1aIL", "a<...>"},
        {"_ZN1aI9xE", "a<...>"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[512];
        ft_ptx *m = NULL;
        ft_error err;

        snprintf(
            text, sizeof(text),
            ".version 8.0\n.target sm_80\n.address_size 64\n.entry %s()\n{\nret;\n}\n",
            cases[i].symbol);
        CHECK_EQ(ft__ptx_parse(&m, text, strlen(text), "names", &err), FT_OK);
        if (!m)
            continue;
        CHECK(SAME(ft_ptx_get(m)->kernel->name, cases[i].symbol));
        CHECK(SAME(ft_ptx_get(m)->kernel->source_name, cases[i].source));
        CHECK(ft_ptx_is_called(ft_ptx_get(m)->kernel, cases[i].symbol));
        CHECK(ft_ptx_is_called(ft_ptx_get(m)->kernel, cases[i].source));
        CHECK(!ft_ptx_is_called(ft_ptx_get(m)->kernel, "") &&
              !ft_ptx_is_called(ft_ptx_get(m)->kernel, "a_"));
        CHECK_EQ((strcmp(cases[i].source, "nn::softmax<...>") == 0),
                 ft_ptx_is_called(ft_ptx_get(m)->kernel, "softmax"));
        ft__ptx_free(m);
    }
}

TEST(files_are_found_by_number_in_any_order)
{
    ft_error err = {0};
    ft_ptx *m = parse(".file 7 \"g.cu\"\n.file 2 \"b.cu\"\n.file 40 \"z.cu\"\n"
                      ".entry k(){ .loc 2 11 1\n bar.sync 0;\n.loc 40 5 1\n ret; }\n",
                      &err);
    uint32_t line = 0;

    CHECK(m != NULL);
    if (!m)
        return;
    CHECK(SAME(ft__ptx_source(&line, m, &m->function[0].insn[0]), "b.cu"));
    CHECK_EQ(line, 11);
    CHECK(SAME(ft__ptx_source(&line, m, &m->function[0].insn[1]), "z.cu"));
    CHECK_EQ(line, 5);
    ft__ptx_free(m);
}

TEST(a_missing_file_is_said)
{
    ft_error err = {0};
    ft_ptx *m;

    CHECK_EQ(ft__ptx_open(&m, "/nowhere/k.ptx", &err), FT_EIO);
    CHECK(EQ(m, NULL) && HAS(err.msg, "/nowhere/k.ptx"));
}

static void any_allocation_may_fail(const char *root)
{
    char path[2048];
    ft_status st = FT_ENOMEM;
    ft_error err;
    ft_ptx *m;

    snprintf(path, sizeof(path), "%s/tests/data/ptx/good/language.ptx", root);
    for (int n = 1; st != FT_OK && n < 10000; n++) {
        allocs_left = n;
        st = ft__ptx_open(&m, path, &err);
        allocs_left = -1;
        /* stdio's own buffer is none of ours */
        CHECK(EQ(st, FT_OK) || EQ(st, FT_ENOMEM) || EQ(st, FT_EIO));
        CHECK_EQ((st == FT_OK), (m != NULL));
        ft__ptx_free(m);
    }
    CHECK_EQ(st, FT_OK);
}

int main(int argc, char **argv)
{
    const char *root = argc > 1 ? argv[1] : ".";

    folder(root, "good", is_read);
    folder(root, "bad", is_refused_as_it_says);
    check_all();
    any_allocation_may_fail(root);
    CHECK_DONE();
}
