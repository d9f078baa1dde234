#ifndef PTX_MEASURE_LAUNCHES_H
#define PTX_MEASURE_LAUNCHES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "foretell/ptx.h"

/* Launch files (docs/ptx.md), as one needs them to run what they say. */

enum { LAUNCH_PARAMS = 64 };

/* What memory is filled with: values spread evenly over low .. high, or low, low +
 * step,
 * ... Spread ones repeat every 2^20 bytes. */
typedef enum fill_type {
    FILL_F32,
    FILL_F64,
    FILL_F16,
    FILL_BF16,
    FILL_S32,
    FILL_S8
} fill_type;

typedef struct fill {
    fill_type type;
    double low, high, step;
} fill;

typedef struct argument {
    uint64_t memory; /* bytes; 0: a value */
    uint64_t offset;
    fill fill;
    uint8_t *bytes; /* of a value, `size` of them */
    uint32_t size;
} argument;

typedef struct launch {
    uint32_t line; /* in the file */
    json_t *row;   /* as it was written */
    char *module;  /* path */
    const char *kernel;
    uint32_t grid[3], block[3], shared;
    argument arg[LAUNCH_PARAMS];
    uint32_t n_args;
} launch;

typedef struct launches {
    launch *row;
    size_t n;
} launches;

/* Every different launch once, those of libraries left out. Modules are relative to the
 * file's folder, and parsed for what parameters are. FT_EIO; FT_EFORMAT: what, and
 * line. */
ft_status launches_read(launches *out, const char *path, ft_error *err);
void launches_free(launches *l);

/* bytes of memory from byte `from` on. */
void fill_bytes(void *out, size_t bytes, uint64_t from, const fill *f);

#endif
