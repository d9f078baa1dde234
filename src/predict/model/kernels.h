#ifndef PREDICT_MODEL_KERNELS_H
#define PREDICT_MODEL_KERNELS_H

#include "physics/kernel.h"
#include "predict/file/image.h"
#include "predict/model/fit.h"

/* What a predictor knows of kernels in PTX: constants of their physical estimate, what
 * hosts need to call them, and regressors of what the estimate misses. In the predictor
 * file: one section. */

/* Texts and facts are borrowed. */
typedef struct ft__kernel_row {
    ft__kernel_work work;
    const ft_device_facts *device;
    const char *kernel; /* ft__kernel_name_of() */
    const char *call;   /* as of ft_ptx_listed */
    double time_s;
} ft__kernel_row;
/* What counts as one kernel: instances of a template that the host calls the same do.
 */
static inline const char *ft__kernel_name_of(const ft_ptx_listed *v)
{
    return v->call ? v->call : v->kernel->name;
}

/* A launch with its measured time. */
typedef struct ft__kernel_timed {
    double time_s;
    size_t line;      /* in the file */
    size_t from, len; /* in ft__kernel_file.text: as a launch file has it */
} ft__kernel_timed;

/* Files that ptx-measure wrote: each of one GPU, with modules where the launch file had
 * them relative to it. */
typedef struct ft__kernel_file {
    char *path;
    ft_device *device;
    ft_ptx_launches *launches;
    ft__kernel_timed *timed; /* of each launch */
    size_t n;
    char *text; /* the launches as a launch file has them */
    size_t len;
} ft__kernel_file;

typedef struct ft__kernel_rows {
    ft__kernel_file *file;
    size_t n_files;
    ft__kernel_row *row;
    uint32_t *file_of, *index; /* of each row: its file, its launch there */
    size_t n;
} ft__kernel_rows;
/* paths: "a.jsonl,b.jsonl". where: NULL, or which rows: "device=a100-pcie-40gb
 * kernel=add". FT_EIO, FT_EFORMAT: with file and line; FT_ENOTFOUND: a device
 * that no file knows. */
ft_status ft__kernel_rows_read(ft__kernel_rows *out, const char *paths,
                               const char *where, const char *data_dir, ft_error *err);
void ft__kernel_rows_free(ft__kernel_rows *r);
/* Counts the launch of a row again and makes the query for it. */
ft_status ft__kernel_rows_query(ft_kernel_query *out, ft_ptx_counts *counts,
                                const ft__kernel_rows *r, size_t i, ft_error *err);

/* Names are cut at so many bytes, less a final 0. */
enum { FT__NAME_BYTES = 256 };
typedef struct ft__name_list {
    char **v;
    uint32_t n;
} ft__name_list;
ft_status ft__names_add(uint32_t *out, ft__name_list *names, const char *name,
                        ft_error *err);
void ft__names_free(ft__name_list *names);

/* log call_s = level of the host + part of the call. */
typedef struct ft__hosts {
    uint32_t n_devices, n_calls;
    double *known;    /* logarithms, of each device and call; NaN: not known */
    double *level;    /* of each device; NaN */
    double *part;     /* of each call; 0 where nothing is known of it */
    double usual;     /* level of a host of which nothing is known */
    double low, high; /* 90 % of levels lie between, relative to `usual`; */
    double part_low, part_high; /* of parts, relative to 0 */
} ft__hosts;

enum { FT__OF_KERNELS, FT__OF_DEVICES, FT__N_REGRESSORS };
typedef struct ft__kernel_regressor {
    ft__fit fit; /* of log(time / estimate); without rows: there is none */
    ft_errors learned, constant, physics; /* out of fold */
} ft__kernel_regressor;

typedef struct ft__kernel_models {
    ft__kernel_params params;
    ft__hosts hosts;
    ft__name_list devices, kernels, calls; /* learned from */
    uint64_t *n_of;                        /* launches of each device */
    /* For other kernels, on these devices, and for other devices: none where there are
     * launches of one kernel, of one chip alone. */
    ft__kernel_regressor of[FT__N_REGRESSORS];
    const void *section; /* of a file, of these bytes; NULL: it was made here */
    size_t bytes;
} ft__kernel_models;

typedef struct ft__kernels_options {
    uint64_t seed;
    uint32_t threads;
    const struct ft__importance_to
        *importance; /* NULL, or who receives what each attribute is
                        worth to the regressors */
} ft__kernels_options;
/* From row[use[0]], ..., use[n - 1] (predict/train/kernels.c). FT_ENOTFOUND: of one
 * kernel and one chip alone. */
ft_status ft__kernels_train(ft__kernel_models **out, const ft__kernel_row *row,
                            const uint32_t *use, size_t n,
                            const ft__kernels_options *opt, ft_error *err);
void ft__kernels_free(ft__kernel_models *k); /* or NULL */

/* The host time of a call in s, within a factor of e^low to e^high; NaN: no host is
 * known. */
typedef struct ft__kernel_call {
    double call_s, low, high;
} ft__kernel_call;
ft__kernel_call ft__hosts_call(const ft__kernel_models *k, const char *device,
                               const char *call);

ft_status ft__kernels_write(ft__writer *w, const ft__kernel_models *k, ft_error *err);
/* From a section of a file that is used where it lies. */
ft_status ft__kernels_open(ft__kernel_models **out, const void *section, size_t bytes,
                           uint64_t pos, ft_error *err);

/* A launch as ft_kernel_ask() answers for it; p NULL, or without kernels: physics with
 * default constants. */
ft_status ft__predict_kernel(ft_kernel_estimate *out, const ft_predictor *p,
                             const ft_kernel_query *q, ft_error *err);
/* The same of counted work; k NULL: the physical estimate alone. */
ft_status ft__kernel_predict(ft_kernel_estimate *out, const ft__kernel_models *k,
                             const ft__kernel_work *work, const ft_device_facts *device,
                             const char *kernel, const char *call, ft_error *err);

#endif
