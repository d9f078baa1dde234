#ifndef CLI_MODULES_H
#define CLI_MODULES_H

#include "cli/cli.h"

/* foretell collect --export: what a device without a compiler needs to measure. */
typedef struct ft__modules {
    const char *folder;
    const char *engine; /* as asked for: "tvm,target=..." */
    uint64_t threads;
    const ft__ops *ops;
    const ft__texts *files; /* those that are models are written whole, too */
    const ft__model_options *how;
} ft__modules;

/* The engine's text with the options under which it writes to the folder; complains
 * itself. */
int ft__modules_engine(ft__cli *c, char *out, size_t size, const ft__modules *m);
int ft__modules_write(ft__cli *c, ft_session *s, const ft__modules *m);

#endif
