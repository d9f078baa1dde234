#ifndef PTX_LAUNCHES_FOLDER_H
#define PTX_LAUNCHES_FOLDER_H

#include "ptx/launches.h"

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
/* The text of a file, kept in the arena. */
ft_status ft__ptx_text(const char **out, ft__ptx_rows *r, const char *path,
                       ft_error *err);
/* From *s on, over `word` and the number behind it; false: something else stands
 * there. */
bool ft__take_number(const char **s, const char *word, uint64_t *out);
/* Three numbers as "{1, 2, 3}" or "[1, 2, 3]" after `word`, wherever that stands in s. */
bool ft__find_dims(const char *s, const char *word, uint32_t out[3]);

/* Each makes rows of what it knows; n of f is not 0. */
ft_status ft__ptx_xla(ft__ptx_rows *r, const ft__ptx_files *f, ft_error *err);
ft_status ft__ptx_inductor(ft__ptx_rows *r, const ft__ptx_files *f, ft_error *err);
ft_status ft__ptx_triton(ft__ptx_rows *r, const ft__ptx_files *f, ft_error *err);

/* Triton's metadata beside a module. */
typedef struct ft__ptx_triton_facts {
    const char *kernel;
    uint32_t block, shared, ctas;
} ft__ptx_triton_facts;
/* kernel NULL: there is none beside this file. */
ft_status ft__ptx_triton_read(ft__ptx_triton_facts *out, ft__ptx_rows *r,
                              const char *ptx, ft_error *err);
/* How many elements of axis 0, 1, 2 a block takes by the intermediate text beside the
 * PTX: the constant that its index is multiplied by; 0: not seen. */
ft_status ft__ptx_triton_tiles(uint32_t out[3], ft__ptx_rows *r, const char *ptx,
                               ft_error *err);

/* The spec of an operation from what a library was called with; NULL: not one we know
 * or out of memory. */
typedef struct ft__ptx_shape {
    int64_t dim[8];
    uint32_t n;
    const char *dtype; /* of ours: "fp32"; NULL: not known */
} ft__ptx_shape;
char *ft__ptx_spec_matmul(ft__arena *a, const ft__ptx_shape *x, const ft__ptx_shape *y);

#endif
