#ifndef DEVICE_SPEC_DEVICE_H
#define DEVICE_SPEC_DEVICE_H

#include "base/arena.h"
#include "foretell/device.h"

/* Text of the facts lies in the arena. */
struct ft_device {
    ft_device_facts facts;
    ft__arena arena;
};

/* A device with nothing known. NULL when memory is short. */
ft_device *ft__device_new(void);
/* Decode the bytes of a device file. `file` is for messages; the device is
 * called `name`. */
ft_status ft__device_parse(ft_device **out, const char *name, const void *bytes,
                           size_t len, const char *file, ft_error *err);

/* The name of the device that a dataset calls `title`: a device file's name, title or
 * one of its aliases; case, and blanks, '-' and '_' are all one. FT_ENOTFOUND: no file
 * knows it; FT_EFORMAT: two do, or one that says so is malformed. */
ft_status ft__device_find(char *out, size_t size, const char *data_dir,
                          const char *title, ft_error *err);

#endif
