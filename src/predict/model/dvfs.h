#ifndef PREDICT_MODEL_DVFS_H
#define PREDICT_MODEL_DVFS_H

#include "foretell/predictor.h"
#include "predict/data/sample.h"
#include "predict/file/image.h"
#include "predict/model/clock.h"
#include "predict/query/network.h"

/* Measured points of workloads over clocks and power caps of a device, and the model
 * fitted to them. In the predictor file: ft__clocked_image, its rows, and the images of
 * the models. */

/* A workload at one pair of clocks, under one cap. Numbers of texts:
 * ft__clocked_hash(). */
typedef struct ft__clocked_row {
    uint64_t op; /* ft__op_hash() */
    uint64_t engine, engine_version;
    uint64_t rest; /* of the setting, without clocks and cap */
    ft__clock_row r;
} ft__clocked_row;

typedef struct ft__clocked {
    char device[80];
    ft__clocks *model;
    ft__clocked_row *row; /* of one workload beside each other, highest clocks and caps
                             first */
    size_t n;
} ft__clocked;

typedef struct ft__clocked_list {
    ft__clocked *v; /* by device */
    uint32_t n;
} ft__clocked_list;

/* Columns of a name: its words, as places in the alphabet, and its numbers; of each the
 * first two and the last, NaN where there are fewer. NULL: no name. */
void ft__clock_name(float out[FT__CLOCK_NAMES], const char *name);

/* Fits the workloads of s, as read by ft__samples_read_workloads(). */
ft_status ft__clocked_fit(ft__clocked_list *out, const ft__samples *s, uint64_t seed,
                          ft_error *err);
/* Which samples are at the highest clocks and cap of their workload: top[s->n]. */
ft_status ft__clocked_top(bool *top, const ft__samples *s, ft_error *err);
void ft__clocked_free(ft__clocked_list *l);

ft_status ft__clocked_write(ft__writer *w, const ft__clocked *c, ft_error *err);
/* Adds one from a section of a predictor file, used in place. */
ft_status ft__clocked_open(ft__clocked_list *l, const void *section, size_t bytes,
                           uint64_t pos, ft_error *err);

/* The share of g's workloads that were measured on any device. */
double ft__clocked_covers(const ft__clocked_list *l, const ft_graph *g);
/* Predicts a workload on a device at on->setting: as measured there, otherwise scaled
 * from the clocks or cap at which it was measured. FT_ENOTFOUND: it was not measured on
 * the device. */
ft_status ft__clocked_network(ft__network_estimate *out, const ft__clocked_list *l,
                              const ft__device_use *on, const ft_graph *g,
                              ft_error *err);
/* The same by the formulae alone: time, power, or with neither energy; NaN: not
 * known. on->name is not NULL. */
double ft__clocked_formulae(const ft__clocked_list *l, const ft__device_use *on,
                            uint64_t op, bool time, bool power);

#endif
