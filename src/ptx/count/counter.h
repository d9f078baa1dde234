#ifndef PTX_COUNT_COUNTER_H
#define PTX_COUNT_COUNTER_H

#include "foretell/ptx.h"

/* What counting has taken so far, for tests: an analysis that has become slow is seen
 * here on any machine. A launch that was counted before takes nothing. */
typedef struct ft__ptx_effort {
    uint64_t blocks; /* thread blocks that were executed: classes */
    uint64_t steps;  /* about a nanosecond each */
} ft__ptx_effort;
ft__ptx_effort ft__ptx_counter_effort(const ft_ptx_counter *c);

#endif
