/* Predictions of devices that nobody measured: predictors asked about GPUs of the same
 * chip, of other makers, and about processors. What devices take is simulated, by
 * blocks of products on their cores; the simulation knows no formula of the estimate's.
 */
#include "base/prng.h"
#include "predict/query/network.h"
#include "unseen_rig.h"

enum { MANY_OPS = 400 };

static void make_op(ft_op *op, uint64_t seed, const char *dtype)
{
    ft__prng p = ft__prng_stream(seed, 0);
    const unsigned a = 64 + ft__prng_below(&p, 2000), b = 64 + ft__prng_below(&p, 2000),
                   n = 64 + ft__prng_below(&p, 4000);
    char spec[200];

    snprintf(spec, sizeof(spec), "linear x=%ux%u out=%u dtype=%s", n, a, b, dtype);
    CHECK_EQ(ft_op_parse(op, spec, strlen(spec), NULL), FT_OK);
}

/* What GPUs do, block by block. */

enum { SIDE = 64, SLICE = 32, MOST_CORES = 256 };

/* A block of a product: its slices are loaded, then multiplied, one while the other is
 * under way; no two take the same time. */
static double block_s(ft__prng *rng, const ft_device_facts *d, unsigned depth,
                      double peak, double bytes)
{
    const double multiply = 2. * SIDE * SIDE * SLICE / (0.8 * peak / d->cores),
                 load = 2. * SIDE * SLICE * bytes /
                        (2 * d->bandwidth_bytes_per_s / d->cores);
    double s = 500e-9;

    for (unsigned k = 0; k < depth; k += SLICE)
        s += fmax(multiply, load) * (0.9 + 0.2 * ft__prng_unit(rng));
    return s;
}

/* Each core takes the next block when it has done the one before; operands and results
 * go through memory once at least. */
static double simulated_s(const ft_op *op, const ft_device *device)
{
    const ft_device_facts *d = ft_device_get(device);
    const unsigned rows = (unsigned)ft_op_at(op, FT_K_x, 0),
                   depth = (unsigned)ft_op_at(op, FT_K_x, 1),
                   cols = (unsigned)ft_op_at(op, FT_K_out, 0);
    const bool narrow = op->dtype == FT_DTYPE_int8;
    const double bytes = narrow ? 1 : 4, peak = narrow ? d->peak_int8 : d->peak_fp32;
    ft__prng rng = ft__prng_stream(rows, depth + ((uint64_t)cols << 32));
    double core_s[MOST_CORES] = {0}, last_s = 0;

    for (unsigned b = (rows + SIDE - 1) / SIDE * ((cols + SIDE - 1) / SIDE); b > 0;
         b--) {
        unsigned first = 0;

        for (unsigned c = 1; c < (unsigned)d->cores && c < MOST_CORES; c++)
            first = core_s[c] < core_s[first] ? c : first;
        core_s[first] += block_s(&rng, d, depth, peak, bytes);
        last_s = fmax(last_s, core_s[first]);
    }
    return 5e-6 + fmax(last_s, bytes *
                                   ((double)rows * depth + (double)depth * cols +
                                    (double)rows * cols) /
                                   (0.85 * d->bandwidth_bytes_per_s));
}

/* n operations of the type take so many times what is simulated, and every other one
 * `odd` times that. */
static void fill_odd(ft_store *s, const char *device, const char *setting,
                     const char *dtype, int n, double times, double odd)
{
    ft_device *d;

    CHECK_EQ(ft_device_load(&d, data_dir, device, NULL), FT_OK);
    for (int i = 0; i < n; i++) {
        char spec[1024];
        ft_op op;

        make_op(&op, (uint64_t)i, dtype);
        ft_op_print(&op, spec, sizeof(spec));
        put(s, device, setting, spec, times * (i % 2 ? odd : 1) * simulated_s(&op, d));
    }
    ft_device_free(d);
}

static void fill(ft_store *s, const char *device, const char *setting,
                 const char *dtype, int n, double times)
{
    fill_odd(s, device, setting, dtype, n, times, 1);
}

