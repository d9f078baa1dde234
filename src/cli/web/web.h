#ifndef CLI_WEB_WEB_H
#define CLI_WEB_WEB_H

#include <stdatomic.h>

#include "cli/ask/models.h"
#include "cli/ask/tools.h"
#include "cli/web/request.h"

/* The models that may be asked about by name: those of the data folder, those that the
 * server was given, and uploads, which are in memory alone, the newest few. Threads may
 * share them. */
typedef struct ft__web_models ft__web_models;

enum { FT__UPLOADS = 16 };

/* Complains itself; paths are c->args. */
int ft__web_models_open(ft__web_models **out, ft__cli *c);
void ft__web_models_close(ft__web_models *m);
/* While a path is in use, no upload takes the place of another. */
void ft__web_models_use(ft__web_models *m);
void ft__web_models_unuse(ft__web_models *m);
/* A file of this model, to be freed; NULL: there is none, or memory is short. */
char *ft__web_models_path(void *models, const char *name);
/* Names, uploads last. */
json_t *ft__web_models_json(ft__web_models *m);
/* Keep a model; its name goes to `as`, of `size` bytes: "upload-1f..-NAME", which
 * nobody guesses. False: the system has no room. */
bool ft__web_models_add(ft__web_models *m, char *as, size_t size, const char *name,
                        const char *bytes, size_t len);

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
