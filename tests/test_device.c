#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "device/power/source.h"
#include "device/spec/device.h"
#include "files.h"
#include "foretell/device.h"
#include "scratch.h"

static const char *source_root;
static char fake_nvml[1024];

static struct path recorded(const char *machine)
{
    return path_to(path_to(source_root, "tests/recorded").s, machine);
}

static void shell(const char *command)
{
    if (system(command)) {
        fprintf(stderr, "failed: %s\n", command);
        exit(1);
    }
}

/* A recorded machine that may be changed. */
static struct path copy_of(const char *machine)
{
    char command[2100];

    snprintf(command, sizeof(command), "cp -r '%s' '%s/'", recorded(machine).s,
             scratch);
    shell(command);
    return path_to(scratch, machine);
}

static ft_status parse(ft_device **d, const char *text, ft_error *err)
{
    return ft__device_parse(d, "x", text, strlen(text), "x.yaml", err);
}

#define HEAD "title: An X\nvendor: Y\ntype: gpu\nsource: a sheet\n"

TEST(a_file_gives_facts_in_si_units)
{
    ft_error err = {0};
    ft_device *d;
    const ft_device_facts *f;

    CHECK_EQ(parse(&d,
                   HEAD
                   "boost_clock_mhz: 1410\nbandwidth_gb_s: 1555\nmemory_gib: 40\n"
                   "peak_fp32_tflops: 19.5\nl2_mib: 0.25\ncompute_capability: 8.0\n",
                   &err),
             FT_OK);
    f = ft_device_get(d);
    CHECK(SAME(f->name, "x") && SAME(ft_device_get(d)->fingerprint, "x"));
    CHECK(SAME(f->title, "An X") && SAME(f->note, ""));
    CHECK_NEAR(f->boost_clock_hz, 1.41e9, 0);
    CHECK_NEAR(f->bandwidth_bytes_per_s, 1.555e12, 0);
    CHECK_NEAR(f->memory_bytes, 42949672960.0, 0);
    CHECK_NEAR(f->peak_fp32, 19.5e12, 0);
    CHECK_NEAR(f->l2_bytes, 262144, 0);
    CHECK_NEAR(f->compute_capability, 8, 0);
    CHECK(isnan(f->tdp_w) && isnan(f->cores) && isnan(f->year));
    ft_device_free(d);
}

TEST(a_bad_file_is_refused_with_line_and_key)
{
    static const struct {
        const char *text, *where;
    } cases[] = {
        /* clang-format off */
        {"", "line 1, key title: missing"},
        {HEAD "boost_clock_ghz: 1\n", "line 5, key boost_clock_ghz: there is no such key"},
        {HEAD "cores: 8\n\ncores: 9\n", "key cores: Mapping field already seen"},
        {HEAD "\nmemory_gib: 40 GB\n", "line 6, key memory_gib: a plain number above 0"},
        {HEAD "cores: many\n", "line 5, key cores: a plain number"},
        {HEAD "cores: 0\n", "line 5, key cores: a plain number"},
        {HEAD "cores: -4\n", "line 5, key cores: a plain number"},
        {HEAD "cores: nan\n", "line 5, key cores: a plain number"},
        {HEAD "cores: 1e400\n", "line 5, key cores: a plain number"},
        {HEAD "cores:\n", "line 5, key cores: "},
        {HEAD "cores: [8]\n", "line 5, key cores: "},
        {HEAD "cores: 8\n---\ncores: 9\n", "documents"},
        {HEAD "note: &n x\ncores: *n\n", "line 6, key cores: "},
        {"- title\n", "line 1, key (none): "},
        {"vendor: Y\ntype: gpu\nsource: s\n", "Missing required mapping field: title"},
        {"title: X\nvendor: Y\ntype: tpu\nsource: s\n", "line 3, key type: gpu or cpu"},
        {HEAD "\tcores: 8\n", "tab"},
        {HEAD "note: \xff\n", "UTF-8"},
        /* clang-format on */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_error err = {0};
        ft_device *d = (ft_device *)1;

        CHECK_EQ(parse(&d, cases[i].text, &err), FT_EFORMAT);
        CHECK(EQ(d, NULL));
        if (!strstr(err.msg, cases[i].where))
            fprintf(stderr, "case %zu: %s\n", i, err.msg);
        CHECK(HAS(err.msg, cases[i].where));
        CHECK(BEGINS(err.msg, "x.yaml, line ", 13));
    }
}

