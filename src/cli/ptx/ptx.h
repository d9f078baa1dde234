#ifndef CLI_PTX_H
#define CLI_PTX_H

#include <string.h>

#include "cli/ptx/ptxas.h"
#include "foretell/kernels.h"

/* foretell ptx: what its files share. */

typedef struct ft__ptx_options {
    const char *entry;
    const char *grid, *block, *cluster;
    uint64_t shared;
    ft__texts params;
    const char *launches;
    const char *device;
    const char *predictor;
    const char *method;
    uint64_t registers;
    bool no_ptxas;
    double ptxas_s; /* 0: not given */
    uint64_t blocks;
} ft__ptx_options;

/* A launch and what it executes. */
typedef struct ft__ptx_counted {
    const ft_ptx_listed *launch;
    uint64_t times; /* with all that are the same */
    ft_ptx_counts counts;
    const ft_ptx_block *block; /* borrowed until the next launch is counted */
    size_t n_blocks;
    const ft_ptx_access *access; /* as block */
    size_t n_accesses;
    const ft_device_facts *device; /* NULL: none was asked for */
    const char *registers_from;    /* of a thread: "given", "ptxas", "estimated" */
    bool no_ptxas;                 /* there is none that could be asked */
    const ft__ptxas_entry *ptxas;  /* NULL: it was not asked, or says nothing */
    ft_kernel_estimate estimate;   /* on it */
} ft__ptx_counted;

static inline uint64_t ft__ptx_sum(const ft_ptx_tally *t)
{
    uint64_t sum = 0;

    for (int c = 0; c < FT_PTX_CLASSES; c++)
        sum += t[c].value;
    return sum;
}

static inline uint64_t ft__ptx_flops(const ft_ptx_counts *c)
{
    return c->flops[0].value + c->flops[1].value + c->flops[2].value +
           c->tensor_flops.value;
}

/* Of global memory; generic accesses are most probably to it. */
static inline uint64_t ft__ptx_global_bytes(const ft_ptx_counts *c)
{
    const ft_ptx_tally(*b)[2] = c->bytes;

    return b[FT_PTX_GLOBAL][0].value + b[FT_PTX_GLOBAL][1].value +
           b[FT_PTX_GENERIC][0].value + b[FT_PTX_GENERIC][1].value;
}

/* "4096", "32 x 8" without what is 1. */
typedef struct ft__ptx_dims {
    char s[48];
} ft__ptx_dims;
ft__ptx_dims ft__ptx_dims_text(const uint32_t d[3]);

/* The file's name without its folders. */
static inline const char *ft__ptx_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* ---- kernels.c: files without a launch ---- */
int ft__ptx_kernels(ft__cli *c, const ft__ptx_options *o);

/* ---- launch.c: one launch as text ---- */
bool ft__ptx_print(const ft__ptx_counted *v, const ft__ptx_options *o);
/* The blocks with most instructions first, at most n; the count comes back. Warps'
 * instructions of a block: */
static inline uint64_t ft__ptx_weight(const ft_ptx_block *b)
{
    return b->warp.value * b->instructions;
}
size_t ft__ptx_heaviest(const ft_ptx_block **out, size_t n, const ft__ptx_counted *v);

/* ---- remarks.c: what stands out ---- */
enum { FT__PTX_REMARKS = 5 };
typedef struct ft__ptx_remark {
    char s[240];
} ft__ptx_remark;
/* The weightiest first; the count comes back. */
size_t ft__ptx_remarks(ft__ptx_remark out[FT__PTX_REMARKS], const ft__ptx_counted *v);
/* The access that wastes most sectors (cycles), NULL: none wastes any; *least: what a
 * request would need. */
const ft_ptx_access *ft__ptx_wasteful(double *least, const ft__ptx_counted *v,
                                      ft_ptx_space space, int stored);
/* Sectors (of global) or cycles (of shared memory) that a request would need if the
 * bytes it asks for lay side by side. */
double ft__ptx_ideal(const ft_ptx_counts *c, ft_ptx_space s, int stored);

/* ---- device.c: what a GPU makes of a launch ---- */
/* The device that --device names; *out NULL: none. Complains itself. */
int ft__ptx_device(ft__cli *c, ft_device **out, const ft__ptx_options *o);
/* ptxas for these launches on it; *out NULL: it is not to be asked. */
int ft__ptx_ptxas(ft__cli *c, ft__ptxas **out, const ft_device *d,
                  const ft_ptx_listed *v, size_t n, const ft__ptx_options *o);
/* v->estimate; nothing where d is NULL. p may be NULL. */
ft_status ft__ptx_estimate(ft__ptx_counted *v, ft_data *data, const ft_device *d,
                           ft__ptxas *p, const ft__ptx_options *o, ft_error *err);
/* "the data sheet", or the file that answered. */
const char *ft__ptx_by(const ft_kernel_estimate *e);
void ft__ptx_estimate_print(const ft__ptx_counted *v);
json_t *ft__ptx_estimate_json(const ft__ptx_counted *v);

/* ---- list.c: many launches ---- */
int ft__ptx_list(ft__cli *c, const ft__ptx_options *o);

/* ---- json.c ---- */
json_t *ft__ptx_launch_json(const ft_ptx_listed *v);
json_t *ft__ptx_counts_json(const ft_ptx_counts *n);
/* blocks: with each block of instructions, and what stands out. */
json_t *ft__ptx_counted_json(const ft__ptx_counted *v, bool blocks);
json_t *ft__ptx_ptxas_json(const ft__ptxas_entry *e); /* NULL: null */
/* allocated: what is said of its registers on a GPU. */
json_t *ft__ptx_kernel_json(const ft_ptx_kernel *k, json_t *allocated);
/* One row a class. */
bool ft__ptx_csv(const ft__ptx_counted *v);

#endif
