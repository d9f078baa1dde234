#ifndef CLI_POWER_H
#define CLI_POWER_H

#include "cli/cli.h"
#include "foretell/measure.h"

/* sources NULL or "all": every one that works; then a machine without any is no
 * failure: *out is NULL and *why says why. Complains itself. */
int ft__power_open(ft__cli *c, ft_meter **out, const char *sources, ft_error *why);

/* Lines of text; why_not where there was no meter. */
void ft__energy_print(const ft_network_timing *t, const char *why_not);
json_t *ft__energy_json(const ft_network_timing *t, const char *why_not);

#endif
