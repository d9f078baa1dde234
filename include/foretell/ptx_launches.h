#ifndef FT_PTX_LAUNCHES_H
#define FT_PTX_LAUNCHES_H

#include "foretell/ptx.h"

FT_BEGIN_DECLS

/* What a program launches: from a launch file (docs/ptx.md says its form), or from the
 * folder that a tool chain left behind. */

/* ---- modules ---- */

/* All modules of a file: one of a .ptx, as many as there are in what `cuobjdump -ptx`
 * prints. *out is an array of *n. Errors as of ft__ptx_open(). */
FT_API ft_status ft_ptx_modules_open(ft_ptx ***out, size_t *n, const char *path,
                                     ft_error *err);
FT_API void ft_ptx_modules_free(ft_ptx **m, size_t n);

/* ---- launches ---- */

typedef struct ft_ptx_launches ft_ptx_launches;

/* One of the list. Of a library's call there are name, count, library, operation. */
typedef struct ft_ptx_listed {
    const char *name;     /* what it is to the program; NULL: nothing is said */
    const char *path;     /* of the module's file; NULL: a library's call */
    const ft_ptx *module; /* NULL: a library's call */
    const ft_ptx_kernel *kernel;
    ft_ptx_launch launch;
    uint64_t memory_bytes; /* of all pointers for which the list says it */
    uint64_t block_bytes;  /* of them, what one block goes over; 0: it is not said */
    uint32_t registers;    /* of a thread; 0: it is not said */
    const char *call;      /* of the host, where the launch is timed alone from there
                              ("relu"); NULL: launches follow each other without a gap */
    /* Parameters that are no addresses and have no value, by the source's name where
     * that is known. */
    const char *const *open;
    uint32_t n_open;
    uint64_t count;        /* how often */
    const char *library;   /* what is called; NULL: a kernel in PTX */
    const char *operation; /* spec of the same work; NULL: not known */
    const char *missing; /* what is not known, so that it cannot be counted, and how to
                            say it; NULL: it can */
    size_t same;         /* the first that differs in name and count only; itself */
} ft_ptx_listed;

typedef enum ft_ptx_source {
    FT_PTX_LAUNCH_FILE,
    FT_PTX_TRITON,   /* a cache folder: metadata and PTX side by side, no grids */
    FT_PTX_INDUCTOR, /* PyTorch's output code beside such a cache */
    FT_PTX_XLA,      /* a folder of --xla_dump_to */
    FT_PTX_FOLDER,   /* of .ptx files: no grids */
} ft_ptx_source;

/* A launch file, or a folder: with launches.jsonl in it that file, else what the tool
 * chain is seen to be. Modules are read, arguments put into their parameters' types.
 * FT_EIO, FT_EFORMAT, FT_ENOTFOUND (no such kernel or parameter): with file and line.
 * `log` may be NULL; it hears what was left out and why. */
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
    const ft_ptx_listed *listed; /* in the program's order, where that is known */
    size_t n;
} ft_ptx_launches_facts;
FT_API const ft_ptx_launches_facts *ft_ptx_launches_get(const ft_ptx_launches *l);

/* ft__ptx_count() of the i-th; ft__ptx_blocks(), ft__ptx_accesses() of the one counted
 * last. Analyses are kept with the list. FT_EINVAL also: a library's call, or something
 * is missing. */
FT_API ft_status ft_ptx_launches_count(ft_ptx_counts *out, ft_ptx_launches *l, size_t i,
                                       ft_error *err);
FT_API size_t ft_ptx_launches_blocks(const ft_ptx_launches *l,
                                     const ft_ptx_block **out);
FT_API size_t ft_ptx_launches_accesses(const ft_ptx_launches *l,
                                       const ft_ptx_access **out);

FT_END_DECLS

#endif
