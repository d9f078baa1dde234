#ifndef MEASURE_MEASURE_INSIDE_H
#define MEASURE_MEASURE_INSIDE_H

#include "base/buf.h"
#include "measure/readings.h"

/* One operation (lowered for the session's policy if it is not): a block of
 * instances with weights of their own, visited in turn, so that weights come
 * from where a network's weights come from; one set of input tensors. */
ft_status ft__measure_op(ft_network_timing *out, ft_session *s, const ft_op *op,
                         const ft_measure_options *opt, ft_error *err);
/* Several in rotation, with the calibration operations among them.
 * why[i].status of those that failed; out[i] is empty then. FT_OK also when some
 * did. */
ft_status ft__measure_ops(ft_network_timing *out, ft_error *why, ft_session *s,
                          const ft_op *ops, size_t n, const ft_measure_options *opt,
                          ft_error *err);
/* Rounds of one job: what concerns time and conditions of *out, and energy where
 * there is a meter; the rest stays as it was. */
ft_status ft__measure_job(ft_network_timing *out, const ft__job *job,
                          const ft_measure_options *opt, ft_error *err);
/* The first pass touches every page. */
typedef enum ft__first_pass {
    FT__FIRST_PASS_APART,  /* it does not count in the peak of the process: preparing
                            * holds weights twice for a moment */
    FT__FIRST_PASS_COUNTS, /* in the peak, as loading before it does not */
} ft__first_pass;

/* A network that is ready, pass by pass: all of *out but how its bytes are made up and
 * the calibration. *held, where it is not NULL: the most that the engine's allocator
 * held meanwhile, 0: not known. */
ft_status ft__measure_passes(ft_network_timing *out, uint64_t *held, const ft__job *job,
                             ft__first_pass how, const ft_measure_options *opt,
                             ft_error *err);
void ft_network_timing_free(ft_network_timing *t);
/* The operation that is measured beside others, made ready, in so many instances;
 * false: the engine does not run it. The session keeps it. */
enum { FT__CALIBRATION_INSTANCES = 8 };
bool ft__calibration_job(ft__job *out, ft_session *s, uint32_t which);
/* Energy of one iteration from mean power and time, both with their standard
 * errors: E = P t, sigma_E^2 = (P sigma_t)^2 + (t sigma_P)^2 (thesis on GPU
 * selection, eq. 3.1-3.9). NaN when power or time is; an error that is not known
 * makes error_j NaN. */
void ft__energy_of(double *joules, double *error_j, double watts, double watts_error,
                   double seconds, double seconds_error);

/* Value = median of the medians of rounds that count; error = their scatter, as
 * docs/measuring.md has it; MAD, mean and standard deviation over all batches of
 * those rounds; each reading counts per iteration. */
ft_status ft__measurement_of_times(ft_measurement *out, const ft_reading *r, size_t n,
                                   ft_error *err);
/* No value, no error. */
ft_measurement ft__measurement_unknown(const char *unit);

/* {"clock_hz": 1.41e9, "marks": ["foreign load"], "outliers": 2, ...} as stores keep
 * it. Returns its length as snprintf() does. */
size_t ft__timing_conditions(const ft_network_timing *t, char *buf, size_t size);
/* {"counter_j": 1.2e-3, "integral_j": 1.1e-3, "reason": ...} likewise. */
size_t ft__energy_conditions(const ft_energy *e, char *buf, size_t size);
/* FT_EINVAL: one of them is no "NAME=VALUE". */
ft_status ft__notes_check(const char *const *note, size_t n, ft_error *err);
/* The members of `conditions` ("" or NULL: none) behind those of the notes. */
void ft__notes_put(ft__buf *b, const char *const *note, size_t n,
                   const char *conditions);

/* "network name=resnet18 x=1x3x224x224 dtype=fp32", by the graph's first input; of a
 * path the name of its file, without folder and ending. */
void ft__whole_spec(ft__buf *b, const char *name, const ft_graph *g);

#endif
