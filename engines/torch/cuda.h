#ifndef TORCH_CUDA_H
#define TORCH_CUDA_H

#include "foretell/engine.h"

/* What is asked of libtorch_cuda.so and, through it, of the CUDA runtime; NULL: not
 * there, or the engine runs on the CPU. */
typedef struct ft__cuda {
    void *guard;  /* keeps the device the thread's current one */
    void *stream; /* PyTorch's current one: what operations are issued to */
    int32_t (*create_guard)(int32_t device, void **out);
    int32_t (*delete_guard)(void *guard);
    int32_t (*current_stream)(int32_t device, void **out);
    int32_t (*synchronize)(void *stream, int32_t device);
    void *pool; /* of cudaMallocAsync */
    int (*pool_get)(void *pool, int attribute, void *out);
    int (*pool_set)(void *pool, int attribute, void *in);
} ft__cuda;

/* Load libtorch_cuda.so beside libtorch_cpu.so and make the device of c->opt current.
 * Nothing when it names the CPU. */
ft_status ft__cuda_open(ft_engine_context *c, ft_error *err);
void ft__cuda_close(ft_engine_context *c);
ft_status ft__cuda_sync(ft_engine_context *c, ft_error *err);
/* As ft_engine.memory. Known where PyTorch allocates with cudaMallocAsync
 * (PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync), 0 where it does not. */
void ft__cuda_memory(ft_engine_context *c, uint64_t *now, uint64_t *peak, int reset);

#endif
