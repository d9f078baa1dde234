#ifndef TVM_TVM_H
#define TVM_TVM_H

#include <stdbool.h>

#include "abi.h"
#include "block.h"

/* What the files of this plug-in share. */

/* The functions of tvm-ffi, and those of TVM's registry. */
typedef struct ft__tvm {
    int (*call)(void *f, tvm_any *args, int32_t n, tvm_any *result);
    int (*get_global)(const tvm_bytes *name, void **out);
    void (*take_error)(void **out);
    int (*release)(void *object);
    int (*from_dlpack)(dl_managed_tensor *from, int32_t alignment, int32_t contiguous,
                       void **out);
    void *load_module, *get_function;
} ft__tvm;

enum { FT__TVM_PATH = 4096 };

typedef struct ft__compiler ft__compiler;

struct ft_engine_context {
    ft__tvm tvm;
    uint32_t threads;
    uint64_t seed;
    char lib[FT__TVM_PATH];    /* libtvm_runtime.so */
    char python[FT__TVM_PATH]; /* "": the one of the environment that has the library */
    char cache[FT__TVM_PATH];  /* where modules lie */
    char target[256];          /* "host", or "llvm:mcpu=...:mtriple=..." */
    char schedule[64];         /* "default", "rules", "tuned:TRIALS" */
    bool cpu_clock;            /* time is the processor's for this process */
    bool export;               /* compile, run nothing */
    ft__compiler *compiler;    /* started when first needed */
};

/* Runs no block: it was compiled for another machine. */
ft_status ft__run_elsewhere(ft_block *b, uint32_t instance, const void *const *in,
                            void *const *out, void *workspace, ft_error *err);

/* Load libtvm_runtime.so at `path`, or, where that is "", from where the system keeps
 * libraries, and libtvm_ffi.so beside it; they stay until the process ends. */
ft_status ft__tvm_load(ft__tvm *t, const char *path, ft_error *err);
/* "0.27.0", of the library loaded last; "" before. */
const char *ft__tvm_version(void);
/* FT_OK, or what TVM said. */
ft_status ft__tvm_check(const ft__tvm *t, int rc, ft_error *err);
ft_status ft__tvm_global(const ft__tvm *t, void **out, const char *name, ft_error *err);
/* A module's file; NULL in *module on failure. */
ft_status ft__tvm_module(const ft__tvm *t, tvm_any *module, const char *path,
                         ft_error *err);
ft_status ft__tvm_function(const ft__tvm *t, tvm_any *f, tvm_any *module,
                           const char *name, ft_error *err);
void ft__tvm_release(const ft__tvm *t, tvm_any *value);
tvm_any ft__tvm_number(int64_t number);
/* A tensor in rows, of no memory yet. */
typedef struct ft__tensor {
    dl_managed_tensor managed;
    int64_t shape[FT_MAX_RANK], strides[FT_MAX_RANK];
} ft__tensor;
/* It stays where it is; false: TVM has no such type of elements. */
bool ft__tensor_make(ft__tensor *out, const ft_shape *s, ft_dtype t);

/* A module, in compile.py's words. */
typedef struct ft__request {
    const char *verb;     /* "op", "network" */
    const char *subject;  /* the spec, the model's path */
    const char *id;       /* what names the module: the spec, the model's contents */
    const char *operands; /* "\tin fp32 1x3x8x8\t..." */
    const char *what;     /* in messages */
} ft__request;

/* "\tROLE fp32 1x3x8x8" behind what stands in text[size]. */
void ft__put_operand(char *text, size_t size, const char *role, const ft_shape *s,
                     ft_dtype t);
/* The module's file, compiled unless the cache holds it. FT_EUNSUPPORTED: it cannot be
 * had, with the reason. */
ft_status ft__tvm_compile(ft_engine_context *c, char path[FT__TVM_PATH],
                          const ft__request *r, ft_error *err);
/* Of the program that makes modules of operations: another one makes others. */
uint32_t ft__tvm_program(void);
/* FNV-1a of n bytes more, from FT__HASH_BEGIN on. */
#define FT__HASH_BEGIN 0xcbf29ce484222325u
uint64_t ft__hash(uint64_t h, const void *bytes, size_t n);
void ft__compiler_stop(ft__compiler *p);

#endif
