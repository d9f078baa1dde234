#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/power/source.h"
#include "device/sysfs.h"

#define HWMON "/sys/class/hwmon"
/* Where boards before JetPack 5 show their INA3221 (a driver of its own, industrial
 * I/O): rail_name_N, in_powerN_input in mW. */
#define INA_IIO "/sys/bus/i2c/drivers/ina3221x"

static ft__read read_joules(ft__source *s, ft_power_reading *out)
{
    return ft__source_number(s, 0, s->unit, &out->joules) ? FT__READ_GOOD
                                                          : FT__READ_FAILED;
}

static ft__read read_watts(ft__source *s, ft_power_reading *out)
{
    return ft__source_number(s, 0, s->unit, &out->watts) ? FT__READ_GOOD
                                                         : FT__READ_FAILED;
}

static ft__read read_volts_and_amperes(ft__source *s, ft_power_reading *out)
{
    double volts, amperes;

    if (!ft__source_number(s, 0, 1e-3, &volts) ||
        !ft__source_number(s, 1, 1e-3, &amperes))
        return FT__READ_FAILED;
    out->watts = volts * amperes;
    return FT__READ_GOOD;
}

static const char *channel_name(ft__sources *all, const char *dir, const char *chip,
                                const char *kind, int channel)
{
    char label[64];

    if (ft__sys_text(label, sizeof(label), all->root, "%s/%s%d_label", dir, kind,
                     channel) == 0)
        return ft__source_keep(all, "hwmon:%s:%s", chip, label);
    return ft__source_keep(all, "hwmon:%s:%s%d", chip, kind, channel);
}

/* Where one chip is there twice, names are numbered. */
static ft__source *add_named(ft__sources *all, const char *name)
{
    const char *unique = name;
    size_t same = 0;

    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->source[i].d.name, unique) == 0) {
            unique = ft__source_keep(all, "%s#%zu", name, ++same + 1);
            i = 0;
        }
    return ft__source_add(all, unique);
}

static void add_power(ft__sources *all, const char *dir, const char *chip, int channel,
                      const char *suffix)
{
    ft__source *s = add_named(all, channel_name(all, dir, chip, "power", channel));

    if (!s)
        return;
    s->d.tells_power = 1;
    s->unit = 1e-6;
    s->read = read_watts;
    s->path[0] = ft__source_keep(all, "%s/power%d_%s", dir, channel, suffix);
}

static void add_energy(ft__sources *all, const char *dir, const char *chip, int channel)
{
    ft__source *s = add_named(all, channel_name(all, dir, chip, "energy", channel));

    if (!s)
        return;
    s->d.counts = 1;
    s->unit = 1e-6;
    s->read = read_joules;
    s->path[0] = ft__source_keep(all, "%s/energy%d_input", dir, channel);
}

static void add_rail(ft__sources *all, const char *dir, const char *chip, int channel)
{
    ft__source *s = add_named(all, channel_name(all, dir, chip, "in", channel));

    if (!s)
        return;
    s->d.tells_power = 1;
    s->read = read_volts_and_amperes;
    s->path[0] = ft__source_keep(all, "%s/in%d_input", dir, channel);
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

static bool has(char **files, size_t n, const char *kind, int channel,
                const char *suffix)
{
    for (size_t i = 0; i < n; i++)
        if (channel_of(files[i], kind, suffix) == channel)
            return true;
    return false;
}

/* Files of a chip that tell power or energy. Where a driver offers power1_input and
 * power1_average, the first. Of TI's INA chips (the three channels of
 * an INA3221 on Jetson boards) voltage and current of one number belong together; of
 * other chips they need not. */
static void add_files(ft__sources *all, const char *dir, const char *chip, char **files,
                      size_t n)
{
    bool ina = strncmp(chip, "ina", 3) == 0;
    int c;

    for (size_t i = 0; i < n; i++)
        if ((c = channel_of(files[i], "power", "_input")))
            add_power(all, dir, chip, c, "input");
        else if ((c = channel_of(files[i], "power", "_average"))) {
            if (!has(files, n, "power", c, "_input"))
                add_power(all, dir, chip, c, "average");
        } else if ((c = channel_of(files[i], "energy", "_input")))
            add_energy(all, dir, chip, c);
        else if ((c = channel_of(files[i], "in", "_input")) && ina && c <= 3 &&
                 has(files, n, "curr", c, "_input") &&
                 !has(files, n, "power", c, "_input"))
            add_rail(all, dir, chip, c);
}

static void add_chip(ft__sources *all, const char *dir)
{
    char chip[64], **files;
    size_t n;

    ft__sys_text(chip, sizeof(chip), all->root, "%s/name", dir);
    if (ft__sys_names(&files, &n, all->root, "%s", dir) != FT_OK)
        all->bad = true;
    add_files(all, dir, chip, files, n);
    ft__sys_names_free(files, n);
}

static void add_iio_rail(ft__sources *all, const char *dir, int channel)
{
    char rail[64];
    ft__source *s;

    if (ft__sys_text(rail, sizeof(rail), all->root, "%s/rail_name_%d", dir, channel))
        return;
    s = add_named(all, ft__source_keep(all, "hwmon:ina3221x:%s", rail));
    if (!s)
        return;
    s->d.tells_power = 1;
    s->unit = 1e-3;
    s->read = read_watts;
    s->path[0] = ft__source_keep(all, "%s/in_power%d_input", dir, channel);
}

/* .../1-0040/iio:device0/ or .../1-0040/iio_device/ */
static void find_iio(ft__sources *all)
{
    char **chips, **parts;
    size_t n_chips, n_parts;

    if (ft__sys_names(&chips, &n_chips, all->root, INA_IIO) != FT_OK)
        all->bad = true;
    for (size_t i = 0; i < n_chips; i++) {
        if (ft__sys_names(&parts, &n_parts, all->root, INA_IIO "/%s", chips[i]) !=
            FT_OK)
            all->bad = true;
        for (size_t j = 0; j < n_parts; j++)
            for (int c = 0; c < 3 && strncmp(parts[j], "iio", 3) == 0; c++)
                add_iio_rail(
                    all, ft__source_keep(all, INA_IIO "/%s/%s", chips[i], parts[j]), c);
        ft__sys_names_free(parts, n_parts);
    }
    ft__sys_names_free(chips, n_chips);
}

void ft__find_hwmon(ft__sources *all)
{
    size_t n, before = all->n;
    char **chips;

    if (ft__sys_names(&chips, &n, all->root, HWMON) != FT_OK)
        all->bad = true;
    for (size_t i = 0; i < n; i++)
        add_chip(all, ft__source_keep(all, HWMON "/%s", chips[i]));
    ft__sys_names_free(chips, n);
    find_iio(all);
    if (all->n == before)
        ft__source_absent(all, "hwmon", "no chip here tells power or energy", "");
}
