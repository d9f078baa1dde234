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
    ft_known *known; /* NULL: nothing is to be corrected */
    ft__by by;       /* what is made of data sheets */
} ft__predict_question;

/* Answers for a->device, driven as a->use says; complains itself. */
int ft__predict_answer(ft__answer *a, ft__estimate *x, const ft__predict_question *q);

#endif
