/* Times of kernels: laws that the estimate has to obey, limits known by hand, and
 * constants and corrections that were put into made-up measurements and have to come
 * out again. */
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "check.h"
#include "kernel_rows.h"
#include "predict/kernels.h"
#include "predict/kernels_inside.h"
#include "ptx/ptx_inside.h"

static const ft_kernels_options usual = {.seed = 1, .threads = 1};

static ft__gpu volta(void)
{
    ft_device_facts f = gpu_like("a", 80, 1.4e9, 900e9, 6e6, 7.0);
    ft__gpu g;

    CHECK(ft__gpu_make(&g, &f, NULL) == FT_OK);
    return g;
}

static ft_kernel_terms terms_of(const ft_kernel_work *w)
{
    const ft__kernel_theta theta = ft__kernel_default();
    ft__gpu g = volta();
    ft_kernel_terms t;

    ft__kernel_price(&t, w, &g, &theta);
    return t;
}

static void nothing_takes_as_long_as_a_launch(void)
{
    const ft_kernel_work w = {.blocks = 1, .warps = 1, .threads = 32};
    ft_kernel_terms t = terms_of(&w);

    CHECK_NEAR(t.device_s, t.launch_s + t.latency_s, 1e-12);
    CHECK(t.latency_s < 2e-6);
}

static void what_streams_takes_its_bytes_over_the_bandwidth(void)
{
    const ft__kernel_theta theta = ft__kernel_default();
    const double share = theta.v[FT__K_memory_share] * theta.v[FT__K_stacked_share];
    ft_kernel_work w = work_like(1e6, 2);
    ft_kernel_terms t = terms_of(&w);

    CHECK_NEAR(t.memory_s, 32 * 128e6 / (900e9 * share), 1e-9);
    CHECK(t.device_s >= t.memory_s && t.device_s < 1.2 * t.memory_s);
}

/* As the occupancy calculator has it, on an SM of 64 warps and 64 Ki registers. */
static void blocks_that_an_sm_holds_are_those_of_the_calculator(void)
{
    static const struct {
        double threads, registers, shared, blocks;
    } cases[] = {
        {128, 16, 0, 16},    {128, 37, 0, 12}, {256, 64, 0, 4}, {1024, 64, 0, 1},
        {32, 16, 0, 32},     {128, 255, 0, 2}, {64, 32, 0, 32}, {128, 16, 12288, 8},
        {128, 16, 49152, 2}, {96, 40, 0, 16},  {512, 42, 0, 2},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const ft_kernel_work w = {.blocks = 1000,
                                  .warps = 1000 * cases[i].threads / 32,
                                  .threads = 1000 * cases[i].threads,
                                  .registers = cases[i].registers,
                                  .shared_bytes = cases[i].shared};

        CHECK_NEAR(terms_of(&w).resident, cases[i].blocks, 0);
    }
}

/* No resource that is asked for more makes a kernel faster. */
static void more_work_never_takes_less(void)
{
    for (int what = 0; what < 8; what++) {
        double before = 0;

        for (double much = 1; much < 1e4; much *= 3) {
            ft_kernel_work w = work_like(5000, 20);

            switch (what) {
            case 0: w.warp[FT_PTX_INT] *= much; break;
            case 1: w.warp[FT_PTX_SPECIAL] = w.warps * much; break;
            case 2: w.distinct_bytes *= much; break;
            case 3: w.sectors *= much; break;
            case 4: w.wavefronts = w.warps * much; break;
            case 5: w.tensor_flops = 1e6 * much; break;
            case 6: w.fp64_flops = 1e6 * much; break;
            default: w.loaded_bytes *= much; break;
            }
            CHECK(terms_of(&w).device_s >= before);
            before = terms_of(&w).device_s;
        }
    }
}

static void what_blocks_read_again_comes_from_the_cache_while_it_is_there(void)
{
    for (double row = 64; row < 1e6; row *= 4) {
        const double blocks = 1e5;
        ft_kernel_work w = {
            .blocks = blocks, .warps = 4 * blocks, .threads = 128 * blocks};
        ft_kernel_terms t;

        w.loaded_bytes = 3 * row * blocks;
        w.stored_bytes = row * blocks;
        w.block_bytes = w.distinct_bytes = 2 * row * blocks;
        t = terms_of(&w);
        CHECK(row > 512 || t.hit > 0.99);
        CHECK(row < 3e4 || t.hit < 0.01);
    }
}

