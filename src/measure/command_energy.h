#ifndef MEASURE_COMMAND_ENERGY_H
#define MEASURE_COMMAND_ENERGY_H

#include "foretell/command.h"

/* Energy of commands, by domain of the meter. */

/* Make r->energy, and find what the machine draws when nothing runs. */
ft_status ft__command_energy_begin(ft_command_result *r, size_t n, ft_meter *m,
                                   ft_error *err);
/* From the readings taken while the commands took turns; run k of r lasted from
 * begin_s + start_s on. Domains for which runs are too short get their reason. */
ft_status ft__command_energy_of_runs(ft_command_result *r, const ft_meter *m,
                                     const ft_trace *t, double begin_s, ft_error *err);
/* Seconds to loop the command for the domains that are still unknown; 0: none is. */
double ft__command_energy_missing(const ft_command_result *r, const ft_meter *m);
/* The same from one stretch of `runs` runs, which together took busy_s of it, for the
 * domains still unknown. */
void ft__command_energy_of_loop(ft_command_result *r, const ft_trace *t, double from_s,
                                double to_s, double busy_s, uint64_t runs);
/* Say why there was no such stretch: something has to be done between runs. */
void ft__command_energy_no_loop(ft_command_result *r, const ft_meter *m);

#endif
