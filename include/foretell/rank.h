#ifndef FT_RANK_H
#define FT_RANK_H

#include "foretell/error.h"
#include "foretell/predictor.h"

FT_BEGIN_DECLS

/* Which device, at which batch and clock: estimates in, an order out, with how sure
 * it is. */

/* What may be asked for; less is better. */
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

/* One way to run it. Estimates are of a pass; a basis of FT_BASIS_UNAVAILABLE stands
 * for what is not known. An infinite or missing upper end is a lower bound. */
typedef struct ft_rank_entry {
    const char *device; /* entries of one device err alike */
    double items;       /* in a pass: the batch; at least 1 */
    ft_estimate time;
    ft_estimate energy;
    ft_estimate power;
    ft_estimate memory;
    double memory_limit_bytes; /* of the device; NaN: not known */
    double price_per_s;        /* of the device; NaN: not known */
    double co2_g_per_j;        /* of electricity; NaN: not known */
} ft_rank_entry;

/* At most so much: of a pass, however many items it has. */
typedef struct ft_rank_limit {
    ft_rank_by of;
    double most;
} ft_rank_limit;

enum { FT_RANK_MAX_LIMITS = 8, FT_RANK_MAX_ENTRIES = 4096 };
typedef struct ft_rank_options {
    ft_rank_by by;
    ft_rank_limit limit[FT_RANK_MAX_LIMITS];
    uint32_t n_limits;
    uint64_t seed;    /* of the draws behind chances and regret */
    uint32_t n_draws; /* 0: 4096 */
} ft_rank_options;

typedef enum ft_rank_state {
    FT_RANK_PLACED,
    FT_RANK_TOO_LARGE,  /* its memory is more than the device's */
    FT_RANK_OVER_LIMIT, /* of ft_ranked.limit */
    FT_RANK_UNKNOWN,    /* what it is ranked by, or a limit's quantity, is not known:
                           ft_ranked.why */
} ft_rank_state;

typedef struct ft_ranked {
    /* Per item, but power and memory. Ends of products are those of the factors. */
    ft_estimate value[FT_RANK_BY_COUNT];
    ft_rank_state state;
    uint32_t place;  /* from 1; 0: not placed */
    uint32_t limit;  /* index of the first that is not met */
    const char *why; /* of UNKNOWN */
    int pareto;      /* no other placed one is at least as good in time, energy and
                        cost (those of them known of all placed) and better in one */
    int level;       /* its interval overlaps that of the first, another device */
    int risky;       /* placed, but its interval reaches beyond a limit */
    double chance;   /* of being the best; NaN where one placed has no interval */
    /* By how much its value is above the best one's on average, as a fraction; NaN as
     * above. The first place's is what following the order costs. */
    double regret;
} ft_ranked;

/* Fill out[n], at most FT_RANK_MAX_ENTRIES. Order: by value; lower bounds after estimates, for what they bound may
 * be much larger. Chances and regret: values are drawn from two halves of normal
 * distributions of the logarithm with 5 % beyond each end of the interval; devices
 * err independently, entries of one device alike. FT_EINVAL: an option out of range;
 * FT_ENOMEM. */
FT_API ft_status ft_rank(ft_ranked *out, const ft_rank_entry *entry, size_t n,
                         const ft_rank_options *opt, ft_error *err);

/* ---- how good are orders that were foretold? ---- */

/* One choice of one item (an operation, a network): what it was foretold to take, with
 * a 90 % interval, and what it took. */
typedef struct ft_rank_row {
    uint64_t item;
    const char *choice; /* "h200-sxm" */
    double truth;       /* above 0, as the value */
    double value;
    double low;
    double high;
} ft_rank_row;

/* Over the items that have every choice, which count alone. Regret: by how much the
 * truth of what is chosen is above the least truth, as a fraction; means. */
typedef struct ft_rank_evaluation {
    size_t n_rows;
    size_t n_items;
    size_t n_choices;
    double right; /* share of the items where the least foretold is the least in truth */
    double regret;
    double expected_regret; /* what the answers themselves said */
    double level;           /* share of the items whose best two could not be told apart */
    double regret_apart;    /* of the other items */
    char constant[160];     /* the choice that is best when it is always taken, with the
                               truth known: nothing that is the same for all can be better */
    double constant_right;
    double constant_regret;
    double worst_regret; /* of always taking what is worst */
} ft_rank_evaluation;

FT_END_DECLS

#endif
