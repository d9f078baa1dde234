#ifndef PREDICT_QUERY_SETTINGS_H
#define PREDICT_QUERY_SETTINGS_H

#include "predict/query/op_query.h"

/* A network under many settings of one device. For the files that make it alone. */
typedef struct ft__many {
    const ft_device_use *on;
    const char *const *setting;
    const ft__drive *drive;
    size_t n;
    const ft_graph *g;
    uint32_t n_ops;
    double *busy_s;      /* of operation i under setting k: [i * n + k] */
    double *power_w;     /* likewise */
    ft__task *task;      /* of every operation, what no setting changes */
    unsigned char *done; /* by setting */
} ft__many;

/* Fills what an answer of a family can be made of at once, and says so in m->done. */
ft_status ft__many_by_family(ft_brief *out, ft__many *m, const ft_predictor *p,
                             ft_error *err);

#endif
