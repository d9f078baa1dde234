#ifndef PTX_PTX_INSIDE_H
#define PTX_PTX_INSIDE_H

#include "foretell/ptx.h"

/* PTX ISA 1.0 to 9.x. FT_EIO; FT_EFORMAT: err->msg says name, line, column, what was
 * found there and what was expected. */
ft_status ft__ptx_open(ft_ptx **out, const char *path, ft_error *err);
/* The text is borrowed until ft__ptx_free(). `name` is for messages. */
ft_status ft__ptx_parse(ft_ptx **out, const char *text, size_t len, const char *name,
                        ft_error *err);
void ft__ptx_free(ft_ptx *m);

/* Of a launch that was counted, the kernel's blocks in the order of the text, those of
 * functions it calls after it, and its accesses in the same order. Borrowed of the
 * counter until the next. */
typedef struct ft__ptx_parts {
    const ft_ptx_block *block;
    size_t n_blocks;
    const ft_ptx_access *access;
    size_t n_accesses;
} ft__ptx_parts;

/* Counts launches of one module. Analyses, and up to 16 MiB of counts, are cached: the
 * same launch again takes a microsecond. The module is borrowed. One thread at a time.
 */
typedef struct ft__ptx_counter ft__ptx_counter;
ft_status ft__ptx_counter_new(ft__ptx_counter **out, const ft_ptx *m, ft_error *err);
void ft__ptx_counter_free(ft__ptx_counter *c);
/* parts may be NULL; after an error there are none. FT_ENOTFOUND: no such kernel or
 * parameter; FT_EINVAL: a block or grid that no GPU takes, or not the one that .reqntid
 * says; FT_ENEEDED: several kernels and none named. */
ft_status ft__ptx_count(ft_ptx_counts *out, ft__ptx_parts *parts, ft__ptx_counter *c,
                        const ft_ptx_launch *launch, ft_error *err);

#endif
