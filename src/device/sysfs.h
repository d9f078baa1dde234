#ifndef DEVICE_SYSFS_H
#define DEVICE_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

#include "foretell/error.h"

/* Files of /proc and /sys, below a root: "" for this machine's own, else a
 * recorded tree. Paths are printf formats and begin with '/'. */

/* The text without blanks, line ends and zero bytes at its end, cut to size.
 * Returns 0 or an errno. */
FT_PRINTF(4, 5)
int ft__sys_text(char *text, size_t size, const char *root, const char *fmt, ...);
FT_PRINTF(3, 4) bool ft__sys_number(double *v, const char *root, const char *fmt, ...);

/* Make every folder above `path`. Returns 0 or an errno. */
int ft__sys_make_folders(const char *path);

/* What a folder holds, sorted; hidden files apart. Nothing when there is no such
 * folder. FT_OK or FT_ENOMEM. */
FT_PRINTF(4, 5)
ft_status ft__sys_names(char ***names, size_t *n, const char *root, const char *fmt,
                        ...);
void ft__sys_names_free(char **names, size_t n);

/* The text of /proc/cpuinfo, which the caller frees; NULL where it cannot be read. */
char *ft__cpuinfo(const char *root);
/* The first "key : value" of /proc/cpuinfo; "" when there is none. */
void ft__cpuinfo_value(char *value, size_t size, const char *cpuinfo, const char *key);
/* Whether a hypervisor says that it is one (x86 only). */
bool ft__is_virtual(const char *root);

#endif
