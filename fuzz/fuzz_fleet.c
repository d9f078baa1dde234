#include <stdlib.h>

#include "fleet/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the bytes, a fleet comes out whole or not at all. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ft_fleet *f;
    ft_error err;

    if (ft__fleet_read(&f, (const char *)data, size, "fuzz.yaml", &err)) {
        if (f)
            abort();
        return 0;
    }
    if (f->n_kinds == 0 || f->n_wanted == 0 || !*f->folder)
        abort();
    for (size_t k = 0; k < f->n_kinds; k++)
        if (f->kind[k].n_clocks == 0 || f->kind[k].nodes == 0)
            abort();
    ft_fleet_free(f);
    return 0;
}
