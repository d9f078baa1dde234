#ifndef FT_TIMELINE_H
#define FT_TIMELINE_H

#include "foretell/query.h"

FT_BEGIN_DECLS

/* A network in time and by module: when each node runs, what is in memory then, and sums
 * over the modules (layers, blocks) that the model's file names. */

/* What stands deeper in a module's path is one name. */
enum { FT_MAX_MODULE_DEPTH = 32 };

/* One module, with what lies inside it. */
typedef struct ft_module {
    const char *path; /* "layer1.0.conv1"; "": the whole network, which is module 0 */
    const char *name; /* last part of the path; of the network: its name */
    uint32_t parent;  /* FT_NONE: of the network */
    uint32_t depth;   /* 0: the network */
    uint64_t n_ops;   /* how many operations run, repeats counted */
    double flops;
    double product_flops; /* of convolutions and matrix products alone */
    double bytes;         /* read and written */
    double parameters;    /* of forward operations, at each use */
    double peak_bytes;    /* most memory alive while one of its operations runs */
    ft_estimate time;     /* s of the device. low, high: as if all operations erred
                             together */
    ft_estimate energy;   /* J, likewise; idle power between operations is not in it */
} ft_module;

/* A node of the graph when it runs. Times of all nodes and the gaps between them sum to
 * the answer's time, energies likewise to its energy. */
typedef struct ft_run {
    uint32_t module;   /* the innermost */
    double issued_s;   /* when the host has issued it; NaN: there is no host */
    double begin_s;    /* on the device */
    double time_s;     /* 0 of a view */
    double power_w;    /* NaN: not known */
    double bytes[FT_PART_COUNT]; /* alive while it runs; NaN: not known */
} ft_run;

/* Made and freed by the library, so that fields can be appended. */
typedef struct ft_timeline {
    const ft_module *module; /* parents before children, siblings in order of first use */
    uint32_t n_modules;
    const ft_run *run; /* per node of the graph */
    uint32_t n_runs;
    double time_s;     /* of the answer; NaN without one */
    double idle_w;     /* between operations; NaN: not known */
} ft_timeline;

/* g: the answer's graph, or any where answer is NULL: then times, power and energy are
 * NaN or unavailable, and memory is counted as PyTorch allocates. The result borrows
 * g's names. FT_EINVAL: the answer is one of totals alone, or of another graph. */
FT_API ft_status ft_timeline_make(ft_timeline **out, const ft_graph *g,
                                  const ft_answer *answer, ft_error *err);
FT_API void ft_timeline_free(ft_timeline *t);

/* Write an answer as trace events in JSON, which Perfetto and Chrome show: tracks of host,
 * device and modules; counters of memory by part and of power. On the device's track
 * operations and idle gaps sum to the answer's time. The file is replaced when the new
 * one is complete. FT_EIO: path; otherwise as ft_timeline_make(). */
FT_API ft_status ft_answer_trace(const ft_answer *a, const char *path, ft_error *err);

FT_END_DECLS

#endif