/* Of three GPUs, which take so many times as long. */
static ft_predictor *trained(double t4, double v100, double h100)
{
    ft_store *s = empty();

    fill(s, "t4", "", "fp32", N_OPS, t4);
    fill(s, "v100-sxm2-16gb", "", "fp32", N_OPS, v100);
    fill(s, "h100-sxm", "", "fp32", N_OPS, h100);
    return trained_by(s);
}

/* The prediction of an operation, and its simulated time. */
static ft__op_answer asked(const ft_predictor *p, const char *device, const ft_op *op,
                           double *there_s)
{
    ft_device *d;

    CHECK_EQ(ft_device_load(&d, data_dir, device, NULL), FT_OK);
    *there_s = simulated_s(op, d);
    ft_device_free(d);
    return answer_to(p, device, "", op);
}

/* Products that nothing was learned from. */
static void make_new_op(ft_op *op, uint64_t i, const char *dtype)
{
    make_op(op, 1000 + i, dtype);
}

enum { COMPARED = 20 };

/* What becomes of answers where all known GPUs take three times as long (log). */
static double change_by_slow_gpus(const ft_predictor *plain, const ft_predictor *slow,
                                  const char *device)
{
    double sum = 0;

    for (uint64_t i = 0; i < COMPARED; i++) {
        double there_s;
        ft__op_answer before, after;
        ft_op op;

        make_new_op(&op, i, "fp32");
        before = asked(plain, device, &op, &there_s);
        after = asked(slow, device, &op, &there_s);
        CHECK(CMP(after.high / after.value, >, 1.64));
        sum += log(after.value / before.value);
    }
    return sum / COMPARED;
}

/* They are of NVIDIA, as the L4 is. */
TEST(another_maker_s_gpu_takes_over_about_half_of_what_known_ones_show)
{
    ft_predictor *plain = trained(1, 1, 1), *slow = trained(3, 3, 3);
    const double same = change_by_slow_gpus(plain, slow, "l4"),
                 another = change_by_slow_gpus(plain, slow, "mi100");

    CHECK(CMP(same, >, log(1.7)) && CMP(same, <, log(3.1)));
    CHECK(CMP(another, >, 0.2 * same) && CMP(another, <, 0.6 * same));
    ft_predictor_free(plain);
    ft_predictor_free(slow);
}

/* Devices differ between makers, beside how chips of one do. */
TEST(another_maker_s_gpu_may_be_further_off_than_any_of_one)
{
    ft_predictor *p = trained(1, 1.5, 2.25);
    double reach[2];
    ft_op op;

    make_new_op(&op, 0, "fp32");
    for (int i = 0; i < 2; i++) {
        const ft__op_answer a = answer_to(p, i ? "mi100" : "l4", "run_mode=graph", &op);

        reach[i] = log(a.high / a.value);
    }
    CHECK_NEAR(reach[1], hypot(reach[0], 0.4), 0.02);
    ft_predictor_free(p);
}

TEST(gpus_tell_nothing_of_a_processor)
{
    ft_predictor *plain = trained(1, 1, 1), *slow = trained(3, 3, 3);
    double there_s;
    ft__op_answer a, b;
    ft_op op;

    make_new_op(&op, 0, "fp32");
    a = asked(plain, "xeon-phi-7250", &op, &there_s);
    b = asked(slow, "xeon-phi-7250", &op, &there_s);
    CHECK_NEAR(b.value / a.value, 1, 1e-6);
    CHECK_NEAR(b.high / b.value, 3, 1e-6);
    CHECK_NEAR(b.value / b.low, 3, 1e-6);
    ft_predictor_free(plain);
    ft_predictor_free(slow);
}

/* Of so many simulated operations nine tenths are to lie within intervals. */
enum { ASKED = 40 };

/* On an H200, of which the H100 has the chip. */
TEST(what_a_device_of_the_chip_measured_is_sure)
{
    ft_predictor *p = trained(1, 2, 1);
    int within = 0;

    for (uint64_t i = 0; i < ASKED; i++) {
        double there_s;
        ft__op_answer known, other;
        ft_op op;

        make_new_op(&op, i, "fp32");
        other = asked(p, "h200-sxm", &op, &there_s);
        make_op(&op, i, "fp32");
        known = asked(p, "h200-sxm", &op, &there_s);
        CHECK(CMP(known.high / known.low, <, 1.3 * 1.3 + 1e-6));
        CHECK(CMP(known.high / known.low, <, other.high / other.low));
        within += known.low <= there_s && there_s <= known.high;
    }
    CHECK(CMP(within, >=, 0.9 * ASKED));
    ft_predictor_free(p);
}

