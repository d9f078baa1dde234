#ifndef PTX_ACCESSES_H
#define PTX_ACCESSES_H

#include "ptx/classes.h"

/* Where `.loc` says that an instruction comes from: the file, NULL for none, and the
 * line in it. */
const char *ft__ptx_source(uint32_t *line, const ft_ptx *m, const ft__ptx_insn *i);
/* How often an item of the plan is, in a launch. */
ft_ptx_tally ft__ptx_tally_of(const ft__run *r, const ft__totals *t, uint32_t item);
/* p->access, of the launch that was counted; false: out of memory. */
bool ft__accesses_fill(ft__plan *p, const ft__run *r, const ft__totals *t);

#endif
