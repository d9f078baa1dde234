#ifndef PREDICT_QUERY_QUERY_CONTEXT_H
#define PREDICT_QUERY_QUERY_CONTEXT_H

#include "base/arena.h"
#include "graph/fuse.h"
#include "predict/model/family.h"
#include "predict/query/op_query.h"
#include "predict/schedule/schedule.h"

/* DVFS interpolation: a device measured at several core clocks, asked about at another.
 */
struct clock_interpolation {
    const ft__dataset
        *at[2]; /* measured at these clocks: on either side of the one asked
                   for where there are such, otherwise the nearest two */
    double clock_hz[2];
    double asked_hz;
    double top_hz; /* the highest of the device */
    double reach;  /* |log(asked / nearest)| outside of what was measured; 0: between */
};

/* False: it was measured at fewer than two clocks, or a memory clock or cap is asked
 * for under which it was not. */
bool ft__clock_interpolation_find(struct clock_interpolation *out, const ft__family *f,
                                  const ft__dataset *asked);
/* As ft__family_query(); on->setting is not looked at. */
ft_status ft__clock_interpolation_query(ft__op_answer *out,
                                        const struct clock_interpolation *s,
                                        const ft__family *f, ft__metric metric,
                                        const ft__dataset *on, const ft_op *ops,
                                        size_t n, ft_error *err);

/* The state of one query about a network, private to the files of this folder. */
typedef struct ft__query_context {
    const ft__family *f; /* NULL: from specifications; most of the rest is unused */
    ft__dataset on;
    ft__chip_setting set;        /* what the setting of `on` says of a chip */
    const ft__model_set *models; /* of times; NULL: from specifications */
    const ft_graph *g;
    uint32_t n;
    ft_phase phase; /* it runs as */
    const ft__device_schedule
        *device_schedule; /* schedule of the device in it, or NULL */
    const ft__device_schedule
        *as;       /* whose sessions answer for operations; NULL: as it is asked */
    bool known;    /* the device was measured */
    ft_op *form;   /* in which an operation is asked for: one that was learned */
    double *share; /* of that form's time; NaN: no form of it was learned */
    ft__terms *bare, *bare_form;
    const ft__physics_params **params; /* learned for it */
    bool *by_default; /* bare is by the default constants: TF32, which nothing learned
                         from showed */
    ft__op_answer *time, *power;
    bool powered;       /* power was learned, */
    bool power_known;   /* and measured on the device */
    bool tf32;          /* products in TF32 are among what was learned; if not, */
    const char *policy; /* how they are computed; NULL: as they were measured */
    bool plain; /* operations are relative to a roofline: no file, or a probed CPU */
    ft__dataset *dataset; /* plain: as the family numbers them, */
    uint32_t index;       /* the one asked about; n_datasets: none is of it */
    ft__device_query a;
    ft__fused *fused;          /* by operation; NULL: none is */
    ft__device_query measured; /* the device as it was measured: */
    bool rescaled;             /* which is at another clock or under another cap */
    bool from_short_loops; /* which was in short loops, and the steady state is asked
                       about */
    bool interpolated;     /* it is, but was measured at several: */
    struct clock_interpolation interpolation;
    const ft__calibration_set *few; /* a few measurements of it, or NULL */
    const ft__dataset *few_on;      /* those of the device as it is asked about; NULL:
                                       none */
    bool corrects;                  /* these are enough to correct times */
    uint32_t n_waiting;             /* of these wait for the host */
    uint32_t n_few;                 /* that corrected the answers */
    uint32_t n_read; /* whose power corrected what specifications say of it */
    ft__arena room;  /* of these arrays, but forms */
} ft__query_context;

/* As it was measured, where that is not as it is asked about; as this otherwise. */
static inline ft__device_query *ft__query_context_measured(ft__query_context *q)
{
    return q->rescaled || q->from_short_loops ? &q->measured : &q->a;
}

/* The device, as the family is asked about it; *setting is
 * ft__query_context_close()'s to free. */
ft_status ft__query_context_open(ft__query_context *q, ft__buf *setting,
                                 const ft__device_use *on, ft_error *err);
/* Then the forms of all operations, and what is learned of them. bytes: NULL, or what
 * receives the memory and workspace of every operation, where they were learned. */
ft_status ft__query_context_learn(ft__query_context *q, ft__network_estimate *bytes,
                                  ft_error *err);
/* The run mode is compiled: q->fused[i].moved and .generated of what the compiler
 * generates otherwise. Once q->a is open. */
void ft__query_context_compile(ft__query_context *q);
void ft__query_context_close(ft__query_context *q, ft__buf *setting);
/* Of the device at a clock (NaN: as it comes; what clocks do to power is in *at),
 * fitted to networks where the family has one. Once q->a is open. */
ft__schedule ft__query_context_schedule(ft__query_context *q,
                                        const ft__device_query *at, double clock_hz);
/* The device's part of what was learned of operation i: eager measurements of the
 * device have launches, which a replayed graph has not. */
double ft__query_context_device_share(const ft__query_context *q, uint32_t i);
/* How far the board that is asked about may be off those that were measured: 0 where
 * these are it or enough was measured of it since, and of devices not measured, whose
 * intervals have it. */
double ft__query_context_between_boards(const ft__query_context *q);

/* What was learned of an operation's power at one clock and cap, over the estimate
 * there: others' estimates are as far off. 1: nothing was, or what is asked is no
 * other.
 */
double ft__query_context_power_scale(ft__query_context *q, uint32_t i);

#endif
