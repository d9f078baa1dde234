#ifndef PTX_LAUNCH_INDUCTOR_H
#define PTX_LAUNCH_INDUCTOR_H

#include "ptx/launch/reader.h"

/* What Inductor's Python says of tensors, line by line (inductor_tensors.c). */

typedef struct ft__inductor_tensor {
    const char *name;
    ft__ptx_shape shape;
} ft__inductor_tensor;

typedef struct ft__inductor_tensors {
    ft__arena *arena;
    ft__inductor_tensor *v; /* one a name */
    size_t n, cap;
} ft__inductor_tensors;

/* These two are false when memory is short. */
bool ft__inductor_begin(ft__inductor_tensors *t, ft__arena *a, const char *code);
bool ft__inductor_learn(ft__inductor_tensors *t, const char *line);
/* The operation that the call "extern_kernels.mm(...)" at s is; NULL: not known. */
const char *ft__inductor_operation(const ft__inductor_tensors *t, const char *s);
/* Letters, digits and underscores that s begins with. */
size_t ft__word_length(const char *s);

#endif
