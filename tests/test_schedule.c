#include "predict/schedule/schedule.h"

#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "predict/train/train.h"

/* 2 conv of 3 ms, a linear of 1 ms, and what nobody measured: 0.5 ms. */
static const ft__op_task three[] = {
    {.group = FT__TASK_CONV,
     .count = 2,
     .launches = 1,
     .alone_s = 3e-3,
     .bare_s = 2e-3,
     .power_w = 200},
    {.group = FT__TASK_MATMUL,
     .count = 1,
     .launches = 1,
     .alone_s = 1e-3,
     .bare_s = 0.8e-3,
     .power_w = 100},
    {.group = FT__TASK_OTHER,
     .count = 1,
     .launches = 1,
     .alone_s = NAN,
     .bare_s = 0.5e-3,
     .power_w = NAN},
};

TEST(a_busy_device_sets_the_time)
{
    ft__schedule s = ft__schedule_plain();
    ft__network_load l = ft__schedule_no_load(INFINITY, 1);

    s.launch_s = 1e-3;
    ft__schedule_load(&l, three, 3);
    CHECK_NEAR(ft__schedule_time(&l, &s), 2e-3 + 7.5e-3,
               1e-12); /* call, first launch */
    s.scale[FT__TASK_CONV] = 0.5;
    s.bounded = 2;
    CHECK_NEAR(ft__schedule_time(&l, &s), 2e-3 + 3e-3 + 1e-3 + 1e-3, 1e-12);
}

TEST(a_slow_host_sets_the_time)
{
    ft__schedule s = ft__schedule_plain();
    ft__network_load l = ft__schedule_no_load(INFINITY, 1);

    s.launch_s = 10e-3;
    ft__schedule_load(&l, three, 3);
    /* four, and the call; then the last of four */
    CHECK_NEAR(ft__schedule_time(&l, &s), 50e-3 + 7.5e-3 / 4, 1e-12);
}

TEST(a_plain_schedule_is_the_sum)
{
    const ft__schedule s = ft__schedule_plain();
    ft__network_load l = ft__schedule_no_load(INFINITY, 1);

    ft__schedule_load(&l, three, 2);
    CHECK_NEAR(ft__schedule_time(&l, &s), 7e-3, 1e-12);
}

TEST(what_nobody_measured_has_its_estimated_power)
{
    ft__schedule s = ft__schedule_plain();
    ft__network_load l = ft__schedule_no_load(INFINITY, 1);
    ft__op_task unknown = three[2];

    unknown.power_w = 40;
    ft__schedule_load(&l, &unknown, 1);
    CHECK_NEAR(ft__schedule_energy(&l, &s, 0.5e-3), 20e-3, 1e-12);
    ft__schedule_load(&l, three, 3); /* whose own power is not known */
    CHECK_NEAR(ft__schedule_energy(&l, &s, 8e-3), 8e-3 * 1.32 / 7.5e-3, 1e-9);
}

TEST(an_operation_at_the_hosts_floor_is_the_devices_bare_time)
{
    ft__op_task t = {.count = 1, .alone_s = 30e-6, .bare_s = 4e-6, .floor_s = 40e-6};

    CHECK_NEAR(ft__schedule_device(&t), 4e-6, 1e-18);
    t.bare_s = 35e-6; /* never more than it took */
    CHECK_NEAR(ft__schedule_device(&t), 30e-6, 1e-18);
    t.floor_s = 20e-6; /* above the floor: as measured */
    t.bare_s = 4e-6;
    CHECK_NEAR(ft__schedule_device(&t), 30e-6, 1e-18);
}

/* One pass that begins with an idle device and is waited for, the operations in the
 * order of task[] (each count in one go): an oracle of its own. */
struct played {
    double host_s;   /* the last launch is issued */
    double device_s; /* the last operation ends: the time of the pass */
    double busy_s;   /* of the device; the rest are gaps */
};

static struct played play(const ft__op_task *task, size_t n, const ft__schedule *s)
{
    struct played out = {0};

    for (size_t i = 0; i < n; i++) {
        const ft__op_task *w = &task[i];
        double device = ft__schedule_device(w) *
                        (isfinite(w->alone_s) ? s->scale[w->group] : s->bounded);
        double host = w->launches * s->launch_s, first = out.host_s + host;

        /* The first of them waits for its launch; then whoever is slower sets the
         * pace. */
        out.host_s += w->count * host;
        out.device_s =
            fmax(fmax(out.device_s, first) + w->count * device, out.host_s + device);
        out.busy_s += w->count * device;
    }
    return out;
}

/* By hand. The host needs 2 ms a launch: conv 1 starts at 2, ends at 5; its second run
 * is launched at 4, ends at 8; linear is there at 6, ends at 9; the last at 9.5. It
 * needs 4 ms: conv 4..7 and 8..11, linear 12..13, the last 16..16.5. */
