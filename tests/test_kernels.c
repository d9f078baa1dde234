/* Times of kernels: laws that the estimate has to obey, limits known by hand, and
 * constants and corrections that were put into made-up measurements and have to come
 * out again. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "check.h"
#include "kernel_rows.h"
#include "predict/file/predictor.h"
#include "predict/train/train.h"
#include "ptx/ptx_inside.h"

static const ft__kernels_options usual = {.seed = 1, .threads = 1};

static ft__gpu volta(void)
{
    ft_device_facts f = gpu_like("a", 80, 1.4e9, 900e9, 6e6, 7.0);
    ft__gpu g;

    CHECK_EQ(ft__gpu_make(&g, &f, NULL), FT_OK);
    return g;
}

static ft_kernel_terms terms_of(const ft__kernel_work *w)
{
    const ft__kernel_params theta = ft__kernel_default();
    ft__gpu g = volta();
    ft_kernel_terms t;

    ft__kernel_cost(&t, w, &g, &theta);
    return t;
}

TEST(nothing_takes_as_long_as_a_launch)
{
    const ft__kernel_work w = {.blocks = 1, .warps = 1, .threads = 32};
    ft_kernel_terms t = terms_of(&w);

    CHECK_NEAR(t.device_s, t.launch_s + t.latency_s, 1e-12);
    CHECK(CMP(t.latency_s, <, 2e-6));
}

TEST(what_streams_takes_its_bytes_over_the_bandwidth)
{
    const ft__kernel_params theta = ft__kernel_default();
    const double share = theta.v[FT__K_memory_share] * theta.v[FT__K_stacked_share];
    ft__kernel_work w = work_like(1e6, 2);
    ft_kernel_terms t = terms_of(&w);

    CHECK_NEAR(t.memory_s, 32 * 128e6 / (900e9 * share), 1e-9);
    CHECK(CMP(t.device_s, >=, t.memory_s) && CMP(t.device_s, <, 1.2 * t.memory_s));
}

/* As the occupancy calculator has it, on an SM of 64 warps and 64 Ki registers. */
TEST(blocks_that_an_sm_holds_are_those_of_the_calculator)
{
    static const struct {
        double threads, registers, shared, blocks;
    } cases[] = {
        {128, 16, 0, 16},    {128, 37, 0, 12}, {256, 64, 0, 4}, {1024, 64, 0, 1},
        {32, 16, 0, 32},     {128, 255, 0, 2}, {64, 32, 0, 32}, {128, 16, 12288, 8},
        {128, 16, 49152, 2}, {96, 40, 0, 16},  {512, 42, 0, 2},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const ft__kernel_work w = {.blocks = 1000,
                                   .warps = 1000 * cases[i].threads / 32,
                                   .threads = 1000 * cases[i].threads,
                                   .registers = cases[i].registers,
                                   .shared_bytes = cases[i].shared};

        CHECK_NEAR(terms_of(&w).resident, cases[i].blocks, 0);
    }
}

/* No resource that is asked for more makes a kernel faster. */
TEST(more_work_never_takes_less)
{
    for (int what = 0; what < 8; what++) {
        double before = 0;

        for (double much = 1; much < 1e4; much *= 3) {
            ft__kernel_work w = work_like(5000, 20);

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
            CHECK(CMP(terms_of(&w).device_s, >=, before));
            before = terms_of(&w).device_s;
        }
    }
}

TEST(what_blocks_read_again_comes_from_the_cache_while_it_is_there)
{
    for (double row = 64; row < 1e6; row *= 4) {
        const double blocks = 1e5;
        ft__kernel_work w = {
            .blocks = blocks, .warps = 4 * blocks, .threads = 128 * blocks};
        ft_kernel_terms t;

        w.loaded_bytes = 3 * row * blocks;
        w.stored_bytes = row * blocks;
        w.block_bytes = w.distinct_bytes = 2 * row * blocks;
        t = terms_of(&w);
        CHECK(CMP(row, >, 512) || CMP(t.hit, >, 0.99));
        CHECK(CMP(row, <, 3e4) || CMP(t.hit, <, 0.01));
    }
}

TEST(the_host_is_waited_for_and_so_is_the_device)
{
    const ft__kernel_params theta = ft__kernel_default();
    const double begin = theta.v[FT__K_begin_share];
    ft_kernel_terms t = {.device_s = 1e-6};

    CHECK_NEAR(ft__kernel_time(&t, 30e-6, &theta), 30e-6, 1e-7);
    CHECK_NEAR(ft__kernel_time(&t, NAN, &theta), 1e-6, 0);
    t.device_s = 1e-3;
    CHECK_NEAR(ft__kernel_time(&t, 30e-6, &theta), 1e-3 + begin * 30e-6, 1e-7);
}

