// targets: 90a
// What only Hopper has: copies by the tensor memory accelerator, waited for at mbarriers,
// and wgmma; clusters whose blocks read each other's shared memory.
#include <cuda_fp16.h>

struct alignas(128) tensor_map {
    unsigned long long opaque[16];
};

__device__ static inline unsigned shared_address(const void *p)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ static inline void barrier_init(unsigned long long *bar, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)),
                 "r"(arrivals));
}

__device__ static inline void barrier_expect(unsigned long long *bar, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     shared_address(bar)),
                 "r"(bytes)
                 : "memory");
}

__device__ static inline void barrier_wait(unsigned long long *bar, int phase)
{
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "WAIT:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n\t"
                 "@p bra DONE;\n\t"
                 "bra WAIT;\n\t"
                 "DONE:\n\t"
                 "}" ::"r"(shared_address(bar)),
                 "r"(phase)
                 : "memory");
}

__device__ static inline void load_tile(void *to, const tensor_map *map, int x, int y,
                                        unsigned long long *bar)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4}], [%2];" ::"r"(shared_address(to)),
                 "l"(map), "r"(shared_address(bar)), "r"(x), "r"(y)
                 : "memory");
}

// Rows of 64 halves in the 128-byte swizzle.
__device__ static inline unsigned long long descriptor(const void *p)
{
    unsigned long long a = shared_address(p);
    return (a & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

// C [m, n] f32 = A [m, k] B [n, k]^T: a tile of 64 x 64 a block, k in steps of 64, two of
// which are in flight. A warpgroup multiplies, its first thread copies.
extern "C" __global__ void __launch_bounds__(128)
    gemm_wgmma(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b,
               float *c, int n, int k)
{
    __shared__ alignas(1024) half as[2][64 * 64], bs[2][64 * 64];
    __shared__ unsigned long long full[2];
    int t = threadIdx.x, row = blockIdx.y * 64, col = blockIdx.x * 64, steps = k / 64;
    if (t == 0) {
        barrier_init(&full[0], 1);
        barrier_init(&full[1], 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    auto load = [&](int s) {
        barrier_expect(&full[s % 2], 2 * 64 * 64 * 2);
        load_tile(as[s % 2], &a, s * 64, row, &full[s % 2]);
        load_tile(bs[s % 2], &b, s * 64, col, &full[s % 2]);
    };
    if (t == 0)
        for (int s = 0; s < 2 && s < steps; s++)
            load(s);
    float d[32] = {};
    for (int s = 0; s < steps; s++) {
        barrier_wait(&full[s % 2], s / 2 % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < 64; i += 16)
            asm volatile(
                "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16\n\t"
                "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15,\n\t"
                "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29,\n\t"
                "%30, %31}, %32, %33, 1, 1, 1, 0, 0;"
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
                  "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
                  "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
                  "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]),
                  "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]),
                  "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                : "l"(descriptor(&as[s % 2][i])), "l"(descriptor(&bs[s % 2][i])));
        asm volatile("wgmma.commit_group.sync.aligned;\n\t"
                     "wgmma.wait_group.sync.aligned 0;" ::
                         : "memory");
        __syncthreads();
        if (t == 0 && s + 2 < steps)
            load(s + 2);
    }
    int lane = t % 32;
    c += (row + t / 32 * 16 + lane / 4) * n + col + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        c[8 * j] = d[4 * j];
        c[8 * j + 1] = d[4 * j + 1];
        c[8 * n + 8 * j] = d[4 * j + 2];
        c[8 * n + 8 * j + 1] = d[4 * j + 3];
    }
}

// The sum of each row of 1024 values by a cluster of four blocks, which read each other's
// partial sums.
extern "C" __global__ void __cluster_dims__(4, 1, 1) sum_cluster(const float *x, float *out)
{
    __shared__ float part;
    unsigned rank, row = blockIdx.x / 4, at;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    float v = x[row * 1024 + rank * 256 + threadIdx.x];
    if (threadIdx.x == 0)
        part = 0.0f;
    __syncthreads();
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&part, v);
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" :::
                     "memory");
    if (rank == 0 && threadIdx.x == 0) {
        float sum = 0.0f, theirs;
        for (int r = 0; r < 4; r++) {
            asm("mapa.shared::cluster.u32 %0, %1, %2;"
                : "=r"(at)
                : "r"(shared_address(&part)), "r"(r));
            asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(theirs) : "r"(at));
            sum += theirs;
        }
        out[row] = sum;
    }
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" :::
                     "memory");
}

// A whole row of up to 4096 values into shared memory by one bulk copy, scaled, and back.
extern "C" __global__ void scale_bulk(const float *x, float *out, float by, int n)
{
    extern __shared__ __align__(16) float row[];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        barrier_expect(&full, n * 4);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];" ::"r"(shared_address(row)),
                     "l"(x + (long long)blockIdx.x * n), "r"(n * 4), "r"(shared_address(&full))
                     : "memory");
    }
    __syncthreads();
    barrier_wait(&full, 0);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        row[i] *= by;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\t"
                     "cp.async.bulk.commit_group;\n\t"
                     "cp.async.bulk.wait_group.read 0;" ::"l"(out + (long long)blockIdx.x * n),
                     "r"(shared_address(row)), "r"(n * 4)
                     : "memory");
    }
}
