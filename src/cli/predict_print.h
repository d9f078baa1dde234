#ifndef CLI_PREDICT_PRINT_H
#define CLI_PREDICT_PRINT_H

#include "cli/llm_memory.h"
#include "cli/predict.h"

/* One answer of several. */
typedef struct ft__swept_answer {
    ft_answer *x;
    double point; /* clock or cap that was asked for; NaN: as it comes */
    ft__server_memory server;
} ft__swept_answer;

/* What is swept. */
typedef enum ft__sweep {
    FT__SWEEP_NOTHING,
    FT__SWEEP_CLOCKS,
    FT__SWEEP_CAPS
} ft__sweep;

/* In the form that the global options ask for. False: out of memory. */
bool ft__predict_print(ft__cli *c, const ft__swept_answer *a, size_t n, ft__sweep sweep,
                       const ft__predict_options *o);

#endif
