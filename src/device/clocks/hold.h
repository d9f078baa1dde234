#ifndef DEVICE_CLOCKS_HOLD_H
#define DEVICE_CLOCKS_HOLD_H

#include <stddef.h>

/* Who set what, as a user's folder of state tells. */
typedef struct ft__in_force {
    long holder; /* the process that holds settings; 0: none */
    size_t held; /* values that a run that was cut off left; while none holds */
    size_t kept; /* until they are reset */
} ft__in_force;

/* dir may be NULL. */
ft__in_force ft__settings_in_force(const char *dir, const char *root);
/* The process that holds settings; 0: none. */
long ft__state_holder(const char *dir);

#endif
