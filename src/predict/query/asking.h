#ifndef PREDICT_QUERY_ASKING_H
#define PREDICT_QUERY_ASKING_H

#include "predict/model/family.h"
#include "predict/query/clock_line.h"
#include "predict/query/op_query.h"
#include "predict/schedule/device_schedule.h"

/* A network that is asked about: for the files that do so. */
typedef struct ft__asking {
    const ft__family *f; /* NULL: from specifications; most of the rest is unused */
    ft__dataset on;
    const ft_graph *g;
    uint32_t n;
    ft_phase phase;           /* it runs as */
    const ft__placed *placed; /* schedule of the device in it, or NULL */
    const ft__placed *as; /* whose sessions tell of operations; NULL: as it is asked */
    bool known;           /* the device was measured */
    ft_op *form;          /* in which an operation is asked for: one that was learned */
    double *share;        /* of that form's time; NaN: no form of it was learned */
    ft__terms *bare, *bare_form;
    ft__answer *time, *power;
    bool powered;     /* power was learned, */
    bool power_known; /* and measured on the device */
    bool tf32;        /* products in TF32 are among what was learned */
    bool plain; /* operations are relative to a roofline: no file, or a probed CPU */
    ft__dataset *dataset; /* plain: as the family numbers them, */
    uint32_t index;       /* of which this one is asked about */
    ft__asked a;
    ft__asked measured; /* the device as it was measured: */
    bool elsewhere;     /* which is at another clock or under another cap */
    bool swept;         /* it is, but was measured at several: */
    ft__sweep sweep;
    const ft_known *few; /* a few measurements of it, or NULL */
    uint32_t n_few;      /* that corrected the answers */
} ft__asking;

/* The device, as the family is asked about it; *setting is
 * ft__asking_close()'s to free. Then the forms of all operations, and what is learned
 * of them. */
ft_status ft__asking_open(ft__asking *q, ft__buf *setting, const ft_device_use *on,
                          ft_error *err);
ft_status ft__asking_make(ft__asking *q, ft_error *err);
ft_status ft__asking_learn(ft__asking *q, ft_error *err);
void ft__asking_close(ft__asking *q, ft__buf *setting);
/* The regressors of times; NULL: from specifications. */
const ft__learner *ft__asking_learner(const ft__asking *q);
/* Is it a product that the device would compute in TF32? */
bool ft__asking_tf32(const ft__asking *q, const ft_op *op);
/* Of the device at a clock (NaN: as it comes; what clocks do to power is in *at),
 * fitted to networks where the family has one. Once q->a is open. */
ft__schedule ft__asking_schedule(ft__asking *q, const ft__asked *at, double clock_hz);
/* What is left of a time alone when the host's part is taken out. */
double ft__device_share(const ft__terms *t);

#endif
