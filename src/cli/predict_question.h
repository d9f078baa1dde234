#ifndef CLI_PREDICT_QUESTION_H
#define CLI_PREDICT_QUESTION_H

#include "cli/answer.h"
#include "cli/settings.h"

/* What is asked of predict. */
typedef struct ft__predict_options {
    ft__model_options model;
    const char *device;
    const char *predictor;
    const char *method;
    const char *engine;
    uint64_t threads;
    uint64_t top;
    ft__step_options step;
    ft__use_options use;
    const char *clocks;
    const char *correct;
    bool max_batch;
    bool must_fit;
} ft__predict_options;

/* Device files that were read already, by what they were asked for as. */
typedef struct ft__device_cache {
    struct ft__cached_device *v;
    size_t n, cap;
} ft__device_cache;
void ft__device_cache_free(ft__device_cache *d);

/* One question: a model, options, and what is found out once for all devices. */
typedef struct ft__predict_question {
    ft__cli *c;
    const ft__predict_options *o;
    const ft_graph *graph; /* as imported */
    ft__step step;
    ft__use use;
    double clock_hz[FT__MAX_CLOCKS];
    size_t n_clocks; /* 0: as they come, or as `use` says */
    const char *engine;
    const char *dtype;
    char data_dir[FT__PATH_MAX];
    char predictor_path[FT__PATH_MAX];
    ft_predictor *predictor; /* NULL: none was found */
    ft_predictor_info info;
    ft__families *families;
    ft_known *known;           /* NULL: nothing is to be corrected */
    ft__by by;                 /* what is made of data sheets */
    ft__device_cache *devices; /* NULL: each question reads them */
} ft__predict_question;

/* Where an answer comes from. */
typedef struct ft__found {
    ft__source from;
    ft_device *device; /* that it points to and owns, or NULL */
} ft__found;
#define FT__LOCAL_AS_MEASURED                                                          \
    "--device local is answered as it was measured: foretell collect --clocks, then "  \
    "foretell train --setting and --predictor, for another clock or cap"
/* For a->device, driven as a->use says; fills what *a says of it and its limit.
 * Complains itself. */
int ft__predict_find(ft__found *f, ft__answer *a, const ft__predict_question *q);
void ft__found_free(ft__found *f);
/* In this order: what the options say (the rest of *q zero but for c, o, families and
 * devices); predictor and measurements. Complain themselves; ft__predict_end() in any
 * case. */
int ft__predict_read(ft__predict_question *q);
int ft__predict_open(ft__predict_question *q);
void ft__predict_end(ft__predict_question *q);
/* What another question has opened, which stays its own. */
void ft__predict_share(ft__predict_question *q, const ft__predict_question *of);
/* Answers for a->device, driven as a->use says; complains itself. */
int ft__predict_answer(ft__answer *a, ft__estimate *x, const ft__predict_question *q);

#endif