/* Where the host's launch hides what the device does, its time counts alone: of hosts
 * that lie apart by a factor of two, more than of the host's share of the time. */
TEST(what_waits_for_the_host_may_take_as_much_longer_as_hosts_do)
{
    static const char small[] = "linear x=64x64 out=64 dtype=fp32";
    ft_predictor *p = trained(1, 1, 1);
    const ft__op_answer eager = asked_of(p, "l4", "", small),
                        graph = asked_of(p, "l4", "run_mode=graph", small);
    const double all = log(eager.high / eager.value),
                 device = log(graph.high / graph.value);

    CHECK(CMP(sqrt(all * all - device * device), >, 0.6));
    ft_predictor_free(p);
}

/* Of operations on an L4, in the mean. */
static double width(const ft_predictor *p)
{
    double sum = 0;

    for (uint64_t i = 0; i < COMPARED; i++) {
        double there_s;
        ft__op_answer a;
        ft_op op;

        make_new_op(&op, i, "fp32");
        a = asked(p, "l4", &op, &there_s);
        sum += log(a.high / a.low);
    }
    return exp(sum / COMPARED);
}

TEST(intervals_are_as_wide_as_chips_lie_apart)
{
    ft_predictor *alike = trained(1.5, 1.5, 1.5), *apart = trained(1, 1.5, 2.25);

    CHECK(CMP(width(alike), <, 5));
    CHECK(CMP(width(apart), >, 2 * width(alike)));
    ft_predictor_free(alike);
    ft_predictor_free(apart);
}

/* Eight rows of a second chip do not tell how far chips lie apart. */
TEST(one_chip_with_rows_enough_tells_nothing_of_others)
{
    ft_store *s = empty();
    ft_predictor *p;

    fill(s, "t4", "", "fp32", N_OPS, 1.5);
    fill(s, "v100-sxm2-16gb", "", "fp32", 8, 1.5);
    p = trained_by(s);
    /* As far off as any, and so may be the one that is known. */
    CHECK(CMP(width(p), >=, pow(FT__LEAST_REACH, 2 * sqrt(2))));
    ft_predictor_free(p);
}

/* A chip whose 16-bit products scatter: that is other arithmetic. */
TEST(rows_of_another_width_widen_nothing)
{
    ft_predictor *plain = trained(1.5, 1.5, 1.5), *beside;
    ft_store *s = empty();

    fill(s, "t4", "", "fp32", N_OPS, 1.5);
    fill(s, "v100-sxm2-16gb", "", "fp32", N_OPS, 1.5);
    fill(s, "h100-sxm", "", "fp32", N_OPS, 1.5);
    fill_odd(s, "v100-sxm2-16gb", "", "fp16", N_OPS / 2, 1.5, 20);
    beside = trained_by(s);
    CHECK(CMP(width(beside), <, 1.3 * width(plain)));
    ft_predictor_free(plain);
    ft_predictor_free(beside);
}

/* One of three chips scatters by a factor of 20. A third of that is what the three do
 * in the mean; the root mean square is 1.7 times as much. */
TEST(one_chip_that_scatters_counts_as_one)
{
    ft_store *s = empty();
    ft_predictor *p;

    fill(s, "t4", "", "fp32", N_OPS, 1.5);
    fill(s, "v100-sxm2-16gb", "", "fp32", N_OPS, 1.5);
    fill_odd(s, "h100-sxm", "", "fp32", N_OPS, 1.5, 20);
    p = trained_by(s);
    CHECK(CMP(log(width(p)), <, 0.8 * log(20)));
    ft_predictor_free(p);
}

/* One of twenty rows is off by a factor of 20: that another is as likely is not sure.
 */
