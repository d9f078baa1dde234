#ifndef DEVICE_CLOCKS_PLAN_H
#define DEVICE_CLOCKS_PLAN_H

#include "device/clocks/acts.h"
#include "device/cpus.h"
#include "foretell/settings.h"

/* What is to be written to set something, and what to put it back, both found out
 * before anything is written. The order differs: a file's limits depend on others
 * (clocks on turbo, the upper clock on the lower one). */
typedef struct ft__settings_plan {
    ft__acts apply;
    ft__acts instead; /* of apply, where the device or its owner does not allow that */
    ft__acts restore;
    ft_settings chosen; /* texts are the caller's */
} ft__settings_plan;

/* FT_EUNSUPPORTED: the machine does not offer it. Free also after a failure. */
ft_status ft__plan_make(ft__settings_plan *p, const ft_settings *want, ft__machine *m,
                        const ft_log *log, ft_error *err);
void ft__plan_free(ft__settings_plan *p);

#endif