TEST(counts_become_work)
{
    ft_ptx_counts c = {.blocks = 10, .warps = 40, .threads = 1280};
    const ft__kernel_space space = {.registers = 20,
                                    .shared_bytes = 99,
                                    .distinct_bytes = 1000,
                                    .block_bytes = 150};
    const ft__kernel_space nothing = {0};
    ft__kernel_work w;

    c.warp[FT_PTX_INT].value = 80;
    c.on[FT_PTX_INT].value = 1280;
    c.bytes[FT_PTX_GLOBAL][FT_PTX_LOADED].value = 4000;
    c.bytes[FT_PTX_GENERIC][FT_PTX_STORED].value = 500;
    c.distinct[FT_PTX_LOADED] = 125;
    ft__kernel_work_make(&w, &c, &space);
    CHECK_NEAR(w.lanes, 16, 0);
    CHECK_NEAR(w.loaded_bytes, 4000, 0);
    CHECK_NEAR(w.stored_bytes, 500, 0);
    CHECK_NEAR(w.block_bytes, 1500, 0);
    CHECK_NEAR(w.distinct_bytes, 1000, 0);
    CHECK_NEAR(w.registers, 20, 0);
    ft__kernel_work_make(&w, &c, &nothing);
    CHECK_NEAR(w.distinct_bytes, 4500, 0);
    c.distinct[FT_PTX_LOADED] = 1000; /* an eighth of each sector is read */
    ft__kernel_work_make(&w, &c, &nothing);
    CHECK_NEAR(w.distinct_bytes, 32500, 0);
    CHECK_NEAR(w.registers, 32, 0);
}

/* 80 MB of sectors, of which an L2 of 6 MB may have had some, at 900 GB/s. */
TEST(no_interval_begins_below_what_memory_moves)
{
    const ft_device_facts f = gpu_like("a", 80, 1.4e9, 900e9, 6e6, 7.0);
    const ft__kernel_space nothing = {0};
    ft_ptx_counts c = {.blocks = 10000, .warps = 80000, .threads = 2560000, .exact = 1};
    ft__kernel_work w;
    ft_kernel_estimate e;

    c.bytes[FT_PTX_GLOBAL][FT_PTX_LOADED].value = 10000000;
    c.sectors[FT_PTX_LOADED] = (ft_ptx_tally){2500000, 2500000, 2500000};
    c.distinct[FT_PTX_LOADED] = 2500000;
    ft__kernel_work_make(&w, &c, &nothing);
    CHECK_EQ(ft__kernel_predict(&e, NULL, &w, &f, "k", NULL, NULL), FT_OK);
    CHECK_NEAR(e.time.low, 74e6 / 900e9, 1e-9);
    CHECK(CMP(e.time.low, <, e.time.value));
    c.sectors[FT_PTX_LOADED].high++; /* nobody knows which */
    ft__kernel_work_make(&w, &c, &nothing);
    CHECK_EQ(ft__kernel_predict(&e, NULL, &w, &f, "k", NULL, NULL), FT_OK);
    CHECK(CMP(e.time.low, <, 70e6 / 900e9));
}

TEST(what_cannot_be_asked_is_refused_in_a_sentence)
{
    ft_device_facts f = gpu_like("a", 80, 1.4e9, 900e9, 6e6, 7.0);
    const ft__kernel_work w = work_like(100, 5);
    ft_kernel_estimate e;
    ft_error err = {0};

    f.bandwidth_bytes_per_s = NAN;
    CHECK_EQ(ft__kernel_predict(&e, NULL, &w, &f, "k", NULL, &err), FT_ENOTFOUND);
    CHECK(HAS(err.msg, "bandwidth"));
    f.vendor = "AMD";
    CHECK_EQ(ft__kernel_predict(&e, NULL, &w, &f, "k", NULL, &err), FT_EUNSUPPORTED);
    CHECK(HAS(err.msg, "NVIDIA"));
    f = gpu_like("a", 80, 1.4e9, 900e9, 6e6, 7.0);
    f.tdp_w = NAN;
    CHECK_EQ(ft__kernel_predict(&e, NULL, &w, &f, "k", NULL, &err), FT_OK);
    CHECK(EQ(e.power.basis, FT_BASIS_UNAVAILABLE) && isnan(e.energy.value));
    CHECK(CMP(e.time.low, <, e.time.value) && CMP(e.time.value, <, e.time.high));
}

