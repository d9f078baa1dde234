// Products on tensor cores: f16 and bf16 by mma.sync and wmma, tf32, int8. Sizes are
// multiples of the tiles, as libraries pad them.
#include <cuda_fp16.h>
#include <mma.h>

// C [m, n] f32 = A [m, k] B [k, n]: a warp a tile of 16 x 16, straight from memory.
extern "C" __global__ void gemm_wmma(const half *a, const half *b, float *c, int m, int n,
                                     int k)
{
    using namespace nvcuda::wmma;
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * 16;
    int col = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16;
    if (row >= m || col >= n)
        return;
    fragment<matrix_a, 16, 16, 16, half, row_major> x;
    fragment<matrix_b, 16, 16, 16, half, row_major> y;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    for (int i = 0; i < k; i += 16) {
        load_matrix_sync(x, a + row * k + i, k);
        load_matrix_sync(y, b + i * n + col, n);
        mma_sync(sum, x, y, sum);
    }
    store_matrix_sync(c + row * n + col, sum, n, mem_row_major);
}

// B as [n, k]: a warp a tile of 16 x 8, fragments gathered by each thread as the ISA lays
// them out.
extern "C" __global__ void gemm_mma(const half *a, const half *b, float *c, int m, int n,
                                    int k)
{
    int lane = threadIdx.x % 32, group = lane / 4, in = lane % 4;
    int row = blockIdx.y * 16, col = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 8;
    if (col >= n)
        return;
    float d[4] = {};
    for (int i = 0; i < k; i += 16) {
        const half *x = a + (row + group) * k + i + 2 * in, *y = b + (col + group) * k + i + 2 * in;
        unsigned a0 = *reinterpret_cast<const unsigned *>(x);
        unsigned a1 = *reinterpret_cast<const unsigned *>(x + 8 * k);
        unsigned a2 = *reinterpret_cast<const unsigned *>(x + 8);
        unsigned a3 = *reinterpret_cast<const unsigned *>(x + 8 * k + 8);
        unsigned b0 = *reinterpret_cast<const unsigned *>(y);
        unsigned b1 = *reinterpret_cast<const unsigned *>(y + 8);
#if __CUDA_ARCH__ >= 800
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#else
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
            "{%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a0), "r"(a1), "r"(b0));
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
            "{%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a2), "r"(a3), "r"(b1));
#endif
    }
    c += (row + group) * n + col + 2 * in;
    c[0] = d[0];
    c[1] = d[1];
    c[8 * n] = d[2];
    c[8 * n + 1] = d[3];
}

// Integers of 8 bits into 32: A [m, k], B [n, k], a warp a tile of 8 x 8.
extern "C" __global__ void gemm_mma_int8(const signed char *a, const signed char *b, int *c,
                                         int n, int k)
{
    int lane = threadIdx.x, group = lane / 4, in = lane % 4;
    int row = blockIdx.y * 8, col = blockIdx.x * 8, d0 = 0, d1 = 0;
    for (int i = 0; i < k; i += 16) {
        int x = *reinterpret_cast<const int *>(a + (row + group) * k + i + 4 * in);
        int y = *reinterpret_cast<const int *>(b + (col + group) * k + i + 4 * in);
        asm("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, "
            "{%0, %1};"
            : "+r"(d0), "+r"(d1)
            : "r"(x), "r"(y));
    }
    c[(row + group) * n + col + 2 * in] = d0;
    c[(row + group) * n + col + 2 * in + 1] = d1;
}
