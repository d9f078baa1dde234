/* Files that tests write, and whole files that they read. */
#ifndef FILES_H
#define FILES_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void write_bytes(const char *path, const void *bytes, size_t len)
{
    FILE *fp = fopen(path, "wb");

    if (!fp || fwrite(bytes, 1, len, fp) != len || fclose(fp)) {
        perror(path);
        exit(1);
    }
}

static inline void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

/* The caller frees it; behind it a 0, which *len does not count. NULL: there is no such
 * file. */
static inline void *read_bytes(const char *path, size_t *len)
{
    enum { STEP = 1 << 16 };
    FILE *fp = fopen(path, "rb");
    char *bytes = NULL;
    size_t n = 0, more = STEP;

    while (fp && more == STEP) {
        bytes = realloc(bytes, n + STEP + 1);
        if (!bytes)
            exit(1);
        more = fread(bytes + n, 1, STEP, fp);
        n += more;
    }
    if (fp)
        fclose(fp);
    if (bytes)
        bytes[n] = '\0';
    *len = n;
    return bytes;
}

/* A text of at most size - 1 bytes, or its beginning; "" and false: no such file. */
static inline bool read_text(char *text, size_t size, const char *path)
{
    FILE *fp = fopen(path, "rb");
    const size_t n = fp ? fread(text, 1, size - 1, fp) : 0;

    text[n] = '\0';
    if (fp)
        fclose(fp);
    return fp != NULL;
}

/* The path of a library that is built into the folder of the program argv0. */
static inline void path_beside(char *path, size_t size, const char *argv0,
                               const char *name)
{
    const char *slash = strrchr(argv0, '/');

    snprintf(path, size, "%.*s/%s", slash ? (int)(slash - argv0) : 1,
             slash ? argv0 : ".", name);
}

#endif
