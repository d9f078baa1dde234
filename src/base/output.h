#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <stdio.h>

#include "foretell/error.h"

/* What ft_file_write() does, for text that is written as it is made: a regular file is
 * written under another name beside the old one, synchronized and renamed. */
typedef struct ft__output {
    FILE *fp;
    const char *path; /* borrowed */
    char *target;     /* path without links; NULL: written through */
    char *temporary;
} ft__output;

/* FT_EIO: path is a folder, or nothing can be created beside it. */
ft_status ft__output_open(ft__output *o, const char *path, ft_error *err);
/* st FT_OK: the file takes its place; else it is dropped, and st is returned. FT_EIO:
 * not all of it could be written; what stood there still does. */
ft_status ft__output_close(ft__output *o, ft_status st, ft_error *err);

#endif
