/* Constants of the physical estimate that were put into made-up measurements have to
 * come out again. */
#include <math.h>

#include "base/prng.h"
#include "physics_rig.h"

enum { N_ROWS = 240 };
struct made {
    ft_op op[N_ROWS];
    ft__hardware_spec chip[N_ROWS];
    ft__physics_row row[N_ROWS];
};

static const char *const made_on[] = {"p4", "t4", "gtx-1080-ti", "rtx-2080-ti"};

/* Rows of the first n_devices, timed by `law`; the last one's are `odd` times that. */
static void make(struct made *m, const ft__physics_params *law, uint32_t n_devices,
                 double odd, uint64_t seed)
{
    ft__prng rng = {seed};

    for (uint32_t i = 0; i < N_ROWS; i++) {
        uint32_t device = i % n_devices;
        int a = 1 << (3 + ft__prng_below(&rng, 8)),
            b = 1 << (3 + ft__prng_below(&rng, 8));
        int c = 1 << (4 + ft__prng_below(&rng, 7));
        char spec[200];
        ft__terms t;

        if (ft__prng_below(&rng, 2))
            snprintf(spec, sizeof(spec), "linear x=%dx%d out=%d", a, b, c);
        else
            snprintf(spec, sizeof(spec), "add x=%dx%d y=%dx%d", a * 4, b * 4, a * 4,
                     b * 4);
        m->op[i] = op_of(spec);
        m->chip[i] = chip_of(made_on[device], "", "ieee", &m->op[i]);
        ft__physics(&t, &m->op[i], &m->chip[i], law);
        m->row[i] = (ft__physics_row){.op = &m->op[i],
                                      .chip = &m->chip[i],
                                      .time_s = t.total_s,
                                      .weight = 1,
                                      .group = device};
        if (device == n_devices - 1)
            m->row[i].time_s *= odd;
    }
}

/* Mean of |log(estimate / time)| over the rows of groups below n. */
static double error_of(const struct made *m, const ft__physics_params *theta,
                       uint32_t n)
{
    double sum = 0, count = 0;

    for (int i = 0; i < N_ROWS; i++) {
        ft__terms t;

        if (m->row[i].group >= n)
            continue;
        ft__physics(&t, &m->op[i], &m->chip[i], theta);
        sum += fabs(log(t.total_s / m->row[i].time_s));
        count++;
    }
    return sum / count;
}

static ft__physics_params changed(void)
{
    ft__physics_params law = ft__physics_default();

    law.v[constant("floor_s")] = 4e-5;
    law.v[constant("floor_linear")] = 1.2;
    law.v[constant("memory_share")] = 0.55;
    law.v[constant("tile_share")] = 0.9;
    law.v[constant("cache_width")] = 20;
    return law;
}

/* What is multiplied with vectors is read as it is stored: one row by weights of 4 and
 * 8 bits takes the time of their bytes. */
TEST(weights_of_few_bits_are_read_as_they_are_stored)
{
    double fp32 = seconds("linear x=1x4096 out=4096", "raspberry-pi-4", "");
    double int8 =
        seconds("linear x=1x4096 out=4096 weights=int8", "raspberry-pi-4", "");
    double int4 = seconds("linear x=1x4096 out=4096 weights=uint4 block=32",
                          "raspberry-pi-4", "");

    CHECK(CMP(int8, <, 0.3 * fp32) && CMP(int4, <, 0.6 * int8));
    CHECK(CMP(int4, >, 4096 * 4096 / 2 / 12.8e9));
}

/* A CPU that converts 16-bit numbers computes in fp32: only bytes are fewer. */
TEST(a_cpu_without_16_bits_gains_bytes_alone)
{
    double product = seconds("linear x=1024x1024 out=1024", "raspberry-pi-4", "");
    double narrow =
        seconds("linear x=1024x1024 out=1024 dtype=fp16", "raspberry-pi-4", "");
    double row = seconds("linear x=1x4096 out=4096", "raspberry-pi-4", "");
    double narrow_row =
        seconds("linear x=1x4096 out=4096 dtype=fp16", "raspberry-pi-4", "");

    CHECK(CMP(narrow, >, 0.95 * product) && CMP(narrow, <=, product));
    CHECK(CMP(narrow_row, >, 0.4 * row) && CMP(narrow_row, <, 0.7 * row));
}

