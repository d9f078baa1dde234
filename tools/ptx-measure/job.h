#ifndef PTX_MEASURE_JOB_H
#define PTX_MEASURE_JOB_H

#include "blocks.h"
#include "cuda.h"
#include "launches.h"

/* One launch made ready on a GPU: its module loaded, its memory filled. */

typedef struct job {
    const cuda *c;
    const launch *l;
    void *module, *function;
    uint64_t memory[LAUNCH_PARAMS]; /* 0: a value */
    void *argument[LAUNCH_PARAMS];
    uint64_t address[LAUNCH_PARAMS];
} job;

/* With a text in place of the module's file. FT_EBACKEND: what the driver says. Closed
 * in any case but success. */
ft_status job_open(job *j, const cuda *c, const launch *l, const char *text,
                   ft_error *err);
void job_close(job *j);
/* Asynchronous. */
ft_status job_launch(job *j, ft_error *err);
ft_status job_wait(job *j, ft_error *err);

/* What the driver says of the kernel, and what there is to read, into the row `out`. */
void job_describe(const job *j, json_t *out);

/* Runs it once and reads the counters back: out->"blocks". */
ft_status job_count_blocks(json_t *out, const cuda *c, const launch *l, ft_error *err);

#endif
