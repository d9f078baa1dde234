#ifndef CLI_PREDICT_H
#define CLI_PREDICT_H

#include "cli/llm_memory.h"
#include "cli/settings.h"

/* What is asked of serving (cli/serve); texts are lists where a command has several. */
typedef struct ft__serve_options {
    uint64_t prompt, generate, n_requests, seed;
    const char *concurrency, *rate, *requests, *vary, *tp, *precision;
    uint64_t ep, max_seqs, max_batched_tokens, shared_prefix, block, kv_tokens;
    const char *memory_share, *disaggregated;
    double overhead_s;
    bool whole_prompts;
    ft__texts prices;
} ft__serve_options;

/* What is asked of training over many devices. */
typedef struct ft__llm_train_options {
    uint64_t devices, pp, interleave, sequence, micro_batch, global_batch, zero, lora;
    const char *tokens;
    bool recompute;
} ft__llm_train_options;

typedef struct ft__predict_options {
    ft__model_options model;
    const char *device, *predictor, *method, *engine;
    uint64_t threads, top;
    bool summary;
    ft_step_names step;
    ft__operating_options use;
    const char *clocks, *power_caps, *correct, *html, *trace;
    ft__query_options asked;
    bool max_batch, must_fit, channels_last;
    ft__serve_options serve;
    ft__llm_train_options train;
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
    double point[FT__MAX_CLOCKS];  /* clocks or caps, Hz or W */
    size_t n_points;               /* 0: as it comes, or as `use` says */
    bool caps;
} ft__predict_question;

/* With c and o in *q, the rest zero. Complains itself; ft__predict_end() in any case.
 */
int ft__predict_read(ft__predict_question *q);
void ft__predict_end(ft__predict_question *q);

/* Training of a language model over many devices, as predict asks for it. */
extern const ft__option ft__llm_train_table[]; /* of ft__llm_train_options */

/* Was any of them given? */
bool ft__llm_train_asked(const ft__llm_train_options *o);
/* Prints, complains itself. */
int ft__llm_train(ft__predict_question *q);

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
