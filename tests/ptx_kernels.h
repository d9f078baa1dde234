#ifndef PTX_KERNELS_H
#define PTX_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Kernels of examples/ptx, launches of them on memory of known contents, and what that
 * memory has to hold afterwards, computed in plain C. */

typedef enum ptx_type { PTX_F32, PTX_F64, PTX_F16, PTX_BF16, PTX_S32, PTX_S8 } ptx_type;

enum { PTX_ARGS = 12 };

/* A scalar, or memory that a pointer leads to. */
typedef struct ptx_arg {
    uint32_t size; /* of a scalar, bytes; 0: memory */
    union {
        int32_t s32;
        int64_t s64;
        float f32;
        double f64;
    } value;
    const void *data; /* of a struct, in place of the value */
    uint32_t n;       /* elements of memory, 0: no more argument */
    ptx_type type;
    /* They are spread evenly over low .. high; with a step: low, low + step, ... */
    double low, high, step;
} ptx_arg;

/* From copies of the arguments (a scalar's bytes, memory) the contents after the
 * launch, in the same places. */
typedef void ptx_reference(void *const *arg);

typedef struct ptx_case {
    const char *module; /* "gemm": compiled/sm_80/gemm.ptx */
    const char *kernel;
    uint32_t grid[3], block[3], dynamic_shared;
    ptx_reference *reference;
    double tolerance; /* of a value, relative to it or to 1 if that is more */
    ptx_arg arg[PTX_ARGS];
} ptx_case;

extern const ptx_case ptx_cases[];
extern const size_t ptx_n_cases;

uint32_t ptx_case_args(const ptx_case *c);
size_t ptx_arg_bytes(const ptx_arg *a);
/* What it holds before the launch, ptx_arg_bytes() of it. */
void ptx_arg_fill(void *out, const ptx_arg *a, uint64_t seed);
/* The largest difference of the memory's values, relative to what was wanted or to 1 if
 * that is more; *at is the element. NaN agrees with NaN. */
double ptx_arg_difference(const ptx_arg *a, const void *got, const void *want,
                          size_t *at);

float ptx_from_half(uint16_t h);
uint16_t ptx_to_half(float f);
float ptx_from_bf16(uint16_t h);
uint16_t ptx_to_bf16(float f);

#endif
