#ifndef CLI_RUN_HELD_H
#define CLI_RUN_HELD_H

#include "cli/settings.h"

/* Run the command behind "--" with settings in force, put them back, and say what
 * the clocks really were. Returns the command's exit code, 128 and its signal, or
 * that of a complaint. */
int ft__run_held(ft__cli *c, const ft__this_machine *m, const ft_settings *want);

#endif
