#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "foretell/op.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the text: refused cleanly, or an operation that prints as a spec
 * which reads back as the same operation and has a cost. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[4096];
    ft_op op, back;
    ft_cost cost;
    size_t len;
    ft_status st;

    if (ft_op_parse(&op, (const char *)data, size, NULL))
        return 0;
    len = ft_op_print(&op, text, sizeof(text));
    assert(len < sizeof(text));
    st = ft_op_parse(&back, text, len, NULL);
    assert(st == FT_OK && ft_op_equal(&op, &back));
    (void)st;
    ft_op_cost(&op, &cost);
    assert(cost.flops >= 0 && cost.bytes_read >= 0 && cost.bytes_written >= 0);
    return 0;
}
