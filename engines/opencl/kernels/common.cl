/* What stands before every other file here. T: elements of operands, R: of results. */

/* Where element i of a tensor of `rank` axes, counted in rows, lies in an operand with
 * these strides. */
static uint at(uint i, uint rank, __constant uint *size, __constant uint *stride)
{
    uint p = 0;

    for (uint d = rank - 1; d > 0; d--) {
        p += i % size[d] * stride[d];
        i /= size[d];
    }
    return p + i * stride[0];
}
