#ifndef PTX_COMPARE_H
#define PTX_COMPARE_H

#include <stddef.h>

#include "foretell/ptx.h"

/* How many of the counts differ from those that running gave: from its value where they
 * claim to be exact, else by not having it within their bounds. The first of them in
 * words into `what`. */
int ptx_compare(const ft_ptx_counts *counted, const ft_ptx_counts *ran, char *what,
                size_t size);

#endif
