#ifndef QUERY_ADVISE_H
#define QUERY_ADVISE_H

#include <stdbool.h>

#include "base/buf.h"
#include "query/answer.h"

/* " OPTION VALUE", quoted where a shell needs it; nothing where value is NULL. */
void ft__advise_option(ft__buf *b, const char *option, const char *value);
/* " OPTION N", nothing where n is 0. */
void ft__advise_count(ft__buf *b, const char *option, uint64_t n);
/* "foretell measure MODEL ..." or collect (verb): with the engine and all else that an
 * answer is for. False: no engine of this library runs it there, or takes its steps. */
bool ft__advise(ft__buf *b, const ft__question *a, const ft_graph *g, const char *verb);

/* Drivers may take no cap above what a board is built for, though some boards have a
 * higher limit, nor one that its lowest clock exceeds. */
typedef enum ft__cap { FT__CAP_HOLDS, FT__CAP_ABOVE, FT__CAP_BELOW } ft__cap;
/* The cap of a setting (without one it holds), where device (NULL: not known) draws
 * power_w. */
ft__cap ft__cap_of(const ft_device *device, const char *setting, double power_w);

#endif