static void the_host_is_waited_for_and_so_is_the_device(void)
{
    const ft__kernel_theta theta = ft__kernel_default();
    const double begin = theta.v[FT__K_begin_share];
    ft_kernel_terms t = {.device_s = 1e-6};

    CHECK_NEAR(ft__kernel_time(&t, 1, 30e-6, &theta), 30e-6, 1e-7);
    CHECK_NEAR(ft__kernel_time(&t, 1, NAN, &theta), 1e-6, 0);
    CHECK_NEAR(ft__kernel_time(&t, 1000, 30e-6, &theta), 1e-3 + begin * 30e-6, 1e-7);
}

static void counts_become_work(void)
{
    ft_ptx_counts c = {.blocks = 10, .warps = 40, .threads = 1280};
    const ft_kernel_space space = {.registers = 20,
                                   .shared_bytes = 99,
                                   .distinct_bytes = 1000,
                                   .block_bytes = 150};
    const ft_kernel_space nothing = {0};
    ft_kernel_work w;

    c.warp[FT_PTX_INT].value = 80;
    c.on[FT_PTX_INT].value = 1280;
    c.bytes[FT_PTX_GLOBAL][FT_PTX_LOADED].value = 4000;
    c.bytes[FT_PTX_GENERIC][FT_PTX_STORED].value = 500;
    ft_kernel_work_make(&w, &c, &space);
    CHECK_NEAR(w.lanes, 16, 0);
    CHECK_NEAR(w.loaded_bytes, 4000, 0);
    CHECK_NEAR(w.stored_bytes, 500, 0);
    CHECK_NEAR(w.block_bytes, 1500, 0);
    CHECK_NEAR(w.distinct_bytes, 1000, 0);
    CHECK_NEAR(w.registers, 20, 0);
    ft_kernel_work_make(&w, &c, &nothing);
    CHECK_NEAR(w.distinct_bytes, 4500, 0);
    CHECK_NEAR(w.registers, 32, 0);
}

static void what_cannot_be_asked_is_refused_in_a_sentence(void)
{
    ft_device_facts f = gpu_like("a", 80, 1.4e9, 900e9, 6e6, 7.0);
    const ft_kernel_work w = work_like(100, 5);
    ft_kernel_estimate e;
    ft_error err = {0};

    f.bandwidth_bytes_per_s = NAN;
    CHECK(ft__kernel_predict(&e, NULL, &w, &f, NAN, &err) == FT_ENOTFOUND);
    CHECK(strstr(err.msg, "bandwidth") != NULL);
    f.vendor = "AMD";
    CHECK(ft__kernel_predict(&e, NULL, &w, &f, NAN, &err) == FT_EUNSUPPORTED);
    CHECK(strstr(err.msg, "NVIDIA") != NULL);
    f = gpu_like("a", 80, 1.4e9, 900e9, 6e6, 7.0);
    f.tdp_w = NAN;
    CHECK(ft__kernel_predict(&e, NULL, &w, &f, NAN, &err) == FT_OK);
    CHECK(e.power.basis == FT_BASIS_UNAVAILABLE && isnan(e.energy.value));
    CHECK(e.time.low < e.time.value && e.time.value < e.time.high);
}

static void energy_is_power_times_time_and_below_the_cap(void)
{
    const ft_device_facts f = gpu_like("a", 80, 1.4e9, 900e9, 6e6, 7.0);

    for (double blocks = 1; blocks < 1e6; blocks *= 10) {
        const ft_kernel_work w = work_like(blocks, 1000);
        ft_kernel_estimate e;

        CHECK(ft__kernel_predict(&e, NULL, &w, &f, 1e-5, NULL) == FT_OK);
        CHECK_NEAR(e.energy.value, e.power.value * e.time.value, 1e-9);
        CHECK(e.power.value <= 200 && e.power.high <= 200 && e.power.low > 0);
        CHECK(e.ipc > 0 && e.ipc < 4);
        CHECK(blocks > 1 || strcmp(e.bound, "host") == 0);
    }
}

/* ---- learning ---- */

static double median_error(const struct rows *r, const ft_kernel_said *said)
{
    double *v = calloc(r->n + 1, sizeof(*v)), m;

    for (size_t i = 0; i < r->n; i++)
        v[i] = fabs(said[i].time_s / r->row[i].time_s - 1);
    m = ft__median(v, r->n);
    free(v);
    return m;
}

