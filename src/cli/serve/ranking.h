#ifndef CLI_SERVE_RANKING_H
#define CLI_SERVE_RANKING_H

#include <stdatomic.h>

#include "cli/rank/rank.h"
#include "cli/serve/serve.h"

/* A language model that is served, in all ways that rank was asked for. */

/* Quantities; less is better. */
typedef enum ft__serve_by {
    FT__BY_COST,
    FT__BY_ENERGY,
    FT__BY_POWER,
    FT__BY_TTFT,
    FT__BY_TPOT,
    FT__BY_ITL,
    FT__BY_E2E,
    FT__BY_USER,   /* seconds of a token, of one user */
    FT__BY_DEVICE, /* seconds of a token, of one device */
} ft__serve_by;

typedef struct ft__serve_limit {
    const char *text;
    ft__serve_by of;
    ft_serve_point point;
    double most;
} ft__serve_limit;

enum {
    FT__MAX_DIM_LISTS = 8,
    FT__MAX_WAYS = 8 * FT__MAX_SERVED,
};

/* --dim NAME=N,N,... */
typedef struct ft__dim_list {
    char name[16];
    uint64_t value[FT__MAX_SERVED];
    size_t n;
} ft__dim_list;

/* How it is laid out and run, and its steps. */
typedef struct ft__serve_way {
    uint64_t tp;
    int64_t weight_bits;
    double clock_hz, cap_w;            /* 0: as the device comes */
    char dims[FT__MAX_DIM_LISTS * 40]; /* of lists: "pp=2 dp=4" */
    char operating[FT__SETTING_MAX];   /* point, of all devices */
    ft_query query;
    ft__model_values values;
    ft_serve_plan *plan;
    ft_error err;
    ft_status st;
} ft__serve_way;

typedef enum ft__serve_state {
    FT__SERVE_PLACED,
    FT__SERVE_NO_FIT,
    FT__SERVE_OVER_LIMIT,
    FT__SERVE_UNKNOWN
} ft__serve_state;

/* A way on a device, with so many requests at once. */
typedef struct ft__serve_setting {
    const char *device;
    const ft__serve_way *way;
    uint64_t concurrency;
    double price_per_s;
    ft_served s;
    ft__serve_state state;
    double excess; /* over limits: by how much of the limit, at most */
    uint32_t limit;
    bool pareto;
    char why[200];
} ft__serve_setting;

typedef struct ft__serve_ranking {
    ft__rank_question *q;
    ft__serving serving;
    ft_serve_load load[FT__MAX_SERVED]; /* one for each concurrency */
    ft__dim_list list[FT__MAX_DIM_LISTS];
    size_t n_lists;
    double cap_w[FT__MAX_CLOCKS];
    size_t n_caps; /* 0: as they come */
    ft__serve_way way[FT__MAX_WAYS];
    size_t n_ways;
    ft__serve_setting *setting; /* by way, device and concurrency */
    ft_serve_steps **steps;     /* by way and device: settings point into them */
    size_t n;
    size_t *order; /* of settings: those that are placed */
    size_t n_placed;
    ft__serve_by by;
    const char *by_name;
    ft__serve_limit limit[FT_RANK_MAX_LIMITS];
    uint32_t n_limits;
    atomic_size_t next;
} ft__serve_ranking;

double ft__serve_value_of(const ft__serve_setting *x, ft__serve_by of,
                          ft_serve_point p);

/* Settings are in order; of those that are placed the first `top`. False: out of
 * memory. */
bool ft__serve_ranking_print(const ft__serve_ranking *r, uint64_t top);
void ft__serve_ranking_csv(const ft__serve_ranking *r, uint64_t top);
json_t *ft__serve_ranking_json(const ft__serve_ranking *r);

#endif
