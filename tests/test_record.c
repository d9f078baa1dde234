/* Machines written down: what is read back is what was there. */
#define _DEFAULT_SOURCE /* syscall() */
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "files.h"
#include "foretell/device.h"
#include "foretell/power.h"
#include "foretell/settings.h"
#include "scratch.h"

static const char *source_root, *fake_nvml;

static struct path machine(const char *name)
{
    struct path p;

    snprintf(p.s, sizeof(p.s), "%s/tests/recorded/%s", source_root, name);
    return p;
}

static char *text_of(const char *file)
{
    size_t len;
    char *text = read_bytes(file, &len);

    CHECK(text != NULL);
    return text;
}

static ft_record recorded(const char *dir, const ft_record_options *o)
{
    ft_record r;
    ft_error err = {0};

    if (ft_machine_record(&r, dir, o, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        CHECK(0);
    }
    return r;
}

/* What is read of a machine. */

enum { MOST_FILES = 2048 };
static const char *watched; /* files below this folder are noted; NULL: none */
static char *seen[MOST_FILES];
static size_t n_seen;

static void note(const char *file)
{
    struct stat s;
    size_t len = watched ? strlen(watched) : 0;

    if (!watched || strncmp(file, watched, len) != 0 || n_seen == MOST_FILES ||
        stat(file, &s) || !S_ISREG(s.st_mode))
        return;
    for (size_t i = 0; i < n_seen; i++)
        if (strcmp(seen[i], file + len) == 0)
            return;
    seen[n_seen++] = strdup(file + len);
}

/* The two in the place of the C library's, for the whole program. */
int open(const char *file, int flags, ...)
{
    mode_t mode = 0;
    va_list ap;

    va_start(ap, flags);
    if (flags & O_CREAT)
        mode = va_arg(ap, mode_t);
    va_end(ap);
    note(file);
    return (int)syscall(SYS_openat, AT_FDCWD, file, flags, mode);
}

FILE *fopen(const char *file, const char *mode)
{
    int how = *mode == 'r'   ? O_RDONLY
              : *mode == 'a' ? O_WRONLY | O_CREAT | O_APPEND
                             : O_WRONLY | O_CREAT | O_TRUNC;
    int fd = open(file, how, 0666);

    return fd < 0 ? NULL : fdopen(fd, mode);
}

/* Everything that reads a machine; what it shows, in one text. */
static char *look_at(const char *root)
{
    ft_settings_options how = {.root = root};
    ft_meter_options power = {.root = root};
    ft_conditions during = {0};
    ft_device *d = NULL;
    ft_sensors *x = NULL;
    ft_settings_list *l = NULL;
    ft_monitor *m = NULL;
    ft_meter *meter = NULL;
    size_t size;
    char *text = NULL;
    FILE *fp = open_memstream(&text, &size);

    CHECK_EQ(ft_device_local(&d, root, NULL), FT_OK);
    CHECK_EQ(ft_sensors_probe(&x, root, 0, NULL), FT_OK);
    CHECK_EQ(ft_settings_show(&l, &how, NULL), FT_OK);
    CHECK_EQ(ft_monitor_open(&m, "cpu", &how, NULL), FT_OK);
    if (!fp || !d || !x || !l || !m)
        exit(1);
    fprintf(fp, "%s, %g cores\n", ft_device_get(d)->fingerprint,
            ft_device_get(d)->cores);
    for (size_t i = 0; i < x->n; i++) {
        const ft_sensor *s = &x->sensor[i];

        const char *seconds = strstr(s->reason, " for ");
        int len = seconds ? (int)(seconds - s->reason) : (int)strlen(s->reason);

        fprintf(fp, "%s %d %.*s\n", s->name, s->usable, len, s->reason);
    }
    for (size_t i = 0; i < l->n; i++) {
        const ft_setting_state *s = &l->state[i];

        fprintf(fp, "%s %s: %g %s, %g .. %g, %s, %d %s\n", s->device, s->name, s->now,
                s->text, s->least, s->most, s->choices, s->writable, s->reason);
    }
    ft_monitor_start(m);
    ft_monitor_stop(m, &during);
    fprintf(fp, "%g Hz, %g K\n", during.clock_hz, during.temperature_max_k);
    if (watched) /* for what it reads: nothing moves in a recorded machine */
        ft_meter_open(&meter, &power, NULL);
    fclose(fp);
    ft_meter_close(meter);
    ft_monitor_close(m);
    ft_settings_list_free(l);
    ft_sensors_free(x);
    ft_device_free(d);
    return text;
}

TEST(a_record_serves_in_the_place_of_the_machine)
{
    static const char *const names[] = {"rapl-laptop", "jetson-tx1", "amd-server",
                                        "bare-vm",     "vm",         "nvidia-server"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct path from = machine(names[i]), to = in_scratch(names[i]);
        ft_record_options o = {.root = from.s};
        char *of_machine, *of_record;
        ft_record r;

        watched = from.s;
        of_machine = look_at(from.s);
        watched = NULL;
        r = recorded(to.s, &o);
        CHECK(CMP(r.files, >, 5) && EQ(r.unreadable, 0) && EQ(r.gpus, 0));
        of_record = look_at(to.s);
        if (strcmp(of_machine, of_record) != 0)
            fprintf(stderr, "%s:\n%srecord:\n%s", names[i], of_machine, of_record);
        CHECK(SAME(of_machine, of_record));
        /* Nothing is read that is not part of a record. */
        CHECK(CMP(n_seen, >, 5));
        while (n_seen) {
            char *file = seen[--n_seen];

            /* This process is no part of the machine. */
            if (strncmp(file, "/proc/self/", 11) != 0 &&
                access(path_to(to.s, file + 1).s, R_OK)) {
                fprintf(stderr, "%s: not recorded: %s\n", names[i], file);
                CHECK(0);
            }
            free(file);
        }
        free(of_machine);
        free(of_record);
    }
}

TEST(serial_numbers_are_not_recorded)
{
    struct path from = in_scratch("board"), to = in_scratch("board-record");
    ft_record_options o = {.root = from.s};
    char command[4096], *text;

    snprintf(command, sizeof(command),
             "cp -r '%s' '%s' && printf 'Hardware\\t: X\\nSerial\\t\\t: "
             "00c0ffee\\nModel\\t: Y'"
             " >>'%s/proc/cpuinfo'",
             machine("jetson-tx1").s, from.s, from.s);
    CHECK_EQ(system(command), 0);
    recorded(to.s, &o);
    text = text_of(in_scratch("board-record/proc/cpuinfo").s);
    CHECK(LACKS(text, "c0ffee") && HAS(text, "Hardware\t: X\nModel\t: Y"));
    free(text);
}

TEST(a_recorded_virtual_machine_has_nothing_to_set_or_to_read)
{
    char *text = look_at(machine("vm").s);

    CHECK(HAS(text, "cpu-intel-xeon") && HAS(text, "-2c-"));
    CHECK(HAS(text, "powercap 0 not exposed to this virtual machine\n"));
    CHECK(HAS(text, "hwmon 0 not exposed to this virtual machine\n"));
    CHECK(HAS(text, "perf:psys 0 a recorded machine cannot be asked\n"));
    CHECK(HAS(text, "this virtual machine shows no CPU clock"));
    CHECK(HAS(text, "2e+09 Hz, nan K\n")); /* of /proc/cpuinfo */
    free(text);
}

static const ft_setting_state *setting(const ft_settings_list *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->state[i].device, "nvml:1") == 0 &&
            strcmp(l->state[i].name, name) == 0)
            return &l->state[i];
    CHECK(0);
    return NULL;
}

