#ifndef TVM_ABI_H
#define TVM_ABI_H

#include <stddef.h>
#include <stdint.h>

/* What this plug-in uses of tvm-ffi's stable C interface and of DLPack, declared here
 * so that building needs neither (tvm/ffi/c_api.h and dlpack/dlpack.h of
 * apache-tvm-ffi). */

enum {
    TVM_NONE = 0,
    TVM_INT = 1,
    TVM_BOOL = 2,
    TVM_DLTENSOR = 7,
    TVM_RAW_STR = 8,
    TVM_OBJECT = 64, /* this and above: counted objects */
    TVM_TENSOR = 70,
};

typedef struct tvm_any {
    int32_t type;
    uint32_t padding; /* 0 */
    union {
        int64_t number;
        void *ptr;
        const char *text;
    } v;
} tvm_any;

typedef struct tvm_bytes {
    const char *data;
    size_t size;
} tvm_bytes;

/* How an error object begins. */
typedef struct tvm_error_object {
    uint64_t references;
    int32_t type;
    uint32_t padding;
    void (*deleter)(void *self, int flags);
    tvm_bytes kind;
    tvm_bytes message;
} tvm_error_object;

enum { DL_CPU = 1, DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_BOOL = 6 };

typedef struct dl_device {
    int32_t type;
    int32_t index;
} dl_device;

typedef struct dl_dtype {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} dl_dtype;

typedef struct dl_tensor {
    void *data;
    dl_device device;
    int32_t rank;
    dl_dtype dtype;
    int64_t *shape;
    int64_t *strides; /* in elements */
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed_tensor {
    dl_tensor tensor;
    void *owner;
    void (*deleter)(struct dl_managed_tensor *self);
} dl_managed_tensor;

#endif
