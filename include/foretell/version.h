#ifndef FT_VERSION_H
#define FT_VERSION_H

#include "foretell/error.h"

FT_BEGIN_DECLS

/* Of these headers; meson.build holds them to the project's version. */
#define FT_VERSION_MAJOR 0
#define FT_VERSION_MINOR 1
#define FT_VERSION_PATCH 0
#define FT_VERSION "0.1.0"

/* Of the library that is running, "0.1.0"; static. */
FT_API const char *ft_version(void);

FT_END_DECLS

#endif
