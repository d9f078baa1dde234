/* The meter on sources that exist: programs, counters in copied trees
 * and the small NVML. Time is the test's own (stepped_clock.h) and programs print when
 * they are asked to; only what concerns the meter's thread is run in real time, and
 * figures are not judged there. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "asked_program.h"
#include "check.h"
#include "device/power/meter.h"
#include "foretell/power.h"
#include "meter_rig.h"

static const char *source_root;
static char fake_nvml[512], fake_amd[512];

/* Over what stands there, of the same length: no file system waits for its disk. */
static void spill_over(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    CHECK(CMP(fd, >=, 0) && EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text)));
    close(fd);
}

static struct path copy_of(const char *machine)
{
    char command[2000];
    struct path p = in_scratch(machine);

    snprintf(command, sizeof(command), "rm -rf '%s'; cp -r '%s/tests/recorded/%s' '%s'",
             p.s, source_root, machine, p.s);
    CHECK_EQ(system(command), 0);
    return p;
}

static bool has_ended(const char *pid_file)
{
    FILE *fp = fopen(pid_file, "r");
    char text[32] = "";

    CHECK(fp && fgets(text, sizeof(text), fp));
    if (fp)
        fclose(fp);
    return atoi(text) > 1 && kill(atoi(text), 0) != 0;
}

TEST(a_program_that_prints_watts_is_a_source_and_is_ended)
{
    struct asked a;
    ft_meter *m;
    ft_power w;

    hold_time(0.02, ask_for_line, &a);
    m = open_meter(be_asked(&a, scratch, "echo 60.5 W", 10000), NULL);
    if (!m)
        return;
    CHECK(EQ(ft_meter_n_domains(m), 1) && ft_meter_domain(m, 0)->all_fresh);
    CHECK_NEAR(ft_meter_domain(m, 0)->period_s, 0.02, 1e-3);
    w = power_for(m, 600, "command", NULL);
    CHECK_NEAR(w.watts, 60.5, 1e-9);
    CHECK_NEAR(w.joules, 60.5 * 0.6, 1e-6 * 60.5 * 0.6);
    CHECK(CMP(w.n_fresh, >=, 28)); /* equal numbers are new values here */
    ft_meter_close(m);
    CHECK(has_ended(in_scratch("pid").s));
    ask_no_more(&a);
}

/* In real time nothing is said of how many readings there are: until there are some. */
TEST(the_thread_reads_what_a_program_prints_as_it_likes)
{
    struct path pid_file = in_scratch("pid");
    char command[800];
    ft_meter_options opt = {.sources = command};
    ft_power w = {.n_fresh = 0};
    ft_meter *m;

    snprintf(command, sizeof(command),
             "command:echo $$ > '%s'; while :; do echo 60.5 W; sleep 0.02; done",
             pid_file.s);
    m = open_by(NULL, &opt);
    if (!m)
        return;
    for (int ms = 100; ms <= HANGS_MS && (w.n_fresh < 3 || *w.reason); ms *= 2) {
        ft_trace t;

        w = power_for(m, ms, "command", &t);
        CHECK(CMP(t.cpu_share, >=, 0));
        ft_trace_free(&t);
    }
    CHECK_NEAR(w.watts, 60.5, 1e-9);
    CHECK(isfinite(w.joules) && CMP(w.n_fresh, >=, 3));
    for (int i = 0; i < 8; i++) {
        ft_error err = {0};
        ft_trace t;

        CHECK_EQ(ft__meter_start(m, NULL), FT_OK);
        CHECK_EQ(ft__meter_start(m, &err), FT_EINVAL);
        CHECK_EQ(ft__meter_stop(m, &t, NULL), FT_OK);
        ft_trace_free(&t);
        CHECK_EQ(ft__meter_stop(m, &t, &err), FT_EINVAL);
    }
    CHECK_EQ(ft__meter_start(m, NULL), FT_OK); /* closed while it runs */
    ft_meter_close(m);
    CHECK(has_ended(pid_file.s));
}

TEST(a_program_that_prints_no_number_is_refused)
{
    ft_meter_options opt = {.sources = "command:echo hello; echo nan"};
    ft_error err = {0};
    ft_meter *m;

    CHECK(EQ(ft_meter_open(&m, &opt, &err), FT_ENOTFOUND) && EQ(m, NULL));
    CHECK(HAS(err.msg, "ended without a number: it should print watts"));
}

