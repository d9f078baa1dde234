/* Evaluation on stores of our own making, whose laws are known: each protocol holds out
 * what it says, and the figures are those that the law implies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/prng.h"
#include "check.h"
#include "foretell/choose.h"
#include "foretell/evaluate.h"
#include "foretell/op.h"
#include "put_member.h"
#include "store/store_inside.h"

enum { N_OPS = 60 };

/* Devices that are to be predicted from others have files; all are one but in name and
 * chip. */
static char data_dir[] = "/tmp/foretell-evaluate-XXXXXX";
static const char *const filed[] = {"one", "two", "slow", "known", "new", "sib-ling"};
enum { N_FILED = sizeof(filed) / sizeof(*filed) };

static void path_of(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/devices%s%s%s", data_dir, *name ? "/" : "", name,
             *name ? ".yaml" : "");
}

static void write_devices(void)
{
    char path[256];

    CHECK(mkdtemp(data_dir) != NULL);
    path_of(path, sizeof(path), "");
    CHECK_EQ(mkdir(path, 0700), 0);
    for (int i = 0; i < N_FILED; i++) {
        FILE *fp;

        path_of(path, sizeof(path), filed[i]);
        fp = fopen(path, "w");
        CHECK(fp != NULL);
        fprintf(fp,
                "title: %s\nvendor: V\ntype: gpu\nchip: %s\nsource: a test\n"
                "cores: 8\nboost_clock_mhz: 1000\nmemory_clock_mhz: 1000\n"
                "peak_fp32_tflops: 0.1\nbandwidth_gb_s: 10\nmemory_gib: 1\n"
                "l2_mib: 0.01\ntdp_w: 200\nprocess_nm: 7\nyear: 2020\n",
                filed[i], strcmp(filed[i], "sib-ling") ? filed[i] : "one");
        CHECK_EQ(fclose(fp), 0);
    }
}

static void remove_devices(void)
{
    char path[256];

    for (int i = 0; i < N_FILED; i++) {
        path_of(path, sizeof(path), filed[i]);
        CHECK_EQ(remove(path), 0);
    }
    path_of(path, sizeof(path), "");
    CHECK(EQ(rmdir(path), 0) && EQ(rmdir(data_dir), 0));
}

/* What a store is filled with. */
struct law {
    const char *device;
    const char *setting;
    double slower; /* times the law; 0: 1 */
    double noise;  /* sigma of the logarithm */
    int random;    /* times know nothing of the operation */
    int two_minds; /* some more than half of the times are three times the law's */
    int repeats;   /* of each operation, equal but for nothing */
    uint64_t seed;
};

