#ifndef PTX_LAUNCH_READER_H
#define PTX_LAUNCH_READER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/json.h"
#include "foretell/ptx_launches.h"

/* Launches on their way into the list: readers make rows of what they find, all of them
 * text and numbers; launches.c opens the modules that rows name and puts the arguments
 * into the types of the parameters. All texts are terminated and live in the arena of
 * the rows, so that string functions of C do. */

typedef enum ft__ptx_value_kind {
    FT__VALUE_UNKNOWN,
    FT__VALUE_POINTER, /* number: bytes behind the start of memory of its own */
    FT__VALUE_INT,
    FT__VALUE_REAL,
    FT__VALUE_FLOAT, /* real, in `size` bytes; brain: of 2, as bf16 */
    FT__VALUE_BYTES, /* `size` of them */
} ft__ptx_value_kind;

/* An argument as it was written. */
typedef struct ft__ptx_value {
    const char *name; /* of the parameter; NULL: by position */
    ft__ptx_value_kind kind;
    int64_t number;
    double real;
    const uint8_t *bytes;
    uint32_t size;
    bool brain;
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

bool ft__ends_with(const char *s, const char *end);
/* Where the first `word` in s ends; NULL: there is none. */
const char *ft__behind(const char *s, const char *word);
FT_PRINTF(2, 3) char *ft__ptx_fmt(ft__arena *a, const char *fmt, ...);
/* The text of a file, kept in the arena. FT_EIO: it cannot be read. */
ft_status ft__ptx_text(const char **out, ft__arena *a, const char *path, ft_error *err);

/* The files below a folder, in order of their names. */
typedef struct ft__ptx_files {
    const char *folder;
    const char **path; /* for the caller to free */
    size_t n;
} ft__ptx_files;

typedef struct ft__ptx_shape {
    int64_t dim[8];
    uint32_t n;
    const char *dtype; /* "fp32"; NULL: not known, taken to be that */
} ft__ptx_shape;
/* Products of x = (..., m, k) and y = (..., k, n), of matrices alone with a bias; NULL:
 * shapes that do not go together, or out of memory. */
const char *ft__ptx_spec_matmul(ft__arena *a, const ft__ptx_shape *x,
                                const ft__ptx_shape *y, bool bias);
typedef struct ft__ptx_conv {
    int64_t x[4], out; /* batch, channels, height, width; filters */
    int64_t kernel[2], stride[2], low[2], high[2], dilation[2], groups;
    bool channels_last;
    const char *dtype;
} ft__ptx_conv;
const char *ft__ptx_spec_conv(ft__arena *a, const ft__ptx_conv *c);

/* Makes rows of what it knows in the folder of one tool chain. */
typedef struct ft__ptx_reader {
    ft_ptx_source source;
    ft_status (*read)(ft__ptx_rows *r, const ft__ptx_files *f, ft_error *err);
} ft__ptx_reader;
extern const ft__ptx_reader ft__ptx_xla, ft__ptx_xla_ir, ft__ptx_inductor,
    ft__ptx_triton;

/* The lines of a launch file. `folder` NULL: paths are taken as they stand. */
ft_status ft__ptx_launch_file(ft__ptx_rows *r, const char *text, size_t len,
                              const char *name, const char *folder, ft_error *err);

/* The arguments of row r for the kernel of `out`, in `a`, and what it leaves open.
 * `alias` are further names of the first n_alias parameters. The message names
 * parameter and value, not the row. */
ft_status ft__ptx_bind(ft_ptx_listed *out, const ft__ptx_row *r,
                       const char *const *alias, size_t n_alias, ft__arena *a,
                       ft_error *err);
/* x as an IEEE number of 2, 4 or 8 bytes, little endian; brain: of 2, as bf16. */
void ft__ptx_float_bytes(uint8_t *out, double x, uint32_t size, bool brain);

/* What Triton leaves beside a kernel's PTX. */
typedef struct ft__ptx_triton_facts {
    const char *kernel; /* NULL: no metadata is beside it */
    uint32_t block, shared;
    const char **name; /* of the arguments, in order; NULL: not known */
    size_t n_names;
    /* Elements of axis 0, 1, 2 that a block takes by the intermediate text: the
     * constant that its index is multiplied by; 0: not seen. */
    uint32_t tile[3];
} ft__ptx_triton_facts;
ft_status ft__ptx_triton_read(ft__ptx_triton_facts *out, const char *ptx, ft__arena *a,
                              ft_error *err);

#endif