TEST(a_pass_waits_for_its_first_launch_and_for_a_slow_host)
{
    static const struct {
        double launch_s, host_s, device_s;
    } cases[] = {{2e-3, 8e-3, 9.5e-3}, {4e-3, 16e-3, 16.5e-3}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft__schedule s = ft__schedule_plain();
        struct played p;

        s.launch_s = cases[i].launch_s;
        p = play(three, 3, &s);
        CHECK_NEAR(p.host_s, cases[i].host_s, 1e-12);
        CHECK_NEAR(p.device_s, cases[i].device_s, 1e-12);
        CHECK_NEAR(p.busy_s, 7.5e-3, 1e-12);
    }
}

/* Launch by launch, behind the call; of operations that are alike. */
TEST(a_pass_takes_what_launches_one_by_one_do)
{
    static const struct {
        double launch_s, device_s;
        int n;
    } cases[] = {{18e-6, 3e-6, 1},  {18e-6, 3e-6, 40},  {18e-6, 18e-6, 7},
                 {18e-6, 90e-6, 1}, {18e-6, 90e-6, 40}, {5e-6, 1e-3, 12}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const ft__op_task op = {.count = cases[i].n,
                                .launches = 1,
                                .alone_s = cases[i].device_s,
                                .bare_s = cases[i].device_s,
                                .power_w = NAN};
        ft__schedule s = ft__schedule_plain();
        ft__network_load l = ft__schedule_no_load(INFINITY, 1);

        s.launch_s = cases[i].launch_s;
        ft__schedule_load(&l, &op, 1);
        CHECK_NEAR(ft__schedule_time(&l, &s), s.launch_s + play(&op, 1, &s).device_s,
                   1e-12);
        /* As many kernels, half of which a compiler adds. */
        l = ft__schedule_no_load(INFINITY, 1);
        ft__schedule_load(&l,
                          &(ft__op_task){.count = cases[i].n / 2.,
                                         .launches = 2,
                                         .more_kernels = 1,
                                         .alone_s = 2 * cases[i].device_s,
                                         .bare_s = 2 * cases[i].device_s,
                                         .power_w = NAN},
                          1);
        CHECK_NEAR(ft__schedule_time(&l, &s), s.launch_s + play(&op, 1, &s).device_s,
                   1e-12);
    }
}

/* 6 ms at 200 W and 1 ms at 100 W: 1.3 J in 7 ms, 1300/7 W, of which 50 W are idle.
 * The unmeasured 0.5 ms draw as much. */
TEST(gaps_draw_idle_power)
{
    const double added = (1300.0 / 7 - 50) * 7.5e-3;
    ft__schedule s = ft__schedule_plain();
    ft__network_load l = ft__schedule_no_load(INFINITY, 1);

    s.idle_w = 50;
    ft__schedule_load(&l, three, 3);
    CHECK_NEAR(ft__schedule_energy(&l, &s, 7.5e-3), 50 * 7.5e-3 + added, 1e-12);
    CHECK_NEAR(ft__schedule_energy(&l, &s, 20e-3), 50 * 20e-3 + added, 1e-12);
    l.cap_w = 100;
    CHECK_NEAR(ft__schedule_energy(&l, &s, 7.5e-3), 100 * 7.5e-3, 1e-12);
}

TEST(without_any_power_there_is_no_energy)
{
    const ft__schedule s = ft__schedule_plain();
    ft__network_load l = ft__schedule_no_load(INFINITY, 1);

    ft__schedule_load(&l, three + 2, 1);
    CHECK(isnan(ft__schedule_energy(&l, &s, 1e-3)));
}

TEST(more_work_never_takes_less)
{
    ft__schedule s = ft__schedule_plain();
    ft__op_task t[3];
    double before = 0;

    s.launch_s = 1e-3;
    memcpy(t, three, sizeof(t));
    for (int i = 0; i < 6; i++) {
        ft__network_load l = ft__schedule_no_load(INFINITY, 1);
        struct played p;

        t[i % 3].count += 1;
        ft__schedule_load(&l, t, 3);
        p = play(t, 3, &s);
        CHECK(CMP(ft__schedule_time(&l, &s), >=, before));
        CHECK(CMP(s.launch_s + p.device_s, >=, ft__schedule_time(&l, &s) - 1e-12));
        before = ft__schedule_time(&l, &s);
    }
}