static double gauss(ft__prng *p)
{
    double u = ft__prng_unit(p) + 1e-12, v = ft__prng_unit(p);

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* Operations of three kinds, N_OPS of each. */
static void make_spec(char *spec, size_t size, int i, uint64_t seed)
{
    ft__prng p = ft__prng_stream(seed, (uint64_t)i);
    unsigned a = 16 + ft__prng_below(&p, 500), b = 16 + ft__prng_below(&p, 500),
             n = 1 + ft__prng_below(&p, 64);

    if (i % 3 == 0)
        snprintf(spec, size, "linear x=%ux%u out=%u dtype=fp32", n, a, b);
    else if (i % 3 == 1)
        snprintf(spec, size, "relu x=%ux%u dtype=fp32", n * 10, a);
    else
        snprintf(spec, size, "add x=%ux%u y=%ux%u dtype=fp32", n * 10, a, n * 10, a);
}

static double law_s(const ft_op *op)
{
    ft_cost c;

    ft_op_cost(op, &c);
    return 2e-6 + c.flops / 1e11 + (c.bytes_read + c.bytes_written) / 1e10;
}

static void put(ft_store *s, int64_t run, const struct law *law, const char *spec,
                const char *metric, double value)
{
    const ft_key key = {law->device, law->setting, "test",    "1",
                        spec,        "forward",    "default", metric};
    const ft_measurement m = {.unit = "s", .value = value, .error = NAN, .n = 1};

    CHECK_EQ(ft__store_put(s, run, &key, &m, NULL, 0, NULL), FT_OK);
}

static void fill(ft_store *s, const struct law *law)
{
    ft__prng p = ft__prng_stream(law->seed, 1u << 20);
    int64_t run;

    CHECK_EQ(ft__store_begin_run(s, &run, "test", "{}", NULL), FT_OK);
    for (int i = 0; i < 3 * N_OPS; i++) {
        char spec[256];
        ft_op op;
        double t;

        make_spec(spec, sizeof(spec), i, law->seed);
        CHECK_EQ(ft_op_parse(&op, spec, strlen(spec), NULL), FT_OK);
        t = law->random ? 1e-3 * (1 + 9 * ft__prng_unit(&p)) : law_s(&op);
        t *= law->two_minds && ft__prng_unit(&p) < 0.55 ? 3 : 1;
        t *= exp(law->noise * gauss(&p)) * (law->slower > 0 ? law->slower : 1);
        for (int r = 0; r < (law->repeats ? law->repeats : 1); r++) {
            put(s, run, law, spec, "time", t);
            put(s, run, law, spec, "power", 100 + 50 * (i % 3));
        }
    }
}

static ft_store *store_of(const struct law *law, int n)
{
    ft_store *s;

    CHECK_EQ(ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL), FT_OK);
    for (int i = 0; i < n; i++)
        fill(s, &law[i]);
    return s;
}

static ft_evaluation evaluate(ft_store *s, ft_store *test,
                              const ft_evaluate_options *opt)
{
    ft_evaluate_options how = *opt;
    ft_evaluation e;
    ft_error err = {0};

    how.seed = 1;
    how.data_dir = data_dir;
    /* One tree is quick and learns these laws well enough to tell protocols apart. */
    how.methods = how.methods ? how.methods : 1u << FT_METHOD_TREE;
    if (ft_evaluate(&e, s, test, &how, &err))
        fprintf(stderr, "%s\n", err.msg);
    CHECK(CMP(e.all.learned.n, >, 0));
    return e;
}

static const ft_evaluated *line(const ft_evaluation *e, ft_by by, const char *name)
{
    for (size_t i = 0; i < e->n_by[by]; i++)
        if (strcmp(e->by[by][i].name, name) == 0)
            return &e->by[by][i];
    fprintf(stderr, "no line %s\n", name);
    exit(1);
}

TEST(folds_test_every_row_once_and_learn_a_smooth_law)
{
    const struct law law = {.device = "d", .setting = "", .seed = 3};
    ft_store *s = store_of(&law, 1);
    ft_evaluation e =
        evaluate(s, NULL,
                 &(ft_evaluate_options){.n_folds = 4,
                                        .where = "device=d",
                                        .methods = 1u << FT_METHOD_EXTRA |
                                                   1u << FT_METHOD_RIDGE});

    CHECK(EQ(e.all.learned.n, 3 * N_OPS) && EQ(e.n_rows, 3 * N_OPS) &&
          EQ(e.n_splits, 4));
    CHECK(CMP(e.all.learned.mape, <, 0.05) &&
          CMP(e.all.learned.mape, <, e.all.constant.mape));
    CHECK(EQ(e.n_by[FT_BY_KIND], 3) &&
          EQ(line(&e, FT_BY_KIND, "relu")->learned.n, N_OPS));
    CHECK(EQ(e.n_by[FT_BY_SIZE], 10) && EQ(e.n_by[FT_BY_SPLIT], 4));
    CHECK_NEAR(e.n_learned, 3 * N_OPS * 0.75, 1);
    ft_evaluation_free(&e);
    ft_store_close(s);
}

/* Times drawn at random, each operation measured four times with the same result: who
 * sees a repeat of what is asked errs by nothing, who does not by a lot. */