TEST(a_program_that_dies_leaves_a_reason)
{
    struct asked a;
    ft_meter *m;
    ft_trace t;
    ft_power w;

    hold_time(0.02, ask_for_line, &a);
    m = open_meter(be_asked(&a, scratch, "echo 40", 6), NULL);
    if (!m)
        return;
    w = power_for(m, 900, "command", &t);
    CHECK(isnan(w.joules) && isnan(w.watts) && HAS(w.reason, "no readings"));
    CHECK(CMP(w.n_missing, >, 0) && SAME(t.why[0], "the program has ended"));
    ft_trace_free(&t);
    ft_meter_close(m);
    ask_no_more(&a);
}

/* Counters of a copied tree. */

struct mover {
    struct path file;
    double watts, range_j;
    bool frozen;
};

static void move(void *user, double now_s)
{
    const struct mover *m = user;
    char text[32];

    if (m->frozen)
        return;
    snprintf(text, sizeof(text), "%020.0f\n", 1e6 * fmod(m->watts * now_s, m->range_j));
    spill_over(m->file.s, text);
}

static void begin_moving(struct mover *m, const char *root)
{
    snprintf(m->file.s, sizeof(m->file.s),
             "%s/sys/class/powercap/intel-rapl:0/energy_uj", root);
    write_text(m->file.s, "");
    hold_time(2e-3, move, m);
    move(m, 0);
}

static void set_range(const char *root, double joules)
{
    char path[700], text[32];

    snprintf(path, sizeof(path),
             "%s/sys/class/powercap/intel-rapl:0/max_energy_range_uj", root);
    snprintf(text, sizeof(text), "%.0f\n", joules * 1e6);
    write_text(path, text);
}

TEST(a_counter_is_unwrapped_and_its_edges_interpolated)
{
    struct path root = copy_of("rapl-laptop");
    struct mover mover = {.watts = 80, .range_j = 30};
    ft_meter *m;
    ft_trace t;
    ft_power w;

    set_range(root.s, mover.range_j);
    begin_moving(&mover, root.s);
    m = open_meter(NULL, root.s);
    if (m) {
        /* The zones that stand still are left out. */
        CHECK_EQ(ft_meter_n_domains(m), 1);
        w = power_for(m, 1000, "powercap:package-0", &t);
        CHECK_NEAR(w.watts, 80, 4);
        CHECK(isfinite(w.joules) && EQ(w.joules, w.counter_j) && isnan(w.integral_j));
        CHECK_NEAR(w.joules, 80, 1); /* wraps twice or three times */
        CHECK(CMP(w.joules_error, >, 0) && CMP(w.joules_error, <, 4));
        CHECK(isnan(t.cpu_share)); /* nobody measures it where there is no thread */
        ft_trace_free(&t);
    }
    ft_meter_close(m);
}

TEST(a_counter_that_stops_is_no_zero)
{
    struct path root = copy_of("rapl-laptop");
    struct mover mover = {.watts = 50, .range_j = 1000};
    ft_meter *m;
    ft_power w;

    begin_moving(&mover, root.s);
    m = open_meter("powercap:package-0", root.s);
    if (m) {
        mover.frozen = true;
        w = power_for(m, 300, "powercap:package-0", NULL);
        CHECK(isnan(w.joules) && isnan(w.watts) && HAS(w.reason, "stood still"));
        mover.frozen = false;
        w = power_for(m, 300, "powercap:package-0", NULL);
        CHECK_NEAR(w.joules, 15, 3);
    }
    ft_meter_close(m);
}

TEST(a_source_that_dies_midway_leaves_gaps_and_a_reason)
{
    struct path root = copy_of("rapl-laptop");
    struct mover mover = {.watts = 50, .range_j = 1000};
    ft_meter *m;
    ft_trace t;
    ft_power w;

    begin_moving(&mover, root.s);
    m = open_meter("powercap:package-0", root.s);
    if (!m)
        return;
    mover.frozen = true;
    CHECK_EQ(truncate(mover.file.s, 0), 0);
    w = power_for(m, 200, "powercap:package-0", &t);
    CHECK(isnan(w.joules) && SAME(w.reason, "no readings"));
    CHECK(EQ(w.n_missing, w.n_readings) && HAS(t.why[0], "not a number"));
    ft_trace_free(&t);
    ft_meter_close(m);
}

