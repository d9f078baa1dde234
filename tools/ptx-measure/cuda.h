#ifndef PTX_MEASURE_CUDA_H
#define PTX_MEASURE_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foretell/error.h"

/* CUDA's driver, loaded at run time; numbers are those of cuda.h (CUDA Driver API). */

enum { /* CUdevice_attribute */
       CUDA_CLOCK_KHZ = 13,
       CUDA_PROCESSORS = 16,
       CUDA_MEMORY_CLOCK_KHZ = 36,
       CUDA_BUS_BITS = 37,
       CUDA_CACHE_BYTES = 38,
       CUDA_MAJOR = 75,
       CUDA_MINOR = 76,
};
enum { /* CUfunction_attribute */
       CUDA_STATIC_SHARED = 1,
       CUDA_LOCAL = 3,
       CUDA_REGISTERS = 4,
       CUDA_DYNAMIC_SHARED = 8,
};
enum { /* CUjit_option */
       CUDA_ERROR_LOG = 5,
       CUDA_ERROR_LOG_SIZE = 6,
};

typedef struct cuda {
    void *dl;
#define CUDA(member, symbol, parameters) int(*member) parameters;
#include "cuda.def"
#undef CUDA
    int device;
    void *context;
} cuda;

/* path: NULL for the usual name. FT_ENOTFOUND: what is missing. Closed in any case. */
ft_status cuda_open(cuda *c, const char *path, int device, ft_error *err);
void cuda_close(cuda *c);
/* FT_OK, or FT_EBACKEND with what was tried and what the driver says. */
ft_status cuda_check(const cuda *c, int code, const char *what, ft_error *err);

#endif
