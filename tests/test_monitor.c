#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "check.h"
#include "device/watch.h"
#include "files.h"
#include "scratch.h"

static const char *source_root;
static char fake_nvml[1024];
static char root[512];

FT_PRINTF(2, 3) static void edit(const char *file, const char *fmt, ...)
{
    char path[1024];
    va_list ap;
    FILE *fp;

    snprintf(path, sizeof(path), "%s/%s", root, file);
    fp = fopen(path, "w");
    if (!fp)
        exit(1);
    va_start(ap, fmt);
    vfprintf(fp, fmt, ap);
    va_end(ap);
    fclose(fp);
}

/* A recorded machine that may be changed. */
static void use(const char *machine)
{
    static int n;
    char command[2000];

    snprintf(root, sizeof(root), "%s/%s-%d", scratch, machine, n++);
    snprintf(command, sizeof(command), "cp -r '%s/tests/recorded/%s' '%s'", source_root,
             machine, root);
    if (system(command))
        exit(1);
}

static void khz(unsigned cpu, double v)
{
    char file[128];

    snprintf(file, sizeof(file),
             "sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
    edit(file, "%.0f\n", v);
}

static double now_s;

static double the_time(void)
{
    return now_s;
}

static void open_watch(ft__watch *w, const char *device, const char *nvml)
{
    const ft_settings_options how = {.root = root, .nvml = nvml};

    if (ft__watch_open(w, device, &how, NULL))
        exit(1);
    w->now = the_time;
}

static ft__cpus cpus(const char *list)
{
    ft__cpus set;

    CHECK(ft__cpus_parse(&set, list));
    return set;
}

TEST(the_fastest_cpu_that_may_be_used_has_the_clock)
{
    static const double mhz[] = {2690, 2700, 2710, 2705, 2700};
    const ft__cpus some = cpus("1,3");
    ft_conditions c;
    ft__watch w;

    use("rapl-laptop");
    open_watch(&w, NULL, NULL);
    now_s = 10;
    ft__watch_begin(&w, &some);
    for (int i = 0; i < 5; i++) {
        khz(0, 3.1e6); /* not ours */
        khz(1, 8e5);
        khz(3, mhz[i] * 1e3);
        ft__watch_sample(&w);
    }
    now_s = 11;
    ft__watch_end(&w, &c);
    CHECK_NEAR(c.clock_low_hz, 2.69e9, 0);
    CHECK_NEAR(c.clock_hz, 2.70e9, 0);
    CHECK_NEAR(c.clock_high_hz, 2.71e9, 0);
    CHECK(EQ(c.n, 5) && EQ(c.marks, 0));
    CHECK(isnan(c.memory_clock_hz));

    /* Nothing of one stretch is left in the next. */
    now_s = 11;
    ft__watch_begin(&w, &some);
    khz(3, 2.70e6);
    ft__watch_sample(&w);
    khz(3, 2.64e6);
    ft__watch_sample(&w);
    now_s = 12;
    ft__watch_end(&w, &c);
    CHECK(EQ(c.n, 2) && EQ(c.marks, FT_MARK_CLOCK_MOVED));
    CHECK_NEAR(c.clock_high_hz, 2.70e9, 0);
    ft__watch_close(&w);
}

/* In ticks of 10 ms: user, nice, system, idle, iowait, irq, softirq, steal. */
static void work(double user, double nice, double system, double idle, double iowait,
                 double irq, double softirq, double steal, double own)
{
    edit(
        "proc/stat",
        "cpu  %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f 77 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n",
        1000 + user, 10 + nice, 500 + system, 9000 + idle, 70 + iowait, 3 + irq,
        6 + softirq, 1 + steal);
    edit("proc/self/stat",
         "42 (a ) b) R 1 42 42 0 -1 4194304 100 0 0 0 %.0f 200 30 20 20 0 1 0 1 1 1\n",
         100 + own);
}

TEST(others_are_told_from_oneself)
{
    static const struct {
        double duration_s, ticks[8], own, load;
        uint32_t marks;
    } cases[] = {
        /* clang-format off */
        {10, {1000, 0, 0, 1000}, 1000, 0, 0},                             /* alone */
        {10, {1150, 0, 0, 850}, 1000, 0.15, FT_MARK_FOREIGN_LOAD},
        {10, {1000, 20, 20, 0, 0, 20, 20, 70}, 1000, 0.15, FT_MARK_FOREIGN_LOAD},
        {10, {1000, 0, 0, 500, 500}, 1000, 0, 0},                         /* a disk */
        {10, {1090, 0, 0, 910}, 1000, 0.09, 0},                           /* little */
        {0.15, {17, 0, 0, 8}, 15, 0.02 / 0.15, 0},       /* no more than the ticks' */
        {1, {0, 0, 0, 200, 0, 0, 0, 150}, 0, 1.5, FT_MARK_FOREIGN_LOAD}, /* host */
        {1, {95, 0, 0, 105}, 100, 0, 0},                  /* ticks coarser than ours */
        {0.05, {50, 0, 0, 0}, 0, NAN, 0},                 /* too short */
        /* clang-format on */
    };
    const ft__cpus all = cpus("0-3");

    use("rapl-laptop");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const double *t = cases[i].ticks;
        ft_conditions c;
        ft__watch w;

        open_watch(&w, "cpu", NULL);
        work(0, 0, 0, 0, 0, 0, 0, 0, 0);
        now_s = 100;
        ft__watch_begin(&w, &all);
        work(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], cases[i].own);
        now_s = 100 + cases[i].duration_s;
        ft__watch_end(&w, &c);
        CHECK_EQ(isnan(c.foreign_load), isnan(cases[i].load));
        if (!isnan(cases[i].load))
            CHECK_NEAR(c.foreign_load, cases[i].load, 1e-9);
        CHECK_EQ(c.marks, cases[i].marks);
        ft__watch_close(&w);
    }
}

