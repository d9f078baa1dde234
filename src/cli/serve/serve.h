#ifndef CLI_SERVE_SERVE_H
#define CLI_SERVE_SERVE_H

#include "cli/cli.h"
#include "cli/predict.h"
#include "foretell/serve.h"

/* Serving of a language model, as commands ask for it. */

typedef struct ft__learned_row {
    char device[128], engine[64]; /* engine "": none was named */
    uint64_t ranks, requests;
    double prompt_factor, decode_factor;
} ft__learned_row;
/* What verify --learn wrote to a file. */
typedef struct ft__learned {
    const char *path;
    ft__learned_row *row;
    size_t n;
} ft__learned;
bool ft__learned_is(const char *path);
/* Both complain themselves; the latter to be freed in any case. */
int ft__learned_add(ft__cli *c, const char *path, const ft__learned_row *row);
int ft__learned_read(ft__cli *c, ft__learned *out, const char *path);
void ft__learned_free(ft__learned *l);
/* The load's factors are the geometric mean of the runs measured on that device, of as
 * many ranks as the query's if there are such; of how many. */
size_t ft__learned_take(ft_serve_load *load, const ft__learned *l, const char *device,
                        const ft_query *q);

extern const ft__option ft__serve_table[]; /* of ft__serve_options */

enum { FT__MAX_SERVED = 32 };
/* The options, read. */
typedef struct ft__serving {
    ft_serve_load load;
    ft_serve_request *recorded;
    uint64_t tp[FT__MAX_SERVED], concurrency[FT__MAX_SERVED];
    size_t n_tp, n_concurrency;
    int64_t weight_bits[4]; /* 0: as in the file */
    size_t n_precisions;
    ft__learned learned; /* as --correct says, which is a command's own */
} ft__serving;

/* What the options say of the model where nothing is served: --precision of a network,
 * and amp-bf16 or amp-fp16 of any model, is its --dtype; --tp, --ep and --precision
 * beside the size of one step are that step's. Complains itself. */
int ft__step_take(ft__cli *c, ft__serve_options *serve, ft__model_options *model);
/* Refuses such a type for served models. */
int ft__precision_check(ft__cli *c, const ft__model_options *model);
/* Was any of them given? */
bool ft__serving_asked(const ft__serve_options *o);
/* Complains itself; ft__serving_end() in any case. */
int ft__serving_read(ft__cli *c, ft__serving *out, const ft__serve_options *o);
void ft__serving_end(ft__serving *s);
/* The variation of a closed load's lengths where the command line does not say it. */
void ft__serving_followed(const ft__serve_options *o, ft_serve_load *l);
/* Ranks and precision number so much, as dimensions of the model behind q's own, which
 * stand in v. */
int ft__serving_dims(ft__cli *c, ft__model_values *v, ft_query *q,
                     const ft__serve_options *o, uint64_t tp, int64_t weight_bits);

/* "h100=2.49/h" or "2.49/h": per s and device; NaN: none is of this one. Complains
 * itself. */
int ft__price_of(ft__cli *c, double *per_s, const ft__texts *prices,
                 const char *device);
/* Warns of prices of devices that are not among these, and complains of those that
 * there are not. */
int ft__prices_check(ft__cli *c, const ft__texts *prices, const char *const *device,
                     size_t n);

/* A load on a device; texts of *out are those of *steps. *no_fit (or NULL): why it does
 * not fit, which then is no complaint. */
int ft__serve_ask(const ft__predict_question *q, ft_served *out, ft_serve_steps **steps,
                  ft_data *data, const ft_serve_plan *plan, const ft_serve_load *load,
                  const char *device, ft_error *no_fit);
/* One load, and no option that it does not use; complains itself. */
int ft__serve_check(const ft__predict_question *q, const ft__serving *s);
int ft__serve_predict(ft__predict_question *q, const ft__serve_options *o);
/* "requests of 1024 tokens that generate 256", and how many come in a second. */
enum { FT__REQUESTS_TEXT = 160 };
void ft__requests_text(char out[FT__REQUESTS_TEXT], const ft_serve_load *load);
/* A warning that they have more tokens than the model's maximum context length; "". */
void ft__beyond_text(char out[FT__REQUESTS_TEXT], const ft_serve_load *load,
                     const ft_served *s);
/* A warning that they pile up: fewer are served than come, and the last ones wait for
 * much of the run; "". */
void ft__behind_text(char out[FT__REQUESTS_TEXT], const ft_serve_load *load,
                     const ft_served *s);
/* Money for 10^6 generated tokens, at a price of a device in a second. */
ft_estimate ft__serve_cost(const ft_served *s, double per_s);
json_t *ft__served_json(const ft_served *s, double per_s);

/* A command that measures the same, or why there is none. */
typedef struct ft__verify_by {
    char line[1024];
    const char *why_not;
} ft__verify_by;
ft__verify_by ft__serve_verify_by(const ft_serve_load *load, const ft_served *s,
                                  const ft__predict_question *of, uint64_t tp);

/* With devices, data and prices in *q; prints, complains itself. */
struct ft__rank_question;
int ft__serve_rank(struct ft__rank_question *q);

/* Recorded requests: CSV with a line of names, or a JSON object a line, sorted by
 * arrival, the first at 0. Names: arrival, arrival_s, arrival_time, timestamp (s);
 * prompt, prompt_tokens, input_toks, input_length; output, output_tokens, output_toks,
 * output_length, generate. The caller's to free. Complains itself. */
int ft__requests_read(ft__cli *c, ft_serve_request **out, uint64_t *n,
                      const char *path);
/* Where each of them also has the times of its first and last token (first_token,
 * first_token_ts, last_token, last_token_ts, on the clock of its arrival or of
 * queued_ts), what the first `first` (0: all) showed. */
int ft__requests_measured(ft__cli *c, ft_serve_request **out, uint64_t *n,
                          ft_serve_measured *m, uint64_t first, const char *path);

#endif
