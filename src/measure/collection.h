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
    size_t judged;   /* how many were known when the error was last looked at */
    double judge_at; /* and when it is again */
};

/* A key with its spec's text. */
typedef struct ft__named_key {
    ft_key key;
    char spec[2048];
} ft__named_key;

/* op NULL: the engine as a whole. */
void ft__collection_key(ft__named_key *out, const ft_session *s, const ft_op *op,
                        const char *metric);
/* A size that is known exactly: one value, no scatter. */
ft_measurement ft__exact_bytes(uint64_t bytes);
/* Has it been measured? */
ft_status ft__has_time(const struct ft__collection *k, const ft_op *op, int *has,
                       ft_error *err);
/* Measure n operations in rotation and put what came of them; why[i] of those that
 * failed. powered[i]: power as well, where there is a meter; NULL: none of them. */
ft_status ft__measure_into_store(struct ft__collection *k, const ft_op *ops, size_t n,
                                 const unsigned char *powered, double time_s,
                                 ft_error *why, ft_error *err);

/* candidates.c */
ft_status ft__candidates_make(struct ft__collection *k, const ft_op *ops,
                              const uint64_t *count, size_t n, ft_error *err);
/* Known from now on, and those near it are worth less; or only the latter. */
void ft__candidate_known(struct ft__collection *k, size_t i);
void ft__candidate_near(struct ft__collection *k, size_t i);
void ft__candidates_free(struct ft__collection *k);
/* The most informative one that may be tried now; k->n: there is none. */
ft_status ft__candidate_next(struct ft__collection *k, size_t *next, ft_error *err);
/* It failed: the larger ones of its series are not tried; how many. */
size_t ft__candidate_end_series(struct ft__collection *k, size_t i);

/* machine.c */
ft_status ft__measure_machine(struct ft__collection *k, ft_error *err);
/* Remember for later sessions what the calibration took. */
ft_status ft__keep_usual(struct ft__collection *k, ft_error *err);

#endif
