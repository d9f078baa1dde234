#ifndef MEASURE_VALIDATE_H
#define MEASURE_VALIDATE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "foretell/validate.h"

/* A network as one dataset's engine runs it. */
typedef struct ft__validation {
    ft_store *store;
    const ft_validate_options *opt;
    const ft_graph *graph; /* as imported, or a training step */
    ft_graph *lowered;
    uint32_t policy;
    bool stored;    /* nothing runs: `base` is of any device */
    bool planned;   /* the engine's tensors lie at offsets planned ahead */
    ft_key base;    /* device, setting, engine, version; the rest NULL */
    char spec[300]; /* of the network */
} ft__validation;

/* The newest row for `spec` and `metric` in the dataset; row->id 0: none. Strings of
 * the row's key are gone. */
ft_status ft__validate_row(ft_row *row, ft__validation *k, const char *spec,
                           const char *metric, ft_error *err);
/* Sums over operations, what they lack, kinds, prediction: all of `out` that comes
 * from the store. shared: as ft_validated.shared. */
ft_status ft__validate_price(ft_validated *out, ft__validation *k, double shared,
                             ft_error *err);
/* The key under which a network measured whole is stored ("network id=... name=..."):
 * the id is made of the operations and their counts, whatever the file is called.
 * `g` is lowered. Returns its length as snprintf() does. */
size_t ft__network_spec(const ft_graph *g, char *buf, size_t size);

/* An operation that takes part: not a view. */
static inline bool ft__validate_runs(const ft_op *op)
{
    return ft_kind_class(op->kind) != FT_CLASS_VIEW;
}

static inline ft_figure ft__figure_unknown(const char *why)
{
    ft_figure f = {.value = NAN, .sigma = NAN};

    snprintf(f.why, sizeof(f.why), "%.199s", why);
    return f;
}

#endif
