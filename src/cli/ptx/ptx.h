#ifndef CLI_PTX_H
#define CLI_PTX_H

#include <string.h>

#include "cli/cli.h"
#include "foretell/kernels.h"
#include "foretell/ptx_launches.h"

/* foretell ptx: what its files share. */

typedef struct ft__ptx_options {
    const char *entry, *grid, *block, *cluster;
    uint64_t shared;
    ft__texts params;
    const char *launches, *device, *predictor, *method;
    uint64_t registers;
    bool no_ptxas;
    double ptxas_s; /* 0: not given */
    uint64_t blocks;
    const char *html;
} ft__ptx_options;

/* What NVIDIA's assembler says of kernels, where it is on PATH. Nothing it makes is
 * kept, and without it, or where it refuses, there is no answer but no failure. */

typedef struct ft__ptxas_entry {
    char arch[16];                      /* what it was assembled for, "sm_80" */
    uint32_t registers;                 /* of a thread */
    uint64_t stack_bytes;               /* of a thread */
    uint64_t spill_stores, spill_loads; /* bytes, in the code, not executed ones */
    uint64_t shared_bytes;              /* of a block, without dynamic ones */
} ft__ptxas_entry;

/* Launches whose kernels will be asked about; borrowed. */
typedef struct ft__ptxas ft__ptxas;
/* For the kernels of these launches on a GPU; *out NULL: it is not to be asked. */
int ft__ptxas_open(ft__cli *c, ft__ptxas **out, const ft_device *d,
                   const ft_ptx_listed *v, size_t n, const ft__ptx_options *o);
void ft__ptxas_free(ft__ptxas *p);
bool ft__ptxas_found(const ft__ptxas *p); /* there is one */
/* Of the kernel of one of the launches; NULL: it says nothing. Assembles all kernels of
 * its module that are launched, once; what goes wrong goes to the log. */
const ft__ptxas_entry *ft__ptxas_ask(ft__ptxas *p, const ft_ptx_listed *launch);
json_t *ft__ptxas_json(const ft__ptxas_entry *e); /* NULL: null */

typedef struct ft__ptx_launch_count {
    ft_ptx_counts counts;
    ft_status st;
    char *text; /* what is wrong, or counts.because; NULL: nothing, or no memory */
} ft__ptx_launch_count;

/* Of each launch of the list at this path that is to be counted: times is not 0. Behind
 * the first error the others may be left out. NULL: out of memory. */
ft__ptx_launch_count *ft__ptx_count_all(ft_ptx_launches *l, const char *path,
                                        const uint64_t *times);
void ft__ptx_counts_free(ft__ptx_launch_count *of, size_t n);

/* A launch and what it executes. */
typedef struct ft__ptx_counted {
    const ft_ptx_listed *launch;
    uint64_t times; /* with all that are the same */
    ft_ptx_counts counts;
    ft_ptx_launches_parts parts;   /* until the next launch is counted */
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

static inline double ft__ptx_ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

/* Warps' instructions of a block. */
static inline uint64_t ft__ptx_weight(const ft_ptx_block *b)
{
    return b->warp.value * b->instructions;
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

/* What answered: "data sheet", or the file of a predictor. */
static inline const char *ft__ptx_by(const ft_kernel_estimate *e)
{
    return *e->predictor ? ft__path_name(e->predictor) : "data sheet";
}

/* "4096", "32 x 8" without what is 1. */
typedef struct ft__ptx_dims {
    char s[48];
} ft__ptx_dims;
ft__ptx_dims ft__ptx_dims_text(const uint32_t d[3]);

/* v->estimate; nothing where d is NULL. p may be NULL. */
ft_status ft__ptx_estimate(ft__ptx_counted *v, ft_data *data, const ft_device *d,
                           ft__ptxas *p, const ft__ptx_options *o, ft_error *err);
void ft__ptx_estimate_print(const ft__ptx_counted *v);
/* Of the estimate, as sentences. */
json_t *ft__ptx_assumptions(const ft__ptx_counted *v);
/* A header and a row, as of a list of launches. */
bool ft__ptx_csv(const ft__ptx_counted *v);
/* A launch that was counted, with `blocks` each block of instructions and each access,
 * too. Of any other, a library's or one of which something is missing, what it is. */
json_t *ft__ptx_counted_json(const ft__ptx_counted *v, bool blocks);

/* Sectors (of global) or cycles (of shared memory) that a request would need if the
 * bytes it asks for lay side by side. */
double ft__ptx_ideal(const ft_ptx_counts *c, ft_ptx_space s, int stored);
/* The blocks with most instructions first, at most n; the count comes back. */
size_t ft__ptx_heaviest(const ft_ptx_block **out, size_t n, const ft__ptx_counted *v);

enum { FT__PTX_REMARKS = 5 };

typedef struct ft__ptx_remark {
    char s[240];
} ft__ptx_remark;

/* What stands out, the weightiest first; the count comes back. */
size_t ft__ptx_remarks(ft__ptx_remark out[FT__PTX_REMARKS], const ft__ptx_counted *v);

/* What ptx.c hands on; they return exit codes. d: the device that --device names,
 * NULL: none. */
/* launch.c: one launch of a kernel of the one file that is named. */
int ft__ptx_launch(ft__cli *c, const ft__ptx_options *o, const ft_device *d);
/* list.c: many launches. */
int ft__ptx_list(ft__cli *c, const ft__ptx_options *o, const ft_device *d);

#endif