TEST(named_sources_must_work)
{
    static const struct {
        const char *machine, *sources, *says;
        ft_status st;
    } cases[] = {
        {"rapl-laptop", "powercap:psys", "powercap:psys: its counter did not move for",
         FT_ENOTFOUND},
        {"rapl-laptop", "powercap:nothing", "no source \"powercap:nothing\"",
         FT_ENOTFOUND},
        {"bare-vm", NULL,
         "no power sensor on this machine (powercap: not exposed to this virtual "
         "machine",
         FT_EUNSUPPORTED},
        {"bare-vm", "all", "no power sensor on this machine (powercap",
         FT_EUNSUPPORTED},
        {"bare-vm", "nvml", "not part of a recorded machine", FT_ENOTFOUND},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct path root = copy_of(cases[i].machine);
        ft_meter_options opt = {.sources = cases[i].sources, .root = root.s};
        ft_error err = {0};
        ft_meter *m;

        hold_time(0, NULL, NULL);
        CHECK(EQ(ft__meter_open(&m, &opt, &clock_of_test, &err), cases[i].st) &&
              EQ(m, NULL));
        if (!strstr(err.msg, cases[i].says))
            fprintf(stderr, "%s\n", err.msg);
        CHECK(HAS(err.msg, cases[i].says));
    }
}

TEST(a_jetson_board_has_rails)
{
    struct path root = copy_of("jetson-tx1");
    ft_meter *m;
    ft_power w;

    hold_time(0, NULL, NULL);
    m = open_meter(NULL, root.s);
    if (!m)
        return;
    CHECK_EQ(ft_meter_n_domains(m), 2);
    /* Files that never change: no value is new. */
    w = power_for(m, 100, "hwmon:ina3221:VDD_IN", NULL);
    CHECK(isnan(w.joules) && HAS(w.reason, "stood still"));
    ft_meter_close(m);
}

TEST(a_meter_starts_and_stops_many_times)
{
    struct path root = copy_of("rapl-laptop");
    struct mover mover = {.watts = 50, .range_j = 1000};
    ft_error err = {0};
    ft_trace t = {0};
    ft_meter *m;

    begin_moving(&mover, root.s);
    m = open_meter("powercap:package-0", root.s);
    for (int i = 0; m && i < 8; i++) {
        CHECK_EQ(ft__meter_start(m, NULL), FT_OK);
        CHECK_EQ(ft__meter_start(m, &err), FT_EINVAL);
        CHECK(EQ(ft__meter_stop(m, &t, NULL), FT_OK) && CMP(t.n[0], >=, 2));
        ft_trace_free(&t);
        CHECK_EQ(ft__meter_stop(m, &t, &err), FT_EINVAL);
    }
    if (m)
        CHECK_EQ(ft__meter_start(m, NULL), FT_OK); /* closed while it runs */
    ft_meter_close(m);
}

TEST(idle_power_is_the_median_of_a_quiet_stretch)
{
    struct path root = copy_of("rapl-laptop");
    struct mover mover = {.watts = 12, .range_j = 1000};
    ft_meter *m;
    double watts = NAN;

    begin_moving(&mover, root.s);
    m = open_meter("powercap:package-0", root.s);
    if (m) {
        CHECK_EQ(ft__meter_idle(m, 0.3, &watts, NULL), FT_OK);
        CHECK_NEAR(watts, 12, 1.2);
        CHECK(EQ(ft__meter_idle(m, 0, &watts, NULL), FT_EINVAL) && isnan(watts));
    }
    ft_meter_close(m);
}

static void tell_libraries(void *user, double now_s)
{
    char text[32];

    (void)user;
    snprintf(text, sizeof(text), "%020.9f\n", now_s);
    spill_over(getenv("FAKE_NOW"), text);
}

static ft_meter *open_gpu(const char *sources, const char *says)
{
    ft_meter_options opt = {.sources = sources, .nvml = fake_nvml, .amd = fake_amd};
    struct path file = in_scratch("nvml");

    write_text(file.s, says);
    setenv("FAKE_NVML", file.s, 1);
    setenv("FAKE_NOW", in_scratch("now").s, 1);
    hold_time(1e-3, tell_libraries, NULL);
    return open_by(&clock_of_test, &opt);
}

