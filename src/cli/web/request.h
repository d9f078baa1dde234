#ifndef CLI_WEB_REQUEST_H
#define CLI_WEB_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/ask/tools.h"
#include "cli/cli.h"

/* What a request says, before anything is done for it. NULL: it has no such header. */
typedef struct ft__web_request {
    const char *method, *path;
    const char *host, *origin, *content_type, *authorization;
} ft__web_request;

/* Who may ask. */
typedef struct ft__web_rules {
    const char *const *host; /* names that the server has, without a port */
    size_t n_hosts;
    const char *token; /* NULL: none is needed */
} ft__web_rules;

typedef enum ft__web_route {
    FT__ROUTE_NONE,
    FT__ROUTE_PAGE,
    FT__ROUTE_STYLE,
    FT__ROUTE_SCRIPT,
    FT__ROUTE_OPENAPI,
    FT__ROUTE_METRICS,
    FT__ROUTE_MODELS, /* the list */
    FT__ROUTE_UPLOAD,
    FT__ROUTE_TOOL,
} ft__web_route;

/* The status of HTTP, 200 if it may go on; otherwise *why is a sentence. *tool: of
 * FT__ROUTE_TOOL. */
int ft__web_check(const ft__web_request *r, const ft__web_rules *rules,
                  ft__web_route *route, const ft__tool **tool, const char **why);

/* The arguments in a body; NULL: it is none, and *why says so. */
json_t *ft__web_arguments(const char *body, size_t len, const char **why);

/* A name for a model as users see it: of a name that came with an upload what is plain
 * text, without folders. */
void ft__web_clean_name(char *out, size_t size, const char *name);

/* The interface as OpenAPI 3.1; NULL: out of memory. */
json_t *ft__openapi_json(void);

#endif
