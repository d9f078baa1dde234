/* C = A B + bias, for a batch: A is M x K in rows, B is K x N in rows, or N x K where it
 * is transposed. places: of every product of the batch, where A, B, C begin. bias: 0
 * none, 1 one value a row, 2 one a column. WIDE: elements of a vector. */

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define FLOATS JOIN(float, WIDE)
#define LOAD JOIN(vload, WIDE)
#define STORE JOIN(vstore, WIDE)

static float bias_at(__global const float *bias, int how, uint row, uint column)
{
    return how == 0 ? 0 : bias[how == 1 ? row : column];
}

/* Without local memory: ROWS x WIDE results a work-item, B read as vectors. */
#define ROWS 4

__kernel void k_product(__global const float *a, __global const float *b,
                        __global float *c, __global const float *bias, int how_bias,
                        uint m, uint n, uint k, __constant uint *places)
{
    uint column = get_global_id(0) * WIDE, row = get_global_id(1) * ROWS;
    uint batch = get_global_id(2) * 3;
    FLOATS sum[ROWS];
    __global const float *line[ROWS];

    if (column >= n || row >= m)
        return;
    b += places[batch + 1];
    c += places[batch + 2];
    for (uint r = 0; r < ROWS; r++) {
        line[r] = a + places[batch] + min(row + r, m - 1) * k;
        sum[r] = 0;
    }
    if (column + WIDE <= n) {
        b += column;
        for (uint i = 0; i < k; i++) {
            FLOATS v = LOAD(0, b + i * n);

            for (uint r = 0; r < ROWS; r++)
                sum[r] += line[r][i] * v;
        }
        for (uint r = 0; r < ROWS && row + r < m; r++) {
            if (how_bias == 1)
                sum[r] += bias[row + r];
            if (how_bias == 2)
                sum[r] += LOAD(0, bias + column);
            STORE(sum[r], 0, c + (row + r) * n + column);
        }
        return;
    }
    for (uint r = 0; r < ROWS && row + r < m; r++)
        for (uint j = column; j < n; j++) {
            float v = bias_at(bias, how_bias, row + r, j);

            for (uint i = 0; i < k; i++)
                v += line[r][i] * b[i * n + j];
            c[(row + r) * n + j] = v;
        }
}

/* B transposed: sums along k in vectors, ROWS x ROWS results a work-item. */
static float total(FLOATS v)
{
    float part[WIDE], sum = 0;

    STORE(v, 0, part);
    for (uint i = 0; i < WIDE; i++)
        sum += part[i];
    return sum;
}

__kernel void k_product_t(__global const float *a, __global const float *b,
                          __global float *c, __global const float *bias, int how_bias,
                          uint m, uint n, uint k, __constant uint *places)
{
    uint column = get_global_id(0) * ROWS, row = get_global_id(1) * ROWS;
    uint batch = get_global_id(2) * 3, whole = k / WIDE * WIDE;
    __global const float *left[ROWS], *right[ROWS];
    FLOATS sum[ROWS][ROWS];

    if (column >= n || row >= m)
        return;
    for (uint r = 0; r < ROWS; r++) {
        left[r] = a + places[batch] + min(row + r, m - 1) * k;
        right[r] = b + places[batch + 1] + min(column + r, n - 1) * k;
        for (uint s = 0; s < ROWS; s++)
            sum[r][s] = 0;
    }
    for (uint i = 0; i < whole; i += WIDE) {
        FLOATS v[ROWS];

        for (uint s = 0; s < ROWS; s++)
            v[s] = LOAD(0, right[s] + i);
        for (uint r = 0; r < ROWS; r++) {
            FLOATS u = LOAD(0, left[r] + i);

            for (uint s = 0; s < ROWS; s++)
                sum[r][s] += u * v[s];
        }
    }
    c += places[batch + 2];
    for (uint r = 0; r < ROWS && row + r < m; r++)
        for (uint s = 0; s < ROWS && column + s < n; s++) {
            float v = total(sum[r][s]) + bias_at(bias, how_bias, row + r, column + s);

            for (uint i = whole; i < k; i++)
                v += left[r][i] * right[s][i];
            c[(row + r) * n + column + s] = v;
        }
}

/* With local memory: SIDE x SIDE work-items make (4 SIDE) x (4 SIDE) results,
 * from tiles of A and B that they load together. */
#define SIDE 8
#define TILE (4 * SIDE)
#define DEPTH 8

/* step_k, step_n: from element to element of B along k and along n. */
__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void
k_product_tiles(__global const float *a, __global const float *b, __global float *c,
                __global const float *bias, int how_bias, uint m, uint n, uint k,
                __constant uint *places, uint step_k, uint step_n)
{
    __local float left[DEPTH][TILE], right[DEPTH][TILE];
    uint x = get_local_id(0), y = get_local_id(1), item = y * SIDE + x;
    uint column = get_group_id(0) * TILE, row = get_group_id(1) * TILE;
    uint batch = get_global_id(2) * 3;
    float sum[4][4];

    for (uint r = 0; r < 4; r++)
        for (uint s = 0; s < 4; s++)
            sum[r][s] = 0;
    a += places[batch];
    b += places[batch + 1];
    c += places[batch + 2];
    for (uint first = 0; first < k; first += DEPTH) {
        for (uint e = item; e < DEPTH * TILE; e += SIDE * SIDE) {
            /* Neighbours along what is contiguous. */
            uint ka = e % DEPTH, ra = e / DEPTH;
            uint kb = step_n == 1 ? e / TILE : e % DEPTH;
            uint cb = step_n == 1 ? e % TILE : e / DEPTH;

            left[ka][ra] = row + ra < m && first + ka < k
                               ? a[(row + ra) * k + first + ka]
                               : 0;
            right[kb][cb] = column + cb < n && first + kb < k
                                ? b[(first + kb) * step_k + (column + cb) * step_n]
                                : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < DEPTH; i++)
            for (uint r = 0; r < 4; r++)
                for (uint s = 0; s < 4; s++)
                    sum[r][s] += left[i][y + r * SIDE] * right[i][x + s * SIDE];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint r = 0; r < 4; r++)
        for (uint s = 0; s < 4; s++) {
            uint i = row + y + r * SIDE, j = column + x + s * SIDE;

            if (i < m && j < n)
                c[i * n + j] = sum[r][s] + bias_at(bias, how_bias, i, j);
        }
}
