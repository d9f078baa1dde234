#ifndef CLI_RANK_LISTS_H
#define CLI_RANK_LISTS_H

#include "cli/rank_question.h"

/* rank --stdin: many networks as lists of operations. Reads standard input to its end,
 * prints, and returns an exit code. q->how and the like are read. */
int ft__rank_lists(ft__rank_question *q);

#endif
