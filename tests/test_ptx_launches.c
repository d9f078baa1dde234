/* Launches: files of them, folders that tool chains leave, arguments in their types. */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "files.h"
#include "ptx/launch/reader.h"
#include "refuse.h"

static char data[4096]; /* tests/data/ptx */
static char folder[] = "/tmp/foretell-launches-XXXXXX";

static const char *in(const char *name)
{
    static char path[8192];

    snprintf(path, sizeof(path), "%s/%s", data, name);
    return path;
}

static ft_ptx_launches *opened(const char *name)
{
    ft_ptx_launches *l;
    ft_error err = {0};

    if (ft_ptx_launches_open(&l, in(name), NULL, &err))
        fprintf(stderr, "%s\n", err.msg);
    CHECK(l != NULL);
    return l;
}

/* The lines of a launch file in the folder nvcc. */
static ft_ptx_launches *parsed(const char *text)
{
    ft_ptx_launches *l;

    CHECK_EQ(ft_ptx_launches_parse(&l, text, strlen(text), "l", in("nvcc"), NULL),
             FT_OK);
    if (!l)
        exit(1);
    return l;
}

static int is(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static int dims(const uint32_t d[3], uint32_t x, uint32_t y, uint32_t z)
{
    return d[0] == x && d[1] == y && d[2] == z;
}

/* The launch's i-th argument as a number. */
static uint64_t number(const ft_ptx_listed *v, uint32_t i)
{
    uint64_t bits = 0;

    CHECK(CMP(i, <, v->launch.n_args) && CMP(v->launch.arg[i].size, <=, 8));
    memcpy(&bits, v->launch.arg[i].bytes, v->launch.arg[i].size);
    return bits;
}

TEST(a_launch_file_says_everything)
{
    ft_ptx_launches *l = opened("nvcc/launches.jsonl");
    const ft_ptx_listed *v;

    v = ft_ptx_launches_get(l)->listed;
    CHECK_EQ(ft_ptx_launches_get(l)->n, 6);
    CHECK_EQ(ft_ptx_launches_get(l)->source, FT_PTX_LAUNCH_FILE);
    CHECK(is(v[0].name, "first") && EQ(v[0].count, 1) &&
          is(v[0].kernel->name, "saxpy"));
    CHECK(dims(v[0].launch.grid, 391, 1, 1) && dims(v[0].launch.block, 256, 1, 1));
    CHECK(EQ(v[0].launch.n_args, 4) && EQ(number(&v[0], 2), 0x3f000000) &&
          EQ(number(&v[0], 3), 100000));
    CHECK(dims(v[1].launch.grid, 32, 64, 1) && dims(v[1].launch.block, 16, 8, 1));
    CHECK(EQ(v[1].launch.dynamic_shared, 1024) && EQ(v[1].count, 3));
    CHECK(BEGINS(ft_ptx_get(v[2].module)->target, "sm_90", 5));
    CHECK(BEGINS(ft_ptx_get(v[0].module)->target, "sm_80", 5));
    CHECK(!v[4].module && is(v[4].library, "cublasSgemm") && EQ(v[4].count, 4));
    CHECK(is(v[4].operation, "matmul x=512x768 y=768x768 dtype=fp32"));
    CHECK(is(v[5].library, "cudnnSoftmaxForward") && !v[5].operation);
    ft_ptx_launches_free(l);
}

TEST(what_is_used_as_an_address_needs_no_value_and_null_is_unknown)
{
    ft_ptx_launches *l = opened("nvcc/launches.jsonl");
    const ft_ptx_listed *v;

    v = ft_ptx_launches_get(l)->listed;
    CHECK(EQ(v[0].launch.arg[0].size, 8) && EQ(number(&v[0], 0) % 256, 0));
    CHECK(CMP(number(&v[0], 0), !=, number(&v[0], 1)));
    CHECK(EQ(v[2].launch.n_args, 3) && EQ(v[2].launch.arg[0].index, 1));
    CHECK_EQ(number(&v[2], 0) % 256, 4);
    CHECK_EQ(number(&v[2], 2), UINT32_MAX);
    ft_ptx_launches_free(l);
}

TEST(launches_that_differ_in_name_and_count_only_are_the_same)
{
    ft_ptx_launches *l = opened("nvcc/launches.jsonl");
    const ft_ptx_listed *v = ft_ptx_launches_get(l)->listed;
    size_t n = ft_ptx_launches_get(l)->n;

    for (size_t i = 0; i < n; i++)
        CHECK_EQ(v[i].same, (i == 3 ? 0 : i));
    ft_ptx_launches_free(l);
}

TEST(sizes_of_xla_that_cannot_be_divided_are_no_convolution)
{
    static const char *const names[] = {"sm_8.0_gpu_after_optimizations.txt",
                                        "thunk_metadata.txt", "thunk_sequence.txt"};
    static const char *const texts[] = {
        "  %x = f32[1,-9223372036854775808,3,3]{3,2,1,0} parameter(0)\n"
        "  %w = f32[4,-1,3,3]{3,2,1,0} parameter(1)\n"
        "  %c = f32[1,4,3,3]{3,2,1,0} custom-call(%x, %w), window={size=3x3 "
        "pad=1_1x1_1}, "
        "dim_labels=bf01_oi01->bf01, custom_call_target=\"__cudnn$convForward\"\n",
        "thunk_metadata {\n  profile_annotation: \"c\"\n  thunk_id: 4\n}\n",
        "004: kConvolution  [prev=003 (1) | next=005 (1)] kConvolution\n",
    };
    char path[3][256];
    ft_ptx_launches *l;

    for (int i = 0; i < 3; i++) {
        snprintf(path[i], sizeof(path[i]), "%s/module_0001.j.%s", folder, names[i]);
        write_text(path[i], texts[i]);
    }
    CHECK_EQ(ft_ptx_launches_open(&l, folder, NULL, NULL), FT_OK);
    CHECK(l && EQ(ft_ptx_launches_get(l)->n, 1) &&
          !ft_ptx_launches_get(l)->listed[0].operation);
    ft_ptx_launches_free(l);
    for (int i = 0; i < 3; i++)
        remove(path[i]);
}

TEST(launches_of_other_buffers_are_others)
{
    static const char text[] =
        "{\"module\":\"saxpy.ptx\",\"kernel\":\"saxpy\",\"grid\":9,\"block\":32,"
        "\"params\":[{\"pointer\":1024},{\"pointer\":1024}]}\n"
        "{\"module\":\"saxpy.ptx\",\"kernel\":\"saxpy\",\"grid\":9,\"block\":32,"
        "\"params\":[{\"pointer\":4096},{\"pointer\":1024}]}\n"
        "{\"module\":\"saxpy.ptx\",\"kernel\":\"saxpy\",\"grid\":9,\"block\":32,"
        "\"params\":[{\"pointer\":4096}]}\n";
    ft_ptx_launches *l = parsed(text);
    const ft_ptx_listed *v = ft_ptx_launches_get(l)->listed;

    CHECK(EQ(ft_ptx_launches_get(l)->n, 3) && EQ(v[1].same, 1));
    CHECK(EQ(v[1].memory_bytes, 5120) &&
          EQ(v[2].memory_bytes, 0)); /* one is not given */
    ft_ptx_launches_free(l);
}

TEST(a_folder_with_a_launch_file_is_that_file)
{
    ft_ptx_launches *l = opened("nvcc/");

    CHECK_EQ(ft_ptx_launches_get(l)->source, FT_PTX_LAUNCH_FILE);
    CHECK_EQ(ft_ptx_launches_get(l)->n, 6);
    ft_ptx_launches_free(l);
}

TEST(launches_are_counted_with_their_blocks)
{
    ft_ptx_launches *l = opened("nvcc/launches.jsonl");
    ft_ptx_counts c;
    ft_error err = {0};

    CHECK_EQ(ft_ptx_launches_last(l).n_blocks, 0);
    CHECK_EQ(ft_ptx_launches_count(&c, l, 0, &err), FT_OK);
    CHECK(c.exact && EQ(c.blocks, 391) && EQ(c.threads, 391 * 256));
    CHECK_EQ(c.flops[0].value, 200000);
    CHECK_EQ(c.bytes[FT_PTX_GLOBAL][FT_PTX_LOADED].value, 800000);
    CHECK(CMP(ft_ptx_launches_last(l).n_blocks, >, 1));
    CHECK_EQ(ft_ptx_launches_count(&c, l, 4, &err), FT_EINVAL);
    CHECK_EQ(ft_ptx_launches_count(&c, l, 6, &err), FT_EINVAL);
    ft_ptx_launches_free(l);
}

TEST(what_accesses_take_adds_up_to_the_counts)
{
    ft_ptx_launches *l = opened("nvcc/launches.jsonl");
    uint64_t global[2] = {0}, shared[2] = {0};
    ft_ptx_launches_parts last;
    const ft_ptx_access *a;
    ft_ptx_counts c;
    ft_error err = {0};
    size_t n;

    CHECK_EQ(ft_ptx_launches_last(l).n_accesses, 0);
    CHECK_EQ(ft_ptx_launches_count(&c, l, 1, &err), FT_OK);
    last = ft_ptx_launches_last(l);
    a = last.access;
    n = last.n_accesses;
    CHECK_EQ(n, 8);
    for (size_t i = 0; i < n; i++) {
        CHECK(EQ(a[i].bytes, 4) && is(a[i].source, "saxpy.cu"));
        CHECK(EQ(i, 0) || CMP(a[i].line, >, a[i - 1].line));
        (a[i].space == FT_PTX_GLOBAL ? global : shared)[a[i].stored] += a[i].took.value;
    }
    for (int k = 0; k < 2; k++) {
        CHECK(EQ(global[k], c.sectors[k].value) && CMP(global[k], >, 0));
        CHECK(EQ(shared[k], c.wavefronts[k].value) && CMP(shared[k], >, 0));
    }
    ft_ptx_launches_free(l);
}

#define SAXPY "{\"module\": \"nvcc/saxpy.ptx\", \"kernel\": \"saxpy\", "
#define LAUNCH SAXPY "\"grid\": 1, \"block\": 32, "

/* What a GPU makes of a launch depends on them. */
TEST(launches_with_other_registers_bytes_or_calls_are_others)
{
    static const char text[] =
        "{\"module\":\"saxpy.ptx\",\"kernel\":\"saxpy\",\"grid\":9,\"block\":32}\n"
        "{\"module\":\"saxpy.ptx\",\"kernel\":\"saxpy\",\"grid\":9,\"block\":32,"
        "\"registers\":20}\n"
        "{\"module\":\"saxpy.ptx\",\"kernel\":\"saxpy\",\"grid\":9,\"block\":32,"
        "\"block_bytes\":4096}\n"
        "{\"module\":\"saxpy.ptx\",\"kernel\":\"saxpy\",\"grid\":9,\"block\":32,"
        "\"call\":\"axpy\"}\n"
        "{\"module\":\"saxpy.ptx\",\"kernel\":\"saxpy\",\"grid\":9,\"block\":32,"
        "\"call\":\"axpy\",\"name\":\"again\"}\n";
    ft_ptx_launches *l = parsed(text);
    const ft_ptx_listed *v = ft_ptx_launches_get(l)->listed;

    CHECK_EQ(ft_ptx_launches_get(l)->n, 5);
    for (size_t i = 0; i < 5; i++)
        CHECK_EQ(v[i].same, (i == 4 ? 3 : i));
    CHECK(!v[0].registers && !v[0].block_bytes && !v[0].call);
    CHECK(EQ(v[1].registers, 20) && EQ(v[2].block_bytes, 4096));
    CHECK(SAME(v[3].call, "axpy"));
    ft_ptx_launches_free(l);
}

static const struct {
    const char *text, *why;
    ft_status st;
} bad_lines[] = {
    {"", "no launch in it", FT_EFORMAT},
    {"\n \n", "no launch in it", FT_EFORMAT},
    {"3", "line 1: an object in braces was expected", FT_EFORMAT},
    {"{\"module\": ", "line 1, column 12: ", FT_EFORMAT},
    {"\n{}", "line 2: neither module nor library is given", FT_EFORMAT},
    {"{\"module\": \"a\", \"library\": \"b\"}", "exclude each other", FT_EFORMAT},
    {"{\"library\": \"b\", \"grid\": 3}", "a library's call has no", FT_EFORMAT},
    {"{\"library\": \"b\", \"call\": \"c\"}", "a library's call has no", FT_EFORMAT},
    {"{\"module\": \"a\", \"grid\": 1, \"registers\": 256}",
     "registers is 256; from 0 to 255", FT_EFORMAT},
    {"{\"module\": \"a\"}", "grid is missing", FT_EFORMAT},
    {"{\"module\": \"a\", \"gird\": 3}", "no member \"gird\", but module", FT_EFORMAT},
    {"{\"module\": \"a\", \"grid\": 0}", "grid is 0; from 1", FT_EFORMAT},
    {"{\"module\": \"a\", \"grid\": []}", "grid has no number", FT_EFORMAT},
    {"{\"module\": \"a\", \"grid\": [1, 2, 3, 4]}", "more than three", FT_EFORMAT},
    {"{\"module\": \"a\", \"grid\": 1, \"operation\": \"x\"}", "with library",
     FT_EFORMAT},
    {"{\"module\": \"a\\u0000b\", \"grid\": 1}", "escape", FT_EFORMAT},
    {"{\"module\": \"nowhere.ptx\", \"grid\": 1}", "nowhere.ptx: No such", FT_EIO},
    {"{\"module\": \"nvcc/saxpy.ptx\", \"grid\": 1}", "line 1: ", FT_ENEEDED},
    {SAXPY "\"grid\": 1}", "block is missing: saxpy", FT_EFORMAT},
    {"{\"module\": \"nvcc/saxpy.ptx\", \"kernel\": \"sax\", \"grid\": 1}", "sax",
     FT_ENOTFOUND},
    {SAXPY "\"target\": \"sm_9\", \"grid\": 1}", "no module for sm_9", FT_ENOTFOUND},
    {LAUNCH "\"params\": 3}", "an array or an object", FT_EFORMAT},
    {LAUNCH "\"params\": [1, 2, 3, 4, 5]}", "has 4 parameters, not 5", FT_EFORMAT},
    {LAUNCH "\"params\": {\"n\": 1}}", "saxpy has no parameter n", FT_ENOTFOUND},
    {LAUNCH "\"params\": {\"17\": 1}}", "saxpy has no parameter 17", FT_ENOTFOUND},
    {LAUNCH "\"params\": {\"3\": 1.5}}", "is given a fraction", FT_EFORMAT},
    {LAUNCH "\"params\": {\"3\": 4294967296}}", "does not fit", FT_EFORMAT},
    {LAUNCH "\"params\": {\"3\": -2147483649}}", "does not fit", FT_EFORMAT},
    {LAUNCH "\"params\": {\"3\": true}}", "1 or 0 was expected", FT_EFORMAT},
    {LAUNCH "\"params\": {\"3\": nul}}", "this begins no value", FT_EFORMAT},
    {LAUNCH "\"params\": {\"3\": \"ptr\"}}", "\"pointer\" or a number", FT_EFORMAT},
    {LAUNCH "\"params\": {\"3\": {\"f64\": 1}}}", "of 4 bytes is given 8", FT_EFORMAT},
    {LAUNCH "\"params\": {\"3\": {\"bytes\": \"0g\"}}}", "hexadecimal", FT_EFORMAT},
    {LAUNCH "\"params\": {\"3\": {\"bytes\": \"000\"}}}", "two hexadecimal",
     FT_EFORMAT},
    {LAUNCH "\"params\": {\"3\": {\"float\": 1}}}", "no \"float\", but", FT_EFORMAT},
    {LAUNCH "\"params\": {\"3\": {}}}", "neither pointer nor bytes", FT_EFORMAT},
};

TEST(bad_lines_are_refused_with_what_is_wrong)
{
    for (size_t i = 0; i < sizeof(bad_lines) / sizeof(bad_lines[0]); i++) {
        const char *text = bad_lines[i].text;
        ft_ptx_launches *l;
        ft_error err = {0};
        ft_status st = ft_ptx_launches_parse(&l, text, strlen(text), "f", data, &err);

        CHECK(EQ(st, bad_lines[i].st) && EQ(l, NULL));
        CHECK(HAS(err.msg, bad_lines[i].why));
        if (st != bad_lines[i].st || !strstr(err.msg, bad_lines[i].why))
            fprintf(stderr, "%s: %d %s\n", text, st, err.msg);
    }
}

static const char types[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u8 a, "
    ".param .s16 b, .param .b16 h, .param .f16 g, .param .u32 c, .param .f32 d, "
    ".param .b32 e, .param .u64 i, .param .f64 f, .param .align 4 .b8 s[12]) { ret; "
    "}\n";

TEST(numbers_take_the_types_of_their_parameters)
{
    static const char line[] =
        "{\"module\": \"types.ptx\", \"grid\": 1, \"block\": 1, \"params\": [255, -2, "
        "{\"bf16\": 1.004}, 1, -1, 3, 0.5, 9223372036854775807, 3, "
        "{\"bytes\": \"0102030405060708090A0b0c\"}]}";
    static const uint64_t want[] = {255,        0xfffe,     0x3f81,
                                    0x3c00,     0xffffffff, 0x40400000,
                                    0x3f000000, INT64_MAX,  0x4008000000000000};
    const ft_ptx_listed *v;
    ft_ptx_launches *l;
    ft_error err = {0};
    char path[4096];

    snprintf(path, sizeof(path), "%s/types.ptx", folder);
    write_text(path, types);
    CHECK_EQ(ft_ptx_launches_parse(&l, line, strlen(line), NULL, folder, &err), FT_OK);
    if (!l)
        fprintf(stderr, "%s\n", err.msg);
    v = ft_ptx_launches_get(l)->listed;
    CHECK_EQ(v[0].launch.n_args, 10);
    for (uint32_t i = 0; i < 9; i++)
        CHECK_EQ(number(v, i), want[i]);
    CHECK(EQ(v[0].launch.arg[9].size, 12) &&
          BYTES(v[0].launch.arg[9].bytes, "\1\2\3\4\5\6\7\10\11\12\13\14", 12));
    ft_ptx_launches_free(l);
    unlink(path);
}

TEST(halves_are_rounded_to_the_nearest_and_ties_to_even)
{
    static const struct {
        double x;
        uint16_t half, brain;
    } cases[] = {
        {0, 0, 0},
        {-0.0, 0x8000, 0x8000},
        {1, 0x3c00, 0x3f80},
        {-2, 0xc000, 0xc000},
        {0x1.002p0, 0x3c00, 0x3f80}, /* a tie of halves */
        {0x1.006p0, 0x3c02, 0x3f80},
        {0x1.01p0, 0x3c04, 0x3f80}, /* a tie of bfloats */
        {0x1.03p0, 0x3c0c, 0x3f82},
        {65504, 0x7bff, 0x4780},
        {65519, 0x7bff, 0x4780},
        {65520, 0x7c00, 0x4780},
        {0x1p-14, 0x0400, 0x3880},
        {0x1.ff8p-15, 0x03ff, 0x3880},
        {0x1p-24, 1, 0x3380},
        {0x1p-25, 0, 0x3300},
        {0x3p-25, 2, 0x33c0},
        {-0x1p-26, 0x8000, 0xb280},
        {INFINITY, 0x7c00, 0x7f80},
        {-INFINITY, 0xfc00, 0xff80},
        {0x1.fffffep127, 0x7c00, 0x7f80},
        /* beside a tie by less than a float tells */
        {0x1.0020000001p0, 0x3c01, 0x3f80},
        {0x1.005fffffffp0, 0x3c01, 0x3f80},
        {0x1.0100000001p0, 0x3c04, 0x3f81},
        {-0x1.02fffffffp0, 0xbc0c, 0xbf81},
        {0x1.0000000001p-25, 1, 0x3300},
        {65519.9999999999, 0x7bff, 0x4780},
        {0x1.fefffffffffffp127, 0x7c00, 0x7f7f},
        {1e300, 0x7c00, 0x7f80},
        {-1e-300, 0x8000, 0x8000},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t half[2], brain[2];

        ft__ptx_float_bytes(half, cases[i].x, 2, false);
        ft__ptx_float_bytes(brain, cases[i].x, 2, true);
        CHECK_EQ((half[0] | half[1] << 8), cases[i].half);
        CHECK_EQ((brain[0] | brain[1] << 8), cases[i].brain);
        if ((half[0] | half[1] << 8) != cases[i].half ||
            (brain[0] | brain[1] << 8) != cases[i].brain)
            fprintf(stderr, "%a: %x %x\n", cases[i].x, half[0] | half[1] << 8,
                    brain[0] | brain[1] << 8);
    }
}

TEST(more_launches_than_a_list_holds_are_refused)
{
    static const char line[] = "{\"library\": \"a\"}\n";
    const size_t n = FT__PTX_MAX_LAUNCHES + 1, len = sizeof(line) - 1;
    char *text = malloc(n * len);
    ft_ptx_launches *l;
    ft_error err = {0};

    CHECK(text != NULL);
    if (!text)
        return;
    for (size_t i = 0; i < n; i++)
        memcpy(text + i * len, line, len);
    CHECK_EQ(ft_ptx_launches_parse(&l, text, n * len, "long.jsonl", NULL, &err),
             FT_EFORMAT);
    CHECK(SAME(err.msg, "long.jsonl: more than 1048576 launches"));
    CHECK(EQ(l, NULL));
    free(text);
}

TEST(one_text_may_hold_several_modules)
{
    ft_ptx **m;
    size_t n;
    ft_error err = {0};

    CHECK_EQ(ft_ptx_modules_open(&m, &n, in("nvcc/cuobjdump.txt"), &err), FT_OK);
    CHECK(EQ(n, 2) && BEGINS(ft_ptx_get(m[0])->target, "sm_80", 5) &&
          BEGINS(ft_ptx_get(m[1])->target, "sm_90", 5));
    ft_ptx_modules_free(m, n);
    CHECK(EQ(ft_ptx_modules_open(&m, &n, in("nvcc/saxpy.ptx"), &err), FT_OK) &&
          EQ(n, 1));
    ft_ptx_modules_free(m, n);
    CHECK(EQ(ft_ptx_modules_open(&m, &n, in("nvcc/saxpy.cu"), &err), FT_EFORMAT) && !m);
    CHECK(EQ(ft_ptx_modules_open(&m, &n, in("nvcc"), &err), FT_EIO) && !m && EQ(n, 0));
}

struct expected {
    const char *kernel; /* or the library's call */
    uint64_t count;
    uint32_t grid[3], block, shared;
    const char *operation;
};

static void compare(const char *name, ft_ptx_source source, const struct expected *e,
                    size_t n)
{
    ft_ptx_launches *l = opened(name);
    const ft_ptx_listed *v;

    CHECK_EQ(ft_ptx_launches_get(l)->source, source);
    v = ft_ptx_launches_get(l)->listed;
    CHECK_EQ(ft_ptx_launches_get(l)->n, n);
    for (size_t i = 0; i < n; i++, e++) {
        CHECK_EQ(v[i].count, e->count);
        if (!v[i].module) {
            CHECK(is(v[i].library, e->kernel) && EQ(e->block, 0));
            CHECK(e->operation ? is(v[i].operation, e->operation) : !v[i].operation);
            continue;
        }
        CHECK(is(v[i].kernel->name, e->kernel));
        CHECK(v[i].missing
                  ? EQ(e->grid[0], 0)
                  : dims(v[i].launch.grid, e->grid[0], e->grid[1], e->grid[2]));
        CHECK(dims(v[i].launch.block, e->block, 1, 1));
        CHECK_EQ(v[i].launch.dynamic_shared, e->shared);
    }
    ft_ptx_launches_free(l);
}

TEST(triton_keeps_all_but_the_grid)
{
    static const struct expected e[] = {{"add_kernel", 1, {0}, 128, 0, NULL},
                                        {"softmax_kernel", 1, {0}, 256, 32, NULL}};

    compare("triton", FT_PTX_TRITON, e, 2);
}

TEST(tritons_arguments_have_the_names_of_the_source)
{
    static const char line[] =
        "{\"module\": \"triton/BEZ4AOF4YC2NOGSW64S43FH3HNKY4WHKLANFWDNWP7WZMSOMDHWA/"
        "softmax_kernel.ptx\", \"grid\": 64, \"params\": {\"n\": 1000, \"stride\": "
        "1024}}";
    const ft_ptx_listed *v;
    ft_ptx_launches *l;
    ft_error err = {0};

    CHECK_EQ(ft_ptx_launches_parse(&l, line, strlen(line), NULL, data, &err), FT_OK);
    v = ft_ptx_launches_get(l)->listed;
    CHECK(EQ(number(v, 2), 1024) && EQ(number(v, 3), 1000));
    CHECK(EQ(v[0].launch.dynamic_shared, 32) && EQ(v[0].launch.block[0], 256));
    ft_ptx_launches_free(l);
}

TEST(inductors_code_says_kernels_grids_and_library_calls_in_order)
{
    static const struct expected e[] = {
        {"extern_kernels.convolution",
         1,
         {0},
         0,
         0,
         "conv2d x=8x3x32x32 out=16 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32"},
        {"triton_poi_fused_0", 1, {256, 1, 1}, 256, 0, NULL},
        {"triton_poi_fused_1", 1, {32, 1, 1}, 128, 0, NULL},
        {"extern_kernels.addmm",
         1,
         {0},
         0,
         0,
         "linear x=8x1024 out=768 bias=1 dtype=fp32"},
        {"triton_per_fused_2", 1, {8, 1, 1}, 256, 32, NULL},
        {"extern_kernels.addmm",
         1,
         {0},
         0,
         0,
         "linear x=8x768 out=1000 bias=1 dtype=fp32"},
        {"triton_per_fused_exp_prepare_softmax_online_sub_3",
         1,
         {8, 1, 1},
         256,
         32,
         NULL},
    };

    compare("inductor", FT_PTX_INDUCTOR, e, sizeof(e) / sizeof(e[0]));
}

TEST(older_code_of_inductors_has_its_grids_at_the_call)
{
    static const struct expected e[] = {
        {"extern_kernels.mm", 1, {0}, 0, 0, "matmul x=64x32 y=32x48 dtype=fp16"},
        {"extern_kernels.bmm", 1, {0}, 0, 0, "matmul x=4x64x32 y=4x32x16 dtype=bf16"},
        {"triton_", 1, {16, 47, 1}, 256, 512, NULL},
        {"triton_", 1, {0}, 256, 512, NULL}, /* of a size that is a symbol */
        {"torch.ops.aten._scaled_dot_product_flash_attention.default",
         1,
         {0},
         0,
         0,
         NULL},
    };

    compare("inductor-older", FT_PTX_INDUCTOR, e, sizeof(e) / sizeof(e[0]));
}

TEST(xlas_thunks_say_grids_and_loops_multiply)
{
    static const struct expected e[] = {
        {"kCopy", 1, {0}, 0, 0, NULL},
        {"wrapped_transpose_1", 1, {64, 1, 1}, 32, 1024, NULL},
        {"wrapped_transpose", 1, {256, 1, 1}, 128, 0, NULL},
        {"__cudnn$convBiasActivationForward",
         1,
         {0},
         0,
         0,
         "conv2d x=8x16x32x32 out=64 kernel=3x3 stride=1x1 pad=1x1 dtype=fp32"},
        {"input_reduce_fusion", 1, {64, 1, 1}, 256, 0, NULL},
        {"loop_multiply_fusion", 1, {4, 1, 1}, 128, 0, NULL},
        {"loop_compare_fusion", 6, {1, 1, 1}, 1, 0, NULL},
        {"loop_add_fusion", 5, {1, 1, 1}, 1, 0, NULL},
        {"__cublas$lt$matmul", 5, {0}, 0, 0, "matmul x=8x64 y=64x64 dtype=fp32"},
        {"wrapped_tanh", 5, {4, 1, 1}, 128, 0, NULL},
        {"triton_softmax_2", 1, {32, 1, 1}, 32, 0, NULL},
    };

    compare("xla", FT_PTX_XLA, e, sizeof(e) / sizeof(e[0]));
}

TEST(older_thunks_say_launch_dimensions)
{
    static const struct expected e[] = {
        {"loop_add_fusion", 1, {256, 2, 1}, 128, 0, NULL},
        {"kGemm", 1, {0}, 0, 0, NULL},
    };

    compare("xla-older", FT_PTX_XLA, e, 2);
}

/* Ranges as metadata and at the call, of the optimised IR and of that before. */
TEST(without_thunks_the_ir_of_xla_says_grids)
{
    static const struct expected e[] = {
        {"loop_add_fusion", 1, {256, 1, 1}, 128, 0, NULL},
        {"input_transpose_fusion", 1, {48, 6, 1}, 64, 0, NULL},
        {"one_block", 1, {1, 1, 1}, 128, 0, NULL},
        {"of_any_grid", 1, {0}, 128, 0, NULL},
    };
    ft_ptx_launches *l = opened("xla-ir");

    compare("xla-ir", FT_PTX_XLA, e, sizeof(e) / sizeof(e[0]));
    CHECK(!ft_ptx_launches_get(l)->listed[0].missing);
    CHECK(HAS(ft_ptx_launches_get(l)->listed[3].missing, "--xla_dump_to=DIR"));
    ft_ptx_launches_free(l);
}

TEST(a_dump_of_xla_without_ptx_says_which_flags_make_one)
{
    ft_ptx_launches *l;
    ft_error err = {0};

    CHECK(EQ(ft_ptx_launches_open(&l, in("xla-cpu"), NULL, &err), FT_EFORMAT) && !l);
    CHECK(HAS(err.msg, "without PTX") && HAS(err.msg, "--xla_dump_hlo_as_text"));
}

TEST(a_folder_without_any_is_refused)
{
    ft_ptx_launches *l;
    ft_error err = {0};

    CHECK(EQ(ft_ptx_launches_open(&l, folder, NULL, &err), FT_EFORMAT) && !l);
    CHECK(HAS(err.msg, "neither launches.jsonl nor PTX"));
    CHECK(EQ(ft_ptx_launches_open(&l, in("nowhere"), NULL, &err), FT_EIO) && !l);
}

static ft_status open_folder(const char *name)
{
    ft_ptx_launches *l;
    ft_status st = ft_ptx_launches_open(&l, in(name), NULL, NULL);

    CHECK_EQ((st == FT_OK), (l != NULL));
    ft_ptx_launches_free(l);
    return st;
}

TEST(want_of_memory_is_an_ordinary_failure)
{
    static const char *const names[] = {"nvcc", "inductor", "triton", "xla", "xla-ir"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        CHECK_REFUSALS(open_folder(names[i]), 20);
}

int main(int argc, char **argv)
{
    if (argc < 2 || !mkdtemp(folder))
        return 2;
    snprintf(data, sizeof(data), "%s/tests/data/ptx", argv[1]);
    check_all();
    rmdir(folder);
    CHECK_DONE();
}
