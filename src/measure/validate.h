#ifndef MEASURE_VALIDATE_H
#define MEASURE_VALIDATE_H

#include "foretell/validate.h"

/* The key under which a network measured whole is stored ("network id=... name=..."):
 * the id is made of the operations and their counts, whatever the file is called.
 * `g` is lowered. Returns its length as snprintf() does. */
size_t ft__network_spec(const ft_graph *g, char *buf, size_t size);

#endif
