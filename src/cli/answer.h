#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include "cli/estimate.h"

enum { FT__MAX_WARNINGS = 4 };

/* What predict says about one network on one device. */
typedef struct ft__answer {
    const ft_graph *graph; /* as the engine runs it */
    const char *step;      /* "one forward pass", "one step of ..." */
    bool verbose;
    char device[128];   /* as asked for: "local", "a30" */
    char known_as[128]; /* fingerprint, or the device's title */
    char engine[64];    /* "onednn 2.6.3"; "" from a device file alone */
    char setting[96];
    char device_note[512]; /* which variant was taken; "" */
    ft__use use;
    char family[FT__PATH_MAX]; /* file of the family that answers; "" */
    bool among;                /* the device is one of those it was trained on */
    bool sheet;                /* from a device file alone: */
    ft__by by;
    int64_t batch; /* of the first input; 0: there is none */
    const char *dtype;
    double limit_bytes; /* memory of the device; NaN: not known */
    bool max_batch_asked;
    int64_t max_batch;     /* the largest that fits; 0: none does */
    char energy_why[1200]; /* why there is no energy; "" when there is */
    char warning[FT__MAX_WARNINGS][512];
    size_t n_warnings;
    char verify[FT__PATH_MAX]; /* the command that runs it really; "" for training */
    ft_network_estimate e;
} ft__answer;

FT_PRINTF(2, 3) void ft__answer_warn(ft__answer *a, const char *fmt, ...);
/* In words: assumptions, totals, the `top` heaviest operations, what was bounded,
 * warnings, the command that verifies. False: out of memory. */
bool ft__answer_print(const ft__answer *a, uint64_t top);
/* Several devices, or clocks of them, beside each other. */
bool ft__answers_print(const ft__answer *a, size_t n, bool clocks);
json_t *ft__answer_json(const ft__answer *a);
/* One line an operation. */
void ft__answer_print_csv(const ft__answer *a, bool head);

#endif
