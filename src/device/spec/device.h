#ifndef DEVICE_SPEC_DEVICE_H
#define DEVICE_SPEC_DEVICE_H

#include <limits.h>
#include <stdbool.h>

#include "base/arena.h"
#include "foretell/device.h"

/* Text of the facts lies in the arena. */
struct ft_device {
    ft_device_facts facts;
    ft__arena arena;
};

/* A device with nothing known. NULL when memory is short. */
ft_device *ft__device_new(void);

/* Where the file of a device would be; false: there can be none of this name. */
bool ft__device_path(char path[PATH_MAX], const char *data_dir, const char *name);
/* Decode the bytes of a device file. `file` is for messages; the device is
 * called `name`. */
ft_status ft__device_parse(ft_device **out, const char *name, const void *bytes,
                           size_t len, const char *file, ft_error *err);

/* The name of the device that a dataset calls `title`: a device file's name, title or
 * one of its aliases; case, and blanks, '-' and '_' are all one. FT_ENOTFOUND: no file
 * knows it; FT_EFORMAT: two do, or one that says so is malformed. */
ft_status ft__device_find(char *out, size_t size, const char *data_dir,
                          const char *title, ft_error *err);

/* ft_sensors_probe() with what it takes from the world as arguments: wait()
 * returns the seconds that passed, and `nvml` and `amd` name the libraries to load,
 * NULL for not looking. */
ft_status ft__sensors_probe(ft_sensors **out, const char *root, double probe_s,
                            double (*wait)(void *user, double seconds), void *user,
                            const char *nvml, const char *amd, ft_error *err);

#endif
