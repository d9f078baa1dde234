#ifndef QUERY_LACKS_H
#define QUERY_LACKS_H

#include <stdbool.h>

#include "foretell/graph.h"

/* What engines of this library lack, so that no command is advised that they refuse.
 * engine: a name, with or without ",OPTION=VALUE...". */

/* Is the kind none that it runs forward, whatever the sizes? */
bool ft__engine_lacks_kind(const char *engine, ft_kind kind);
/* Does it compute in fp32 alone, of floating types? */
bool ft__engine_is_fp32(const char *engine);
/* The first operation of a forward pass that it does not run; NULL: none is known.
 * whole: it runs the file itself, not operation by operation. */
const ft_op *ft__engine_lacks(const char *engine, const ft_graph *g, bool whole);

#endif
