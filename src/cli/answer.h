#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include "cli/use.h"

/* What predict says about one network on one device. */
typedef struct ft__answer {
    ft_answer *x;
    double clock_hz; /* asked for; NaN: as it comes */
} ft__answer;

/* In words: assumptions, totals, the `top` heaviest operations, what was bounded,
 * warnings, the command that verifies. False: out of memory. */
bool ft__answer_print(const ft_answer *a, uint64_t top, bool verbose);
/* Several devices, or clocks of them, beside each other. */
bool ft__answers_print(const ft__answer *a, size_t n, bool clocks);
json_t *ft__answer_json(const ft_answer *a);
/* One line an operation. */
void ft__answer_print_csv(const ft_answer *a, bool head);

#endif
