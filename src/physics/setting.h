#ifndef PHYSICS_SETTING_H
#define PHYSICS_SETTING_H

#include "physics/physics.h"

/* Slots of an optimizer that no setting names. */
#define FT__UNNAMED_SLOTS 1

/* What a setting says of a chip, found in one pass. Members: ft__hardware_spec. */
typedef struct ft__chip_setting {
    ft__operating_point at;
    double threads; /* NaN: it does not say */
    double slots, reads;
    double cuda; /* 7.5, 8, infinite: later, or it does not say */
    bool tensorflow, early_miopen, activated, caches, packed, masked, apart, bare,
        short_loop, graph, fused;
} ft__chip_setting;
ft__chip_setting ft__setting_read(const char *setting);
/* ft__hardware_spec_make() of a setting that was read. */
void ft__hardware_spec_set(ft__hardware_spec *out, const ft_device_facts *d,
                           const ft__chip_setting *set, const char *policy,
                           const ft_op *op);
/* Does it change nothing of a chip but how an engine runs operations, in which loops,
 * and what it does with experts' picks? */
bool ft__has_default_hardware(const char *setting);

#endif
