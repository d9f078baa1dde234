#ifndef CLI_RANK_LISTS_H
#define CLI_RANK_LISTS_H

#include "cli/rank_question.h"

/* rank --stdin: many networks as lists of operations. Reads standard input to its end,
 * prints, and returns an exit code. q->how and the like are read. */
int ft__rank_lists(ft__rank_question *q);

enum { FT__LISTS_AT_ONCE = 256 }; /* networks that are priced together */

/* One network on one device. */
typedef struct ft__list_place {
    ft_brief brief;
    unsigned char state; /* ft_rank_state */
    unsigned char pareto;
} ft__list_place;

typedef struct ft__list_network {
    char *name;
    char *why; /* it is none; NULL */
} ft__list_network;

/* What the first networks of a device showed. */
typedef struct ft__list_device {
    bool asked;
    char predictor[FT__PATH_MAX]; /* by which all others are predicted; "": physics */
    double limit_bytes;
} ft__list_device;

typedef struct ft__lists {
    ft__rank_question *q;
    char setting[FT__SETTING_MAX];
    ft__list_device *device;
    ft__list_network *network;
    ft__list_place *place; /* network * n_devices + device */
    size_t n, cap, n_bad;
    char *text; /* what is read and not yet looked at */
    size_t len, cap_text;
    ft_list list[FT__LISTS_AT_ONCE];
    size_t n_listed;
    size_t *order; /* of places, the best first */
    size_t n_placed;
    char unknown[256]; /* why nothing is known of a device, the first */
} ft__lists;

/* What a network takes on a device, of a pass. */
double ft__lists_quantity(const ft__rank_question *q, const ft_brief *b,
                          const char *device, ft_rank_by of);
/* ---- rank_lists_print.c: the table, JSON or CSV; then complaints and exit code ----
 */
int ft__lists_print(const ft__lists *s);
int ft__lists_verdict(const ft__lists *s);

#endif