TEST(heat_and_throttling_are_seen)
{
    static const char temp[] = "sys/class/hwmon/hwmon0/temp1_input";
    const ft__cpus first = cpus("0");
    ft_conditions c;
    ft__watch w;

    use("rapl-laptop"); /* critical at 100 C */
    open_watch(&w, "cpu", NULL);
    now_s = 0;
    ft__watch_begin(&w, &first);
    edit(temp, "94000\n");
    ft__watch_sample(&w);
    now_s = 1;
    ft__watch_end(&w, &c);
    CHECK_NEAR(c.temperature_max_k, 367.15, 1e-9);
    CHECK(EQ(c.marks, 0) && EQ(c.throttle, 0));

    now_s = 1;
    ft__watch_begin(&w, &first);
    edit(temp, "96000\n");
    ft__watch_sample(&w);
    edit(temp, "60000\n");
    ft__watch_sample(&w);
    edit("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "8\n");
    now_s = 2;
    ft__watch_end(&w, &c);
    CHECK_NEAR(c.temperature_max_k, 369.15, 1e-9);
    CHECK_EQ(c.marks, (FT_MARK_HOT | FT_MARK_THROTTLED));
    CHECK_EQ(c.throttle, (uint64_t)1 << 63);
    ft__watch_close(&w);
}

TEST(a_thermal_zone_serves_where_there_is_no_chip)
{
    const ft__cpus all = cpus("0-3");
    ft_conditions c;
    ft__watch w;

    use("jetson-tx1"); /* passive cooling from 97.5 C on; the fan's 50 C is no limit */
    open_watch(&w, "cpu", NULL);
    CHECK_EQ(w.n_thermometers, 1);
    for (int i = 0; i < 2; i++) {
        now_s = i;
        ft__watch_begin(&w, &all);
        ft__watch_sample(&w);
        now_s = i + 1;
        ft__watch_end(&w, &c);
        CHECK_NEAR(c.temperature_max_k, i ? 366.65 : 334.65, 1e-9);
        CHECK_EQ(c.marks, (i ? FT_MARK_HOT : 0u));
        edit("sys/class/thermal/thermal_zone1/temp", "93500\n");
    }
    ft__watch_close(&w);
}

TEST(what_a_machine_does_not_tell_is_nan)
{
    const ft__cpus all = cpus("0-1");
    ft_conditions c;
    ft__watch w;
    char text[64] = "x";

    use("bare-vm");
    edit("proc/cpuinfo", "processor\t: 0\nmodel name\t: X\n");
    open_watch(&w, NULL, NULL);
    now_s = 0;
    ft__watch_begin(&w, &all);
    ft__watch_sample(&w);
    now_s = 1;
    ft__watch_end(&w, &c);
    CHECK(isnan(c.clock_hz) && isnan(c.clock_low_hz) && isnan(c.clock_high_hz));
    CHECK(isnan(c.memory_clock_hz) && isnan(c.temperature_max_k));
    CHECK(isnan(c.foreign_load) && EQ(c.throttle, 0) && EQ(c.marks, 0));
    CHECK(EQ(ft_conditions_print(&c, text, sizeof(text)), 0) && EQ(*text, '\0'));
    /* A virtual machine has the line of /proc/cpuinfo. */
    edit("proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2900.500\n\n"
                         "processor\t: 1\ncpu MHz\t\t: 2000.000\n");
    now_s = 0;
    ft__watch_begin(&w, &all);
    ft__watch_sample(&w);
    now_s = 1;
    ft__watch_end(&w, &c);
    CHECK_NEAR(c.clock_hz, 2.9005e9, 1);
    ft__watch_close(&w);
}

static void gpu(const char *keys)
{
    edit("gpu", "gpus=1\n%s", keys);
}

TEST(a_gpu_tells_why_it_is_slow)
{
    static const struct {
        const char *keys;
        uint32_t marks;
        const char *text;
    } cases[] = {
        {"", 0, "clock 1410 MHz, memory 1215 MHz, 40 C"},
        {"gpu0.throttle=3\n", 0, "clock 1410 MHz, memory 1215 MHz, 40 C"},
        {"gpu0.throttle=4\n", FT_MARK_THROTTLED,
         "clock 1410 MHz, memory 1215 MHz, 40 C, throttled: power cap"},
        /* Its owner lowered the cap. */
        {"gpu0.throttle=4\ngpu0.limit_mw=150000\n", 0,
         "clock 1410 MHz, memory 1215 MHz, 40 C, throttled: power cap"},
        {"gpu0.throttle=0x44\ngpu0.limit_mw=150000\n", FT_MARK_THROTTLED,
         "clock 1410 MHz, memory 1215 MHz, 40 C, throttled: power cap, heat "
         "(hardware)"},
        {"gpu0.locked=900\n", 0, "clock 900 MHz, memory 1215 MHz, 40 C"},
        {"gpu0.GetClockInfo=3\ngpu0.GetTemperature=3\n", 0, ""},
    };
    const ft__cpus none = {0};
    char file[600], text[256], keys[256];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_conditions c;
        ft__watch w;

        use("bare-vm");
        snprintf(keys, sizeof(keys), "gpu0.temperature_c=40\n%s", cases[i].keys);
        gpu(keys);
        snprintf(file, sizeof(file), "%s/gpu", root);
        setenv("FAKE_NVML", file, 1);
        open_watch(&w, "nvml:0", fake_nvml);
        CHECK(w.gpu != NULL);
        now_s = 0;
        ft__watch_begin(&w, &none);
        ft__watch_sample(&w);
        now_s = 1;
        ft__watch_end(&w, &c);
        CHECK_EQ(c.marks, cases[i].marks);
        ft_conditions_print(&c, text, sizeof(text));
        if (strcmp(text, cases[i].text) != 0)
            fprintf(stderr, "case %zu: %s\n", i, text);
        CHECK(SAME(text, cases[i].text));
        ft__watch_close(&w);
    }
}

