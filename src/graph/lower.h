#ifndef GRAPH_LOWER_H
#define GRAPH_LOWER_H

#include <stdbool.h>

#include "foretell/graph.h"

/* Distances, in elements, between neighbours along each axis; 0: the same
 * element again. Axes of one element may have any. */
typedef struct ft__strides {
    int64_t of[FT_MAX_RANK];
} ft__strides;

ft__strides ft__strides_plain(const ft_shape *s);
ft__strides ft__strides_channels_last(const ft_shape *s);
bool ft__strides_are_plain(const ft_shape *s, const ft__strides *t);
/* False also where the elements are in plain order as well. */
bool ft__strides_are_channels_last(const ft_shape *s, const ft__strides *t);
/* The axes of the result in the order in which those of `like` lie in memory,
 * without gaps. */
ft__strides ft__strides_like(const ft_shape *s, const ft__strides *like);
/* The same memory under another shape of as many elements; false: no strides do
 * that, the elements have to be copied. */
bool ft__strides_view(const ft_shape *from, const ft__strides *t, const ft_shape *to,
                      ft__strides *out);

/* FT_POLICY_STRIDED_VIEWS, on graphs of any phase: copies come behind the tensors,
 * which keep their numbers. */
ft_status ft__graph_stride(ft_graph **out, const ft_graph *g, bool images_last,
                           ft_error *err);

#endif