TEST(energy_is_power_times_time_and_below_the_cap)
{
    const ft_device_facts f = gpu_like("a", 80, 1.4e9, 900e9, 6e6, 7.0);

    for (double blocks = 1; blocks < 1e6; blocks *= 10) {
        const ft__kernel_work w = work_like(blocks, 1000);
        ft_kernel_estimate e;

        CHECK_EQ(ft__kernel_predict(&e, NULL, &w, &f, "k", NULL, NULL), FT_OK);
        CHECK_NEAR(e.energy.value, e.power.value * e.time.value, 1e-9);
        CHECK(CMP(e.power.value, <=, 200) && CMP(e.power.high, <=, 200) &&
              CMP(e.power.low, >, 0));
        CHECK(CMP(e.ipc, >, 0) && CMP(e.ipc, <, 4));
        CHECK(isnan(e.call_s) && !SAME(e.bound, "host"));
    }
}

struct trial {
    double error, physics; /* medians, of rows left out */
    size_t n, covered;
};

/* Each device (kernel) left out once, and asked. */
static struct trial leave_out(const struct rows *r, bool kernels)
{
    uint32_t *use = calloc(r->n + 1, sizeof(*use));
    double *v = calloc(2 * r->n + 2, sizeof(*v)), *physics = v + r->n + 1;
    struct trial t = {0};

    for (size_t first = 0; first < r->n; first++) {
        const ft__kernel_row *out = &r->row[first];
        ft__kernel_models *k = NULL;
        size_t n = 0;
        bool seen = false;

        for (size_t i = 0; i < r->n; i++)
            if (kernels ? r->row[i].kernel != out->kernel
                        : r->row[i].device != out->device)
                use[n++] = (uint32_t)i;
            else
                seen = seen || i < first;
        if (seen)
            continue;
        CHECK_EQ(ft__kernels_train(&k, r->row, use, n, &usual, NULL), FT_OK);
        for (size_t i = 0; i < r->n; i++) {
            const ft__kernel_row *w = &r->row[i];
            ft_kernel_estimate e;

            if (kernels ? w->kernel != out->kernel : w->device != out->device)
                continue;
            CHECK_EQ(ft__kernel_predict(&e, k, &w->work, w->device, w->kernel, w->call,
                                        NULL),
                     FT_OK);
            CHECK(CMP(e.time.low, <=, e.time.value) &&
                  CMP(e.time.value, <=, e.time.high));
            CHECK_EQ(e.time.basis, (kernels ? FT_BASIS_LEARNED : FT_BASIS_SCALED));
            t.covered += e.time.low <= w->time_s && w->time_s <= e.time.high;
            v[t.n] = fabs(e.time.value / w->time_s - 1);
            physics[t.n++] = fabs(e.physics_s / w->time_s - 1);
        }
        ft__kernels_free(k);
    }
    t.error = ft__median(v, t.n);
    t.physics = ft__median(physics, t.n);
    free(v);
    free(use);
    return t;
}

/* Bandwidth, slots and cycles others than the defaults. */
static ft__kernel_params another(void)
{
    ft__kernel_params t = ft__kernel_default();

    t.v[FT__K_memory_share] *= 0.8;
    t.v[FT__K_plain_slots] *= 1.5;
    t.v[FT__K_start_cycles] *= 1.6;
    return t;
}

TEST(constants_come_out_as_they_were_put_in)
{
    struct rows *r = calloc(1, sizeof(*r));
    const ft__kernel_params theta = another();
    ft__kernel_models *k = NULL;

    make_rows(r, 5, 60, &theta, 0, 0.01);
    CHECK_EQ(ft__kernels_train(&k, r->row, NULL, r->n, &usual, NULL), FT_OK);
    CHECK_NEAR(k->params.v[FT__K_memory_share] / theta.v[FT__K_memory_share], 1, 0.03);
    CHECK_NEAR(k->params.v[FT__K_plain_slots] / theta.v[FT__K_plain_slots], 1, 0.1);
    ft__kernels_free(k);
    make_rows(r, 4, 40, &theta, 0, 0.01);
    CHECK(CMP(leave_out(r, false).error, <, 0.02));
    free(r);
}

