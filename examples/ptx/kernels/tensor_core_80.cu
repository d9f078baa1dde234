// targets: 80 90 100
// Tensor cores from Ampere on: ldmatrix, cp.async, bf16 and tf32.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ static inline unsigned shared_address(const void *p)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ static inline void copy_16(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)),
                 "l"(from));
}

// A tile of 64 x 64 by four warps, each with 32 x 32; k in steps of 32 that are copied
// while the last ones are multiplied. A [m, k], B [k, n]; m, n multiples of 64, k of 32.
extern "C" __global__ void __launch_bounds__(128)
    gemm_mma_async(const half *a, const half *b, half *c, int m, int n, int k)
{
    __shared__ __align__(16) half as[2][64][32 + 8], bs[2][32][64 + 8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int row = blockIdx.y * 64, col = blockIdx.x * 64;
    int wr = warp / 2 * 32, wc = warp % 2 * 32;
    auto load = [&](int stage, int at) {
        for (int e = t; e < 64 * 4; e += 128)
            copy_16(&as[stage][e / 4][e % 4 * 8], a + (row + e / 4) * k + at + e % 4 * 8);
        for (int e = t; e < 32 * 8; e += 128)
            copy_16(&bs[stage][e / 8][e % 8 * 8], b + (at + e / 8) * n + col + e % 8 * 8);
        asm volatile("cp.async.commit_group;");
    };
    float d[2][4][4] = {};
    load(0, 0);
    for (int i = 0, stage = 0; i < k; i += 32, stage ^= 1) {
        if (i + 32 < k) {
            load(stage ^ 1, i + 32);
            asm volatile("cp.async.wait_group 1;");
        } else
            asm volatile("cp.async.wait_group 0;");
        __syncthreads();
#pragma unroll
        for (int s = 0; s < 32; s += 16) {
            unsigned x[2][4], y[4][2];
#pragma unroll
            for (int p = 0; p < 2; p++)
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(x[p][0]), "=r"(x[p][1]), "=r"(x[p][2]), "=r"(x[p][3])
                             : "r"(shared_address(
                                 &as[stage][wr + 16 * p + lane % 16][s + lane / 16 * 8])));
#pragma unroll
            for (int q = 0; q < 4; q++)
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                             : "=r"(y[q][0]), "=r"(y[q][1])
                             : "r"(shared_address(&bs[stage][s + lane % 16][wc + 8 * q])));
#pragma unroll
            for (int p = 0; p < 2; p++)
#pragma unroll
                for (int q = 0; q < 4; q++)
                    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                        : "+f"(d[p][q][0]), "+f"(d[p][q][1]), "+f"(d[p][q][2]),
                          "+f"(d[p][q][3])
                        : "r"(x[p][0]), "r"(x[p][1]), "r"(x[p][2]), "r"(x[p][3]),
                          "r"(y[q][0]), "r"(y[q][1]));
        }
        __syncthreads();
    }
#pragma unroll
    for (int p = 0; p < 2; p++)
#pragma unroll
        for (int q = 0; q < 4; q++) {
            half *to = c + (row + wr + 16 * p + lane / 4) * n + col + wc + 8 * q + lane % 4 * 2;
            *reinterpret_cast<half2 *>(to) = __floats2half2_rn(d[p][q][0], d[p][q][1]);
            *reinterpret_cast<half2 *>(to + 8 * n) = __floats2half2_rn(d[p][q][2], d[p][q][3]);
        }
}

// bf16, B as [n, k]: a warp a tile of 16 x 8.
extern "C" __global__ void gemm_mma_bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                                         float *c, int n, int k)
{
    int lane = threadIdx.x, group = lane / 4, in = lane % 4;
    int row = blockIdx.y * 16, col = blockIdx.x * 8;
    float d[4] = {};
    for (int i = 0; i < k; i += 16) {
        const __nv_bfloat16 *x = a + (row + group) * k + i + 2 * in;
        const __nv_bfloat16 *y = b + (col + group) * k + i + 2 * in;
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(*reinterpret_cast<const unsigned *>(x)),
              "r"(*reinterpret_cast<const unsigned *>(x + 8 * k)),
              "r"(*reinterpret_cast<const unsigned *>(x + 8)),
              "r"(*reinterpret_cast<const unsigned *>(x + 8 * k + 8)),
              "r"(*reinterpret_cast<const unsigned *>(y)),
              "r"(*reinterpret_cast<const unsigned *>(y + 8)));
    }
    c += (row + group) * n + col + 2 * in;
    c[0] = d[0];
    c[1] = d[1];
    c[8 * n] = d[2];
    c[8 * n + 1] = d[3];
}

// f32 rounded to tf32, B as [k, n]: a warp a tile of 16 x 8, k in steps of 8.
extern "C" __global__ void gemm_mma_tf32(const float *a, const float *b, float *c, int n,
                                         int k)
{
    int lane = threadIdx.x, group = lane / 4, in = lane % 4;
    int row = blockIdx.y * 16, col = blockIdx.x * 8;
    float d[4] = {};
    for (int i = 0; i < k; i += 8) {
        const float *x = a + (row + group) * k + i + in, *y = b + (i + in) * n + col + group;
        unsigned s[6];
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(s[0]) : "f"(x[0]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(s[1]) : "f"(x[8 * k]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(s[2]) : "f"(x[4]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(s[3]) : "f"(x[8 * k + 4]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(s[4]) : "f"(y[0]));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(s[5]) : "f"(y[4 * n]));
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(s[0]), "r"(s[1]), "r"(s[2]), "r"(s[3]), "r"(s[4]), "r"(s[5]));
    }
    c += (row + group) * n + col + 2 * in;
    c[0] = d[0];
    c[1] = d[1];
    c[8 * n] = d[2];
    c[8 * n + 1] = d[3];
}

// A copy through shared memory with no registers between, 16 bytes a thread.
extern "C" __global__ void copy_async(const float4 *x, float4 *out, int n)
{
    __shared__ float4 s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        copy_16(&s[threadIdx.x], x + i);
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_all;" ::: "memory");
    if (i < n)
        out[i] = s[threadIdx.x];
}
