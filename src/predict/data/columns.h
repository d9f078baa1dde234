#ifndef PREDICT_DATA_COLUMNS_H
#define PREDICT_DATA_COLUMNS_H

#include "predict/data/baseline.h"

/* A sample as one row of numbers: the operation (features.h), how it fits the units
 * that hardware works in, the parts of its physical estimate, and, where the training
 * set has more than one of them, dtype, device and setting. What is text there becomes
 * the number of its value in the training rows; a value that they did not have is
 * missing. */
typedef struct ft__code {
    char name[32]; /* "device", "engine", ..., or a pair of the setting */
    char **value;  /* ascending */
    uint32_t n;
} ft__code;

enum { FT__MAX_CODES = 12 };
typedef struct ft__columns {
    uint32_t n;        /* in a row */
    uint32_t n_common; /* the last of them, which only the regressor of all kinds has */
    bool devices;      /* specifications of devices are columns */
    bool common;       /* the last ones are for the regressor of all kinds */
    ft__code code[FT__MAX_CODES];
    uint32_t n_codes;
} ft__columns;

/* The column with the width of a row's elements in bits. */
enum { FT__COLUMN_BITS = FT__N_FEATURES + 10 };

/* unseen: the rows are to answer for devices that are not among them, so that nothing
 * may be learned of which device a row is of. before: NULL, or columns of which *out is
 * to be a copy, whatever the rows are. */
ft_status ft__columns_make(ft__columns *out, const ft__columns *before,
                           const ft__samples *s, const uint32_t *row, size_t n,
                           bool unseen, bool common, ft_error *err);
/* Set c->n and c->n_common from the rest. */
void ft__columns_count(ft__columns *c);
void ft__columns_free(ft__columns *c);
/* row: c->n values. */
void ft__columns_fill(const ft__columns *c, float *row, const ft__samples *s,
                      uint32_t i, const ft__terms *terms);
/* The name of column j, in a buffer of 48 bytes. */
void ft__columns_name(const ft__columns *c, char name[48], uint32_t j);

#endif
