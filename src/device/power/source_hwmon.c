/* Power, energy, or voltage and current of monitoring chips (Linux: hwmon). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/power/source.h"
#include "device/sysfs.h"

#define HWMON "/sys/class/hwmon"
/* Where boards before JetPack 5 show their INA3221 (a driver of its own, industrial
 * I/O): rail_name_N, in_powerN_input in mW. */
#define INA_IIO "/sys/bus/i2c/drivers/ina3221x"

/* Where one chip is there twice, names are numbered. */
static const char *unique(ft__sources *all, const char *name)
{
    const char *tried = name;
    size_t same = 0;

    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->source[i].d.name, tried) == 0) {
            tried = ft__source_keep(all, "%s#%zu", name, ++same + 1);
            i = 0;
        }
    return tried;
}

/* "power1_input": of kind "power", channel 1, suffix "_input". */
static void add_channel(ft__sources *all, const char *dir, const char *chip,
                        const char *kind, int channel, const char *suffix)
{
    bool in_volts = strcmp(kind, "in") == 0;
    char label[64];
    ft__power_source *s;

    if (ft__sys_text(label, sizeof(label), all->root, "%s/%s%d_label", dir, kind,
                     channel))
        snprintf(label, sizeof(label), "%s%d", kind, channel);
    s = ft__source_add_file(
        all, unique(all, ft__source_keep(all, "hwmon:%s:%s", chip, label)),
        strcmp(kind, "energy") == 0, in_volts ? 1e-3 : 1e-6,
        ft__source_keep(all, "%s/%s%d%s", dir, kind, channel, suffix));
    if (s && in_volts)
        s->path[1] = ft__source_keep(all, "%s/curr%d_input", dir, channel);
}

/* The number in a file name such as "power1_input"; 0 for other names. */
static int channel_of(const char *file, const char *kind, const char *suffix)
{
    size_t len = strlen(kind);
    char *end;
    long channel;

    if (strncmp(file, kind, len) != 0)
        return 0;
    channel = strtol(file + len, &end, 10);
    return strcmp(end, suffix) == 0 && channel > 0 && channel < 1000 ? (int)channel : 0;
}

static bool has(char **files, const char *kind, int channel)
{
    for (; *files; files++)
        if (channel_of(*files, kind, "_input") == channel)
            return true;
    return false;
}

/* Files of a chip that give power or energy. Where a driver offers power1_input and
 * power1_average, the first. Of TI's INA chips (the three channels of
 * an INA3221 on Jetson boards) voltage and current of one number belong together; of
 * other chips they need not. */
static void add_chip(ft__sources *all, const char *dir)
{
    static const char *const kinds[][2] = {{"power", "_input"},
                                           {"power", "_average"},
                                           {"energy", "_input"},
                                           {"in", "_input"}};
    char **files = ft__source_folder(all, dir), chip[64];

    ft__sys_text(chip, sizeof(chip), all->root, "%s/name", dir);
    for (char **file = files; *file; file++)
        for (int k = 0; k < 4; k++) {
            int c = channel_of(*file, kinds[k][0], kinds[k][1]);
            bool rail = k == 3 && strncmp(chip, "ina", 3) == 0 && c <= 3 &&
                        has(files, "curr", c);

            if (c &&
                (k == 0 || k == 2 || ((k == 1 || rail) && !has(files, "power", c))))
                add_channel(all, dir, chip, kinds[k][0], c, kinds[k][1]);
        }
}

static void add_iio_rails(ft__sources *all, const char *dir)
{
    char rail[64];

    for (int c = 0; c < 3; c++)
        if (!ft__sys_text(rail, sizeof(rail), all->root, "%s/rail_name_%d", dir, c))
            (void)ft__source_add_file(
                all, unique(all, ft__source_keep(all, "hwmon:ina3221x:%s", rail)),
                false, 1e-3, ft__source_keep(all, "%s/in_power%d_input", dir, c));
}

/* .../1-0040/iio:device0/ or .../1-0040/iio_device/ */
static void find_iio(ft__sources *all)
{
    for (char **chip = ft__source_folder(all, INA_IIO); *chip; chip++) {
        const char *dir = ft__source_keep(all, INA_IIO "/%s", *chip);

        for (char **part = ft__source_folder(all, dir); *part; part++)
            if (strncmp(*part, "iio", 3) == 0)
                add_iio_rails(all, ft__source_keep(all, "%s/%s", dir, *part));
    }
}

static void find(ft__sources *all)
{
    size_t before = all->n;

    for (char **chip = ft__source_folder(all, HWMON); *chip; chip++)
        add_chip(all, ft__source_keep(all, HWMON "/%s", *chip));
    find_iio(all);
    if (all->n == before)
        ft__source_absent(all, "hwmon", "no chip here tells power or energy", "");
}

const ft__power_kind ft__sources_hwmon = {.find = find};
