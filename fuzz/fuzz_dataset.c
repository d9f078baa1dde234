#include <stdlib.h>
#include <string.h>

#include "measure/dataset_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte picks the source. Whatever the table: importing fails and takes
 * nothing, or a second time takes nothing more. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ft_dataset_report first, second;
    const char *source;
    size_t n = 0;
    ft_store *s;

    if (size == 0)
        return 0;
    while (ft_dataset_source(n))
        n++;
    source = ft_dataset_source(data[0] % n);
    if (ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL) != FT_OK)
        abort();
    if (ft__dataset_take(&first, s, source, data + 1, size - 1, "t", NULL, NULL) ==
        FT_OK) {
        if (ft__dataset_take(&second, s, source, data + 1, size - 1, "t", NULL, NULL) !=
                FT_OK ||
            second.measurements != 0 || second.rows != first.rows)
            abort();
    } else if (first.measurements != 0) {
        abort();
    }
    ft_store_close(s);
    return 0;
}
