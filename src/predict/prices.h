#ifndef PREDICT_PRICES_H
#define PREDICT_PRICES_H

#include "predict/learner.h"

/* What the operations of networks cost alone, learned from operations measured one by
 * one: a learner of times, one of power, and a few tables. */

/* What was said of an operation of the training set by regressors that had not seen
 * it. */
typedef struct ft__unseen_price {
    uint64_t hash;    /* of ft__part_key() in the phase that was measured */
    uint32_t session; /* index */
    double time_s;    /* NaN: nothing was */
    double power_w;
} ft__unseen_price;

typedef struct ft__prices {
    ft__learner time;
    ft__learner power;
    bool has_power;
    /* Settings that rows were measured under, those with most rows first. */
    char **session;
    uint32_t n_sessions;
    ft__unseen_price *unseen; /* ascending by hash */
    size_t n_unseen;
    uint32_t rows_of[FT_PHASE_COUNT][FT_KIND_COUNT];
    bool relaid[FT_KIND_COUNT]; /* rows of it have another layout than the plain one */
    /* Below this an operation of that kind may have waited for the host; 0: not known.
     */
    double floor_s[FT_PHASE_COUNT][FT_KIND_COUNT];
    double idle_w;   /* least power among the rows: of a device that waits; NaN: none is
                        known */
    double busy_w;   /* typical power of rows that kept the device busy; NaN likewise */
    double launch_s; /* typical time at the host's floor, over kinds: where a search for
                        the time of a launch begins */
} ft__prices;

typedef struct ft__prices_options {
    uint32_t n_trees; /* 0: 64 */
    size_t kind_rows; /* of more of one kind and phase that many are drawn; 0: 2500 */
    uint64_t seed;
    bool unseen; /* devices that are not among the rows will be asked for */
} ft__prices_options;

/* row[n]: indices into s->v, times known; datasets have files. FT_ENOTFOUND: no row, or
 * a fact of a device is not known. */
ft_status ft__prices_fit(ft__prices *out, const ft__samples *s, const uint32_t *row,
                         size_t n, const ft__prices_options *opt, ft_error *err);
void ft__prices_free(ft__prices *p);

/* Seconds the device itself needs, from its specifications; NaN: a fact is missing. */
double ft__prices_bare(const ft__prices *p, const ft_op *op, const ft__dataset *on);

/* Is a form of an operation (its phase is that of op) learned? */
bool ft__prices_know(const ft__prices *p, const ft_op *op);

/* What n of them take alone, and at what power (NaN: not known), on `on` as in a
 * session: pairs that the setting of `on` leaves out are those of `session`, a setting.
 * blind: as if none of them had been measured. */
typedef struct ft__price {
    double time_s;
    double power_w;
} ft__price;
ft_status ft__prices_ask(const ft__prices *p, ft__price *out, const ft_op *op, size_t n,
                         const ft__dataset *on, const char *session, bool blind,
                         ft_error *err);

#endif