/* Bandwidth, slots and cycles others than the defaults. */
static ft__kernel_theta another(void)
{
    ft__kernel_theta t = ft__kernel_default();

    t.v[FT__K_memory_share] *= 0.8;
    t.v[FT__K_plain_slots] *= 1.5;
    t.v[FT__K_start_cycles] *= 1.6;
    return t;
}

static void constants_come_out_as_they_were_put_in(void)
{
    struct rows *r = calloc(1, sizeof(*r));
    ft_kernel_said *said = calloc(MOST_ROWS, sizeof(*said));
    const ft__kernel_theta theta = another();
    ft_kernels *k = NULL;

    make_rows(r, 5, 60, &theta, 0, 0.01);
    CHECK(ft__kernels_train(&k, r->row, r->n, &usual, NULL) == FT_OK);
    CHECK_NEAR(k->theta.v[FT__K_memory_share] / theta.v[FT__K_memory_share], 1, 0.03);
    CHECK_NEAR(k->theta.v[FT__K_plain_slots] / theta.v[FT__K_plain_slots], 1, 0.1);
    ft__kernels_free(k);
    make_rows(r, 4, 40, &theta, 0, 0.01);
    CHECK(ft_kernels_evaluate(said, r->row, r->n, FT_KERNELS_HOST_UNKNOWN, NULL, &usual,
                              NULL) == FT_OK);
    CHECK(median_error(r, said) < 0.02);
    for (size_t i = 0; i < r->n; i++)
        CHECK(said[i].low_s < said[i].time_s && said[i].time_s < said[i].high_s);
    free(said);
    free(r);
}

/* Calls cost 20 us on the first GPU and 1 us more on each that follows. */
static void a_host_is_known_by_one_of_its_calls(void)
{
    struct rows *r = calloc(1, sizeof(*r));
    ft_kernel_said *said = calloc(MOST_ROWS, sizeof(*said));
    const ft__kernel_theta theta = ft__kernel_default();
    double known, unknown;

    make_rows(r, 4, 40, &theta, 1, 0.01);
    CHECK(ft_kernels_evaluate(said, r->row, r->n, FT_KERNELS_HOST_ONE, "light", &usual,
                              NULL) == FT_OK);
    known = median_error(r, said);
    CHECK(ft_kernels_evaluate(said, r->row, r->n, FT_KERNELS_HOST_UNKNOWN, NULL, &usual,
                              NULL) == FT_OK);
    unknown = median_error(r, said);
    CHECK(known < 0.02 && known < unknown && unknown < 0.12);
    free(said);
    free(r);
}

/* Heavy kernels take 1.4 times what the estimate can say; other devices tell. */
static void what_the_estimate_misses_everywhere_is_learned(void)
{
    struct rows *r = calloc(1, sizeof(*r));
    ft_kernel_said *said = calloc(MOST_ROWS, sizeof(*said));
    const ft__kernel_theta theta = ft__kernel_default();
    double with = 0, without = 0;

    make_rows(r, 4, 40, &theta, 0, 0.01);
    for (size_t i = 0; i < r->n; i++)
        r->row[i].time_s *= strcmp(r->row[i].kernel, "middling") == 0 ? 1.4 : 1;
    CHECK(ft_kernels_evaluate(said, r->row, r->n, FT_KERNELS_HOST_UNKNOWN, NULL, &usual,
                              NULL) == FT_OK);
    for (size_t i = 0; i < r->n; i++) {
        with += fabs(log(said[i].time_s / r->row[i].time_s));
        without += fabs(log(said[i].physics_s / r->row[i].time_s));
    }
    CHECK(with < 0.8 * without);
    free(said);
    free(r);
}

