#ifndef OPENCL_OPENCL_H
#define OPENCL_OPENCL_H

#include <stdbool.h>

#include "cl.h"
#include "foretell/engine.h"

/* An operation is a list of launches over values; a value is a view of a buffer, plain
 * row-major. Everything is issued to one in-order queue. */

enum { FT__MAX_DEVICES = 32, FT__MAX_ARGS = 12 };

typedef enum ft__products {
    FT__PRODUCTS_CHOOSE,
    FT__PRODUCTS_DIRECT,
    FT__PRODUCTS_TILES,
    FT__PRODUCTS_CLBLAST,
} ft__products;

/* What time is: the host's; that of the launches' events; that of this process's
 * threads, for a CPU that others use too. */
typedef enum ft__clock { FT__CLOCK_WALL, FT__CLOCK_DEVICE, FT__CLOCK_CPU } ft__clock;

typedef struct ft__options {
    char lib[512]; /* libOpenCL's file; "": the loader finds it */
    int device;    /* -1: the first GPU, else the first of all */
    int as;        /* 0: kernels for a CPU, 1: for a GPU, -1: as the device is */
    ft__clock clock;
    bool tune;
    ft__products products;
} ft__options;

/* CLBlastSgemm() and CLBlastSgemmStridedBatched() of CLBlast's C interface. */
typedef int ft__sgemm_fn(int layout, int a_turned, int b_turned, size_t m, size_t n,
                         size_t k, float alpha, cl_memory a, size_t a_offset,
                         size_t a_ld, cl_memory b, size_t b_offset, size_t b_ld,
                         float beta, cl_memory c, size_t c_offset, size_t c_ld,
                         cl_queue *queue, cl_event *event);

/* A buffer, shared by the values that are views of it. */
typedef struct ft__storage {
    struct ft__storage *next; /* in the pool */
    cl_memory memory;
    uint64_t bytes;
    uint32_t users;
} ft__storage;

typedef struct ft__value {
    ft__storage *storage;
    ft_shape shape;
    ft_dtype dtype;
} ft__value;

typedef struct ft__program {
    struct ft__program *next;
    cl_program program;
    char key[160]; /* file and options */
} ft__program;

struct ft_engine_context {
    ft__options opt;
    ft__cl cl;
    void *lib;
    ft_engine_device device[FT__MAX_DEVICES];
    cl_device id[FT__MAX_DEVICES];
    uint32_t n_devices;
    cl_device used; /* of a CPU a part: as many units as threads were asked for */
    cl_context context;
    cl_queue queue;
    uint64_t most_bytes; /* of one buffer */
    uint32_t most_items; /* of a work-group */
    uint32_t wide;       /* elements of a vector */
    bool has_doubles;
    bool shares; /* rows are shared by work-items, as pays on GPUs */
    ft__program *programs;
    ft__storage *pool; /* without users, to be used again */
    uint64_t pool_bytes;
    uint64_t bytes, peak; /* of values */
    ft__sgemm_fn *sgemm;
    cl_event
        *event; /* of launches since the last sync, where the device's clock counts */
    uint32_t n_events, cap_events;
    double device_s;
};

/* Load libOpenCL and list the devices of all platforms. FT_ENOTFOUND: there is none. */
ft_status ft__library_open(ft_engine_context *c, ft_error *err);
/* Make context and queue of the device that the options name. */
ft_status ft__device_open(ft_engine_context *c, uint32_t threads, ft_error *err);
void ft__device_close(ft_engine_context *c);
/* "opencl: WHAT: CL_..." as a status. */
ft_status ft__cl_failed(int code, const char *what, ft_error *err);
ft_status ft__finish(ft_engine_context *c, ft_error *err);

ft__storage *ft__storage_new(ft_engine_context *c, uint64_t bytes, ft_error *err);
void ft__storage_drop(ft_engine_context *c, ft__storage *s);
void ft__pool_empty(ft_engine_context *c);
ft__value *ft__value_new(ft_engine_context *c, const ft_shape *shape, ft_dtype dtype,
                         ft_error *err);
/* Another shape or type over the same memory. */
ft__value *ft__value_view(const ft__value *of, const ft_shape *shape, ft_dtype dtype);
ft_status ft__value_fill(ft_engine_context *c, void *memory, ft_dtype dtype,
                         uint64_t elements, int64_t limit, uint64_t seed,
                         ft_error *err);
extern const ft_engine_values ft__opencl_values;

/* A block and how it is written down. After a failure everything is
 * without effect; it is in b->status. */
typedef enum ft__slot_kind {
    FT__SLOT_IN,
    FT__SLOT_OUT,
    FT__SLOT_SCRATCH
} ft__slot_kind;

/* A kernel argument that is another value in every run. */
typedef struct ft__slot {
    uint8_t arg, kind;
    uint16_t index;
} ft__slot;