TEST(equal_operations_are_never_on_both_sides)
{
    const struct law law = {
        .device = "d", .setting = "", .random = 1, .repeats = 4, .seed = 3};
    const ft_evaluate_options how[] = {
        {.protocol = FT_PROTOCOL_FOLDS},
        {.protocol = FT_PROTOCOL_SHARE, .share = 0.7},
    };
    ft_store *s = store_of(&law, 1);

    for (size_t i = 0; i < sizeof(how) / sizeof(*how); i++) {
        ft_evaluation e = evaluate(s, NULL, &how[i]);

        CHECK_EQ(e.n_rows, 4 * 3 * N_OPS);
        CHECK(CMP(e.all.learned.median_ape, >, 0.2));
        ft_evaluation_free(&e);
    }
    ft_store_close(s);
}

TEST(a_share_is_learned_from_and_the_rest_tested)
{
    const struct law law = {.device = "d", .setting = "", .seed = 3};
    ft_store *s = store_of(&law, 1);
    ft_evaluation e = evaluate(
        s, NULL, &(ft_evaluate_options){.protocol = FT_PROTOCOL_SHARE, .share = 0.3});

    CHECK_NEAR(e.n_learned, 0.3 * 3 * N_OPS, 25);
    CHECK_NEAR((double)e.all.learned.n + e.n_learned, 3 * N_OPS, 0.5);
    ft_evaluation_free(&e);
    ft_store_close(s);
}

/* Two devices of one law: each is foretold from the other nearly as if known. */
TEST(what_is_left_out_is_foretold_from_the_others)
{
    const struct law law[] = {{.device = "one", .setting = "run=1", .seed = 3},
                              {.device = "two", .setting = "run=2", .seed = 3}};
    ft_store *s = store_of(law, 2);
    ft_evaluation e =
        evaluate(s, NULL, &(ft_evaluate_options){.protocol = FT_PROTOCOL_DEVICE});

    CHECK(EQ(e.n_splits, 2) && EQ(e.n_datasets, 2));
    CHECK_EQ(line(&e, FT_BY_SPLIT, "two")->learned.n, 3 * N_OPS);
    CHECK(EQ(e.n_learned, 3 * N_OPS) && CMP(e.all.learned.median_ape, <, 0.02));
    ft_evaluation_free(&e);
    e = evaluate(
        s, NULL,
        &(ft_evaluate_options){.protocol = FT_PROTOCOL_SETTING, .only = "run=1"});
    CHECK(EQ(e.n_splits, 1) && EQ(line(&e, FT_BY_DEVICE, "one")->learned.n, 3 * N_OPS));
    ft_evaluation_free(&e);
    e = evaluate(s, NULL,
                 &(ft_evaluate_options){.protocol = FT_PROTOCOL_KIND,
                                        .where = "device=one kind=relu,linear"});
    CHECK(EQ(e.n_splits, 2) && EQ(e.n_learned, N_OPS));
    CHECK_EQ(line(&e, FT_BY_SPLIT, "linear")->learned.n, N_OPS);
    ft_evaluation_free(&e);
    ft_store_close(s);
}

TEST(the_operations_of_a_network_leave_training_with_it)
{
    const struct law law = {.device = "d", .setting = "", .repeats = 2, .seed = 3};
    ft_store *s = store_of(&law, 1);
    ft_evaluation e;

    for (int i = 0; i < 30; i++) {
        char spec[256];
        ft_member m = {
            "test",    i < 20 ? "network name=a x=1x3" : "network name=b x=1x3",
            "forward", spec,
            1,         ""};

        make_spec(spec, sizeof(spec), i, law.seed);
        CHECK_EQ(put_member(s, &m), FT_OK);
    }
    e = evaluate(s, NULL, &(ft_evaluate_options){.protocol = FT_PROTOCOL_NETWORK});
    CHECK(EQ(e.n_splits, 2) && EQ(line(&e, FT_BY_SPLIT, "a")->learned.n, 2 * 20));
    CHECK_EQ(line(&e, FT_BY_SPLIT, "b")->learned.n, 2 * 10);
    CHECK_EQ(e.n_learned, 2 * (3 * N_OPS - 15));
    ft_evaluation_free(&e);
    ft_store_close(s);
}

