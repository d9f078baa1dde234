#ifndef CLI_WEB_OPENAPI_H
#define CLI_WEB_OPENAPI_H

#include "cli/cli.h"

/* The interface as OpenAPI 3.1; NULL: out of memory. */
json_t *ft__openapi_json(void);

#endif
