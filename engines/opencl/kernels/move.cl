/* Movement of elements of one size: T is an unsigned integer. One work-item an element. */

/* From one place with strides to another: transposes, slices, expansions, parts of
 * concatenations. shape: sizes, strides of x, strides of y. */
__kernel void k_move(__global const T *x, __global T *y, uint n, uint rank,
                     __constant uint *shape, uint from, uint to)
{
    uint i = get_global_id(0);

    if (i >= n)
        return;
    for (uint d = rank - 1; d > 0; d--) {
        uint p = i % shape[d];

        from += p * shape[8 + d];
        to += p * shape[16 + d];
        i /= shape[d];
    }
    y[to + i * shape[16]] = x[from + i * shape[8]];
}

/* shape: sizes of y, of x, strides of x. */
__kernel void k_tile(__global const T *x, __global T *y, uint n, uint rank,
                     __constant uint *shape)
{
    uint i = get_global_id(0), rest = i, from = 0;

    if (i >= n)
        return;
    for (uint d = rank; d-- > 0;) {
        from += rest % shape[d] % shape[8 + d] * shape[16 + d];
        rest /= shape[d];
    }
    y[i] = x[from];
}

/* shape: sizes of y, of x, strides of x, how many zeros stand in front (negative: what
 * is cut off). */
__kernel void k_pad(__global const T *x, __global T *y, uint n, uint rank,
                    __constant uint *shape)
{
    uint i = get_global_id(0), rest = i, from = 0;
    bool inside = true;

    if (i >= n)
        return;
    for (uint d = rank; d-- > 0;) {
        uint p = rest % shape[d] - shape[24 + d]; /* wraps below 0 */

        inside = inside && p < shape[8 + d];
        from += p * shape[16 + d];
        rest /= shape[d];
    }
    y[i] = inside ? x[from] : 0;
}

__kernel void k_fill(__global T *y, uint n)
{
    uint i = get_global_id(0);

    if (i < n)
        y[i] = 0;
}

/* Rows of `inner` elements picked along an axis of `extent`, `picked` of them. */
__kernel void k_gather(__global const T *x, __global const long *index, __global T *y,
                       uint n, uint extent, uint picked, uint inner)
{
    uint i = get_global_id(0);
    long row;

    if (i >= n)
        return;
    row = index[i / inner % picked] % (long)extent;
    row += row < 0 ? extent : 0;
    y[i] = x[(i / inner / picked * extent + (uint)row) * inner + i % inner];
}