TEST(few_rows_do_not_show_the_rarest)
{
    static const char *const gpu[] = {"t4", "v100-sxm2-16gb", "h100-sxm"};
    double found[2];

    for (int odd = 0; odd < 2; odd++) {
        ft_store *s = empty();
        ft_predictor *p;

        for (int g = 0; g < 3; g++) {
            fill(s, gpu[g], "", "fp32", 20, 1.5);
            fill(s, gpu[g], "", "fp32", 1, odd ? 30 : 1.5);
        }
        p = trained_by(s);
        found[odd] = width(p);
        ft_predictor_free(p);
    }
    CHECK(CMP(found[1], >, 3 * found[0]));
}

/* Operations on an L4 in a setting, corrected by what the store measured there, which
 * is closed, and in times of what is simulated; by how many rows. */
static uint32_t correct(ft__op_answer *a, double *times, const ft_predictor *p,
                        ft_store *s, const char *setting, const ft_op *op, size_t n)
{
    ft__dataset on = {.device = (char *)"l4",
                      .setting = (char *)setting,
                      .policy = (char *)"ieee",
                      .engine = (char *)"torch",
                      .engine_version = (char *)"2.3"};
    ft__calibration_set *known = NULL;
    uint32_t n_used;

    CHECK_EQ(ft__calibration_set_read(&known, s, NULL), FT_OK);
    ft_store_close(s);
    CHECK_EQ(ft_device_load(&on.file, data_dir, "l4", NULL), FT_OK);
    CHECK_EQ(ft__family_query(a, p->family, FT__METRIC_TIME, &on, op, NULL, n, NULL),
             FT_OK);
    CHECK_EQ(ft__calibration_set_correct(a, &n_used, p->family, FT__METRIC_TIME, known,
                                         &known->s.dataset[0], &on, NULL, op, n, NULL),
             FT_OK);
    for (size_t i = 0; i < n; i++)
        times[i] = a[i].value / simulated_s(&op[i], on.file);
    ft__calibration_set_free(known);
    ft_device_free(on.file);
    return n_used;
}

static uint32_t corrected(double *times, const ft_predictor *p, ft_store *s,
                          const char *setting, const ft_op *op, size_t n)
{
    ft__op_answer a[ASKED];

    return correct(a, times, p, s, setting, op, n);
}

/* Ten short rows wait for a host that takes four times as long as others. */
TEST(rows_that_wait_for_the_host_say_nothing_of_the_device)
{
    ft_predictor *p = trained(1.5, 1, 1 / 1.5);
    ft_store *s = empty();
    ft__op_answer before, after;
    double there_s, times;
    ft_op op;

    for (unsigned i = 1; i <= 10; i++) {
        char spec[200];

        snprintf(spec, sizeof(spec), "linear x=%ux16 out=16 dtype=fp32", i);
        CHECK_EQ(ft_op_parse(&op, spec, strlen(spec), NULL), FT_OK);
        put(s, "l4", "", spec, 4 * asked(p, "l4", &op, &there_s).value);
    }
    CHECK_EQ(ft_op_parse(&op, "linear x=4096x2048 out=4096 dtype=fp32", 38, NULL),
             FT_OK);
    before = asked(p, "l4", &op, &there_s);
    CHECK_EQ(correct(&after, &times, p, s, "", &op, 1), 10);
    CHECK_NEAR(log(after.value / before.value) / log(4), 0, 0.15);
    CHECK(CMP(after.high / after.low, >, 0.9 * (before.high / before.low)));
    ft_predictor_free(p);
}

/* Twelve rows of each of two types, in datasets of their own, of which one takes four
 * times as long. */
TEST(element_types_are_corrected_apart)
{
    ft_predictor *p = trained(1, 1, 1);
    ft_store *s = empty();
    double times[ASKED], mean[2] = {0};
    ft_op op[ASKED];

    fill(s, "l4", "calls=single", "fp32", 12, 1);
    fill(s, "l4", "calls=library", "int8", 12, 4);
    for (uint64_t i = 0; i < ASKED; i++)
        make_new_op(&op[i], i, i % 2 ? "int8" : "fp32");
    CHECK_EQ(corrected(times, p, s, "", op, ASKED), 24);
    for (int i = 0; i < ASKED; i++)
        mean[i % 2] += times[i] * (i % 2 ? 0.25 : 1) / (ASKED / 2.);
    CHECK_NEAR(mean[0], 1, 0.1);
    CHECK_NEAR(mean[1], 1, 0.1);
    ft_predictor_free(p);
}

