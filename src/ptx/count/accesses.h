#ifndef PTX_COUNT_ACCESSES_H
#define PTX_COUNT_ACCESSES_H

#include "ptx/count/plan.h"

/* Where `.loc` says that an instruction comes from: the file, NULL for none, and the
 * line in it. */
const char *ft__ptx_source(uint32_t *line, const ft_ptx *m, const ft__ptx_insn *i);
/* p->access, of a launch in which the plan's items are so often; false: out of memory.
 */
bool ft__accesses_fill(ft__count_plan *p, const ft_ptx_tally *item);

#endif