/* Multiply-adds of fp32 that a core does in a cycle, by architecture. */
static double lanes_of(const ft_device_facts *f)
{
    double cc = f->compute_capability;

    if (strcmp(f->vendor, "AMD") == 0)
        return strncmp(f->name, "mi3", 3) == 0 ? 128 : 64;
    if (strcmp(f->vendor, "Arm") == 0)
        return 8; /* two pipelines of four lanes: Midgard */
    if (strcmp(f->vendor, "NVIDIA") != 0)
        return strncmp(f->name, "arc", 3) == 0 ? 128 : NAN;
    if (cc < 5)
        return 192;
    return fabs(cc - 6) < 0.05 || (cc >= 7 && cc < 8.05) ? 64 : 128;
}

/* Peaks of the plain cores follow from clock and count, where both are known. Of a
 * CPU: one, two or four vector units' worth, at its base clock. */
static void check_lanes(const ft_device_facts *f)
{
    double clock = f->base_clock_hz, lanes, want = 0;

    if (strcmp(f->type, "gpu") == 0 || isnan(clock))
        clock = f->boost_clock_hz;
    lanes = f->peak_fp32 / (2 * f->cores * clock);
    if (isnan(lanes))
        return;
    if (strcmp(f->type, "gpu") == 0)
        want = lanes_of(f);
    else
        for (want = 4; want < 32 && want * 1.4 < lanes;)
            want *= 2;
    /* GB200's clock is B200's, for want of one of its own: 7 % too low. */
    if (!(fabs(lanes / want - 1) < 0.08))
        fprintf(stderr, "%s: %.1f lanes, not %g\n", f->name, lanes, want);
    CHECK(CMP(fabs(lanes / want - 1), <, 0.08));
}

/* Tensor and matrix cores do a power of two of multiply-adds a clock, without sparsity,
 * and twice as many of half the width. Those of an H20 are held back. */
static void check_tensor(const ft_device_facts *f)
{
    const double rate = f->peak_fp16 / (2 * f->cores * f->boost_clock_hz);
    const double power = exp2(round(log2(rate)));

    CHECK(!(fabs(f->peak_fp8 / f->peak_fp16 - 2) > 0.05));
    if (!SAME(f->type, "gpu") || SAME(f->name, "h20") || SAME(f->name, "h20-141gb"))
        return;
    if (fabs(rate / power - 1) > 0.14)
        fprintf(stderr, "%s: %.0f multiply-adds of fp16\n", f->name, rate);
    CHECK(!(fabs(rate / power - 1) > 0.14));
}

/* Of a GPU with memory of its own: bandwidth over twice the clock that the driver
 * shows is a bus of so many times 32 bits. */
static void check_bus(const ft_device_facts *f)
{
    double units = f->bandwidth_bytes_per_s / (2 * f->memory_clock_hz) / 4;

    if (isnan(units))
        return;
    if (!(fabs(units / round(units) - 1) < 0.02))
        fprintf(stderr, "%s: a bus of %.1f bits\n", f->name, 32 * units);
    CHECK(CMP(units, >, 0.9) && CMP(units, <, 257) &&
          CMP(fabs(units / round(units) - 1), <, 0.02));
}

/* Whatever a dataset calls it leads to this file and to no other. */
static void check_names(const ft_device_facts *f)
{
    const struct path data = path_to(source_root, "data");
    char found[128];
    ft_error err = {0};

    for (size_t i = 0; i < f->n_aliases + 1; i++) {
        const char *title = i < f->n_aliases ? f->aliases[i] : f->title;
        ft_status st = ft__device_find(found, sizeof(found), data.s, title, &err);

        if (st)
            fprintf(stderr, "%s: %s\n", title, err.msg);
        CHECK(!st && SAME(found, f->name));
    }
}