static void a_file_says_what_was_learned(void)
{
    static const char path[] = "test_kernels.ftk";
    struct rows *r = calloc(1, sizeof(*r));
    const ft__kernel_theta theta = another();
    ft_kernels *k = NULL, *again = NULL;
    char bytes[4096];
    FILE *fp;
    size_t n;

    make_rows(r, 4, 40, &theta, 0, 0.2);
    CHECK(ft__kernels_train(&k, r->row, r->n, &usual, NULL) == FT_OK);
    CHECK(ft__kernels_save(k, path, NULL) == FT_OK);
    CHECK(ft__kernels_load(&again, path, NULL) == FT_OK);
    for (size_t i = 0; k && again && i < r->n; i += 7) {
        ft_kernel_estimate a, b;

        CHECK(ft__kernel_predict(&a, k, &r->row[i].work, &r->gpu[5], NAN, NULL) ==
              FT_OK);
        CHECK(ft__kernel_predict(&b, again, &r->row[i].work, &r->gpu[5], NAN, NULL) ==
              FT_OK);
        CHECK(memcmp(&a.time.value, &b.time.value, sizeof(double)) == 0);
        CHECK(memcmp(&a.time.high, &b.time.high, sizeof(double)) == 0);
    }
    ft__kernels_free(again);
    fp = fopen(path, "rb");
    n = fp ? fread(bytes, 1, sizeof(bytes), fp) : 0;
    for (size_t cut = 0; cut < n; cut += 37)
        CHECK(ft__kernels_load_image(&again, bytes, cut, NULL) == FT_EFORMAT);
    if (fp)
        fclose(fp);
    remove(path);
    CHECK(ft__kernels_load(&again, path, NULL) == FT_EIO);
    ft__kernels_free(k);
    free(r);
}

static void one_device_is_too_few(void)
{
    struct rows *r = calloc(1, sizeof(*r));
    const ft__kernel_theta theta = ft__kernel_default();
    ft_kernels *k = NULL;
    ft_error err = {0};

    make_rows(r, 1, 20, &theta, 0, 0);
    CHECK(ft__kernels_train(&k, r->row, r->n, &usual, &err) == FT_ENOTFOUND && !k);
    CHECK(strstr(err.msg, "one device") != NULL);
    r->row[3].time_s = 0;
    CHECK(ft__kernels_train(&k, r->row, r->n, &usual, &err) == FT_EINVAL && !k);
    CHECK(strstr(err.msg, "launch 4") != NULL);
    free(r);
}

static void a_launch_is_asked_about_as_it_was_counted(void)
{
    static const char text[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 x)\n{\n"
        ".reg .b64 %rd<3>; .reg .f32 %f<2>;\nld.param.u64 %rd1, [x];\n"
        "cvta.to.global.u64 %rd2, %rd1;\nld.global.f32 %f1, [%rd2];\n"
        "st.global.f32 [%rd2], %f1;\nret;\n}\n";
    const ft_device_facts gpu = gpu_like("a", 80, 1.4e9, 900e9, 6e6, 7.0);
    struct {
        ft_kernel_query q;
        uint64_t later;
    } longer = {.q = FT_KERNEL_QUERY_INIT};
    ft_kernel_query *q = &longer.q;
    ft_ptx_counts counts = {.blocks = 1000, .warps = 4000, .threads = 128000};
    ft_kernel_estimate given, found;
    ft_error err = {0};
    uint32_t registers;
    ft_ptx *m;

    CHECK(ft__ptx_parse(&m, text, sizeof(text) - 1, "k", NULL) == FT_OK);
    CHECK(ft_kernel_ask(&given, NULL, q, &err) == FT_EINVAL);
    CHECK(strstr(err.msg, "missing"));
    q->device = &gpu;
    q->module = m;
    q->counts = &counts;
    CHECK(ft_kernel_ask(&found, &registers, q, NULL) == FT_OK);
    CHECK(registers > 0 && registers < 32);
    CHECK(found.time.low < found.time.value && found.time.value < found.time.high);
    q->registers = registers;
    longer.q.size = sizeof(longer);
    CHECK(ft_kernel_ask(&given, NULL, q, NULL) == FT_OK);
    CHECK_NEAR(given.time.value, found.time.value, 0);
    longer.later = 1;
    CHECK(ft_kernel_ask(&given, NULL, q, NULL) == FT_EINVAL);
    ft__ptx_free(m);
}

int main(void)
{
    nothing_takes_as_long_as_a_launch();
    what_streams_takes_its_bytes_over_the_bandwidth();
    blocks_that_an_sm_holds_are_those_of_the_calculator();
    more_work_never_takes_less();
    what_blocks_read_again_comes_from_the_cache_while_it_is_there();
    the_host_is_waited_for_and_so_is_the_device();
    counts_become_work();
    what_cannot_be_asked_is_refused_in_a_sentence();
    a_launch_is_asked_about_as_it_was_counted();
    energy_is_power_times_time_and_below_the_cap();
    constants_come_out_as_they_were_put_in();
    a_host_is_known_by_one_of_its_calls();
    what_the_estimate_misses_everywhere_is_learned();
    a_file_says_what_was_learned();
    one_device_is_too_few();
    CHECK_DONE();
}