TEST(a_second_store_is_tested_whole)
{
    const struct law law[] = {{.device = "d", .setting = "", .seed = 3},
                              {.device = "d", .setting = "", .seed = 4}};
    ft_store *s = store_of(law, 1), *t = store_of(law + 1, 1);
    ft_evaluation e =
        evaluate(s, t, &(ft_evaluate_options){.protocol = FT_PROTOCOL_STORES});

    CHECK(EQ(e.all.learned.n, 3 * N_OPS) && EQ(e.n_learned, 3 * N_OPS));
    CHECK(CMP(e.all.learned.mape, <, 0.05));
    ft_evaluation_free(&e);
    ft_store_close(s);
    ft_store_close(t);
}

TEST(devices_of_the_second_store_alone_are_tested_apart)
{
    const struct law law[] = {{.device = "known", .setting = "", .seed = 3},
                              {.device = "known", .setting = "", .seed = 4},
                              {.device = "new", .setting = "", .seed = 5}};
    ft_store *s = store_of(law, 1), *t = store_of(law + 1, 2);
    ft_evaluation e =
        evaluate(s, t, &(ft_evaluate_options){.protocol = FT_PROTOCOL_STORES});

    CHECK(EQ(e.n_splits, 2) && EQ(e.n_learned, 3 * N_OPS));
    CHECK_EQ(line(&e, FT_BY_SPLIT, "test")->learned.n, 3 * N_OPS);
    CHECK_EQ(line(&e, FT_BY_SPLIT, "test, devices not learned from")->learned.n,
             3 * N_OPS);
    /* Half of what one chip showed is taken to another. */
    CHECK(CMP(line(&e, FT_BY_DEVICE, "new")->learned.mape, <, 0.08));
    ft_evaluation_free(&e);
    ft_store_close(s);
    ft_store_close(t);
}

/* What one tells of its sibling, nobody may who is asked about the chip. */
TEST(with_a_device_its_chip_is_left_out)
{
    const struct law law[] = {
        {.device = "one", .setting = "", .slower = 5, .seed = 3},
        {.device = "sib-ling", .setting = "", .slower = 5, .seed = 3},
        {.device = "two", .setting = "", .seed = 3}};
    ft_evaluate_options how = {.protocol = FT_PROTOCOL_DEVICE, .only = "one"};
    ft_store *s = store_of(law, 3);
    ft_evaluation e = evaluate(s, NULL, &how);

    CHECK(EQ(e.n_learned, 3 * N_OPS) && CMP(e.all.learned.median_ape, >, 0.5));
    ft_evaluation_free(&e);
    how.siblings = 1;
    e = evaluate(s, NULL, &how);
    CHECK(EQ(e.n_learned, 2 * 3 * N_OPS) && CMP(e.all.learned.median_ape, <, 0.1));
    ft_evaluation_free(&e);
    how.only = "sib"; /* a product, of which there is a variant */
    e = evaluate(s, NULL, &how);
    CHECK(EQ(e.n_splits, 1) &&
          EQ(line(&e, FT_BY_SPLIT, "sib-ling")->learned.n, 3 * N_OPS));
    ft_evaluation_free(&e);
    ft_store_close(s);
}