/* Drivers call boards with other memory or fewer cores the same. */
TEST(a_name_of_two_boards_is_neither)
{
    static const char *const shared[] = {"NVIDIA RTX A2000", "NVIDIA GeForce RTX 3050",
                                         "NVIDIA GeForce GTX 1060"};
    const struct path data = path_to(source_root, "data");
    char found[128];

    for (size_t i = 0; i < sizeof(shared) / sizeof(*shared); i++)
        CHECK(CMP(ft__device_find(found, sizeof(found), data.s, shared[i], NULL), !=,
                  FT_OK));
}

/* No figure may be beyond what any chip does: catches a slip of the unit. */
TEST(every_device_file_is_plausible)
{
    char **names;
    size_t n;
    ft_error err = {0};

    CHECK_EQ(ft_device_names(&names, &n, path_to(source_root, "data").s, &err), FT_OK);
    CHECK(CMP(n, >=, 80));
    for (size_t i = 0; i < n; i++) {
        ft_device *d;
        const ft_device_facts *f;

        if (ft_device_load(&d, path_to(source_root, "data").s, names[i], &err) !=
            FT_OK) {
            fprintf(stderr, "%s\n", err.msg);
            CHECK(0);
            continue;
        }
        f = ft_device_get(d);
        CHECK(SAME(f->name, names[i]));
        CHECK(EQ(i, 0) || CMP(strcmp(names[i - 1], names[i]), <, 0));
        CHECK(!(f->boost_clock_hz < 0.5e9) && !(f->boost_clock_hz > 6e9));
        CHECK(!(f->base_clock_hz > f->boost_clock_hz));
        CHECK(!(f->peak_fp32 < 3e10) && !(f->peak_fp32 > 3e14));
        CHECK(!(f->peak_fp64 > f->peak_fp32) && !(f->peak_fp16 < f->peak_fp32));
        CHECK(!(f->peak_int8 < f->peak_fp16) && !(f->peak_fp8 < f->peak_fp16));
        CHECK(!(f->peak_fp4 < 1.99 * f->peak_fp8));
        CHECK(!SAME(f->type, "gpu") ||
              (CMP(f->cores, >, 0) && CMP(f->peak_fp32, >, 0) &&
               CMP(f->boost_clock_hz, >, 0)));
        CHECK(CMP(f->bandwidth_bytes_per_s, >, 3e9) &&
              CMP(f->bandwidth_bytes_per_s, <, 1e13));
        CHECK(!(f->memory_bytes < 0x1p30) && !(f->memory_bytes > 0x1p39));
        CHECK(CMP(f->l2_bytes, >=, 0x1p17) || isnan(f->l2_bytes));
        CHECK(CMP(f->year, >=, 2010) && !(f->process_nm < 3) && !(f->process_nm > 40));
        check_names(f);
        check_lanes(f);
        check_tensor(f);
        check_bus(f);
        ft_device_free(d);
    }
    ft_device_names_free(names, n);
}

TEST(an_unknown_name_lists_what_there_is)
{
    static const char *const strange[] = {"../devices/a30", "A30",  "", ".",
                                          "a30.yaml/",      "a30\n"};
    static const char *const unlike[] = {"cpu",      "cuda:0", "GPU",  "infinity",
                                         "Apple M2", "gaudi2", "trn1", "TPUv5e"};
    const struct path data = path_to(source_root, "data");
    ft_error err = {0};
    ft_device *d;
    char **names;
    size_t n;

    CHECK(EQ(ft_device_load(&d, data.s, "a100", &err), FT_ENOTFOUND) && EQ(d, NULL));
    CHECK(HAS(err.msg, "no device \"a100\"; there are a100-pcie-40gb, a100-pcie-80gb, "
                       "a100-sxm-40gb"));
    ft_device_load(&d, data.s, "gtx-1660", &err);
    CHECK(HAS(err.msg, "; there are gtx-1060-6gb, gtx-1070, gtx-1070-ti, gtx-1080, "
                       "gtx-1080-ti; foretell "));
    for (size_t i = 0; i < sizeof(strange) / sizeof(*strange); i++)
        CHECK_EQ(ft_device_load(&d, data.s, strange[i], &err), FT_ENOTFOUND);
    for (size_t i = 0; i < sizeof(unlike) / sizeof(*unlike); i++) {
        CHECK_EQ(ft_device_load(&d, data.s, unlike[i], &err), FT_ENOTFOUND);
        CHECK(HAS(err.msg, i < 3   ? "this machine is local"
                           : i < 4 ? "none with a name like it"
                                   : "not described yet"));
    }
    CHECK(EQ(ft_device_names(&names, &n, scratch, &err), FT_ENOTFOUND) &&
          EQ(names, NULL));
    CHECK(HAS(err.msg, "data folder"));
}

