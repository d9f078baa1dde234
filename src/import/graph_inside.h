#ifndef IMPORT_GRAPH_INSIDE_H
#define IMPORT_GRAPH_INSIDE_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "foretell/graph.h"

/* Read a model by its content: ONNX, a torch.export archive, or a spec list (text:
 * one spec a line, optionally followed by " *COUNT"; # begins a comment). Weights
 * are not read. FT_EIO, FT_EFORMAT (err->msg names byte, node or line), FT_ENEEDED
 * (a symbolic dimension is open; the message holds the flag to add). */
ft_status ft__import_file(ft_graph **out, const char *path,
                          const ft_import_options *opt, ft_error *err);
/* Is it a configuration or a GGUF file, by its beginning? True of what cannot be read.
 */
static inline bool ft__is_language_model(const char *path)
{
    char text[64] = "";
    FILE *fp = fopen(path, "rb");
    size_t n = fp ? fread(text, 1, sizeof(text) - 1, fp) : 0;

    if (fp)
        fclose(fp);
    return n == 0 || strncmp(text, "GGUF", 4) == 0 ||
           text[strspn(text, " \t\r\n")] == '{';
}
/* A torch.export archive (.pt2), forward or joint; a joint one is a graph in
 * TRAINING mode. */
ft_status ft__import_pt2(ft_graph **out, const void *data, size_t len, const char *name,
                         const ft_import_options *opt, ft_error *err);
ft_status ft__onnx_import(ft_graph **out, const void *data, size_t len,
                          const char *name, const ft_import_options *opt,
                          ft_error *err);

#endif
