/* The operation that a spec says. */
#ifndef PARSE_SPEC_H
#define PARSE_SPEC_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/op.h"

static inline ft_op parse(const char *spec)
{
    ft_error err = {0};
    ft_op op;

    if (ft_op_parse(&op, spec, strlen(spec), &err)) {
        fprintf(stderr, "%s: %s\n", spec, err.msg);
        exit(1);
    }
    return op;
}

#endif