TEST(a_recorded_server_has_two_gpus)
{
    struct path root = machine("nvidia-server"),
                answers = machine("nvidia-server/nvml.txt");
    struct path copy = in_scratch("answers");
    ft_settings_options how = {.root = root.s, .nvml = fake_nvml};
    ft_meter_options power = {.root = root.s, .nvml = fake_nvml, .sources = "nvml"};
    ft_settings_list *l = NULL;
    ft_monitor *m = NULL;
    ft_meter *meter = NULL;
    ft_conditions during = {0};
    const ft_setting_state *clock, *cap;
    char command[2200];

    /* What the counter counts is not part of what was recorded. */
    snprintf(command, sizeof(command),
             "(cat '%s'; for i in 0 1; do echo gpu$i.update_ms=20; done) >'%s'",
             answers.s, copy.s);
    CHECK_EQ(system(command), 0);
    setenv("FAKE_NVML", copy.s, 1);
    CHECK_EQ(ft_settings_show(&l, &how, NULL), FT_OK);
    if (!l)
        exit(1);
    clock = setting(l, "core clock");
    CHECK(clock && EQ(clock->least, 2.1e8) && EQ(clock->most, 1.98e9));
    cap = setting(l, "power cap");
    CHECK(cap && EQ(cap->now, 700) && EQ(cap->least, 200) && EQ(cap->most, 700));
    ft_settings_list_free(l);
    CHECK_EQ(ft_monitor_open(&m, "nvml:1", &how, NULL), FT_OK);
    ft_monitor_start(m);
    ft_monitor_stop(m, &during);
    CHECK(EQ(during.clock_hz, 3.45e8) && EQ(during.memory_clock_hz, 2.619e9));
    CHECK(CMP(fabs(during.temperature_max_k - (273.15 + 33)), <, 1e-9));
    ft_monitor_close(m);
    CHECK_EQ(ft_meter_open(&meter, &power, NULL), FT_OK);
    CHECK(meter && EQ(ft_meter_n_domains(meter), 4));
    for (uint32_t i = 0; meter && i < ft_meter_n_domains(meter); i++) {
        static const char *const names[] = {"nvml:0", "nvml:0/memory", "nvml:1",
                                            "nvml:1/memory"};

        CHECK(SAME(ft_meter_domain(meter, i)->name, names[i]));
    }
    ft_meter_close(meter);
    unsetenv("FAKE_NVML");
}

