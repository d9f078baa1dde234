#ifndef CLI_RANK_RANK_H
#define CLI_RANK_RANK_H

#include "cli/predict.h"
#include "cli/settings.h"
#include "foretell/rank.h"

/* One way to run the model: a device at a batch and a clock. */
typedef struct ft__choice {
    char device[128];
    char engine[80]; /* "onednn 2.6.3"; "" from a device file */
    char setting[FT__SETTING_MAX];
    int64_t batch;
    double clock_hz;    /* asked for; NaN: as it comes */
    double price_per_s; /* of the device; NaN: not known */
    double limit_bytes; /* memory of the device; NaN: not known */
    int64_t max_batch;  /* of what does not fit; -1: not known */
    char why[1200];     /* why there is no energy, or nothing at all */
    ft_estimate time, energy, power, memory;
    uint32_t n_known; /* measurements of the device that corrected its predictions */
    char no_hardware[40], no_hardware_end[80]; /* "no hardware for bf16", and what
                                                  becomes of products; "": it has */
    char other_mode[192];   /* why it is not the one that --run-mode asked for; "" */
    char other_engine[320]; /* that nothing of the one that --engine names is in it; ""
                             */
    bool waits;             /* for the host, which sets the time */
    char host[128];
} ft__choice;

/* The whole question with its answer. */
typedef struct ft__ranking {
    const char *model;
    const ft_graph *graph; /* at the first batch */
    const char *step;      /* "one forward pass" */
    const char *mode, *dtype;
    char folded[512]; /* the warning of folded norms; "" */
    ft_rank_options how;
    const char *limit_text[FT_RANK_MAX_LIMITS]; /* as given: "time=10ms" */
    bool several_batches, several_clocks;
    bool several_engines; /* or settings */
    bool priced, co2;
    ft__choice *choice;
    ft_ranked *ranked;
    size_t *order; /* of the choices: placed ones first, in order */
    size_t n, n_placed;
} ft__ranking;

/* Quantities that only what is served has. */
#define FT__SERVED_QUANTITIES "ttft, tpot, itl, e2e, tokens-per-user, tokens-per-device"

typedef struct ft__rank_options {
    ft__model_options model;
    const char *by;
    ft__texts limits;
    const char *devices;
    ft__texts predictors;
    const char *method, *engine;
    uint64_t threads;
    const char *batches, *clocks, *power_caps;
    ft__texts prices;
    const char *co2, *correct;
    ft__query_options asked;
    const char *html;
    bool lists; /* --stdin */
    bool channels_last;
    uint64_t top, seed;
    ft__operating_options use;
    ft_step_names step;
    ft__serve_options serve;
} ft__rank_options;

enum { FT__MAX_RANK_PREDICTORS = 64 };

typedef struct ft__rank_question ft__rank_question;
struct ft__rank_question {
    ft__cli *c;
    const ft__rank_options *o;
    ft__setting_options use;
    ft__ranking r;
    ft_step step;
    char data_dir[FT__PATH_MAX];
    char fingerprint[128]; /* of this machine */
    ft_predictor *predictor[FT__MAX_RANK_PREDICTORS];
    const char
        *predictor_of[FT__MAX_RANK_PREDICTORS]; /* device, "local"; "": a family */
    size_t n_predictors;
    ft_data *data;
    double co2_g_per_j;
    char **device;       /* names */
    double *price_per_s; /* of each; NaN: not known */
    size_t n_devices;
    bool named;                      /* the devices: none may be left out */
    uint64_t batch[FT__MAX_BATCHES]; /* 0: as the model has it */
    ft_graph *graph[FT__MAX_BATCHES];
    size_t n_batches;
    double clock_hz[FT__MAX_CLOCKS];
    size_t n_clocks; /* 0: as they come */
    /* But for network, device and setting; by the family that was named. */
    ft_query query;
};

/* One model in all ways: estimates, prints, complains itself, and returns an exit code.
 */
int ft__rank_choices(ft__rank_question *q);

/* In the form that the global options ask for. False: out of memory. */
bool ft__ranking_print(const ft__cli *c, const ft__ranking *r, uint64_t top);
json_t *ft__ranking_json(const ft__ranking *r);

/* rank --stdin: many networks as lists of operations. Reads standard input to its end,
 * prints, and returns an exit code. */
int ft__rank_lists(ft__rank_question *q);

#endif
