#ifndef CLI_MEASURE_COMMANDS_H
#define CLI_MEASURE_COMMANDS_H

#include "cli/cli.h"
#include "foretell/command.h"

/* measure of any program. */
typedef struct ft__commands_options {
    uint64_t runs, least_runs, most_runs, warmup;
    double timeout_s, power_time_s;
    const char *power_error, *power;
    bool no_power;
    const char *setup, *prepare, *conclude, *cleanup;
    const char *input, *markdown, *reference;
    bool show_output, ignore_failure;
    ft__texts names, shells, lists;
} ft__commands_options;
extern const ft__option ft__commands_table[];
extern const ft__option ft__power_table[]; /* of models and commands alike */
/* The share that --power-error asks for; 0: it was not given; NaN: it is none. */
double ft__power_error_of(const ft__commands_options *o);
/* Measure the commands behind "--" and those of --shell; prints, and writes the page
 * html unless it is NULL. */
int ft__measure_commands(ft__cli *c, const ft__commands_options *o, double time_s,
                         const char *html);

/* In the form that the global options ask for. False: out of memory. */
bool ft__command_results_print(const ft__cli *c, const ft_command_result *r, size_t n,
                               size_t reference, bool fixed_reference);
bool ft__command_results_markdown(FILE *fp, const ft_command_result *r, size_t n,
                                  size_t reference);
json_t *ft__command_results_json(const ft__cli *c, const ft_command_result *r, size_t n,
                                 size_t reference);

#endif
