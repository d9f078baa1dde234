#ifndef DEVICE_CLOCKS_GUARD_H
#define DEVICE_CLOCKS_GUARD_H

#include "device/clocks/acts.h"

/* A process that outlives its holder and then puts settings back.
 *
 * It is a grandchild in a session of its own, which no terminal and no wait() of the
 * holder's reaches; it ignores the signals that end programs. What it shall do
 * comes through a socket before anything is set; after that it waits for the end of
 * the holder: a pidfd tells it, or the end of the socket. */
typedef struct ft__guard {
    int socket; /* -1: none */
} ft__guard;

typedef struct ft__guard_job {
    const char *root;
    const char *nvml;      /* NULL: the usual one */
    const char *state_dir; /* whose record is removed in the end; NULL: none */
    int lock;              /* released in the end; -1: none */
    const ft__acts *restore;
    const char *const *program; /* NULL: a fork */
} ft__guard_job;

/* When it returns FT_OK, the guard knows all and watches. */
ft_status ft__guard_start(ft__guard *g, const ft__guard_job *job, ft_error *err);
/* Everything is put back: the guard may go. */
void ft__guard_dismiss(ft__guard *g);
/* It shall put back now; false: it could not, or is no more. */
bool ft__guard_restore(ft__guard *g);

#endif
