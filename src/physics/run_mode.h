#ifndef PHYSICS_RUN_MODE_H
#define PHYSICS_RUN_MODE_H

#include <stdbool.h>

#include "base/buf.h"

/* How an engine runs operations: "eager", one launch each from the host, or "graph",
 * replayed as a CUDA graph without the host. It is the pair run_mode= of a dataset's
 * setting; datasets that do not name it have their engine's. */
bool ft__is_graph_mode(const char *setting);
/* The setting of a dataset with its run mode in it; "" alone where it is eager. */
void ft__add_run_mode(ft__buf *out, const char *setting, const char *engine);

#endif