TEST(files_are_listed_with_mode_and_outcome)
{
    char *text = text_of(in_scratch("rapl-laptop/files.txt").s);

    CHECK(HAS(text, " read /proc/cpuinfo\n"));
    CHECK(HAS(text, " read /sys/class/powercap/intel-rapl:0/energy_uj\n"));
    CHECK(LACKS(text, scratch) && LACKS(text, source_root));
    free(text);
}

TEST(what_may_not_be_read_is_named)
{
    struct path from = in_scratch("locked"), to = in_scratch("locked-record");
    ft_record_options o = {.root = from.s};
    char command[4096], *text;
    ft_record r;

    if (geteuid() == 0)
        return; /* root may read everything */
    snprintf(
        command, sizeof(command),
        "cp -r '%s' '%s' && chmod 0 '%s/sys/class/powercap/intel-rapl:0/energy_uj'",
        machine("rapl-laptop").s, from.s, from.s);
    CHECK_EQ(system(command), 0);
    r = recorded(to.s, &o);
    CHECK_EQ(r.unreadable, 1);
    text = text_of(in_scratch("locked-record/files.txt").s);
    CHECK(HAS(text, "0000 Permission denied "
                    "/sys/class/powercap/intel-rapl:0/energy_uj\n"));
    free(text);
}

/* What the library says, written down, makes the fake library say the same. */
TEST(nvml_is_recorded_so_that_it_can_be_replayed)
{
    struct path first = in_scratch("gpu"), second = in_scratch("gpu-again");
    ft_record_options o = {.nvml = fake_nvml};
    ft_record r;
    char *a, *b;

    unsetenv("FAKE_NVML");
    r = recorded(first.s, &o);
    CHECK(EQ(r.gpus, 3) && CMP(r.files, >, 0));
    setenv("FAKE_NVML", in_scratch("gpu/nvml.txt").s, 1);
    r = recorded(second.s, &o);
    unsetenv("FAKE_NVML");
    CHECK_EQ(r.gpus, 3);
    a = text_of(in_scratch("gpu/nvml.txt").s);
    b = text_of(in_scratch("gpu-again/nvml.txt").s);
    CHECK(HAS(a, "gpu0.power_mw=61500\n") && HAS(a, "gpu2.GetPowerUsage=15\n"));
    for (char *line = strtok(a, "\n"); line; line = strtok(NULL, "\n"))
        if (!strstr(line, "energy_mj")) /* it moves when it is looked at */
            CHECK(HAS(b, line));
    CHECK(LACKS(b, "GPU-")); /* no serial numbers */
    free(a);
    free(b);
}

TEST(a_folder_that_is_there_is_left_alone)
{
    struct path from = machine("bare-vm"), to = in_scratch("bare-vm");
    ft_record_options o = {.root = from.s};
    ft_record r;
    ft_error err = {0};

    CHECK_EQ(ft_machine_record(&r, to.s, &o, &err), FT_EIO);
    CHECK(HAS(err.msg, to.s) && HAS(err.msg, "exists"));
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    source_root = argv[1];
    fake_nvml = argv[2];
    make_scratch();
    check_all();
    remove_scratch();
    CHECK_DONE();
}
