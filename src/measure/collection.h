#ifndef MEASURE_COLLECTION_H
#define MEASURE_COLLECTION_H

#include "decide/choose.h"
#include "measure/session.h"
#include "predict/data/features.h"

/* One operation asked for, and where it stands. */
typedef struct ft__candidate {
    ft_op op; /* lowered */
    double count;
    double work_s;   /* roofline time of all its occurrences */
    uint64_t series; /* same for operations that differ in their first extent only */
    int64_t batch;   /* that extent */
    bool known;      /* measured, here or before */
    bool chosen;     /* for the group that is measured now */
    bool done;       /* tried, or not worth trying any more */
    bool measured;   /* here */
    bool believed;   /* by what others say */
} ft__candidate;

struct ft__collection {
    ft_session *session;
    ft_store *store;
    int64_t run;
    const ft_collect_options *opt;
    ft_collect_report *report;
    ft__candidate *c;
    size_t n;
    double floor_s;         /* below it time is not proportional to iterations */
    double error_floor;     /* relative scatter that one run does not show */
    double power_from_s;    /* operations with at least so much work are powered */
    const ft__clock *clock; /* the session's */
    double end_s;           /* INFINITY: no limit */
    bool hasty;             /* the budget is short for what is wanted */
    ft__choosing choosing;  /* among those from `from` on */
    size_t from;
    size_t networks_tried;
    size_t judged;   /* how many were known when the error was last looked at */
    double judge_at; /* and when it is again */
};

/* Measure n operations in rotation and put what came of them; why[i] of those that
 * failed. powered[i]: power as well, where there is a meter; NULL: none of them. */
ft_status ft__measure_into_store(struct ft__collection *k, const ft_op *ops, size_t n,
                                 const unsigned char *powered, double time_s,
                                 ft_error *why, ft_error *err);

/* As ft__store_put(), with the notes among the conditions. */
ft_status ft__collection_put(struct ft__collection *k, const ft_key *key,
                             const ft_measurement *m, const ft_reading *readings,
                             size_t n, ft_error *err);

/* The machine and the engine themselves, where the store does not have them: memory,
 * the floor below which times are not proportional, calibrations, probes. */
ft_status ft__measure_machine(struct ft__collection *k, ft_error *err);
/* Remember for later sessions what the calibration took. */
ft_status ft__keep_usual(struct ft__collection *k, ft_error *err);

/* Once more, heaviest first: operations whose readings scatter, or disagree with what
 * was learned of others by far more than both errors (predict/train/readings.h). */
ft_status ft__measure_doubtful(struct ft__collection *k, ft_error *err);
/* And some at random, in the same manner as before: how well the machine repeats
 * itself.
 */
ft_status ft__measure_again(struct ft__collection *k, double time_s, ft_error *err);

/* Those of opt->networks that are due when so much of the collection is done, 0 to 1:
 * they are spread over it, as what a machine does changes from minute to minute. What
 * the engine does not run whole is left out. */
ft_status ft__measure_networks(struct ft__collection *k, double progress,
                               ft_error *err);

#endif
