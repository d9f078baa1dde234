#include <stdlib.h>

#include "foretell/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the bytes, importing fails and takes nothing, or a second time takes
 * nothing more. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t first, second;
    ft_store *s;

    if (ft_store_open(&s, ":memory:", FT_STORE_WRITE, NULL) != FT_OK)
        abort();
    if (ft_store_import_csv(s, data, size, "fuzz", &first, NULL) == FT_OK) {
        if (ft_store_import_csv(s, data, size, "fuzz", &second, NULL) != FT_OK ||
            second != 0)
            abort();
    } else if (first != 0) {
        abort();
    }
    ft_store_close(s);
    return 0;
}