TEST(recorded_machines_are_described)
{
    static const struct {
        const char *machine, *title, *vendor, *fingerprint;
        double cores, base_ghz, boost_ghz, l2_kib, l3_mib, memory_kib;
    } cases[] = {
        {"rapl-laptop", "Intel(R) Core(TM) i5-7200U CPU @ 2.50GHz", "Intel",
         "cpu-intel-core-i5-7200u-2c-e36a744b", 2, 2.5, 3.1, 256, 3, 7998424},
        {"jetson-tx1", "NVIDIA Jetson TX1 Developer Kit, Cortex-A57", "Arm",
         "cpu-nvidia-jetson-tx1-developer-kit-4c-2d9f08f1", 4, NAN, 1.734, 512, NAN,
         4057036},
        {"amd-server", "AMD EPYC 3101 4-Core Processor", "AMD",
         "cpu-amd-epyc-3101-4-core-4c-14bd1e76", 4, NAN, 2.9, 512, 8, 32780132},
        {"bare-vm", "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", "Intel",
         "cpu-intel-xeon-platinum-8375c-1c-9950a2b7", 1, 2.9, NAN, 1280, 54, 3931520},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_error err = {0};
        ft_device *d;
        const ft_device_facts *f;

        CHECK_EQ(ft_device_local(&d, recorded(cases[i].machine).s, &err), FT_OK);
        f = ft_device_get(d);
        CHECK(SAME(f->title, cases[i].title));
        CHECK(SAME(f->vendor, cases[i].vendor));
        CHECK(SAME(f->name, "local") && SAME(f->type, "cpu"));
        if (strcmp(ft_device_get(d)->fingerprint, cases[i].fingerprint) != 0)
            fprintf(stderr, "%s\n", ft_device_get(d)->fingerprint);
        CHECK(SAME(ft_device_get(d)->fingerprint, cases[i].fingerprint));
        CHECK_NEAR(f->cores, cases[i].cores, 0);
        CHECK_NEAR(f->memory_bytes, cases[i].memory_kib * 1024, 0);
        CHECK_NEAR(f->l2_bytes, cases[i].l2_kib * 1024, 0);
        CHECK(isnan(cases[i].base_ghz) ? isnan(f->base_clock_hz)
                                       : EQ(f->base_clock_hz, cases[i].base_ghz * 1e9));
        CHECK(isnan(cases[i].boost_ghz)
                  ? isnan(f->boost_clock_hz)
                  : EQ(f->boost_clock_hz, cases[i].boost_ghz * 1e9));
        CHECK(isnan(cases[i].l3_mib) ? isnan(f->l3_bytes)
                                     : EQ(f->l3_bytes, cases[i].l3_mib * 0x1p20));
        CHECK(isnan(f->peak_fp32) && isnan(f->bandwidth_bytes_per_s));
        CHECK_EQ((strstr(f->note, "virtual") != NULL),
                 (strcmp(cases[i].machine, "bare-vm") == 0));
        ft_device_free(d);
    }
}

static void fingerprint_of(char out[128], const char *root)
{
    ft_device *d;

    *out = '\0';
    CHECK_EQ(ft_device_local(&d, root, NULL), FT_OK);
    if (d)
        snprintf(out, 128, "%s", ft_device_get(d)->fingerprint);
    ft_device_free(d);
}