TEST(a_gpu_counts_and_tells_power)
{
    static const char says[] = "gpus=1\ngpu0.update_ms=20\ngpu0.power_mw=100000\n"
                               "gpu0.memory_mw=20000\ngpu0.mig=1\n";
    ft_meter *m = open_gpu("nvml", says);
    ft_power w, memory;
    ft_trace t;

    if (!m)
        return;
    CHECK_EQ(ft_meter_n_domains(m), 2);
    CHECK(SAME(ft_meter_domain(m, 1)->part_of, "nvml:0"));
    CHECK(HAS(ft_meter_domain(m, 0)->note, "MIG is on"));
    CHECK_NEAR(ft_meter_domain(m, 0)->period_s, 0.02, 0.001);
    CHECK_NEAR(ft_meter_domain(m, 0)->least_s, 5, 0);
    w = power_for(m, 1000, "nvml:0", &t);
    ft_power_of(&memory, &t, 1, t.reading[1][5].at_s, t.reading[1][t.n[1] - 6].at_s);
    CHECK_NEAR(w.watts, 100.5, 1); /* swings between 100 and 101 */
    CHECK_NEAR(w.counter_j, 100, 5);
    CHECK_NEAR(w.integral_j, 100.5, 5);
    CHECK(EQ(w.joules, w.counter_j) && isfinite(w.disagreement));
    CHECK_NEAR(memory.watts, 20.1, 0.2);
    ft_trace_free(&t);
    ft_meter_close(m);
}

TEST(counter_and_power_that_disagree_are_both_told)
{
    /* Fields tell 60 W more than is counted. */
    ft_meter *m = open_gpu("nvml", "gpus=1\ngpu0.update_ms=20\ngpu0.power_mw=90000\n"
                                   "gpu0.instant_mw=150000\n");
    ft_power w;

    if (!m)
        return;
    w = power_for(m, 800, "nvml:0", NULL);
    CHECK_NEAR(w.counter_j, 72, 5);
    CHECK_NEAR(w.integral_j, 120.6, 8);
    CHECK_NEAR(w.disagreement, 90 / 150.75 - 1, 0.05);
    CHECK(HAS(w.note, "the counter says") && EQ(w.joules, w.counter_j));
    ft_meter_close(m);
}

TEST(a_gpu_is_found_by_its_uuid)
{
    ft_meter *m =
        open_gpu("nvml:GPU-0000000", "gpus=2\ngpu1.uuid=GPU-11111111-22\n"
                                     "gpu0.update_ms=10\ngpu1.update_ms=10\n");

    if (m)
        CHECK(EQ(ft_meter_n_domains(m), 1) &&
              SAME(ft_meter_domain(m, 0)->name, "nvml:0"));
    ft_meter_close(m);
    m = open_gpu("nvml:GPU-11111111-22", "gpus=2\ngpu1.uuid=GPU-11111111-22\n"
                                         "gpu0.update_ms=10\ngpu1.update_ms=10\n");
    if (m)
        CHECK(EQ(ft_meter_n_domains(m), 1) &&
              SAME(ft_meter_domain(m, 0)->name, "nvml:1"));
    ft_meter_close(m);
}

TEST(a_gpu_of_amd_counts_in_its_own_unit)
{
    ft_meter *m = open_gpu("amd", "gpus=1\n");
    ft_power w;

    if (!m)
        return;
    CHECK_EQ(ft_meter_n_domains(m), 2); /* amd:0 counts and tells, amd:1 tells */
    w = power_for(m, 500, "amd:0", NULL);
    CHECK_NEAR(w.counter_j, 15, 1.5);
    CHECK_NEAR(w.watts, 30, 1);
    ft_meter_close(m);
}

int main(int argc, char **argv)
{
    source_root = argc > 1 ? argv[1] : ".";
    path_beside(fake_nvml, sizeof(fake_nvml), argv[0], "libfake-nvidia-ml.so");
    path_beside(fake_amd, sizeof(fake_amd), argv[0], "libfake-rocm-smi.so");
    make_scratch();

    check_all();

    remove_scratch();
    CHECK_DONE();
}
