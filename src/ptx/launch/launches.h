#ifndef PTX_LAUNCH_LAUNCHES_H
#define PTX_LAUNCH_LAUNCHES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/json.h"
#include "foretell/ptx_launches.h"

/* Launches on their way into the list: readers make rows of what they find, all of them
 * text and numbers; launches.c opens the modules that rows name and puts the arguments
 * into the types of the parameters. */

typedef enum ft__ptx_value_kind {
    FT__VALUE_UNKNOWN,
    FT__VALUE_POINTER, /* number: bytes behind the start of memory of its own */
    FT__VALUE_INT,
    FT__VALUE_REAL,
    FT__VALUE_BYTES,
} ft__ptx_value_kind;

/* An argument as it was written. */
typedef struct ft__ptx_value {
    const char *name; /* of the parameter; NULL: by position */
    ft__ptx_value_kind kind;
    int64_t number;
    double real;
    const uint8_t *bytes;
    uint32_t size;
    uint64_t memory; /* of a pointer, bytes; 0: not said */
} ft__ptx_value;

typedef struct ft__ptx_row {
    const char *name, *target, *kernel, *library, *operation, *missing;
    const char *module;                     /* path */
    uint32_t grid[3], block[3], cluster[3]; /* 0: not given */
    uint32_t shared;
    uint32_t registers; /* these three as of ft_ptx_listed */
    uint64_t block_bytes;
    const char *call;
    uint64_t count;
    ft__ptx_value *value;
    uint32_t n_values;
    const char *where; /* the file that says so */
    uint32_t line;     /* of it; 0: of no line */
    bool lenient;      /* values of parameters that the kernel lost are left out */
} ft__ptx_row;

typedef struct ft__ptx_rows {
    ft__arena *arena;
    ft__ptx_row *row;
    size_t n, cap;
    const ft_log *log; /* NULL: silent */
} ft__ptx_rows;

enum {
    FT__PTX_MAX_ARGS = 1024,         /* of one launch */
    FT__PTX_MAX_LAUNCHES = 1 << 20,  /* of one list */
    FT__PTX_MAX_ARG_BYTES = 1 << 16, /* of one argument */
};

/* A new row, count 1, of what `where` says. FT_EFORMAT: there are too many. */
ft_status ft__ptx_row_add(ft__ptx_row **out, ft__ptx_rows *r, const char *where,
                          ft_error *err);

/* ---- read.c ---- */
/* The lines of a launch file. `folder` NULL: paths are taken as they stand. */
ft_status ft__ptx_launch_file(ft__ptx_rows *r, const char *text, size_t len,
                              const char *name, const char *folder, ft_error *err);

/* ---- args.c ---- */
/* x as an IEEE number of 2, 4 or 8 bytes, little endian; brain: of 2, as bf16. */
void ft__ptx_float_bytes(uint8_t *out, double x, uint32_t size, bool brain);
/* The arguments of row r for the kernel of `out`, in `a`, and what it leaves open.
 * `alias` are further names of the first n_alias parameters. The message names
 * parameter and value, not the row. */
ft_status ft__ptx_bind(ft_ptx_listed *out, const ft__ptx_row *r,
                       const char *const *alias, size_t n_alias, ft__arena *a,
                       ft_error *err);

/* ---- folder.c ---- */
/* What the tool chain that left the folder says of launches. */
ft_status ft__ptx_folder(ft__ptx_rows *r, ft_ptx_source *source, const char *path,
                         ft_error *err);

/* ---- triton.c ---- */
/* What Triton leaves beside a kernel's PTX. */
typedef struct ft__ptx_triton_facts {
    const char *kernel; /* NULL: nothing is beside it */
    uint32_t block, shared;
    const char **name; /* of the arguments, in order; NULL: not known */
    size_t n_names;
} ft__ptx_triton_facts;
ft_status ft__ptx_triton_read(ft__ptx_triton_facts *out, const char *ptx, ft__arena *a,
                              ft_error *err);

#endif
