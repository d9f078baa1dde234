#ifndef FT_RANK_H
#define FT_RANK_H

#include "foretell/error.h"
#include "foretell/predictor.h"

FT_BEGIN_DECLS

/* Ranking of devices, batches and clocks by estimates, with the probability of the
 * order and expected regret (docs/ranking.md). */

/* The quantity; less is better. */
typedef enum ft_rank_by {
    FT_RANK_BY_TIME,   /* s */
    FT_RANK_BY_ENERGY, /* J */
    FT_RANK_BY_POWER,  /* W */
    FT_RANK_BY_EDP,    /* J s: energy times time (Horowitz et al. 1994) */
    FT_RANK_BY_MEMORY, /* B */
    FT_RANK_BY_COST,   /* of whatever money the price is in */
    FT_RANK_BY_CO2,    /* g */
    FT_RANK_BY_COUNT
} ft_rank_by;

/* One candidate. Estimates are per pass; unknown ones have FT_BASIS_UNAVAILABLE. An
 * infinite or missing upper end marks a lower bound. */
typedef struct ft_rank_entry {
    const char *device; /* errors of one device's entries are fully correlated */
    double items;       /* in a pass: the batch; at least 1 */
    ft_estimate time;
    ft_estimate energy;
    ft_estimate power;
    ft_estimate memory;
    double memory_limit_bytes; /* of the device; NaN: not known */
    double price_per_s;        /* of the device; NaN: not known */
    double co2_g_per_j;        /* of electricity; NaN: not known */
    const char *host; /* if the host's launches set the time: its name, "" if it is not
                         known; NULL if the device sets the time */
} ft_rank_entry;

/* Upper limit, per pass. */
typedef struct ft_rank_limit {
    ft_rank_by of;
    double most;
} ft_rank_limit;

enum { FT_RANK_MAX_LIMITS = 8, FT_RANK_MAX_ENTRIES = 4096 };
typedef struct ft_rank_options {
    ft_rank_by by;
    ft_rank_limit limit[FT_RANK_MAX_LIMITS];
    uint32_t n_limits;
    uint64_t seed;    /* of the Monte Carlo draws */
    uint32_t n_draws; /* 0: 4096 */
} ft_rank_options;

typedef enum ft_rank_state {
    FT_RANK_PLACED,
    FT_RANK_TOO_LARGE,  /* its memory is more than the device's */
    FT_RANK_OVER_LIMIT, /* of ft_ranked.limit */
    FT_RANK_UNKNOWN,    /* the ranked quantity, or that of a limit, is unknown:
                           ft_ranked.why */
} ft_rank_state;

/* Why a device cannot be distinguished from that of the first place. */
enum {
    FT_RANK_LEVEL_INTERVALS = 1, /* their intervals overlap */
    FT_RANK_LEVEL_HOST = 2, /* one host sets both times, which are equal within 1 % */
};

typedef struct ft_ranked {
    /* Per item, except power and memory. Ends of products are products of ends. */
    ft_estimate value[FT_RANK_BY_COUNT];
    ft_rank_state state;
    uint32_t place;  /* from 1; 0: not placed */
    uint32_t limit;  /* index of the first that is not met */
    const char *why; /* of UNKNOWN */
    int pareto;      /* in the Pareto set of time, energy and cost (those known for all
                        placed entries) */
    int level; /* FT_RANK_LEVEL_, where the first place has another device; 0: it can be
                  distinguished, or has the same */
    int risky; /* placed, but its interval reaches beyond a limit */
    double chance; /* probability of being the best; NaN where an interval is missing */
    /* Expected relative excess over the best entry; NaN as above. That of the first
     * place is the expected regret of following the order. */
    double regret;
} ft_ranked;

/* Fill out[n], at most FT_RANK_MAX_ENTRIES. Order: by value; lower bounds come after
 * estimates. Chance and regret: log values are split-normal with 5 % beyond each end of
 * the interval. Devices are independent. Entries of one device are fully correlated, and
 * so are times and costs that one host sets; such entries are equal within 1 %.
 * FT_EINVAL: an option out of range; FT_ENOMEM. */
FT_API ft_status ft_rank(ft_ranked *out, const ft_rank_entry *entry, size_t n,
                         const ft_rank_options *opt, ft_error *err);

/* Accuracy of predicted orders. */

/* Over the items with every choice. Regret: mean relative excess of the measured value
 * of the chosen over the least measured value. */
typedef struct ft_rank_evaluation {
    size_t n_rows;
    size_t n_items;
    size_t n_choices;
    double right; /* share of the items where the least predicted is the least measured */
    double regret;
    double expected_regret; /* mean of what ft_rank() expected (ft_ranked.regret) */
    double level;           /* share of the items whose best two intervals overlap */
    double regret_apart;    /* regret over the other items */
    char constant[160]; /* baseline: the choice that is best when always taken, selected
                           on the measured values */
    double constant_right;
    double constant_regret;
    double worst_regret; /* of always taking the worst */
} ft_rank_evaluation;

FT_END_DECLS

#endif
