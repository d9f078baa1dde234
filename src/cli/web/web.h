#ifndef CLI_WEB_WEB_H
#define CLI_WEB_WEB_H

#include <stdatomic.h>

#include "cli/ask/tools.h"
#include "cli/web/models.h"
#include "cli/web/request.h"

/* A web server that answers as the command does (foretell serve). */

typedef struct ft__web_counts {
    atomic_ullong requests;
    atomic_ullong answers; /* of tools, status 200 */
    atomic_ullong refused; /* status 400 and above */
    atomic_ullong uploads;
    atomic_ullong nanoseconds; /* in tools */
    atomic_uint open;          /* connections */
} ft__web_counts;

typedef struct ft__web {
    ft__asker asker;
    ft__web_models *models;
    ft__web_rules rules;
    const char *address;
    uint16_t port;
    unsigned threads;
    size_t most_upload; /* bytes */
    unsigned idle_s;    /* after which a silent connection is closed */
    ft__web_counts counts;
} ft__web;

/* Answers until SIGTERM or SIGINT, then ends what is under way; complains itself. */
int ft__web_run(ft__cli *c, ft__web *w);

#endif
