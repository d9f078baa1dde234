#ifndef IMPORT_PT2_ZIP_H
#define IMPORT_PT2_ZIP_H

#include "foretell/error.h"

#include <stddef.h>

/* The graph of a torch.export archive: the one record that holds it, *text[n]. Torch
 * packs none: then it is a slice of the archive, else *own holds it, to be freed. No
 * other record is touched. Sizes that the archive states are believed up to the limits
 * of base/limits.h. Anything else that is a zip file is refused by what it is: weights,
 * TorchScript, Keras. */
ft_status ft__zip_graph(const char **text, size_t *n, char **own, const void *data,
                        size_t len, const char *name, ft_error *err);

#endif
