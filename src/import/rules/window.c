/* What convolutions and pooling share, whatever file they come from: in, a window;
 * out, the keys of an operation. */
#include "import/rules/window.h"

#include <string.h>

#include "graph/op_inside.h"

static bool between(const int64_t *v, uint32_t n, int64_t least)
{
    for (uint32_t i = 0; i < n; i++)
        if (v[i] < least || v[i] > INT32_MAX)
            return false;
    return true;
}

bool ft__window_pads_fit(const ft__sliding_window *w)
{
    return between(w->begin, w->axes, 0) && between(w->end, w->axes, 0);
}

bool ft__window_steps_fit(const ft__sliding_window *w)
{
    return between(w->kernel, w->axes, 1) && between(w->stride, w->axes, 1) &&
           between(w->dilation, w->axes, 1) && between(w->outpad, w->axes, 0);
}

ft_kind ft__window_kind(ft_kind one, const ft__sliding_window *w)
{
    return (ft_kind)((int)one + (int)w->axes - 1);
}

void ft__window_set(ft_op *op, const ft__sliding_window *w)
{
    int64_t pad[2 * FT__WINDOW_AXES];
    bool even = memcmp(w->begin, w->end, w->axes * sizeof(w->end[0])) == 0;

    memcpy(pad, w->begin, w->axes * sizeof(pad[0]));
    memcpy(pad + w->axes, w->end, w->axes * sizeof(pad[0]));
    ft__op_set(op, FT_K_kernel, w->kernel, w->axes);
    ft__op_set(op, FT_K_stride, w->stride, w->axes);
    ft__op_set(op, FT_K_pad, pad, even ? w->axes : 2 * w->axes);
    ft__op_set(op, FT_K_outpad, w->outpad, w->axes);
    ft__op_set(op, FT_K_dilation, w->dilation, w->axes);
}

void ft__window_set_conv(ft_op *op, const ft__sliding_window *w, int64_t out,
                         int64_t groups, bool bias)
{
    ft__op_set1(op, FT_K_out, out);
    ft__window_set(op, w);
    ft__op_set1(op, FT_K_groups, groups);
    ft__op_set1(op, FT_K_bias, bias);
}
