#ifndef MEASURE_VALIDATE_H
#define MEASURE_VALIDATE_H

#include <stdbool.h>

#include "foretell/validate.h"

/* A network as one dataset's engine runs it. */
typedef struct ft__validation {
    ft_store *store;
    const ft_validate_options *opt;
    const ft_graph *graph; /* as imported, or a training step */
    ft_graph *lowered;
    bool stored;    /* nothing runs: `base` is of any device */
    bool planned;   /* the engine's tensors lie at offsets planned ahead */
    ft_key base;    /* device, setting, engine, version; the rest NULL */
    char spec[300]; /* of the network */
} ft__validation;

/* The key under which a network measured whole is stored ("network id=... name=..."):
 * the id is made of the operations and their counts, whatever the file is called.
 * `g` is lowered. Returns its length as snprintf() does. */
size_t ft__network_spec(const ft_graph *g, char *buf, size_t size);
/* The network's name is not part of what it is: of all rows that begin alike. */
enum { FT__NETWORK_ID_LENGTH = sizeof("network id=0123456789abcdef ") - 1 };

/* k->lowered, k->spec and how memory is counted; k->lowered is the caller's to free. */
ft_status ft__validation_lower(ft__validation *k, const ft_graph *g, uint32_t policy,
                               bool planned, ft_error *err);
/* Names of the network and of its dataset. */
void ft__validation_describe(ft_validated *out, const ft__validation *k);
/* An operation that counts: not a view. */
bool ft__validation_counts(const ft_op *op);
/* The newest row for `spec` and `metric` in the dataset; row->id 0: none. Strings of
 * the row's key are gone. */
ft_status ft__validation_newest(ft_row *row, ft__validation *k, const char *spec,
                                const char *metric, ft_error *err);

/* What was measured of the network itself. */
ft_status ft__validation_measured(ft_validated *out, ft__validation *k, ft_error *err);
/* Sums over operations, what they lack, kinds, prediction: all of `out` that comes
 * from the store. shared: as ft_validated.shared. */
ft_status ft__validation_price(ft_validated *out, ft__validation *k, double shared,
                               ft_error *err);
ft_figure ft__figure_unknown(const char *why);

#endif
