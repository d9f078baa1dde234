#ifndef CLI_RANK_QUESTION_H
#define CLI_RANK_QUESTION_H

#include "cli/rank.h"
#include "cli/settings.h"

/* What is asked of rank, and what is found out once for all choices. */

typedef struct ft__rank_options {
    ft__model_options model;
    const char *by;
    ft__texts limits;
    const char *devices;
    ft__texts predictors;
    const char *method;
    const char *engine;
    uint64_t threads;
    const char *batches;
    const char *clocks;
    ft__texts prices;
    const char *co2;
    const char *correct;
    ft__asked_options asked;
    bool lists; /* --stdin */
    uint64_t top;
    uint64_t seed;
    ft__use_options use;
    ft_step_names step;
} ft__rank_options;

enum { FT__MAX_RANK_PREDICTORS = 64 };

typedef struct ft__price {
    char device[128]; /* "": every one */
    double per_s;
} ft__price;

typedef struct ft__rank_question {
    ft__cli *c;
    const ft__rank_options *o;
    ft__use use;
    ft__ranking r;
    ft_step step;
    char data_dir[FT__PATH_MAX];
    char fingerprint[128]; /* of this machine */
    ft_predictor *predictor[FT__MAX_RANK_PREDICTORS];
    size_t n_predictors;
    ft_data *data;
    ft__price *price;
    double co2_g_per_j;
    char **device; /* names */
    size_t n_devices;
    uint64_t batch[FT__MAX_BATCHES]; /* 0: as the model has it */
    ft_graph *graph[FT__MAX_BATCHES];
    size_t n_batches;
    double clock_hz[FT__MAX_CLOCKS];
    size_t n_clocks; /* 0: as they come */
} ft__rank_question;

/* Complain themselves. */
int ft__rank_read_options(ft__rank_question *q);
/* The family that was named; NULL: none, or by data sheets. */
const ft_predictor *ft__rank_family(const ft__rank_question *q);
/* Opens predictors and names devices: q->device. */
int ft__rank_find_devices(ft__rank_question *q);
/* The question, but for network, device and setting. */
ft_query ft__rank_query(const ft__rank_question *q);
/* What a device costs, a second; NaN: not known. */
double ft__rank_price(const ft__rank_question *q, const char *device);
/* Reads the model, finds devices, and fills q->r.choice. */
int ft__rank_find_choices(ft__rank_question *q);

#endif
