#ifndef FT_PTX_LAUNCHES_H
#define FT_PTX_LAUNCHES_H

#include "foretell/ptx.h"

FT_BEGIN_DECLS

/* The kernel launches of a program: from a launch file (docs/ptx.md), or from a cache
 * or dump folder of Triton, Inductor or XLA. */

/* All modules of a file: one of a .ptx, several in the output of `cuobjdump -ptx`. *out is
 * an array of *n. FT_EIO, FT_EFORMAT: with line and column. */
FT_API ft_status ft_ptx_modules_open(ft_ptx ***out, size_t *n, const char *path,
                                     ft_error *err);
FT_API void ft_ptx_modules_free(ft_ptx **m, size_t n);

typedef struct ft_ptx_launches ft_ptx_launches;

/* One launch. A library call has name, count, library, operation. */
typedef struct ft_ptx_listed {
    const char *name;     /* the program's name for it; NULL: none */
    const char *path;     /* of the module's file; NULL: a library's call */
    const ft_ptx *module; /* NULL: a library's call */
    const ft_ptx_kernel *kernel;
    ft_ptx_launch launch;
    uint64_t memory_bytes; /* of all buffers; 0: not all have a given size */
    uint64_t block_bytes;  /* of them, covered by one block; 0: not given */
    uint32_t registers;    /* per thread; 0: not given */
    const char *call;      /* the host's call, where launches are timed one by one
                              ("relu"); NULL: back-to-back launches */
    /* Parameters without a value that are not addresses, by the source's name if known. */
    const char *const *open;
    uint32_t n_open;
    uint64_t count;        /* how often */
    const char *library;   /* what is called; NULL: a kernel in PTX */
    const char *operation; /* spec of the equivalent operation; NULL: unknown */
    const char *missing; /* what is missing for counting, and how to give it; NULL:
                            nothing */
    size_t same;         /* index of the first equal launch (name and count aside) */
} ft_ptx_listed;

typedef enum ft_ptx_source {
    FT_PTX_LAUNCH_FILE,
    FT_PTX_TRITON,   /* a cache folder: metadata and PTX side by side, no grids */
    FT_PTX_INDUCTOR, /* PyTorch's output code beside such a cache */
    FT_PTX_XLA,      /* a folder of --xla_dump_to */
    FT_PTX_FOLDER,   /* of .ptx files: no grids */
} ft_ptx_source;

/* A launch file, or a folder: its launches.jsonl, else by the detected tool chain. Modules
 * are read, arguments converted to their parameters' types. FT_EIO, FT_EFORMAT,
 * FT_ENOTFOUND (no such kernel or parameter): with file and line. `log` (may be NULL)
 * receives what was left out and why. */
FT_API ft_status ft_ptx_launches_open(ft_ptx_launches **out, const char *path,
                                      const ft_log *log, ft_error *err);
/* The text of a launch file. `name` is for messages (NULL: they name no place); modules
 * are relative to `folder` (NULL: the working directory). */
FT_API ft_status ft_ptx_launches_parse(ft_ptx_launches **out, const char *text,
                                       size_t len, const char *name, const char *folder,
                                       ft_error *err);
FT_API void ft_ptx_launches_free(ft_ptx_launches *l);
/* Borrowed from the list. */
typedef struct ft_ptx_launches_facts {
    ft_ptx_source source;
    const ft_ptx_listed *listed; /* in program order, if known */
    size_t n;
} ft_ptx_launches_facts;
FT_API const ft_ptx_launches_facts *ft_ptx_launches_get(const ft_ptx_launches *l);

/* Count the instructions of the i-th launch. Analyses are kept with the list. FT_EINVAL also: a
 * library's call, or something is missing. */
FT_API ft_status ft_ptx_launches_count(ft_ptx_counts *out, ft_ptx_launches *l, size_t i,
                                       ft_error *err);
/* Basic blocks and memory accesses of the launch counted last; none: nothing was
 * counted yet. Borrowed until the next is counted. */
typedef struct ft_ptx_launches_parts {
    const ft_ptx_block *block;
    size_t n_blocks;
    const ft_ptx_access *access;
    size_t n_accesses;
} ft_ptx_launches_parts;
FT_API ft_ptx_launches_parts ft_ptx_launches_last(const ft_ptx_launches *l);

FT_END_DECLS

#endif