TEST(the_fingerprint_changes_with_the_machine_only)
{
    static const struct {
        const char *file, *text;
        int changes;
    } edits[] = {
        {"sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "1000000", 0},
        {"proc/meminfo", "MemTotal:       32768000 kB\n", 0}, /* another kernel */
        {"proc/meminfo", "MemTotal:       65530000 kB\n", 1},
        {"sys/devices/system/cpu/cpu0/cache/index2/size", "1024K", 1},
        {"sys/devices/system/cpu/online", "0-2", 1},
    };
    const struct path copy = copy_of("amd-server");
    const char *root = copy.s;
    char before[128], after[128];

    fingerprint_of(before, root);
    for (size_t i = 0; i < sizeof(edits) / sizeof(*edits); i++) {
        write_text(path_to(root, edits[i].file).s, edits[i].text);
        fingerprint_of(after, root);
        CHECK_EQ((strcmp(before, after) != 0), edits[i].changes);
        memcpy(before, after, sizeof(before));
    }
}

TEST(a_folder_that_is_no_machine_is_refused)
{
    ft_error err = {0};
    ft_device *d;

    CHECK(EQ(ft_device_local(&d, scratch, &err), FT_EIO) && EQ(d, NULL));
    CHECK(HAS(err.msg, "/proc/cpuinfo"));
    mkdir(path_to(scratch, "proc").s, 0755);
    write_text(path_to(scratch, "proc/cpuinfo").s, "");
    CHECK(EQ(ft_device_local(&d, scratch, &err), FT_EFORMAT) && EQ(d, NULL));
}

TEST(this_machine_is_described)
{
    char first[128], second[128];
    ft_device *d;

    CHECK_EQ(ft_device_local(&d, "", NULL), FT_OK);
    CHECK(CMP(ft_device_get(d)->cores, >=, 1) &&
          CMP(ft_device_get(d)->memory_bytes, >, 0x1p26));
    ft_device_free(d);
    fingerprint_of(first, "");
    fingerprint_of(second, "");
    CHECK(SAME(first, second) && BEGINS(first, "cpu-", 4));
}

/* Counters of the recorded machine, and what they say two seconds later. */
struct change {
    const char *root;
    const char *file, *text;
};

static double two_seconds_pass(void *user, double seconds)
{
    CHECK_NEAR(seconds, 1, 0);
    for (const struct change *c = user; c && c->root; c++)
        write_text(path_to(c->root, c->file).s, c->text);
    return 2;
}

/* Every sensor on a line: name, watts or reason, remedy. */
static void probe(char out[4096], const char *root, struct change *changes,
                  const char *nvml)
{
    ft_sensors *s;
    size_t len = 0;

    *out = '\0';
    CHECK_EQ(
        ft__sensors_probe(&s, root, 1, two_seconds_pass, changes, nvml, NULL, NULL),
        FT_OK);
    for (size_t i = 0; s && i < s->n; i++) {
        const ft_sensor *x = &s->sensor[i];

        CHECK(x->usable ? CMP(x->power_w, >, 0) && !*x->reason
                        : isnan(x->power_w) && *x->reason);
        if (x->usable)
            len += (size_t)snprintf(out + len, 4096 - len, "%s %.6g W\n", x->name,
                                    x->power_w);
        else
            len += (size_t)snprintf(out + len, 4096 - len, "%s %s [%s]\n", x->name,
                                    x->reason, x->remedy);
    }
    snprintf(out + len, 4096 - len, "%s", s ? s->why_none : "");
    ft_sensors_free(s);
}

static void check_text(const char *got, const char *want)
{
    if (strcmp(got, want) != 0)
        fprintf(stderr, "got:\n%s\nwant:\n%s\n", got, want);
    CHECK(SAME(got, want));
}

TEST(a_counter_is_trusted_only_when_it_moves)
{
    const struct path copy = copy_of("rapl-laptop");
    const char *root = copy.s;
    struct change moves[] = {
        {root, "sys/class/powercap/intel-rapl:0/energy_uj", "84238307915\n"},
        {root, "sys/class/powercap/intel-rapl:0:0/energy_uj",
         "3999990\n"}, /* wrapped */
        {NULL, NULL, NULL},
    };
    char got[4096];

    probe(got, root, moves, NULL);
    check_text(got, "powercap:package-0 12.5 W\n"
                    "powercap:package-0/core 2 W\n"
                    "powercap:package-0/uncore its counter did not move for 2 s []\n"
                    "powercap:package-0/dram its counter did not move for 2 s []\n"
                    "powercap:psys its counter did not move for 2 s []\n"
                    "hwmon no chip here tells power or energy []\n"
                    "nvml not part of a recorded machine []\n");
    probe(got, root, NULL, NULL);
    CHECK(HAS(got, "no power sensor on this machine (powercap: its counter did not "
                   "move for 2 s; hwmon: no chip here tells power or energy; nvml: "));
}

TEST(volts_and_amperes_make_watts)
{
    char got[4096];

    probe(got, recorded("jetson-tx1").s, NULL, NULL);
    check_text(got, "powercap this kind of processor has no RAPL counters []\n"
                    "hwmon:ina3221:VDD_IN 6.10048 W\n"
                    "hwmon:ina3221:VDD_GPU 0.305024 W\n"
                    "hwmon:ina3221:VDD_CPU it reads 0 W []\n"
                    "nvml not part of a recorded machine []\n");
}

/* A file and the folders it lies in. */
static void plant(const char *root, const char *file, const char *text)
{
    char command[1400];

    snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s/%s')\"", root, file);
    shell(command);
    write_text(path_to(root, file).s, text);
}

TEST(older_boards_and_other_chips_have_rails_too)
{
    const struct path copy = copy_of("bare-vm");
    const char *root = copy.s;
    char got[4096];

    plant(root, "sys/bus/i2c/drivers/ina3221x/1-0040/iio:device0/rail_name_0",
          "VDD_IN\n");
    plant(root, "sys/bus/i2c/drivers/ina3221x/1-0040/iio:device0/in_power0_input",
          "4250\n");
    plant(root, "sys/class/hwmon/hwmon0/name", "ina260\n");
    plant(root, "sys/class/hwmon/hwmon0/in1_input", "12000\n");
    plant(root, "sys/class/hwmon/hwmon0/curr1_input", "500\n");
    plant(root, "sys/class/hwmon/hwmon1/name", "zenpower\n");
    plant(root, "sys/class/hwmon/hwmon1/in1_input", "1200\n"); /* no rail */
    plant(root, "sys/class/hwmon/hwmon1/curr1_input", "40000\n");
    plant(root, "sys/class/hwmon/hwmon1/power1_input", "31000000\n");
    plant(root, "sys/class/hwmon/hwmon1/power1_average", "30000000\n");
    plant(root, "sys/class/hwmon/hwmon2/name", "zenpower\n"); /* a second socket */
    plant(root, "sys/class/hwmon/hwmon2/power1_input", "29000000\n");
    probe(got, root, NULL, NULL);
    CHECK(HAS(got, "hwmon:ina260:in1 6 W\nhwmon:zenpower:power1 31 W\n"
                   "hwmon:zenpower:power1#2 29 W\nhwmon:ina3221x:VDD_IN 4.25 W\n"));
}

TEST(perf_is_the_other_way_where_powercap_is_none)
{
    const struct path copy = copy_of("bare-vm");
    const char *root = copy.s;
    char got[4096];

    plant(root, "sys/bus/event_source/devices/power/type", "33\n");
    plant(root, "sys/bus/event_source/devices/power/cpumask", "0,1\n");
    plant(root, "sys/bus/event_source/devices/power/events/energy-pkg", "event=0x02\n");
    plant(root, "sys/bus/event_source/devices/power/events/energy-pkg.scale",
          "2.3283064365386962890625e-10\n");
    plant(root, "sys/bus/event_source/devices/power/events/energy-ram", "event=0x03\n");
    plant(root, "sys/bus/event_source/devices/power/events/energy-ram.scale",
          "2.3283064365386962890625e-10\n");
    probe(got, root, NULL, NULL);
    CHECK(HAS(got, "perf:package-0 a recorded machine cannot be asked []\n"
                   "perf:package-0/dram a recorded machine cannot be asked []\n"
                   "perf:package-1 a recorded machine cannot be asked []\n"));
}

static struct path locked_root;

static void as_an_ordinary_user(void)
{
    char got[4096];

    probe(got, locked_root.s, NULL, NULL);
    check_text(
        got,
        "powercap:package-0 /sys/class/powercap/intel-rapl:0/energy_uj may only be "
        "read "
        "by root [sudo chmod a+r /sys/class/powercap/intel-rapl:0/energy_uj]\n"
        "powercap:package-0/core /sys/class/powercap/intel-rapl:0:0/energy_uj may only "
        "be read by root [sudo chmod a+r "
        "/sys/class/powercap/intel-rapl:0:0/energy_uj]\n"
        "hwmon:amdgpu:PPT 34 W\n"
        "nvml not part of a recorded machine []\n");
}

TEST(a_locked_counter_comes_with_the_command_that_opens_it)
{
    int status = 1;
    pid_t pid;

    locked_root = path_to(scratch, "amd-server"); /* copied before */
    chmod(path_to(locked_root.s, "sys/class/powercap/intel-rapl:0/energy_uj").s, 0);
    chmod(path_to(locked_root.s, "sys/class/powercap/intel-rapl:0:0/energy_uj").s, 0);
    pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(1);
        check_failed = 0;
        as_an_ordinary_user();
        _exit(check_failed != 0);
    }
    CHECK(CMP(pid, >, 0) && EQ(waitpid(pid, &status, 0), pid) && EQ(status, 0));
}