/* Calls cost 20 us on the first GPU and 1 us more on each that follows. */
TEST(a_host_is_known_by_its_calls)
{
    struct rows *r = calloc(1, sizeof(*r));
    const ft__kernel_params theta = ft__kernel_default();
    struct trial known, unknown;
    ft__kernel_models *k = NULL;

    make_rows(r, 4, 40, &theta, 1, 0.01);
    known = leave_out(r, true);
    unknown = leave_out(r, false);
    CHECK(CMP(known.error, <, 0.02));
    CHECK(CMP(known.error, <, unknown.error) && CMP(unknown.error, <, 0.12));
    CHECK_EQ(ft__kernels_train(&k, r->row, NULL, r->n, &usual, NULL), FT_OK);
    CHECK_NEAR(ft__hosts_call(k, "b", "light").call_s, 21e-6, 1e-6);
    CHECK_NEAR(ft__hosts_call(k, "b", "light").high, 0, 0);
    CHECK_NEAR(ft__hosts_call(k, "b", "new").call_s, 21e-6, 1e-6);
    CHECK(CMP(ft__hosts_call(k, "new", "light").high, >, 0.01));
    ft__kernels_free(k);
    make_rows(r, 4, 40, &theta, 0, 0.01);
    CHECK_EQ(ft__kernels_train(&k, r->row, NULL, r->n, &usual, NULL), FT_OK);
    CHECK(isnan(ft__hosts_call(k, "b", "light").call_s));
    ft__kernels_free(k);
    free(r);
}

/* Heavy kernels take 1.4 times what the estimate can say; other devices tell. */
TEST(what_the_estimate_misses_everywhere_is_learned)
{
    struct rows *r = calloc(1, sizeof(*r));
    const ft__kernel_params theta = ft__kernel_default();
    struct trial t;

    make_rows(r, 4, 40, &theta, 0, 0.01);
    for (size_t i = 0; i < r->n; i++)
        r->row[i].time_s *= strcmp(r->row[i].kernel, "middling") == 0 ? 1.4 : 1;
    t = leave_out(r, false);
    CHECK(CMP(t.error, <, 0.8 * t.physics));
    free(r);
}

/* What is new in two ways is less sure than what is in one. */
TEST(a_new_kernel_on_a_new_device_is_less_sure)
{
    struct rows *r = calloc(1, sizeof(*r));
    const ft__kernel_params theta = another();
    const ft__kernel_work w = work_like(3000, 100);
    ft_kernel_estimate known, both;
    ft__kernel_models *k = NULL;

    make_rows(r, 4, 40, &theta, 0, 0.2);
    CHECK_EQ(ft__kernels_train(&k, r->row, NULL, r->n, &usual, NULL), FT_OK);
    CHECK_EQ(ft__kernel_predict(&known, k, &w, &r->gpu[5], "light", NULL, NULL), FT_OK);
    CHECK_EQ(ft__kernel_predict(&both, k, &w, &r->gpu[5], "new", NULL, NULL), FT_OK);
    CHECK_NEAR(both.time.value, known.time.value, 0);
    CHECK(CMP(both.time.high, >, known.time.high) &&
          CMP(both.time.low, <, known.time.low));
    ft__kernels_free(k);
    free(r);
}

/* Whatever stands in a section is refused, or answers. */
static void damage(const struct rows *r, const unsigned char *section, size_t bytes)
{
    unsigned char *own = aligned_alloc(64, (bytes + 63) / 64 * 64);
    ft__kernel_models *k = NULL;
    ft_kernel_estimate e;

    for (size_t cut = 0; cut < bytes; cut += 192) {
        memcpy(own, section, bytes);
        CHECK(EQ(ft__kernels_open(&k, own, cut, 0, NULL), FT_EFORMAT) && !k);
    }
    for (size_t at = 0; at < bytes && at < 8192; at += 4) {
        memcpy(own, section, bytes);
        memset(own + at, 0xff, 4);
        if (ft__kernels_open(&k, own, bytes, 0, NULL))
            continue;
        CHECK_EQ(ft__kernel_predict(&e, k, &r->row[0].work, &r->gpu[5], "light",
                                    "light", NULL),
                 FT_OK);
        ft__kernels_free(k);
        k = NULL;
    }
    free(own);
}

