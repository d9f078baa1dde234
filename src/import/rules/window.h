#ifndef IMPORT_RULES_WINDOW_H
#define IMPORT_RULES_WINDOW_H

#include <stdbool.h>

#include "foretell/op.h"

/* The window of a convolution or pooling layer, one value an axis. */
enum { FT__WINDOW_AXES = 3 };
typedef struct ft__sliding_window {
    uint32_t axes;
    int64_t kernel[FT__WINDOW_AXES];
    int64_t stride[FT__WINDOW_AXES];
    int64_t dilation[FT__WINDOW_AXES];
    int64_t begin[FT__WINDOW_AXES]; /* padding */
    int64_t end[FT__WINDOW_AXES];
    int64_t outpad[FT__WINDOW_AXES]; /* transposed only */
} ft__sliding_window;

/* Small enough that sums and products of two stay in int64_t: padding, and all else. */
bool ft__window_pads_fit(const ft__sliding_window *w);
bool ft__window_steps_fit(const ft__sliding_window *w);
/* The kind for so many axes; `one` is that for one. */
ft_kind ft__window_kind(ft_kind one, const ft__sliding_window *w);
/* The keys of an operation. */
void ft__window_set(ft_op *op, const ft__sliding_window *w);
void ft__window_set_conv(ft_op *op, const ft__sliding_window *w, int64_t out,
                         int64_t groups, bool bias);

#endif