TEST(threads_of_a_cpu_share_its_memory)
{
    static const char product[] = "matmul x=4096x4096 y=4096x4096",
                      stream[] = "relu x=64x1024x4096";
    const ft_device_facts f = facts_of("epyc-7763");
    double before = seconds(product, "epyc-7763", "threads=1");

    for (int threads = 2; threads <= 64; threads *= 2) {
        char setting[32];
        double s;

        snprintf(setting, sizeof(setting), "threads=%d", threads);
        s = seconds(product, "epyc-7763", setting);
        /* Never above what the cores do at the boost clock; never far below what they
         * do at the base clock. */
        CHECK(
            CMP(s, >,
                2 * 4096. * 4096 * 4096 /
                    (f.peak_fp32 * threads / 64 * f.boost_clock_hz / f.base_clock_hz)));
        CHECK(CMP(s, <, 1.5 * 2 * 4096. * 4096 * 4096 / (f.peak_fp32 * threads / 64)));
        CHECK(CMP(s, <, before) && CMP(s, >, 0.45 * before));
        before = s;
        CHECK(CMP(seconds(stream, "epyc-7763", setting), >,
                  2 * 4 * 64. * 1024 * 4096 / f.bandwidth_bytes_per_s));
    }
    CHECK(CMP(seconds(stream, "epyc-7763", "threads=1"), <,
              64 * 0.5 * seconds(stream, "epyc-7763", "threads=64")));
    CHECK(EQ(seconds(product, "epyc-7763", "threads=64"),
             seconds(product, "epyc-7763", "")));
    CHECK(CMP(seconds(product, "epyc-7763", "threads=64 clock=1225MHz"), >,
              2 * seconds(product, "epyc-7763", "threads=64 clock=2450MHz") * 0.99));
}

TEST(constants_come_out_again)
{
    static struct made m, fresh;
    ft__physics_params law = changed(), theta = ft__physics_default();

    make(&m, &law, 4, 1, 1);
    make(&fresh, &law, 4, 1, 2);
    CHECK(CMP(error_of(&fresh, &theta, 4), >, 0.3));
    CHECK_EQ(ft__physics_fit(&theta, m.row, N_ROWS, 1, NULL), FT_OK);
    CHECK(CMP(error_of(&fresh, &theta, 4), <, 0.02));
    CHECK_NEAR(value(&theta, "floor_s") / 4e-5, 1, 0.05);
    CHECK_NEAR(value(&theta, "memory_share") / 0.55, 1, 0.05);
    /* Nothing was measured of it. */
    CHECK_NEAR(value(&theta, "conv_share"), value(&law, "conv_share"), 1e-12);
}

/* A share of the peak that devices by the dozen reach is not unlearned from two. */
TEST(a_few_devices_do_not_move_what_is_known_of_many)
{
    static struct made m;
    const ft__physics_params usual = ft__physics_default();
    ft__physics_params law = usual, theta = usual;

    law.v[constant("tile_share")] *= 0.8;
    law.v[constant("memory_share")] *= 0.8;
    make(&m, &law, 2, 1, 4);
    CHECK_EQ(ft__physics_fit(&theta, m.row, N_ROWS, 1, NULL), FT_OK);
    CHECK_NEAR(value(&theta, "tile_share") / value(&usual, "tile_share"), 1, 0.03);
    CHECK_NEAR(value(&theta, "memory_share") / value(&law, "memory_share"), 1, 0.05);
}

