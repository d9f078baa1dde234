#ifndef MEASURE_SPAWN_H
#define MEASURE_SPAWN_H

#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "foretell/command.h"

/* While commands are measured, signals that would end this process wait, so that the
 * run that is on its way is ended first; and SIGCHLD, which reports its end. What has
 * come meanwhile comes when those that were blocked before are so again. */
typedef struct ft__signals {
    sigset_t held;
    sigset_t before; /* what this thread blocked until then, and each run does */
} ft__signals;

/* How one program is started. */
typedef struct ft__spawn {
    const char *const *argv;
    const char *const *env; /* more of it; may be NULL */
    const ft__signals *signals;
    const char *input;
    double timeout_s;
    int show_output;
    FILE *output;       /* where it goes instead; may be NULL */
    size_t most_output; /* bytes of it; more is FT_EBACKEND; 0: no limit */
    const ft__clock *clock;
} ft__spawn;

/* Who runs the commands that are measured, and by which clock. */
typedef struct ft__runner {
    /* Run it to its end; start_s is of s->clock. What the program ends with is in *out,
     * not a failure of this function. FT_EBACKEND: a signal ended it and us. */
    ft_status (*run)(void *user, ft_command_run *out, const ft__spawn *s,
                     ft_error *err);
    void *user;
    const ft__clock *clock; /* the meter's, too */
} ft__runner;
extern const ft__runner ft__system_runner;
/* As ft_measure_commands(). */
ft_status ft__runner_measure(ft_command_result **results, const ft_command *c, size_t n,
                             const ft_command_options *opt, const ft__runner *runner,
                             ft_error *err);

#endif
