#ifndef CLI_EVALUATE_H
#define CLI_EVALUATE_H

#include "cli/cli.h"
#include "foretell/choose.h"
#include "foretell/evaluate.h"

/* In the form that the global options ask for; by: bits 1 << ft_by of the tables
 * wanted. False: out of memory. */
bool ft__evaluation_print(const ft__cli *c, const ft_evaluation *e,
                          const ft_evaluate_options *how, uint32_t by);
json_t *ft__evaluation_json(const ft_evaluation *e, const ft_evaluate_options *how);
/* Of --choose, likewise. */
bool ft__choice_curves_print(const ft__cli *c, const ft_choice_curves *r);
json_t *ft__choice_curves_json(const ft_choice_curves *r);

#endif
