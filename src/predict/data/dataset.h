#ifndef PREDICT_DATA_DATASET_H
#define PREDICT_DATA_DATASET_H

#include <stdbool.h>

#include "foretell/device.h"
#include "foretell/store.h"
#include "predict/data/features.h"

/* What samples share: the device and how it was set and run. */
typedef struct ft__dataset {
    char *device, *setting, *engine, *engine_version;
    char *policy;    /* on dtypes */
    size_t n;        /* samples */
    ft_device *file; /* what is known of the device; NULL: nothing */
    bool borrowed;   /* the file is another's */
    bool any_engine; /* asked: none was named, measurements by any of them answer */
    bool timed;      /* asked: what its host takes for a launch is said */
    ft__roof *roof;  /* as its probes were measured; NULL: they were not */
    /* What collections measured of the engine itself; NaN and 0 otherwise. */
    double context_bytes;        /* of engine and process, */
    double context_per_op_bytes; /* and of every unique operation of a network */
    uint32_t lowering;           /* FT_POLICY_ bits: how its engine runs graphs */
} ft__dataset;

/* The number of the key's dataset by this setting in a list; where it is not there, it
 * is added, or UINT32_MAX, which is out of memory, too. */
uint32_t ft__dataset_of(ft__dataset **list, uint32_t *n, const ft_key *k,
                        const char *setting, bool add);
void ft__dataset_free(ft__dataset *d);
/* Compares by device, engine, version, policy and setting, in the order of strcmp(). */
int ft__dataset_order(const ft__dataset *a, const ft__dataset *b);
/* The chip that it was measured on, or the device's name where no file describes it. */
const char *ft__dataset_chip(const ft__dataset *d);
/* A copy without the roofline, which borrows the device file. False: out of memory, and
 * *out must be freed. */
bool ft__dataset_copy(ft__dataset *out, const ft__dataset *d);

/* The facts by which devices are compared. */
typedef struct ft__hardware {
    char vendor[24], chip[40];
    char type[8];      /* "gpu", "cpu"; "": there is no file */
    double capability; /* NVIDIA's compute capability; NaN: not known */
} ft__hardware;

ft__hardware ft__hardware_of(const ft_device *file); /* or NULL */

#endif