TEST(a_virtual_machine_is_told_where_to_measure)
{
    char got[4096];

    probe(got, recorded("bare-vm").s, NULL, NULL);
    check_text(got, "powercap not exposed to this virtual machine [run on the host]\n"
                    "hwmon not exposed to this virtual machine [run on the host]\n"
                    "nvml not part of a recorded machine []\n"
                    "no power sensor on this machine (powercap: not exposed to this "
                    "virtual machine, try: run on the host; hwmon: not exposed to this "
                    "virtual machine, try: run on the host; nvml: not part of a "
                    "recorded machine)");
}

TEST(nvml_is_asked_through_its_library)
{
    char got[4096];

    probe(got, recorded("bare-vm").s, NULL, fake_nvml);
    CHECK(HAS(got, "nvml:0 2.5 W\nnvml:1 61.5 W\nnvml:2 GPU is lost []\n"));

    /* A GPU without its library, then something that is not that library. */
    probe(got, recorded("amd-server").s, NULL, "libnvidia-ml-of-nobody.so.1");
    CHECK(HAS(got, "nvml libnvidia-ml-of-nobody.so.1 is not installed [install the "
                   "driver of this machine's NVIDIA GPU]\n"));
    probe(got, recorded("amd-server").s, NULL, "libm.so.6");
    CHECK(HAS(got, "nvml libm.so.6 lacks functions of NVML []\n"));
}

