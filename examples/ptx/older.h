// What clang needs to compile some of the kernels without any CUDA headers, for GPUs
// that nvcc has forgotten.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))
#define INFINITY __builtin_inff()

// threadIdx.x and its like: members that are read from special registers.
#define SPECIAL(name, sreg)                                                            \
    struct name##_t {                                                                  \
        __declspec(property(get = get_x)) unsigned x;                                  \
        __declspec(property(get = get_y)) unsigned y;                                  \
        __declspec(property(get = get_z)) unsigned z;                                  \
        static __device__ inline __attribute__((always_inline)) unsigned get_x()       \
        {                                                                              \
            return __nvvm_read_ptx_sreg_##sreg##_x();                                  \
        }                                                                              \
        static __device__ inline __attribute__((always_inline)) unsigned get_y()       \
        {                                                                              \
            return __nvvm_read_ptx_sreg_##sreg##_y();                                  \
        }                                                                              \
        static __device__ inline __attribute__((always_inline)) unsigned get_z()       \
        {                                                                              \
            return __nvvm_read_ptx_sreg_##sreg##_z();                                  \
        }                                                                              \
    };                                                                                 \
    extern const __device__ __attribute__((weak)) name##_t name;
SPECIAL(threadIdx, tid)
SPECIAL(blockIdx, ctaid)
SPECIAL(blockDim, ntid)
SPECIAL(gridDim, nctaid)

struct __attribute__((aligned(16))) float4 {
    float x, y, z, w;
};
#define INLINE __device__ static inline __attribute__((always_inline))
INLINE float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}
INLINE int min(int a, int b)
{
    return a < b ? a : b;
}
INLINE int max(int a, int b)
{
    return a > b ? a : b;
}
INLINE float fminf(float a, float b)
{
    return __nvvm_fmin_f(a, b);
}
INLINE float fmaxf(float a, float b)
{
    return __nvvm_fmax_f(a, b);
}
INLINE float __expf(float x)
{
    return __nvvm_ex2_approx_f(x * 1.442695041f);
}
INLINE float rsqrtf(float x)
{
    return __nvvm_rsqrt_approx_f(x);
}
INLINE float sqrtf(float x)
{
    return __nvvm_sqrt_rn_f(x);
}
INLINE int __float_as_int(float x)
{
    return __nvvm_bitcast_f2i(x);
}
INLINE float __int_as_float(int x)
{
    return __nvvm_bitcast_i2f(x);
}
INLINE float atomicAdd(float *at, float v)
{
    return __nvvm_atom_add_gen_f(at, v);
}
INLINE int atomicAdd(int *at, int v)
{
    return __nvvm_atom_add_gen_i(at, v);
}
INLINE unsigned atomicAdd(unsigned *at, unsigned v)
{
    return __nvvm_atom_add_gen_i((int *)at, v);
}
INLINE int atomicCAS(int *at, int was, int to)
{
    return __nvvm_atom_cas_gen_i(at, was, to);
}

// Before Volta shuffles had no mask; a segment's mask and last lane are one operand.
#if __CUDA_ARCH__ >= 700
#define SHUFFLE(kind, ...) __nvvm_shfl_sync_##kind##_f32(mask, __VA_ARGS__)
#else
#define SHUFFLE(kind, ...) __nvvm_shfl_##kind##_f32(__VA_ARGS__)
#endif
INLINE float __shfl_down_sync(unsigned mask, float v, int d, int width = 32)
{
    return SHUFFLE(down, v, d, (32 - width) << 8 | 31);
}
INLINE float __shfl_xor_sync(unsigned mask, float v, int d, int width = 32)
{
    return SHUFFLE(bfly, v, d, (32 - width) << 8 | 31);
}
INLINE float __shfl_sync(unsigned mask, float v, int d, int width = 32)
{
    return SHUFFLE(idx, v, d, (32 - width) << 8 | 31);
}
#if __CUDA_ARCH__ >= 700
INLINE int __shfl_xor_sync(unsigned mask, int v, int d)
{
    return __nvvm_shfl_sync_bfly_i32(mask, v, d, 31);
}
#else
INLINE int __shfl_xor_sync(unsigned, int v, int d)
{
    return __nvvm_shfl_bfly_i32(v, d, 31);
}
#endif
