#ifndef PREDICT_DATA_SAMPLE_H
#define PREDICT_DATA_SAMPLE_H

#include <stdbool.h>

#include "foretell/device.h"
#include "foretell/store.h"
#include "graph/op_inside.h"
#include "predict/data/dataset.h"

/* Measurements as learning sees them: one sample for each time that an operation was
 * measured, with the values of all metrics that were taken together. */

typedef enum ft__metric {
    FT__METRIC_TIME,
    FT__METRIC_POWER,
    FT__METRIC_ENERGY,
    FT__METRIC_MEMORY,
    FT__METRIC_WORKSPACE,
    FT__N_METRICS
} ft__metric;
const char *ft__metric_name(ft__metric m);
ft__metric ft__metric_from_name(const char *name); /* FT__N_METRICS: unknown */

/* A kernel or network measured whole, known by its name alone. */
enum { FT__WORKLOAD_HINTS = 8 };
typedef struct ft__workload {
    char *spec;
    /* Activities of the device meanwhile, 0 to 1, NaN where unknown; memory's first. */
    double hint[FT__WORKLOAD_HINTS];
} ft__workload;

typedef struct ft__sample {
    ft_op op;
    uint64_t hash;    /* ft__op_hash(): samples of one hash never part in folds */
    uint32_t dataset; /* index */
    double value[FT__N_METRICS]; /* NaN: not measured */
    double error_s;              /* standard error of the time */
    const ft__workload *whole;   /* NULL: an operation */
} ft__sample;

typedef struct ft__samples {
    ft__sample *v;
    size_t n, cap;
    ft__dataset *dataset;
    uint32_t n_datasets;
    const struct ft__terms *terms; /* of v[], by the model set that is asked; NULL: are
                                      to be found */
    const bool
        *measured;      /* of v[]: no regressor needs to say anything; NULL: of none */
    ft__workload **own; /* to free */
    size_t n_own;
} ft__samples;

/* Behind those that *s holds (none: it is zero) the rows of a store that match `filter`
 * (NULL: all) as ft_store_each() has it, and that `where` asks for: names and values as
 * in "device=a30,l4 phase=forward kind=conv2d session=2025-02-12_train". device,
 * engine, version, policy, phase, kind and class are meant as they are said, every
 * other name is one of the setting; values between commas are alternatives. NULL or "":
 * all. Of an operation that was measured again in a later run, that run's values count.
 * Within a run the first repeat of one metric belongs with the first of the others.
 * FT_EINVAL: `where` cannot be read; FT_EFORMAT: a spec cannot. *s is freed where that
 * fails. */
ft_status ft__samples_read(ft__samples *s, ft_store *store, const ft_key *filter,
                           const char *where, ft_error *err);
/* The same for workloads measured whole, at clocks and caps, in place of operations. */
ft_status ft__samples_read_workloads(ft__samples *s, ft_store *store,
                                     const ft_key *filter, const char *where,
                                     ft_error *err);
/* Look up what data_dir (NULL: nowhere) knows of the devices, and the rooflines of
 * those whose probes are among the samples. A device without a file is no error. */
ft_status ft__samples_know(ft__samples *s, const char *data_dir, ft_error *err);
void ft__samples_free(ft__samples *s);
/* Rows row[n] of s as samples of their own: datasets without rows are gone, rooflines
 * are those that these rows show, and the order depends on nothing but the rows. *out
 * borrows device files from s. */
ft_status ft__samples_subset(ft__samples *out, const ft__samples *s,
                             const uint32_t *row, size_t n, ft_error *err);
/* Orders numbers of type uint64_t, for qsort() and bsearch(). */
int ft__by_number(const void *a, const void *b);
/* How many different ones there are of n; scratch[n]. */
size_t ft__count_different(const uint64_t *v, size_t n, uint64_t *scratch);
/* FT_EINVAL: `where` cannot be read. */
ft_status ft__where_check(const char *where, ft_error *err);
/* Does a row have what `where` asks for? */
bool ft__where_has(const char *where, const ft_key *k);

#endif
