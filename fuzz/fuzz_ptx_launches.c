#include <stdlib.h>
#include <string.h>

#include "ptx/launch/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the bytes, rows come out or one error; no module is opened. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ft__arena a = {0};
    ft__ptx_rows rows = {.arena = &a};
    ft_error err = {0};
    char *text = malloc(size ? size : 1);

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    if (ft__ptx_launch_file(&rows, text, size, "fuzz", "folder", &err) == FT_OK) {
        for (size_t i = 0; i < rows.n; i++)
            if (!rows.row[i].module == !rows.row[i].library || !rows.row[i].count)
                abort();
    } else if (!*err.msg) {
        abort();
    }
    free(rows.row);
    ft__arena_free(&a);
    free(text);
    return 0;
}
