#ifndef PTX_LAUNCH_FOLDER_H
#define PTX_LAUNCH_FOLDER_H

#include "ptx/launch/launches.h"
#include "ptx/syntax/module.h"

/* What readers of folders share. All texts are terminated and live in the arena of the
 * rows, so that string functions of C do. */

/* The files below a folder, in order of their names. */
typedef struct ft__ptx_files {
    const char *folder;
    const char **path;
    size_t n;
} ft__ptx_files;

enum {
    FT__PTX_MAX_FOLDER_FILES = 1 << 18,
    FT__PTX_MAX_FOLDER_DEPTH = 8,
};

bool ft__ends_with(const char *s, const char *end);
const char *ft__base_name(const char *path);
FT_PRINTF(2, 3) char *ft__ptx_fmt(ft__arena *a, const char *fmt, ...);
FT_PRINTF(3, 4)
void ft__ptx_say(const ft__ptx_rows *r, ft_log_level level, const char *fmt, ...);
/* The text of a file, kept in the arena. FT_EIO: it cannot be read. */
ft_status ft__ptx_text(const char **out, ft__arena *a, const char *path, ft_error *err);
/* From *s on, over `word` and the number behind it; false: something else stands
 * there. */
bool ft__take_number(const char **s, const char *word, uint64_t *out);
/* Three numbers as "{1, 2, 3}" or "[1, 2, 3]" after `word`, wherever that stands in s.
 */
bool ft__find_dims(const char *s, const char *word, uint32_t out[3]);

/* Each makes rows of what it knows; n of f is not 0. */
ft_status ft__ptx_xla(ft__ptx_rows *r, const ft__ptx_files *f, ft_error *err);
ft_status ft__ptx_inductor(ft__ptx_rows *r, const ft__ptx_files *f, ft_error *err);
ft_status ft__ptx_triton(ft__ptx_rows *r, const ft__ptx_files *f, ft_error *err);

/* How many elements of axis 0, 1, 2 a block takes by the intermediate text beside
 * Triton's PTX: the constant that its index is multiplied by; 0: not seen. */
ft_status ft__ptx_triton_tiles(uint32_t out[3], ft__arena *a, const char *ptx,
                               ft_error *err);

/* ---- spec.c: operations of libraries in foretell's words ---- */
typedef struct ft__ptx_shape {
    int64_t dim[8];
    uint32_t n;
    const char *dtype; /* "fp32"; NULL: not known, taken to be that */
} ft__ptx_shape;
/* Products of x = (..., m, k) and y = (..., k, n); NULL: shapes that do not go
 * together, or out of memory. linear: with a bias. */
const char *ft__ptx_spec_matmul(ft__arena *a, const ft__ptx_shape *x,
                                const ft__ptx_shape *y);
const char *ft__ptx_spec_linear(ft__arena *a, const ft__ptx_shape *x,
                                const ft__ptx_shape *y);
typedef struct ft__ptx_conv {
    int64_t x[4], out; /* batch, channels, height, width; filters */
    int64_t kernel[2], stride[2], low[2], high[2], dilation[2], groups;
    bool channels_last;
    const char *dtype;
} ft__ptx_conv;
const char *ft__ptx_spec_conv(ft__arena *a, const ft__ptx_conv *c);

/* ---- inductor_calls.c ---- */
/* What is known of the tensors that Inductor's output code names, at a point of it. */
typedef struct ft__ptx_tensors ft__ptx_tensors;
ft__ptx_tensors *ft__ptx_tensors_new(ft__arena *a, const char *code);
/* Learn from a line; false: out of memory. */
bool ft__ptx_tensors_line(ft__ptx_tensors *t, const char *line);
/* The operation that the call "extern_kernels.mm(...)" at s is; NULL: not known. */
const char *ft__ptx_extern_operation(ft__ptx_tensors *t, const char *s);

#endif