typedef struct ft__launch {
    cl_kernel kernel;
    cl_memory sizes; /* of the kernel's __constant argument, or NULL */
    ft__slot slot[FT__MAX_ARGS];
    uint8_t n_slots, n_args;
    uint8_t dims;
    uint8_t tunable; /* local sizes are the engine's to choose */
    size_t items[3]; /* that have work */
    size_t local[3];
    /* Instead of a kernel, CLBlast: C (m x n) = A (m x k) B, from these elements on;
     * added to what stands in C, or not. */
    bool is_sgemm, b_turned, adds;
    size_t m, n, k, from[3];
} ft__launch;

struct ft_block {
    ft_engine_context *ctx;
    ft_op op;
    uint32_t n_in; /* operands, weights behind them */
    uint32_t n_out;
    ft__launch *launch;
    uint32_t n_launches, cap_launches;
    uint64_t scratch_bytes;
    int view_of; /* the operand whose memory the results are; -1: none */
    bool tuned;
    char implementation[64];
    ft_status status;
    ft_error *err;
};

/* A kernel of a file of kernels/, for elements of type t into those of type r (as
 * OpenCL C names them; NULL: the file has none). */
void ft__kernel(ft_block *b, const char *file, const char *name, const char *t,
                const char *r, const char *more);
void ft__arg_in(ft_block *b, uint32_t i);
void ft__arg_out(ft_block *b, uint32_t i);
void ft__arg_slot(ft_block *b, ft__slot s); /* s.arg is set here */
void ft__arg_int_list(ft_block *b, const int64_t *v, size_t n);
#define ft__arg_ints(b, ...)                                                           \
    ft__arg_int_list(b, (const int64_t[]){__VA_ARGS__},                                \
                     sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
/* First operand, first result, n. */
void ft__arg_map(ft_block *b, int64_t n);
void ft__arg_sizes(ft_block *b, const int32_t *v, uint32_t n);
/* One work-item each of n. */
void ft__range(ft_block *b, int64_t n);
/* The kernel has work-groups of its own, or lanes that the local size counts. */
void ft__fixed(ft_block *b);
void ft__range3(ft_block *b, int64_t x, int64_t y, int64_t z, size_t local_x,
                size_t local_y);
/* Rows of n elements, shared by as many lanes as pay; the last argument is their
 * local memory. near: neighbours in a row are neighbours in memory. */
void ft__range_rows(ft_block *b, int64_t rows, int64_t n, bool near, size_t element);
/* A launch to be filled in; NULL after a failure. */
ft__launch *ft__launch_new(ft_block *b);
ft_status ft__unsupported(ft_block *b, const char *why);
ft_status ft__block_run(ft_block *b, uint32_t instance, const void *const *in,
                        void *const *out, void *workspace, ft_error *err);
void ft__block_free(ft_block *b);
/* NULL: no OpenCL type that arithmetic is done in, on this device. */
const char *ft__type_name(const ft_block *b, ft_dtype t);
/* Names of the files in kernels/, and their text. */
const char *ft__kernel_text(const char *file, size_t *len);

/* Builders of kinds; kinds.c chooses one. Without effect but b->status where it
 * cannot be run. */
typedef void ft__build_fn(ft_block *b);
ft__build_fn ft__build_reduce, ft__build_arg, ft__build_rows, ft__build_norm,
    ft__build_window, ft__build_conv, ft__build_linear, ft__build_matmul,
    ft__build_move, ft__build_resize;
ft_status ft__build(ft_block *b);
/* NULL and a status: no arithmetic is done in the operation's type. */
const char *ft__arithmetic_type(ft_block *b, bool real_only);
/* False and a status: operands, weights or results are not fp32. */
bool ft__computes_floats(ft_block *b);

/* One product, or a batch of them: places has three numbers for each, where A, B and C
 * begin in elements. */
typedef struct ft__product {
    int64_t m, n, k, batch;
    bool b_turned;        /* B is n x k in memory */
    int bias;             /* 0 none, 1 a value a row, 2 a column */
    const int32_t *place; /* 3 * batch */
    ft__slot a, b, c, bias_slot;
} ft__product;
void ft__product_launch(ft_block *b, const ft__product *p);

/* Axes that are neighbours without a gap in all of n_strides operands become one, those
 * of size 1 go. Returns how many are left, at least one. */
uint32_t ft__merge_axes(int32_t *size, int32_t (*stride)[FT_MAX_RANK],
                        uint32_t n_strides, uint32_t rank);
/* Row-major strides of s as an operand of a result with this shape; 0: broadcast. */
void ft__strides(int32_t *stride, const ft_shape *s, const ft_shape *result);
/* Of the axes from `first` up to, not including, `end`. */
int64_t ft__elements(const ft_shape *s, uint32_t first, uint32_t end);

#endif