/* Where no file tells of a device there is no answer, and it is said. */
TEST(a_device_without_a_file_has_no_answer)
{
    const struct law law[] = {{.device = "one", .setting = "", .seed = 3},
                              {.device = "nofile", .setting = "", .seed = 3}};
    const ft_evaluate_options how = {.protocol = FT_PROTOCOL_DEVICE,
                                     .data_dir = data_dir,
                                     .methods = 1u << FT_METHOD_TREE};
    ft_store *s = store_of(law, 2);
    ft_evaluation e;

    CHECK_EQ(ft_evaluate(&e, s, NULL, &how, NULL), FT_OK);
    CHECK(EQ(e.all.learned.n, 3 * N_OPS) && EQ(e.n_unanswered, 3 * N_OPS));
    CHECK(HAS(e.unanswered, "nofile"));
    ft_evaluation_free(&e);
    ft_store_close(s);
}

TEST(a_few_rows_correct_the_others_of_a_device)
{
    const struct law law[] = {
        {.device = "one", .setting = "", .seed = 3},
        {.device = "slow", .setting = "", .slower = 3, .seed = 4}};
    ft_evaluate_options how = {.protocol = FT_PROTOCOL_DEVICE, .only = "slow"};
    ft_store *s = store_of(law, 2);
    ft_evaluation e = evaluate(s, NULL, &how);

    CHECK(EQ(e.all.learned.n, 3 * N_OPS) && CMP(e.all.learned.mape, >, 0.6));
    ft_evaluation_free(&e);
    how.correct = 20;
    e = evaluate(s, NULL, &how);
    CHECK(EQ(e.all.learned.n, 3 * N_OPS - 20) && CMP(e.all.learned.mape, <, 0.1));
    CHECK(CMP(e.all.covered, >, 0.75));
    ft_evaluation_free(&e);
    how.correct = 1000; /* half of them */
    e = evaluate(s, NULL, &how);
    CHECK_EQ(e.all.learned.n, 3 * N_OPS / 2);
    ft_evaluation_free(&e);
    ft_store_close(s);
}

/* Each operation was measured twice: half of them are asked. */
TEST(at_most_half_of_the_rows_are_chosen)
{
    const struct law law[] = {
        {.device = "one", .setting = "", .seed = 3},
        {.device = "slow", .setting = "", .slower = 3, .repeats = 2, .seed = 4}};
    const ft_evaluate_options how = {
        .protocol = FT_PROTOCOL_DEVICE, .only = "slow", .correct = 1000, .chosen = 1};
    ft_store *s = store_of(law, 2);
    ft_evaluation e = evaluate(s, NULL, &how);

    CHECK(CMP(e.all.learned.n, >=, 3 * N_OPS));
    ft_evaluation_free(&e);
    ft_store_close(s);
}

/* Noise of ten percent that nobody can foretell: its mean deviation is 0.08, and nine
 * of ten rows are to lie inside. */
TEST(intervals_hold_what_they_say)
{
    const struct law law = {.device = "d", .setting = "", .noise = 0.1, .seed = 3};
    ft_store *s = store_of(&law, 1);
    ft_evaluation e = evaluate(s, NULL, &(ft_evaluate_options){0});

    CHECK(CMP(e.all.covered, >, 0.83) && CMP(e.all.covered, <, 0.97));
    CHECK(CMP(e.all.learned.mape, >, 0.06) && CMP(e.all.learned.mape, <, 0.13));
    CHECK(CMP(e.all.width, >, 1.3) && CMP(e.all.width, <, 1.8));
    ft_evaluation_free(&e);
    ft_store_close(s);
}

TEST(what_errs_least_in_proportion_is_chosen)
{
    const struct law law = {.device = "d", .setting = "", .two_minds = 1, .seed = 4};
    const uint32_t trees = 1u << FT_METHOD_EXTRA, middle = 1u << FT_METHOD_MIDDLE;
    ft_store *s = store_of(&law, 1);
    ft_evaluation plain = evaluate(s, NULL, &(ft_evaluate_options){.methods = trees}),
                  both = evaluate(s, NULL,
                                  &(ft_evaluate_options){.methods = trees | middle});

    CHECK(HAS(both.chosen, "middle"));
    CHECK(CMP(both.all.learned.mape, <, 0.9 * plain.all.learned.mape));
    ft_evaluation_free(&plain);
    ft_evaluation_free(&both);
    ft_store_close(s);
}

