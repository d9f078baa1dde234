/* The data folder of the source tree, which a test's first argument names. */
#ifndef DATA_DIR_H
#define DATA_DIR_H

#include <stdio.h>
#include <stdlib.h>

static char data_dir[4096];

static inline void take_folder(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s SOURCE_FOLDER\n", argv[0]);
        exit(2);
    }
    snprintf(data_dir, sizeof(data_dir), "%s/data", argv[1]);
}

#endif
