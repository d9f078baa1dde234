#ifndef IMPORT_OPTIONS_H
#define IMPORT_OPTIONS_H

#include "graph/build.h"

/* What the options of an import mean whatever the file is; each fails the build. */

/* Batch and dimensions are sizes. False: the build has failed. */
bool ft__options_are_sizes(ft__build *b, const ft_import_options *opt);
/* A batch for a file that fixes it: input and the size of its first dimension. */
void ft__options_fixed_batch(ft__build *b, const ft_import_options *opt,
                             const char *input, size_t length, int64_t size);
/* Every dimension that was given is one of the model; used: one for each. */
void ft__options_are_used(ft__build *b, const ft_import_options *opt, const bool *used);

#endif
