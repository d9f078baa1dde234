#ifndef PTX_COUNTER_H
#define PTX_COUNTER_H

#include "foretell/ptx.h"

/* Thread blocks that were executed for all launches so far, for tests: what counting
 * costs. A launch has as many as it has classes, one that was counted before none. */
uint64_t ft__ptx_counter_executed(const ft_ptx_counter *c);

#endif
