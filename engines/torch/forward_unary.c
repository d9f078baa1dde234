/* Elementwise operations of one operand. */
#include "kinds.h"

ft_status ft__fwd_unary(ft_block *b, ft_error *err)
{
    (void)err;
    ft__out(b, 0, ft__call1(b, "aten::relu", "", ft__in(b, 0)));
    return FT_OK;
}
