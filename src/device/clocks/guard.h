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

/* The holder's record and lock, which the guard ends in its place. */
typedef struct ft__guard_state {
    void (*forget)(
        const char *state_dir); /* all is put back; NULL: there is no record */
    void (*unlock)(int lock);   /* -1: there is none */
} ft__guard_state;

typedef struct ft__guard_job {
    const char *root;
    const char *nvml;      /* NULL: the usual one */
    const char *state_dir; /* NULL: none */
    int lock;              /* kept open for the guard; -1: none */
    const ft__guard_state *state;
    const ft__acts *restore;
    const char *const *program; /* NULL: a fork */
} ft__guard_job;

/* When it returns FT_OK, the guard knows all and watches. */
ft_status ft__guard_start(ft__guard *g, const ft__guard_job *job, ft_error *err);
/* The guard ends: at once, everything being put back, or when it has put back; false:
 * it could not, or is no more. */
bool ft__guard_end(ft__guard *g, bool put_back);
/* The life of a guard that is a program of its own, with its arguments. */
int ft__guard_live(int argc, char **argv, const ft__guard_state *state);

#endif