/* Networks made by a known schedule: what is fitted makes them, too. */
TEST(fitting_finds_the_schedule_that_made_the_networks)
{
    enum { N = 24 };
    ft__schedule truth = {.scale = {0.8, 1.1, 0.6},
                          .bounded = 1.4,
                          .launch_s = 40e-6,
                          .idle_w = 60,
                          .dynamic = 0.9};
    ft__schedule s = ft__schedule_plain();
    ft__known_network k[N];
    double worst = 0;

    for (int i = 0; i < N; i++) {
        ft__network_load l = {
            .known_s = {1e-3 * (i % 5), 1e-3 * (i % 3), 0.5e-3 * (1 + i % 4)},
            .unmodelled_s = 0.2e-3 * (i % 6),
            .launches = i < 6 ? 400 : 20,
            .alone_s = 5e-3,
            .alone_j = 0.5 + 0.02 * i,
            .cap_w = INFINITY};

        k[i] = (ft__known_network){
            .load = l, .time_s = ft__schedule_time(&l, &truth), .weight = 1};
        k[i].energy_j = ft__schedule_energy(&l, &truth, k[i].time_s);
    }
    s.launch_s = 100e-6;
    s.idle_w = 30;
    ft__schedule_fit(&s, k, N, 0.01);
    for (int i = 0; i < N; i++) {
        double t = ft__schedule_time(&k[i].load, &s);
        double e = ft__schedule_energy(&k[i].load, &s, k[i].time_s);

        worst = fmax(worst, fabs(t / k[i].time_s - 1));
        worst = fmax(worst, fabs(e / k[i].energy_j - 1));
    }
    CHECK(CMP(worst, <, 0.05));
    CHECK_NEAR(s.launch_s, truth.launch_s, 0.03 * truth.launch_s);
}

/* Seven networks as their operations say, and one that runs 0.4 of them in another
 * layout, where they take three times as long. */
TEST(one_network_tells_what_another_layout_takes)
{
    ft__schedule s = ft__schedule_plain();
    ft__known_network k[8];

    for (int i = 0; i < 8; i++) {
        k[i] = (ft__known_network){
            .load = {.cap_w = INFINITY}, .time_s = 10e-3, .energy_j = NAN, .weight = 1};
        k[i].load.known_s[FT__TASK_CONV] = 10e-3;
    }
    k[7].load.known_s[FT__TASK_CONV] = 6e-3;
    k[7].load.known_s[FT__TASK_RELAID] = 4e-3;
    k[7].time_s = 18e-3;
    s.launch_s = 10e-6;
    s.idle_w = 30;
    ft__schedule_fit(&s, k, 8, 1);
    CHECK_NEAR(s.scale[FT__TASK_RELAID], 3, 0.1);
    CHECK_NEAR(s.scale[FT__TASK_CONV], 1, 0.02);
}

TEST(without_networks_nothing_is_fitted)
{
    ft__schedule s = ft__schedule_plain(), before;

    s.launch_s = 1e-5;
    before = s;
    ft__schedule_fit(&s, NULL, 0, 1);
    CHECK(BYTES(&s, &before, sizeof(s)));
}

/* Errors of a normal distribution: sums of twelve uniform ones. */
static double normal(ft__prng *r)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += ft__prng_unit(r);
    return sum;
}

TEST(nine_in_ten_lie_in_the_range_of_a_few)
{
    enum { ROUNDS = 20000 };
    static const size_t few[] = {1, 2, 4, 9, 18};

    for (size_t k = 0; k < sizeof(few) / sizeof(*few); k++) {
        ft__prng r = {few[k]};
        int inside = 0;

        for (int round = 0; round < ROUNDS; round++) {
            double stray[18], low, high, next;

            for (size_t i = 0; i < few[k]; i++)
                stray[i] = normal(&r);
            next = normal(&r);
            CHECK_EQ(ft__schedule_range(&low, &high, stray, few[k], NULL), FT_OK);
            inside += next >= low && next <= high;
        }
        CHECK(CMP(inside, >, 0.89 * ROUNDS) && CMP(inside, <, 0.95 * ROUNDS));
    }
}

TEST(many_speak_for_themselves)
{
    double stray[39], low, high;

    for (int i = 0; i < 39; i++)
        stray[i] = (i - 19) / 100.0;
    CHECK_EQ(ft__schedule_range(&low, &high, stray, 39, NULL), FT_OK);
    CHECK_NEAR(low, -0.18, 1e-12);
    CHECK_NEAR(high, 0.18, 1e-12);
    CHECK(CMP(ft__schedule_range(&low, &high, stray, 0, NULL), !=, FT_OK));
}

/* Ten networks of one device that take twice as long as their operations, of a tenth
 * each, and two of others that take as long: the two outweigh the ten. */
TEST(networks_count_by_their_weight)
{
    ft__known_network k[12];

    for (int equal = 0; equal < 2; equal++) {
        ft__schedule s = ft__schedule_plain();

        for (int i = 0; i < 12; i++) {
            k[i] = (ft__known_network){.load = {.cap_w = INFINITY},
                                       .time_s = i < 10 ? 20e-3 : 10e-3,
                                       .energy_j = NAN,
                                       .weight = equal || i >= 10 ? 1 : 0.1};
            k[i].load.known_s[FT__TASK_MATMUL] = 10e-3;
        }
        s.launch_s = 10e-6;
        s.idle_w = 30;
        ft__schedule_fit(&s, k, 12, 0.01);
        CHECK_NEAR(s.scale[FT__TASK_MATMUL], equal ? 2 : 1, 0.05);
    }
}
