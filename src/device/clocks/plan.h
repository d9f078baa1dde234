#ifndef DEVICE_CLOCKS_PLAN_H
#define DEVICE_CLOCKS_PLAN_H

#include "device/clocks/acts.h"

/* FT_EUNSUPPORTED: the machine does not offer it. Nothing to free after a failure. */
ft_status ft__plan_make(ft__settings_plan *p, const ft_settings *want, ft__machine *m,
                        const ft_log *log, ft_error *err);

#endif