TEST(an_odd_device_does_not_bend_the_constants)
{
    static struct made m;
    ft__physics_params law = changed(), theta = ft__physics_default();

    make(&m, &law, 4, 3, 3);
    CHECK_EQ(ft__physics_fit(&theta, m.row, N_ROWS, 1, NULL), FT_OK);
    CHECK(CMP(error_of(&m, &theta, 3), <, 0.05));
}

/* What kernels are faster by than their bytes allow is no bandwidth: other kernels on
 * the same memory would have it, too. */
TEST(no_memory_is_faster_than_its_data_sheet)
{
    static struct made m;
    ft__physics_params law = ft__physics_default(), theta = law;

    law.v[constant("memory_share")] = 1.19;
    make(&m, &law, 2, 1, 6);
    CHECK_EQ(ft__physics_fit(&theta, m.row, N_ROWS, 1, NULL), FT_OK);
    CHECK(CMP(value(&theta, "memory_share") * value(&theta, "stacked_share"), <, 1.01));
}

/* Host and device take longer than one after the other: the others still have to be
 * found. */
TEST(a_constant_at_its_bound_does_not_keep_others_from_theirs)
{
    static struct made m;
    ft__physics_params law = changed(), theta = ft__physics_default();

    law.v[constant("overlap")] = 0.7;
    make(&m, &law, 4, 1, 7);
    CHECK_EQ(ft__physics_fit(&theta, m.row, N_ROWS, 1, NULL), FT_OK);
    CHECK_NEAR(value(&theta, "overlap"), 1, 1e-12);
    CHECK(CMP(error_of(&m, &theta, 4), <, 0.05));
}

/* Rows of an operation, its size a %u, whose time is that of memory; on device d at
 * share[d] of the usual bandwidth. */
struct streamed {
    const char *form;
    double share[3];
};

/* What is made up of all rows: a constant that is `share` of the usual one; sizes are
 * from `first` on, but of so many rows 8. */
struct made_by {
    const char *constant, *setting;
    uint32_t first, small;
};

/* The constant, in usual ones, that `asked` has after training on rows of n_of
 * operations on n of made_on. */
static double share_found(const struct made_by *by, const char *asked, uint32_t n,
                          const struct streamed *of, uint32_t n_of)
{
    const int which = constant(by->constant);
    static ft__sample v[N_ROWS];
    static ft_device *file[sizeof(made_on) / sizeof(*made_on)];
    ft__dataset dataset[sizeof(made_on) / sizeof(*made_on)] = {0};
    ft__samples s = {.v = v, .n = N_ROWS, .dataset = dataset, .n_datasets = n};
    const ft_op op = op_of(asked);
    uint32_t row[N_ROWS];
    double found = NAN;
    ft__base base;

    for (uint32_t d = 0; d < n; d++) {
        CHECK(EQ(ft_device_load(&file[d], data_dir, made_on[d], NULL), FT_OK));
        dataset[d] = (ft__dataset){.file = file[d],
                                   .device = (char *)made_on[d],
                                   .setting = (char *)by->setting,
                                   .policy = (char *)"default",
                                   .engine = (char *)"torch",
                                   .engine_version = (char *)"1"};
    }
    for (uint32_t i = 0; i < N_ROWS; i++) {
        const struct streamed *from = &of[i / n % n_of];
        ft__physics_params law = ft__physics_default();
        char spec[100];
        ft__hardware_spec chip;
        ft__terms t;

        const uint32_t size = i < by->small ? 8 : by->first + i;

        row[i] = i;
        snprintf(spec, sizeof(spec), from->form, size, size);
        v[i] = (ft__sample){.op = op_of(spec), .dataset = i % n};
        law.v[which] *= from->share[i % n];
        chip = chip_of(made_on[i % n], by->setting, "default", &v[i].op);
        ft__physics(&t, &v[i].op, &chip, &law);
        for (int m = 0; m < FT__N_METRICS; m++)
            v[i].value[m] = NAN;
        v[i].value[FT__METRIC_TIME] = t.total_s;
    }
    if (ft__base_fit(&base, &s, row, N_ROWS, 1, NULL) == FT_OK) {
        found =
            base.params[ft__group_of(&op)].v[which] / ft__physics_default().v[which];
        ft__base_free(&base);
    }
    for (uint32_t d = 0; d < n; d++)
        ft_device_free(file[d]);
    return found;
}