TEST(the_real_machine_gives_sensors_or_reasons)
{
    ft_error err = {0};
    ft_sensors *s;
    int usable = 0;

    CHECK(EQ(ft_sensors_probe(&s, "", -1, &err), FT_EINVAL) && EQ(s, NULL));
    CHECK_EQ(ft_sensors_probe(&s, "", 0.01, &err), FT_OK);
    for (size_t i = 0; s && i < s->n; i++)
        usable += s->sensor[i].usable;
    CHECK(CMP(s->n, >=, 3)); /* one entry a family at least */
    CHECK_EQ((usable == 0), (*s->why_none != '\0'));
    ft_sensors_free(s);
}

TEST(a_gpu_is_called_by_its_model)
{
    ft_error err = {0};
    char name[32];

    CHECK_EQ(ft_device_gpu_name(name, sizeof(name), 1, fake_nvml, NULL), FT_OK);
    CHECK(SAME(name, "gpu-fake-gpu-1"));
    CHECK_EQ(ft_device_gpu_name(name, 12, 1, fake_nvml, NULL), FT_OK);
    CHECK(CMP(strlen(name), >=, 8) && BEGINS("gpu-fake-gpu-1", name, strlen(name)));
    CHECK_EQ(ft_device_gpu_name(name, sizeof(name), 99, fake_nvml, &err), FT_ENOTFOUND);
    CHECK(HAS(err.msg, "there is no GPU 99; there are ") && !*name);
    CHECK_EQ(ft_device_gpu_name(name, sizeof(name), 0, "/nowhere.so", &err),
             FT_ENOTFOUND);
    CHECK(HAS(err.msg, "/nowhere.so is not installed"));
}

