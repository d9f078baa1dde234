#ifndef CLI_SLOW_H
#define CLI_SLOW_H

#include "cli/cli.h"
#include "foretell/outliers.h"

/* Operations of a store that take longer than others like them. */
typedef struct ft__slow {
    ft_slow_op *op; /* the slowest first */
    size_t n;
    uint32_t n_datasets;
} ft__slow;

/* Those measured on a device, in a setting, by an engine; NULL: any. Exit code. */
int ft__slow_find(ft__cli *c, ft__slow *out, ft_store *store, const char *device,
                  const char *setting, const char *engine);
bool ft__slow_print(const ft__slow *s, uint64_t top);
json_t *ft__slow_json(const ft__slow *s);
void ft__slow_free(ft__slow *s);

#endif
