#ifndef PTX_MEASURE_AGREE_H
#define PTX_MEASURE_AGREE_H

#include "blocks.h"
#include "launches.h"
#include "ptx/ptx_inside.h"

/* What blocks were entered, beside what foretell counts of the same launch without
 * running it. */

typedef struct agreement {
    uint32_t same, within; /* counted exactly; in bounds that are not */
    uint32_t outside;      /* and not entered as often as that */
    uint32_t unknown;      /* entered, and not among what is counted */
    uint32_t line;         /* of the first that is outside or unknown; 0: none */
} agreement;

/* threads[i * b->per]: of b->at[i]. Errors as of ft__ptx_count(). */
ft_status blocks_agree(agreement *out, const blocks *b, const uint64_t *threads,
                       const ft_ptx *m, const launch *l, ft_error *err);

#endif
