#ifndef CLI_WEB_MODELS_H
#define CLI_WEB_MODELS_H

#include "cli/ask/models.h"

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

#endif