/* The device was slower in one of two sessions. */
TEST(sessions_are_corrected_apart)
{
    static const char *const session[] = {"session=a", "session=b"};
    ft_predictor *p = trained(1, 1, 1);
    double times[2];
    ft_op op;

    make_new_op(&op, 1, "fp32");
    for (int k = 0; k < 2; k++) {
        ft_store *s = empty();

        fill(s, "l4", session[0], "fp32", 12, 1);
        fill(s, "l4", session[1], "fp32", 12, 1.5);
        CHECK_EQ(corrected(&times[k], p, s, session[k], &op, 1), 24);
    }
    CHECK(CMP(times[1], >, 1.2 * times[0]));
    ft_predictor_free(p);
}

/* The first of a dozen operations of an L4 whose times, and powers if so, were read in
 * a loop: as a network, asked in that loop. */
static ft__network_estimate asked_in_loop(const ft_predictor *p, bool read)
{
    static const char loop[] = "loop=3000";
    ft_store *s = empty();
    ft__calibration_set *known = NULL;
    ft_device *d;
    ft__network_estimate e;
    ft_graph *g;
    char spec[1024];
    ft_op op;

    fill(s, "l4", loop, "fp32", 12, 1);
    for (uint64_t i = 0; i < 12; i++) {
        make_op(&op, 11 - i, "fp32");
        ft_op_print(&op, spec, sizeof(spec));
        if (read)
            put_metric(s, "l4", loop, spec, "power", "W", 50);
    }
    CHECK_EQ(ft__calibration_set_read(&known, s, NULL), FT_OK);
    ft_store_close(s);
    CHECK_EQ(ft_device_load(&d, data_dir, "l4", NULL), FT_OK);
    CHECK_EQ(ft_import_ops(&g, spec, strlen(spec), "list", NULL), FT_OK);
    CHECK_EQ(ft__predict_network(
                 &e, p,
                 &(ft__device_use){
                     .device = d, .setting = loop, .policy = "ieee", .known = known},
                 g, NULL),
             FT_OK);
    CHECK_EQ(e.op_power[0].basis, read ? FT_BASIS_MEASURED : FT_BASIS_SCALED);
    ft__network_estimate_free(&e);
    ft_graph_free(g);
    ft_device_free(d);
    ft__calibration_set_free(known);
    return e;
}

TEST(power_read_in_loops_says_nothing_of_networks)
{
    ft_predictor *p = trained(1, 1, 1);
    const ft__network_estimate timed = asked_in_loop(p, false),
                               read = asked_in_loop(p, true);

    CHECK_EQ(read.power.basis, FT_BASIS_SCALED);
    CHECK_NEAR(read.power.value, timed.power.value, 0);
    CHECK_NEAR(read.power.low, timed.power.low, 0);
    CHECK_NEAR(read.power.high, timed.power.high, 0);
    ft_predictor_free(p);
}

/* Every other operation takes four times as long on a T4 alone, and on the L4. */
TEST(a_device_that_errs_as_the_known_rows_do_corrects_the_others)
{
    ft_store *s = empty(), *few = empty();
    ft_predictor *p;
    double times[2];
    ft_op op[2];

    fill_odd(s, "t4", "", "fp32", N_OPS, 1, 4);
    fill(s, "v100-sxm2-16gb", "", "fp32", N_OPS, 1);
    fill(s, "h100-sxm", "", "fp32", N_OPS, 1);
    p = trained_by(s);
    fill_odd(few, "l4", "", "fp32", 24, 1, 4);
    make_op(&op[0], 40, "fp32");
    make_op(&op[1], 41, "fp32");
    CHECK_EQ(corrected(times, p, few, "", op, 2), 24);
    CHECK_NEAR(times[0], 1, 0.3);
    CHECK_NEAR(times[1], 4, 1);
    ft_predictor_free(p);
}

TEST(what_is_simulated_lies_within_intervals)
{
    static const char *const unseen[] = {"h200-sxm", "l4", "a30", "mi100"};
    ft_predictor *p = trained(1, 1, 1);

    for (int k = 0; k < 4; k++) {
        int within = 0;

        for (uint64_t i = 0; i < ASKED; i++) {
            double there_s;
            ft__op_answer a;
            ft_op op;

            make_new_op(&op, i, "fp32");
            a = asked(p, unseen[k], &op, &there_s);
            within += a.low <= there_s && there_s <= a.high;
        }
        CHECK(CMP(within, >=, 0.9 * ASKED));
    }
    ft_predictor_free(p);
}