TEST(a_missing_gpu_is_no_failure)
{
    ft_conditions c;
    ft_monitor *m;

    CHECK_EQ(ft_monitor_open(&m, "nvml:7", &(ft_settings_options){.nvml = "libnone.so"},
                             NULL),
             FT_OK);
    ft_monitor_start(m);
    ft_monitor_stop(m, &c);
    CHECK_EQ(c.n, 1);
    ft_monitor_close(m);
    ft_monitor_close(NULL);
}

TEST(long_stretches_keep_their_range)
{
    const ft__cpus first = cpus("0");
    ft_conditions c;
    ft__watch w;

    use("jetson-tx1");
    open_watch(&w, "cpu", NULL);
    w.n_thermometers = 0;
    now_s = 0;
    ft__watch_begin(&w, &first);
    for (int i = 0; i < 3 * FT__MAX_SAMPLES; i++) {
        if (i == 10 || i == 2 * FT__MAX_SAMPLES)
            khz(0, i == 10 ? 1e6 : 1.1e6);
        ft__watch_sample(&w);
    }
    now_s = 1000;
    ft__watch_end(&w, &c);
    CHECK(EQ(c.n, 3 * FT__MAX_SAMPLES) && CMP(w.n_clocks, <=, FT__MAX_SAMPLES));
    CHECK_NEAR(c.clock_hz, 1e9, 0);
    CHECK_NEAR(c.clock_high_hz, 1.1e9, 0);
    ft__watch_close(&w);
}