static double memory_share_of(const char *asked, uint32_t n, const struct streamed *of,
                              uint32_t n_of)
{
    static const struct made_by by = {"memory_share", "run_mode=graph", 8192, 0};

    return share_found(&by, asked, n, of, n_of);
}

static const char additions[] = "add x=%ux4096 y=%ux4096";
static const char maxima[] = "reduce_max x=%ux4096 axes=1";
static const char functions[] = "relu x=%ux4096";

/* What holds on chips left out is taken, what does not is not, and of what one chip
 * alone shows half, less where it has less than 300 rows. */
TEST(constants_are_taken_as_far_as_they_serve_other_chips)
{
    static const struct streamed alike = {additions, {0.7, 0.7, 0.7}},
                                 unlike = {additions, {0.6, 1 / 0.6}};

    CHECK_NEAR(memory_share_of("add x=9x9 y=9x9", 3, &alike, 1), 0.7, 0.02);
    CHECK_NEAR(memory_share_of("add x=9x9 y=9x9", 2, &unlike, 1), 1, 0.05);
    CHECK_NEAR(memory_share_of("add x=9x9 y=9x9", 1, &alike, 1),
               pow(0.7, 0.5 * N_ROWS / 300), 0.02);
}

/* A row or two that wait for a host are drawn by chance: of two devices, they do not
 * keep the constants of hosts from being fitted to all rows. */
TEST(single_rows_that_wait_say_nothing_of_hosts)
{
    static const struct streamed slow = {additions, {4, 4, 4}};
    static const struct made_by none = {"floor_s", "", 128, 0},
                                two = {"floor_s", "", 128, 2};

    CHECK_NEAR(share_found(&none, "add x=9x9 y=9x9", 3, &slow, 1), 4, 0.4);
    CHECK_NEAR(share_found(&two, "add x=9x9 y=9x9", 3, &slow, 1), 4, 0.4);
}

/* Operations without rows: what two kinds have in common is theirs, too; what one alone
 * is slow by, as kernels that find scales of narrow types, is its own affair. */
TEST(kinds_without_rows_have_what_others_have_in_common)
{
    static const struct streamed alike[] = {{maxima, {0.7, 0.7, 0.7}},
                                            {functions, {0.7, 0.7, 0.7}}},
                                 unlike[] = {{maxima, {0.4, 0.4, 0.4}},
                                             {maxima, {0.4, 0.4, 0.4}},
                                             {functions, {1, 1, 1}}};

    CHECK_NEAR(memory_share_of("add x=9x9 y=9x9", 3, alike, 2), 0.7, 0.02);
    CHECK_NEAR(memory_share_of("add x=9x9 y=9x9", 3, unlike, 3), 1, 0.02);
    CHECK_NEAR(memory_share_of("reduce_max x=9x9 axes=1", 3, unlike, 3), 0.4, 0.05);
}

TEST(fitting_again_gives_the_same_bits)
{
    static struct made m;
    ft__physics_params law = changed(), a = ft__physics_default(), b = a, none = a;

    make(&m, &law, 3, 1.2, 5);
    CHECK_EQ(ft__physics_fit(&a, m.row, N_ROWS, 9, NULL), FT_OK);
    CHECK_EQ(ft__physics_fit(&b, m.row, N_ROWS, 9, NULL), FT_OK);
    CHECK(BYTES(&a, &b, sizeof(a)));
    b = none;
    CHECK_EQ(ft__physics_fit(&none, NULL, 0, 9, NULL), FT_OK);
    for (int i = 0; i < FT__N_PHYSICS_PARAMS; i++)
        CHECK_NEAR(none.v[i] / b.v[i], 1, 1e-12);
}
