#ifndef CLI_PREDICT_H
#define CLI_PREDICT_H

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
    ft_step_names step;
    ft__operating_options use;
    const char *clocks;
    const char *correct;
    ft__query_options asked;
    bool max_batch;
    bool must_fit;
} ft__predict_options;

/* The options, read. Stays where it is: the query points into it. */
typedef struct ft__predict_question {
    ft__cli *c;
    const ft__predict_options *o;
    ft_query query; /* without model, device and setting */
    ft__model_values values;
    ft_step step;
    ft__setting_options use;
    char setting[FT__SETTING_MAX]; /* with the operating point */
    double clock_hz[FT__MAX_CLOCKS];
    size_t n_clocks; /* 0: as they come, or as `use` says */
} ft__predict_question;

/* With c and o in *q, the rest zero. Complains itself; ft__predict_end() in any case.
 */
int ft__predict_read(ft__predict_question *q);
void ft__predict_end(ft__predict_question *q);

#endif
