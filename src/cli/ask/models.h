#ifndef CLI_ASK_MODELS_H
#define CLI_ASK_MODELS_H

#include "cli/cli.h"

/* Graphs that were read, so that a model is read once for many questions: the last that
 * were used, by file and options. A file that changed is read again. Threads may share
 * it.
 */
typedef struct ft__models ft__models;
ft__models *ft__models_new(void); /* NULL: out of memory */
/* Every graph must have been given back. */
void ft__models_free(ft__models *m);
/* As ft__model_import(), but "-" is refused; given back by ft__models_close(). */
ft_status ft__models_read(ft__models *m, ft_graph **out, const char *path,
                          const ft__model_options *opt, ft_error *err);
/* A graph that is not of *m is freed. */
void ft__models_close(ft__models *m, ft_graph *g);

ft_status ft__model_import(ft_graph **out, const char *path,
                           const ft__model_options *opt, ft_error *err);

#endif