TEST(a_predictor_file_says_what_was_learned)
{
    static const char path[] = "test_kernels.ftp";
    struct rows *r = calloc(1, sizeof(*r));
    const ft__kernel_params theta = another();
    ft_predictor *p = NULL, *again = NULL;
    ft_predictor_info info;
    ft_regressor_info one;

    make_rows(r, 4, 40, &theta, 1, 0.2);
    CHECK_EQ(ft__family_of_kernels(&p, r->row, NULL, r->n, &usual, NULL), FT_OK);
    CHECK_EQ(ft_predictor_save(p, path, NULL), FT_OK);
    CHECK_EQ(ft_predictor_load(&again, path, NULL), FT_OK);
    for (size_t i = 0; p && again && i < r->n; i += 7) {
        const ft__kernel_row *w = &r->row[i];
        ft_kernel_estimate a, b;

        for (int device = 3; device < 6; device += 2) {
            CHECK_EQ(ft__kernel_predict(&a, p->family->kernels, &w->work,
                                        &r->gpu[device], w->kernel, w->call, NULL),
                     FT_OK);
            CHECK_EQ(ft__kernel_predict(&b, again->family->kernels, &w->work,
                                        &r->gpu[device], w->kernel, w->call, NULL),
                     FT_OK);
            CHECK(BYTES(&a.time, &b.time, offsetof(ft_estimate, basis)));
        }
    }
    ft_predictor_get_info(again, &info);
    CHECK(EQ(info.n_launches, r->n) && EQ(info.n_datasets, 4) &&
          EQ(info.n_regressors, 2));
    for (uint32_t i = 0; i < 2; i++) {
        ft_predictor_regressor(again, i, &one);
        CHECK(SAME(one.kind, "kernel") && EQ(one.unseen, (i == 1)));
        CHECK(CMP(one.forest.n, >, 0) && CMP(one.forest.mape, <, 0.3) &&
              CMP(one.roofline.mape, <, 0.3));
    }
    damage(r, again->family->kernels->section, again->family->kernels->bytes);
    ft_predictor_free(again);
    ft_predictor_free(p);
    remove(path);
    free(r);
}

TEST(one_kernel_on_one_gpu_is_too_few)
{
    struct rows *r = calloc(1, sizeof(*r));
    const ft__kernel_params theta = ft__kernel_default();
    ft__kernel_models *k = NULL;
    ft_kernel_estimate e, plain;
    ft_error err = {0};

    make_rows(r, 1, 20, &theta, 0, 0);
    CHECK(EQ(ft__kernels_train(&k, r->row, NULL, 20, &usual, &err), FT_ENOTFOUND) &&
          !k);
    CHECK(HAS(err.msg, "one kernel on one GPU"));
    /* Of several kernels there it says nothing of other GPUs. */
    CHECK_EQ(ft__kernels_train(&k, r->row, NULL, r->n, &usual, &err), FT_OK);
    CHECK_EQ(
        ft__kernel_predict(&e, k, &r->row[0].work, &r->gpu[0], "light", NULL, NULL),
        FT_OK);
    CHECK_EQ(e.time.basis, FT_BASIS_LEARNED);
    CHECK_EQ(
        ft__kernel_predict(&e, k, &r->row[0].work, &r->gpu[5], "light", NULL, NULL),
        FT_OK);
    CHECK_EQ(ft__kernel_predict(&plain, NULL, &r->row[0].work, &r->gpu[5], "light",
                                NULL, NULL),
             FT_OK);
    CHECK_NEAR(e.time.value, plain.time.value, 0);
    ft__kernels_free(k);
    r->row[3].time_s = 0;
    k = NULL;
    CHECK(EQ(ft__kernels_train(&k, r->row, NULL, r->n, &usual, &err), FT_EINVAL) && !k);
    CHECK(HAS(err.msg, "launch 4"));
    free(r);
}

TEST(a_launch_is_asked_about_as_it_was_counted)
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
    ft_ptx_listed v = {0};
    ft_ptx *m;

    CHECK_EQ(ft__ptx_parse(&m, text, sizeof(text) - 1, "k", NULL), FT_OK);
    v.module = m;
    v.kernel = ft_ptx_get(m)->kernel;
    CHECK_EQ(ft_kernel_ask(&given, NULL, q, &err), FT_EINVAL);
    CHECK(HAS(err.msg, "missing"));
    q->device = &gpu;
    q->launch = &v;
    q->counts = &counts;
    CHECK_EQ(ft_kernel_ask(&found, NULL, q, NULL), FT_OK);
    CHECK(CMP(found.registers, >, 0) && CMP(found.registers, <, 32) &&
          !*found.predictor);
    CHECK(CMP(found.time.low, <, found.time.value) &&
          CMP(found.time.value, <, found.time.high));
    v.registers = (uint32_t)found.registers;
    longer.q.size = sizeof(longer);
    CHECK_EQ(ft_kernel_ask(&given, NULL, q, NULL), FT_OK);
    CHECK_NEAR(given.time.value, found.time.value, 0);
    q->method = "roofline";
    CHECK_EQ(ft_kernel_ask(&given, NULL, q, NULL), FT_EINVAL);
    q->method = NULL;
    longer.later = 1;
    CHECK_EQ(ft_kernel_ask(&given, NULL, q, NULL), FT_EINVAL);
    ft__ptx_free(m);
}
