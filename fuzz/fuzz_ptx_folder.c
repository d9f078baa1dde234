#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ptx/launch/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The files of one folder, in the order that their texts have in the input, which form
 * feeds separate. */
static const char *const names[] = {
    "m.thunk_sequence.txt",
    "m.gpu_after_optimizations.txt",
    "m.thunk_metadata.txt",
    "code.py",
    "f.ptx",
    "f.source",
    "f.json",
    "best.best_config",
};
enum { N = sizeof(names) / sizeof(names[0]) };

static void write_files(const char *folder, const char **path, const uint8_t *data,
                        size_t size)
{
    for (int i = 0; i < N; i++) {
        const uint8_t *end = size ? memchr(data, '\f', size) : NULL;
        size_t n = end ? (size_t)(end - data) : size;
        char text[128];
        FILE *fp;

        snprintf(text, sizeof(text), "%s/%s", folder, names[i]);
        path[i] = strdup(text);
        fp = path[i] ? fopen(path[i], "wb") : NULL;
        if (!fp || fwrite(data, 1, n, fp) != n || fclose(fp))
            abort();
        data += n + (end != NULL);
        size -= n + (end != NULL);
    }
}

static void ask(const ft__ptx_reader *reader, const ft__ptx_files *f)
{
    ft__arena a = {0};
    ft__ptx_rows rows = {.arena = &a};
    ft_error err = {0};
    ft_status st = reader->read(&rows, f, &err);

    if (st && (st == FT_ENOMEM || !*err.msg))
        abort();
    for (size_t i = 0; !st && i < rows.n; i++)
        if (!rows.row[i].module == !rows.row[i].library)
            abort();
    free(rows.row);
    ft__arena_free(&a);
}

/* Whatever the bytes, each reader of folders makes rows or one error. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char folder[] = "/tmp/foretell-fuzz-XXXXXX";
    const char *path[N];
    ft__ptx_files f = {.folder = folder, .path = path, .n = N};

    if (!mkdtemp(folder))
        return 0;
    write_files(folder, path, data, size);
    ask(&ft__ptx_xla, &f);
    ask(&ft__ptx_inductor, &f);
    ask(&ft__ptx_triton, &f);
    for (int i = 0; i < N; i++) {
        unlink(path[i]);
        free((char *)path[i]);
    }
    rmdir(folder);
    return 0;
}
