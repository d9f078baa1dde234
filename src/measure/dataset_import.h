#ifndef MEASURE_DATASET_IMPORT_H
#define MEASURE_DATASET_IMPORT_H

#include "base/arena.h"
#include "base/index.h"
#include "base/limits.h"
#include "measure/dataset.h"
#include "store/store.h"

/* Values wait here until all of the row has been read. Specs lie one behind the
 * other in `text`, each terminated. */
enum { FT__MAX_WAITING = 8, FT__MAX_SPEC = 1024 };
typedef struct ft__waiting {
    size_t spec; /* where in text */
    ft_phase phase;
    const char *metric, *unit;
    ft_measurement m;
} ft__waiting;

typedef struct ft__known_device {
    const char *name;
    double tdp_w;
} ft__known_device;

/* A part of a whole, of the device that was the first to list this whole. */
typedef struct ft__listed {
    const char *device;
    ft_member member;
} ft__listed;

struct ft__import {
    ft__rows *rows;
    ft_store *store;
    ft__bulk *bulk;
    const char *source, *data_dir, *command;
    const ft__form *form;
    int place[FT__N_COLUMNS]; /* of each column in this file; -1: it has none */
    bool used[FT__MAX_COLUMNS];

    /* the row */
    const ft__known_device *device;
    ft__buf setting, engine, version, conditions, text;
    const char *policy;
    bool unknown; /* its operation has no kind here */
    int64_t taken_at;
    ft_phase phase;
    size_t spec; /* where in text */
    ft__waiting waiting[FT__MAX_WAITING];
    size_t n_waiting;

    /* the file */
    ft__arena arena;
    ft__index devices; /* title -> known[] */
    ft__known_device *known;
    size_t n_known;
    ft__index wholes; /* source, whole, phase -> whose list it is: known[] */
    ft__index parts;  /* with the part -> listed[] */
    ft__listed *listed;
    size_t n_listed;

    ft_dataset_report *out;
    ft_status st;
    ft_error *err;
};

/* ft_dataset_import() of what a file holds; `path` is its name. */
ft_status ft__dataset_take(ft_dataset_report *out, ft_store *s, const char *source,
                           const void *bytes, size_t len, const char *path,
                           const char *data_dir, ft_error *err);
/* The row is done: its values and members go into the store. */
ft_status ft__import_row_done(ft__import *im);
ft_status ft__import_members_done(ft__import *im);

#endif