/* Power is one number for each kind; energy is power times time, though it was not
 * measured. */
TEST(energy_is_power_times_time)
{
    const struct law law = {.device = "d", .setting = "", .seed = 3};
    ft_store *s = store_of(&law, 1);
    ft_evaluation p = evaluate(s, NULL, &(ft_evaluate_options){.metric = "power"}),
                  e = evaluate(s, NULL, &(ft_evaluate_options){.metric = "energy"}),
                  t = evaluate(s, NULL, &(ft_evaluate_options){0});

    CHECK(CMP(p.all.learned.mape, <, 1e-3) && EQ(e.n_rows, 3 * N_OPS));
    CHECK_NEAR(e.all.learned.mape, t.all.learned.mape, 0.01);
    ft_evaluation_free(&p);
    ft_evaluation_free(&e);
    ft_evaluation_free(&t);
    ft_store_close(s);
}

TEST(a_learning_curve_ends_at_all_the_rows)
{
    const struct law law = {.device = "d", .setting = "", .seed = 3};
    ft_store *s = store_of(&law, 1);
    ft_evaluation e = evaluate(s, NULL, &(ft_evaluate_options){.curve_steps = 4});

    CHECK(CMP(e.n_curve, >=, 3));
    for (size_t i = 1; i < e.n_curve; i++)
        CHECK(CMP(e.curve[i].rows, >, e.curve[i - 1].rows));
    CHECK_EQ(e.curve[e.n_curve - 1].learned.mape, e.all.learned.mape);
    CHECK(CMP(e.curve[0].learned.mape, >, 2 * e.all.learned.mape));
    ft_evaluation_free(&e);
    ft_store_close(s);
}