/* What other chips took for the same operation. */

static void make_relu(ft_op *op, uint64_t i, char *spec, size_t size)
{
    ft__prng p = ft__prng_stream(i, 1);
    const unsigned rows = 1000 + ft__prng_below(&p, 20000),
                   width = 1000 + ft__prng_below(&p, 4000);

    snprintf(spec, size, "relu x=%ux%u dtype=fp32", rows, width);
    CHECK_EQ(ft_op_parse(op, spec, strlen(spec), NULL), FT_OK);
    ft_op_print(op, spec, size);
}

/* By the bytes that it moves. */
static double relu_s(const ft_op *op, const ft_device *device)
{
    return 8. * (double)ft_op_at(op, FT_K_x, 0) * (double)ft_op_at(op, FT_K_x, 1) /
           (0.8 * ft_device_get(device)->bandwidth_bytes_per_s);
}

/* Every other operation takes `odd` times as long, for no reason that shows. */
static void fill_relu(ft_store *s, const char *device, double odd)
{
    ft_device *d;

    CHECK_EQ(ft_device_load(&d, data_dir, device, NULL), FT_OK);
    for (int i = 0; i < N_OPS; i++) {
        char spec[1024];
        ft_op op;

        make_relu(&op, (uint64_t)i, spec, sizeof(spec));
        put(s, device, "", spec, relu_s(&op, d) * (i % 2 ? odd : 1));
    }
    ft_device_free(d);
}

/* A P4 is near to a P100, and a T4 is not. */
TEST(what_a_close_chip_took_for_an_operation_is_taken)
{
    ft_store *s = empty();
    ft_predictor *p;
    double of[2] = {0};

    fill_relu(s, "p4", 3);
    fill_relu(s, "t4", 1);
    p = trained_by(s);
    for (uint64_t i = 0; i < ASKED; i++) {
        char spec[1024];
        double there_s;
        ft__op_answer a;
        ft_op op;

        make_relu(&op, i, spec, sizeof(spec));
        a = asked(p, "p100-pcie-16gb", &op, &there_s);
        of[i % 2] += log(a.value / a.base) / (ASKED / 2.);
    }
    CHECK(CMP(of[1] - of[0], >, log(2)));
    CHECK(CMP(of[1] - of[0], <, log(3)));
    ft_predictor_free(p);
}

/* How much longer each other product of a P100 is answered than the rest (log), which
 * takes a P4 three times as long in that setting; too few to be learned by shape. */
static double oddness_of_products(const char *setting)
{
    enum { FEW = 10 };
    ft_store *s = empty();
    ft_predictor *p;
    double of[2] = {0};

    fill_odd(s, "p4", setting, "fp32", FEW, 1, 3);
    fill(s, "t4", "", "fp32", N_OPS, 1);
    p = trained_by(s);
    for (uint64_t i = 0; i < FEW; i++) {
        double there_s;
        ft__op_answer a;
        ft_op op;

        make_op(&op, i, "fp32");
        a = asked(p, "p100-pcie-16gb", &op, &there_s);
        of[i % 2] += log(a.value / a.base) / (FEW / 2.);
    }
    ft_predictor_free(p);
    return of[1] - of[0];
}

/* Products of another library have other kernels. */
TEST(products_of_another_library_say_nothing)
{
    CHECK(CMP(oddness_of_products(""), >, log(2)));
    CHECK(CMP(fabs(oddness_of_products("cuda=8.0")), <, 0.2));
}

/* A sum over eight GTX 1080 Ti, which nobody measured; a P100's and a Maxwell's took
 * so many times the rate of PCIe. */
