#ifndef RUN_SPAWN_H
#define RUN_SPAWN_H

#include "foretell/command.h"

/* How one program is started. */
typedef struct ft__spawn {
    const char *const *argv;
    const char *input;
    double timeout_s;
    int show_output;
} ft__spawn;

/* Run it to its end; start_s is of CLOCK_MONOTONIC. What the program ends with is
 * in *out, not a failure of this function. */
ft_status ft__spawn_run(ft_command_run *out, const ft__spawn *s, ft_error *err);
/* Shell text, untimed; FT_EBACKEND when it ends with anything but 0. NULL: nothing. */
ft_status ft__spawn_shell(const char *text, const char *what, int show_output,
                          ft_error *err);

#endif
