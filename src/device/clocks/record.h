#ifndef DEVICE_CLOCKS_RECORD_H
#define DEVICE_CLOCKS_RECORD_H

#include <limits.h>
#include <stdbool.h>

#include "device/clocks/acts.h"

/* A user's folder of state: who holds settings, and what is to be put back.
 *
 *   settings.lock   locked by the holder and its guard; holds the holder's number
 *   settings.held   what the guard would put back; there while settings are held
 *   settings.kept   what `foretell clocks reset` puts back
 *
 * A record is written in full before anything is set, and replaced in one step:
 *
 *   foretell settings 1
 *   boot  7d1f...      what a restart of the machine undid needs no repair
 *   root  /recorded    "" for this machine
 *   put   ...          acts
 *   end
 */
#define FT__RECORD_HELD "settings.held"
#define FT__RECORD_KEPT "settings.kept"

/* In all of these `dir` is that folder; NULL: there is none, and nothing is done. */
ft_status ft__settings_record_write(const char *dir, const char *name, const char *root,
                                    const ft__acts *a, ft_error *err);
/* Appends what the record holds; nothing when there is none, or one of before a
 * restart, which is removed. */
ft_status ft__settings_record_read(ft__acts *a, const char *dir, const char *name,
                                   const char *root, ft_error *err);
void ft__settings_record_remove(const char *dir, const char *name);

typedef struct ft__state_path_text {
    char s[PATH_MAX];
} ft__state_path_text;

/* A file of the folder; false: its path is too long. */
bool ft__state_path(ft__state_path_text *p, const char *dir, const char *name);

#endif