TEST(conditions_are_said_in_a_line)
{
    const ft_conditions c = {.clock_low_hz = 1.2e9,
                             .clock_high_hz = 1.41e9,
                             .clock_hz = 1.4e9,
                             .memory_clock_hz = NAN,
                             .temperature_max_k = 273.15 + 98,
                             .foreign_load = 0.44,
                             .throttle = (uint64_t)1 << 63,
                             .marks = FT_MARK_HOT};
    const char want[] =
        "clock 1400 MHz (1200..1410), 98 C (near its limit), throttled: "
        "heat, foreign load 0.4";
    char text[256], small[12];

    CHECK_EQ(ft_conditions_print(&c, text, sizeof(text)), sizeof(want) - 1);
    CHECK(SAME(text, want));
    CHECK_EQ(ft_conditions_print(&c, small, sizeof(small)), sizeof(want) - 1);
    CHECK(SAME(small, "clock 1400 "));
    CHECK_EQ(ft_conditions_print(&c, NULL, 0), sizeof(want) - 1);
}

/* Watch for about so long; how long it has been. */
static double watched_s(ft_monitor *m, double seconds, ft_conditions *out)
{
    double begin_s = ft__now_s();

    ft_monitor_start(m);
    ft__sleep_s(seconds);
    ft_monitor_stop(m, out);
    return ft__now_s() - begin_s;
}

/* On whatever machine this is: it looks, stretch after stretch, and ends. */
TEST(the_thread_samples_while_it_is_told_to)
{
    ft_conditions c;
    ft_monitor *m;
    double seconds;

    CHECK_EQ(ft_monitor_open(&m, NULL, NULL, NULL), FT_OK);
    seconds = watched_s(m, 0.25, &c);
    /* One at 10 ms, then each 100 ms. */
    CHECK(CMP(c.n, >=, 1) && CMP(c.n, <=, 1 + seconds / 0.1));
    CHECK(CMP(c.foreign_load, >=, 0));
    for (int i = 0; i < 200; i++) {
        seconds = watched_s(m, 1e-6, &c);
        CHECK(CMP(c.n, >=, 1));
        /* So short a stretch says nothing of others, unless this was held up. */
        CHECK(CMP(seconds, >=, 0.1) || !(c.marks & FT_MARK_FOREIGN_LOAD));
    }
    ft_monitor_start(m);
    ft_monitor_close(m);
}

int main(int argc, char **argv)
{
    source_root = argc > 1 ? argv[1] : ".";
    path_beside(fake_nvml, sizeof(fake_nvml), argv[0], "libfake-nvidia-ml.so");
    make_scratch();

    check_all();

    remove_scratch();
    CHECK_DONE();
}