static ft_choice_curves choose(ft_store *s, uint64_t seed, uint32_t n_seeds)
{
    const ft_choice_options how = {.criteria = 1u << FT_CRITERION_ACTIVE,
                                   .methods = 1u << FT_METHOD_TREE,
                                   .n_steps = 5,
                                   .n_seeds = n_seeds,
                                   .seed = seed};
    ft_choice_curves c;
    ft_error err = {0};

    if (ft_choice_evaluate(&c, s, &how, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    return c;
}

/* The error at so many operations: a straight line over their logarithm. */
static double error_at(const ft_choice_curves *c, int by, double ops)
{
    size_t k = 1;

    while (c->point[k].ops < ops)
        k++;
    return c->point[k - 1].mape[by] +
           (c->point[k].mape[by] - c->point[k - 1].mape[by]) *
               log(ops / c->point[k - 1].ops) /
               log(c->point[k].ops / c->point[k - 1].ops);
}

/* On the curve the error is `above` times that of all, and from there on no larger. */
static void check_reached(const ft_choice_curves *c, int by, double part, double above)
{
    const double full = c->point[c->n_points - 1].mape[by];
    const double ops = part * c->point[c->n_points - 1].ops;

    CHECK(CMP(part, >, 0) && CMP(part, <=, 1));
    CHECK_NEAR(error_at(c, by, ops), above * full, 1e-9 * full);
    for (size_t k = 0; k < c->n_points; k++)
        CHECK(CMP(c->point[k].ops, <, ops) ||
              CMP(c->point[k].mape[by], <=, above * full));
}

TEST(parts_of_the_operations_are_read_off_the_curve)
{
    const struct law law = {.device = "d", .setting = "", .noise = 0.02, .seed = 3};
    ft_store *s = store_of(&law, 1);
    ft_choice_curves c = choose(s, 1, 1);

    for (int by = 0; by < FT_CRITERION_COUNT; by++) {
        const double full = c.point[c.n_points - 1].mape[by];

        if (by == FT_CRITERION_SPREAD) {
            CHECK(isnan(c.excess[by]) && isnan(c.close_at[by]));
            continue;
        }
        check_reached(&c, by, c.close_at[by], 1.02);
        check_reached(&c, by, c.near_at[by], 1.05);
        CHECK(CMP(c.near_at[by], <=, c.close_at[by]) &&
              CMP(c.close_at[by], <=, c.full_at[by]));
        CHECK_NEAR(c.excess[by], error_at(&c, by, 0.6 * (double)c.n_ops) / full - 1,
                   1e-9);
        CHECK(isnan(c.excess_error[by]));
    }
    ft_choice_curves_free(&c);
    ft_store_close(s);
}

/* Of two numbers the standard error of the mean is half of what they differ by. */
TEST(the_excess_is_a_mean_over_seeds_and_has_a_standard_error)
{
    const struct law law = {.device = "d", .setting = "", .noise = 0.02, .seed = 3};
    ft_store *s = store_of(&law, 1);
    ft_choice_curves a = choose(s, 1, 1), b = choose(s, 2, 1), both = choose(s, 1, 2);

    for (int by = 0; by < FT_CRITERION_COUNT; by += FT_CRITERION_RANDOM) {
        const double end_a = a.point[a.n_points - 1].mape[by],
                     end_b = b.point[b.n_points - 1].mape[by];
        const double of_a = a.excess[by] * end_a, of_b = b.excess[by] * end_b;

        CHECK_NEAR(both.excess[by], (of_a + of_b) / (end_a + end_b), 1e-9);
        CHECK_NEAR(both.excess_error[by], fabs(of_a - of_b) / (end_a + end_b), 1e-9);
        CHECK(CMP(both.excess_error[by], >, 0));
    }
    ft_choice_curves_free(&a);
    ft_choice_curves_free(&b);
    ft_choice_curves_free(&both);
    ft_store_close(s);
}

TEST(figures_do_not_depend_on_threads)
{
    const struct law law = {.device = "d", .setting = "", .noise = 0.1, .seed = 3};
    ft_store *s = store_of(&law, 1);
    ft_evaluation a = evaluate(s, NULL, &(ft_evaluate_options){.threads = 1}),
                  b = evaluate(s, NULL, &(ft_evaluate_options){.threads = 3});

    CHECK(BYTES(&a.all, &b.all, sizeof(a.all)));
    ft_evaluation_free(&a);
    ft_evaluation_free(&b);
    ft_store_close(s);
}

TEST(what_does_not_fit_is_refused)
{
    static const struct {
        ft_evaluate_options how;
        ft_status st;
        const char *says;
    } cases[] = {
        {{.metric = "speed"}, FT_EINVAL, "speed"},
        {{.where = "device"}, FT_EINVAL, "device"},
        {{.where = "device=nobody"}, FT_ENOTFOUND, "time"},
        {{.metric = "memory"}, FT_ENOTFOUND, "memory"},
        {{.protocol = FT_PROTOCOL_SHARE}, FT_EINVAL, "share"},
        {{.protocol = FT_PROTOCOL_STORES}, FT_EINVAL, "second store"},
        {{.protocol = FT_PROTOCOL_NETWORK}, FT_ENOTFOUND, "network"},
        {{.correct = 10}, FT_EINVAL, "left out"},
        {{.correct = 10, .protocol = FT_PROTOCOL_DEVICE, .metric = "energy"},
         FT_EINVAL,
         "times and power"},
        {{.protocol = FT_PROTOCOL_DEVICE, .only = "nobody"}, FT_ENOTFOUND, "nobody"},
    };
    const struct law law = {.device = "d", .setting = "", .seed = 3};
    ft_store *s = store_of(&law, 1);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_error err = {0};
        ft_evaluation e;

        CHECK_EQ(ft_evaluate(&e, s, NULL, &cases[i].how, &err), cases[i].st);
        CHECK(HAS(err.msg, cases[i].says));
    }
    ft_store_close(s);
}

int main(void)
{
    write_devices();
    check_all();
    remove_devices();
    CHECK_DONE();
}
