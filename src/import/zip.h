#ifndef IMPORT_ZIP_H
#define IMPORT_ZIP_H

#include "foretell/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The graph of a torch.export archive where it lies as it is, a slice of the
 * archive. False: it is packed, or something is odd; then ask ft__zip_graph(). */
bool ft__zip_plain_graph(const char **text, size_t *n, const void *data, size_t len);
/* The graph of a torch.export archive: the one record that holds it, read into
 * *text (to be freed). No other record is touched. Sizes that the archive states
 * are believed up to the limits of base/limits.h. Anything else that is a zip
 * file is refused by what it is: weights, TorchScript, Keras. */
ft_status ft__zip_graph(char **text, size_t *n, const void *data, size_t len,
                        const char *name, ft_error *err);

#endif
