/* The source tree, which a test's first argument names, and its data folder. */
#ifndef DATA_DIR_H
#define DATA_DIR_H

#include <stdio.h>
#include <stdlib.h>

__attribute__((weak)) const char *source_root = ".";
__attribute__((weak)) char data_dir[4096] = "data";

static inline void take_folder(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s SOURCE_FOLDER\n", argv[0]);
        exit(2);
    }
    source_root = argv[1];
    snprintf(data_dir, sizeof(data_dir), "%s/data", argv[1]);
}

#endif
