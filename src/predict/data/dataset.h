#ifndef PREDICT_DATA_DATASET_H
#define PREDICT_DATA_DATASET_H

#include <stdbool.h>

#include "foretell/device.h"
#include "foretell/store.h"
#include "predict/data/features.h"

/* What samples share: measured on one device, set and driven in one way. */
typedef struct ft__dataset {
    char *device, *setting, *engine, *engine_version;
    char *policy;    /* on dtypes */
    size_t n;        /* samples */
    ft_device *file; /* what is known of the device; NULL: nothing */
    bool borrowed;   /* the file is another's */
    bool any_engine; /* asked: none was named, measurements by any of them answer */
    ft__roof *roof;  /* as its probes were measured; NULL: they were not */
    /* Of engines of ours, as collections measured them: NaN and 0 otherwise. */
    double context_bytes;        /* of engine and process, */
    double context_per_op_bytes; /* and of every unique operation of a network */
    uint32_t lowering;           /* FT_POLICY_ bits: how its engine runs graphs */
} ft__dataset;

/* The number of the key's dataset by this setting in a list; where it is not there, it
 * is added, or UINT32_MAX, which is out of memory, too. */
uint32_t ft__dataset_of(ft__dataset **list, uint32_t *n, const ft_key *k,
                        const char *setting, bool add);
void ft__dataset_free(ft__dataset *d);
/* By device, engine and its version, policy and setting, as strcmp() has it. */
int ft__dataset_order(const ft__dataset *a, const ft__dataset *b);
/* The silicon that it was measured on; of a device without a file its name. */
const char *ft__dataset_chip(const ft__dataset *d);
/* Without its roofline, the file borrowed; false: no memory, and *out is to be freed.
 */
bool ft__dataset_copy(ft__dataset *out, const ft__dataset *d);

/* What tells devices apart, and which are alike. */
typedef struct ft__hardware {
    char vendor[24], chip[40];
    char type[8];      /* "gpu", "cpu"; "": there is no file */
    double capability; /* NVIDIA's compute capability; NaN: not known */
} ft__hardware;

/* Of a device's file, or of none. */
ft__hardware ft__hardware_of(const ft_device *file);

#endif
