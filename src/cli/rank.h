#ifndef CLI_RANK_H
#define CLI_RANK_H

#include "cli/use.h"
#include "foretell/rank.h"

/* One way to run the model: a device at a batch and a clock. */
typedef struct ft__choice {
    char device[128];
    char engine[80]; /* "onednn 2.6.3"; "" from a device file */
    char setting[FT__SETTING_MAX];
    int64_t batch;
    double clock_hz;    /* asked for; NaN: as it comes */
    double limit_bytes; /* memory of the device; NaN: not known */
    int64_t max_batch;  /* of what does not fit; -1: not known */
    char why[1200];     /* why there is no energy, or nothing at all */
    ft_estimate time;
    ft_estimate energy;
    ft_estimate power;
    ft_estimate memory;
    uint32_t n_known; /* measurements of the device that corrected what is said */
} ft__choice;

/* The whole question with its answer. */
typedef struct ft__ranking {
    const char *model;
    const ft_graph *graph; /* at the first batch */
    const char *step;      /* "one forward pass" */
    const char *mode;
    const char *dtype;
    ft_rank_options how;
    const char *limit_text[FT_RANK_MAX_LIMITS]; /* as given: "time=10ms" */
    bool several_batches;
    bool several_clocks;
    bool several_engines; /* or settings */
    bool priced;
    bool co2;
    ft__choice *choice;
    ft_ranked *ranked;
    size_t *order; /* of the choices: placed ones first, in order */
    size_t n;
    size_t n_placed;
} ft__ranking;

/* ---- rank_print.c; false: out of memory ---- */
bool ft__ranking_print(const ft__ranking *r, uint64_t top);
bool ft__ranking_json(const ft__ranking *r);
void ft__ranking_csv(const ft__ranking *r);

#endif
