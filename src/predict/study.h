#ifndef PREDICT_STUDY_H
#define PREDICT_STUDY_H

#include <stdbool.h>

#include "foretell/networks.h"
#include "predict/load.h"

/* Networks that were measured whole, each to be foretold without its group: itself in
 * all its phases, or all of a device. What is left to learn from, and loads. */

/* Sessions that answer for one group: those with most operations. */
enum { FT__MAX_SESSIONS = 8 };

typedef struct ft__study {
    const ft_networks_options *opt;
    ft__samples s;
    ft__wholes w;
    const char **session; /* settings that operations were measured under */
    uint32_t n_sessions;
    bool *asked;     /* of a group and a session: does that answer for it? */
    ft_op *key;      /* ft__part_key() of every sample */
    uint32_t *group; /* of every whole */
    uint32_t n_groups;
    uint32_t *row; /* samples that prices were learned from */
    size_t n_rows;
    uint32_t *next; /* scratch: likewise */
    ft__prices prices;
    ft__known_network *known; /* of a session and every whole */
    ft__load *pair;           /* devices: of a group left out, a session, every whole */
    bool *paired;             /* of two groups */
} ft__study;

/* opt->networks and opt->ops of the store; *y is 0 but for opt. */
ft_status ft__study_open(ft__study *y, ft_store *store, ft_error *err);
void ft__study_free(ft__study *y);
/* Loads of the networks that say something of `group`, as of networks whose operations
 * were not seen: ft__study_known(). y->prices are those without the group. */
ft_status ft__study_others(ft__study *y, uint32_t group, ft_error *err);
/* May operations of a session answer for the group? Of FT__MAX_SESSIONS at most; loads
 * of others are not known. */
bool ft__study_asks(const ft__study *y, uint32_t group, uint32_t session);
/* Of one network, by y->prices; blind: as if none of its operations had been seen. */
ft_status ft__study_load(ft__load *out, ft__sums *sums, const ft__study *y,
                         size_t whole, uint32_t session, bool blind, ft_error *err);
/* Networks in the terms of a session, in the order of y->w.v. */
ft__known_network *ft__study_known(const ft__study *y, uint32_t session);
const ft__dataset *ft__study_ran(const ft__study *y, size_t whole);
bool ft__study_devices(const ft__study *y);
/* Does a group say something of the host and the device of another? */
bool ft__study_goes(const ft__study *y, uint32_t group, uint32_t other);

#endif
