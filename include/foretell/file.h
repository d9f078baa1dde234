#ifndef FT_FILE_H
#define FT_FILE_H

#include "foretell/error.h"

FT_BEGIN_DECLS

/* Write a file whole or not at all: what stood there stays until the new one is complete
 * on the disk. A link goes on pointing at its file; pipes and devices are written through.
 * FT_EIO: path is a folder, nothing can be created beside it, or not all could be
 * written. */
FT_API ft_status ft_file_write(const char *path, const void *bytes, size_t len,
                               ft_error *err);

FT_END_DECLS

#endif
