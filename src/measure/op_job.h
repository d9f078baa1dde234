#ifndef MEASURE_OP_JOB_H
#define MEASURE_OP_JOB_H

#include "measure/session.h"

/* One operation with its operands, ready to be run over and over: a block of
 * instances visited in turn. */
typedef struct ft__op_job ft__op_job;

/* `op` as lowered for the session's engine. instances 0: as many as a network's
 * weights would need to come from memory. */
ft_status ft__op_job_make(ft__op_job **out, ft_session *s, const ft_op *op,
                          uint32_t instances, ft_error *err);
void ft__op_job_free(ft__op_job *j);
/* Valid as long as j. */
ft__job ft__op_job_get(ft__op_job *j);

#endif
