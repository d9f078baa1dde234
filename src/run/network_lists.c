/* Networks' operations from a folder of lists. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/pairs.h"
#include "foretell/networks.h"

ft_status ft_networks_list(void *folder, ft_graph **g, const char *spec,
                           const char *phase, ft_error *err)
{
    static const ft_import_options as_it_is = {0};
    const char *forward = ft_phase_name(FT_PHASE_FORWARD);
    const char *kind =
        strcmp(phase, forward) == 0 ? forward : ft_phase_name(FT_PHASE_STEP);
    size_t n_name = 0, n_x = 0;
    const char *name = ft__pair(spec, "name", &n_name), *x = ft__pair(spec, "x", &n_x);
    char path[4096];

    *g = NULL;
    if (!name || !x || memchr(name, '/', n_name))
        return FT_OK;
    if ((size_t)snprintf(path, sizeof(path), "%s/%.*s@%.*s.%s.ops",
                         (const char *)folder, (int)n_name, name, (int)n_x, x,
                         kind) >= sizeof(path) ||
        access(path, R_OK))
        return FT_OK;
    return ft_import_file(g, path, &as_it_is, err);
}
