#ifndef BASE_ERROR_INSIDE_H
#define BASE_ERROR_INSIDE_H

#include "foretell/error.h"

const char *ft__status_name(ft_status st);

#endif
