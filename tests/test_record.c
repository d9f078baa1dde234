/* Machines written down: what is read back is what was there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "foretell/device.h"

static char folder[] = "/tmp/foretell-record-XXXXXX";
static const char *source_root, *fake_nvml;

typedef struct path {
    char s[1024];
} path;

static path in_folder(const char *name)
{
    path p;

    snprintf(p.s, sizeof(p.s), "%s/%s", folder, name);
    return p;
}

static path machine(const char *name)
{
    path p;

    snprintf(p.s, sizeof(p.s), "%s/tests/recorded/%s", source_root, name);
    return p;
}

static char *text_of(const char *file)
{
    FILE *fp = fopen(file, "r");
    char *text = calloc(1, 1 << 16);

    CHECK(fp != NULL);
    if (fp && text)
        text[fread(text, 1, (1 << 16) - 1, fp)] = '\0';
    if (fp)
        fclose(fp);
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

static void a_record_serves_in_the_place_of_the_machine(void)
{
    static const char *const names[] = {"rapl-laptop", "jetson-tx1", "bare-vm"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        path from = machine(names[i]), to = in_folder(names[i]);
        ft_record_options o = {.root = from.s};
        ft_record r = recorded(to.s, &o);
        ft_device *a = NULL, *b = NULL;
        ft_sensors *x = NULL, *y = NULL;

        CHECK(r.files > 5 && r.unreadable == 0 && r.gpus == 0);
        CHECK(ft_device_local(&a, from.s, NULL) == FT_OK);
        CHECK(ft_device_local(&b, to.s, NULL) == FT_OK);
        CHECK(a && b &&
              strcmp(ft_device_fingerprint(a), ft_device_fingerprint(b)) == 0);
        CHECK(ft_sensors_probe(&x, from.s, 0, NULL) == FT_OK);
        CHECK(ft_sensors_probe(&y, to.s, 0, NULL) == FT_OK);
        CHECK(x && y && ft_sensors_count(x) == ft_sensors_count(y));
        for (size_t k = 0; x && y && k < ft_sensors_count(x); k++) {
            CHECK(strcmp(ft_sensors_at(x, k)->name, ft_sensors_at(y, k)->name) == 0);
            CHECK(ft_sensors_at(x, k)->usable == ft_sensors_at(y, k)->usable);
        }
        ft_sensors_free(x);
        ft_sensors_free(y);
        ft_device_free(a);
        ft_device_free(b);
    }
}

static void files_are_listed_with_mode_and_outcome(void)
{
    char *text = text_of(in_folder("rapl-laptop/files.txt").s);

    CHECK(strstr(text, " read /proc/cpuinfo\n") != NULL);
    CHECK(strstr(text, " read /sys/class/powercap/intel-rapl:0/energy_uj\n") != NULL);
    CHECK(strstr(text, folder) == NULL && strstr(text, source_root) == NULL);
    free(text);
}

static void what_may_not_be_read_is_named(void)
{
    path from = in_folder("locked"), to = in_folder("locked-record");
    ft_record_options o = {.root = from.s};
    char command[4096], *text;
    ft_record r;

    if (geteuid() == 0)
        return; /* root may read everything */
    snprintf(
        command, sizeof(command),
        "cp -r '%s' '%s' && chmod 0 '%s/sys/class/powercap/intel-rapl:0/energy_uj'",
        machine("rapl-laptop").s, from.s, from.s);
    CHECK(system(command) == 0);
    r = recorded(to.s, &o);
    CHECK(r.unreadable == 1);
    text = text_of(in_folder("locked-record/files.txt").s);
    CHECK(strstr(text, "0000 Permission denied "
                       "/sys/class/powercap/intel-rapl:0/energy_uj\n") != NULL);
    free(text);
}

/* What the library says, written down, makes the fake library say the same. */
static void nvml_is_recorded_so_that_it_can_be_replayed(void)
{
    path first = in_folder("gpu"), second = in_folder("gpu-again");
    ft_record_options o = {.nvml = fake_nvml};
    ft_record r;
    char *a, *b;

    unsetenv("FAKE_NVML");
    r = recorded(first.s, &o);
    CHECK(r.gpus == 3 && r.files > 0);
    setenv("FAKE_NVML", in_folder("gpu/nvml.txt").s, 1);
    r = recorded(second.s, &o);
    unsetenv("FAKE_NVML");
    CHECK(r.gpus == 3);
    a = text_of(in_folder("gpu/nvml.txt").s);
    b = text_of(in_folder("gpu-again/nvml.txt").s);
    CHECK(strstr(a, "gpu0.power_mw=61500\n") && strstr(a, "gpu2.GetPowerUsage=15\n"));
    for (char *line = strtok(a, "\n"); line; line = strtok(NULL, "\n"))
        if (!strstr(line, "energy_mj")) /* it moves when it is looked at */
            CHECK(strstr(b, line) != NULL);
    CHECK(strstr(b, "GPU-") == NULL); /* no serial numbers */
    free(a);
    free(b);
}

static void a_folder_that_is_there_is_left_alone(void)
{
    path from = machine("bare-vm"), to = in_folder("bare-vm");
    ft_record_options o = {.root = from.s};
    ft_record r;
    ft_error err = {0};

    CHECK(ft_machine_record(&r, to.s, &o, &err) == FT_EIO);
    CHECK(strstr(err.msg, to.s) && strstr(err.msg, "exists"));
}

int main(int argc, char **argv)
{
    char command[128];

    if (argc < 3)
        return 2;
    source_root = argv[1];
    fake_nvml = argv[2];
    CHECK(mkdtemp(folder) != NULL);
    a_record_serves_in_the_place_of_the_machine();
    files_are_listed_with_mode_and_outcome();
    what_may_not_be_read_is_named();
    nvml_is_recorded_so_that_it_can_be_replayed();
    a_folder_that_is_there_is_left_alone();
    snprintf(command, sizeof(command), "rm -r %s", folder);
    CHECK(system(command) == 0);
    CHECK_DONE();
}