TEST(a_device_is_known_by_alias_and_by_product)
{
    static const struct {
        const char *asked, *name, *note; /* how the note begins */
    } cases[] = {
        {"a30", "a30", ""},
        {"local", "local", ""},
        {"NVIDIA H100 80GB HBM3", "h100-sxm", ""},
        {"h100", "h100-sxm", "h100 is h100-sxm (there are h100-nvl, h100-pcie, "},
        {"H100", "h100-sxm", "H100 is h100-sxm (there are h100-nvl, h100-pcie, "},
        {"rtx4090", "rtx-4090", ""},
        {"RTX 4090", "rtx-4090", ""},
        {"4090", "rtx-4090", ""},
        {"NVIDIA GeForce RTX 4090", "rtx-4090", ""},
        {"1080ti", "gtx-1080-ti", ""},
        {"GTX 1080", "gtx-1080", ""},
        {"NVIDIA GeForce RTX 3080 Ti", "rtx-3080-ti", ""},
        {"NVIDIA RTX A6000", "rtx-a6000", ""},
        {"a6000", "rtx-a6000", ""},
        {"NVIDIA TITAN RTX", "titan-rtx", ""},
        {"Tesla T4", "t4", ""},
        {"V100", "v100-pcie-16gb", "V100 is v100-pcie-16gb (there are v100-pcie-16g"},
        {"Tesla V100-SXM2-32GB", "v100-sxm2-32gb", ""},
        {"AMD Instinct MI300X", "mi300x", ""},
        {"A100 80GB", "a100-sxm-80gb", "A100 80GB is a100-sxm-80gb (there are a100-p"},
        {"A100 80 GB", "a100-sxm-80gb", "A100 80 GB is a100-sxm-80gb (there are a100-"},
        {"A100 80GiB", "a100-sxm-80gb", "A100 80GiB is a100-sxm-80gb (there are a100-"},
        {"A100-SXM4-40GB", "a100-sxm-40gb", ""},
        {"GB200 186GB", "gb200", ""},
        {"gb10 128gb", "gb10", ""},
        {"epyc-7543 64GB", "epyc-7543", ""},
        {"RTX 4090 48 GB", "RTX 4090 48 GB", ""},
        {"v100-32gb", "v100-sxm2-32gb", "v100-32gb is v100-sxm2-32gb (there are v1"},
        {"A100 SXM4", "a100-sxm-80gb", "A100 SXM4 is a100-sxm-80gb (there are a100-s"},
        {"rtx", "rtx", ""},
        {"rtx9090", "rtx9090", ""},
        {"gtx4090", "gtx4090", ""},
        {"nosuch", "nosuch", ""},
    };
    const struct path data = path_to(source_root, "data");
    char name[64], note[400];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        snprintf(name, sizeof(name), "%s", cases[i].asked);
        CHECK_EQ(
            ft_device_resolve(name, sizeof(name), note, sizeof(note), data.s, NULL),
            FT_OK);
        CHECK(SAME(name, cases[i].name));
        CHECK(BEGINS(note, cases[i].note, *cases[i].note ? strlen(cases[i].note) : 1));
    }
    CHECK_EQ(ft_device_resolve(name, sizeof(name), note, sizeof(note), scratch, NULL),
             FT_ENOTFOUND);
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