static ft_estimate sum_of_pascals(double times)
{
    static const char asked[] = "collective x=4194304 ranks=8 dtype=fp32";
    ft_store *s = empty();
    ft__network_estimate e;
    ft_estimate out;
    ft_predictor *p;
    ft_device *d;
    ft_graph *g;

    for (unsigned i = 0; i < N_OPS; i++) {
        const unsigned n = 1000000 + 100000 * i;
        char spec[64];

        snprintf(spec, sizeof(spec), "collective x=%u ranks=8 dtype=fp32", n);
        put(s, "p100-pcie-16gb", "", spec, times * 7 * n / 12e9);
        put(s, "titan-x-maxwell", "", spec, times * 7 * n / 12e9);
    }
    p = trained_by(s);
    CHECK_EQ(ft_device_load(&d, data_dir, "gtx-1080-ti", NULL), FT_OK);
    CHECK_EQ(ft_import_ops(&g, asked, strlen(asked), "list", NULL), FT_OK);
    CHECK_EQ(ft__predict_network(&e, p, &(ft__device_use){.device = d}, g, NULL),
             FT_OK);
    out = e.op_device[0];
    ft__network_estimate_free(&e);
    ft_graph_free(g);
    ft_device_free(d);
    ft_predictor_free(p);
    return out;
}

/* DeepBench's took 3.4 ms, and twice as long where the path was another one. */
TEST(paths_of_other_machines_say_nothing)
{
    const ft_estimate e = sum_of_pascals(1);

    CHECK_NEAR(sum_of_pascals(4).value / e.value, 1, 1e-12);
    CHECK(CMP(e.low, <, 3.4e-3) && CMP(e.high, >, 6e-3));
}

/* Products with scales. */

static const char replayed[] = "run_mode=graph";

/* Of two chips that measured products by blocks, whose times tell nothing of each
 * other, one alone measured plain fp8: about half of what it shows is taken. */
static double plain_fp8_s(double times)
{
    ft_store *s = empty();
    ft_predictor *p;
    double value;

    for (unsigned i = 0; i < MANY_OPS; i++) {
        char spec[128];

        snprintf(spec, sizeof(spec), "linear x=%ux4096 out=8192 dtype=fp8e4m3",
                 512 + 16 * i);
        put(s, "gb200", replayed, spec, times * 4e-5 * (1 + i / 32.));
        snprintf(spec, sizeof(spec),
                 "linear x=%ux4096 out=8192 dtype=fp8e4m3 block=128", 512 + 16 * i);
        put(s, "gb200", replayed, spec, (i % 2 ? 4e-4 : 4e-5) * (1 + i / 32.));
        put(s, "h200-sxm", replayed, spec, (i % 2 ? 8e-5 : 8e-4) * (1 + i / 32.));
    }
    p = trained_by(s);
    value =
        asked_of(p, "l4", replayed, "linear x=3000x4096 out=8192 dtype=fp8e4m3").value;
    ft_predictor_free(p);
    return value;
}

TEST(products_by_blocks_are_learned_apart)
{
    const double change = plain_fp8_s(3) / plain_fp8_s(1);

    CHECK(CMP(change, >, 1.3) && CMP(change, <, 2.4));
}

/* Of many operations, of which every other one takes thrice as long on all GPUs, few
 * are learned from: what these have of their own is not known of others. */
TEST(operations_are_as_unknown_as_devices)
{
    const ft_train_options how = {.data_dir = data_dir,
                                  .seed = 1,
                                  .methods = 1u << FT_METHOD_EXTRA,
                                  .most_bytes = 1};
    ft_predictor *p = NULL;
    ft_store *s = empty();
    int within = 0;

    fill_odd(s, "t4", "", "fp32", MANY_OPS, 1, 3);
    fill_odd(s, "v100-sxm2-16gb", "", "fp32", MANY_OPS, 1, 3);
    fill_odd(s, "h100-sxm", "", "fp32", MANY_OPS, 1, 3);
    CHECK_EQ(ft_predictor_train(&p, s, &how, NULL), FT_OK);
    ft_store_close(s);
    for (uint64_t i = 0; i < ASKED; i++) {
        double there_s;
        ft__op_answer a;
        ft_op op;

        make_new_op(&op, i, "fp32");
        a = asked(p, "l4", &op, &there_s);
        there_s *= i % 2 ? 3 : 1;
        within += a.low <= there_s && there_s <= a.high;
    }
    CHECK(CMP(within, >=, 0.9 * ASKED));
    ft_predictor_free(p);
}
