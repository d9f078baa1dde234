#ifndef IMPORT_GRAPH_INSIDE_H
#define IMPORT_GRAPH_INSIDE_H

#include "foretell/graph.h"

/* Read a model by its content: ONNX, a torch.export archive, or a spec list (text:
 * one spec a line, optionally followed by " *COUNT"; # begins a comment). Weights
 * are not read. FT_EIO, FT_EFORMAT (err->msg names byte, node or line), FT_ENEEDED
 * (a symbolic dimension is open; the message holds the flag to add). */
ft_status ft__import_file(ft_graph **out, const char *path,
                          const ft_import_options *opt, ft_error *err);
/* A language model, for ft__llm_step_of(); *out stays as it is where the file is none.
 */
struct ft__llm;
ft_status ft__import_read_llm(struct ft__llm *out, const char *path, ft_error *err);
/* A torch.export archive (.pt2), forward or joint; a joint one is a graph in
 * TRAINING mode. */
ft_status ft__import_pt2(ft_graph **out, const void *data, size_t len, const char *name,
                         const ft_import_options *opt, ft_error *err);
ft_status ft__onnx_import(ft_graph **out, const void *data, size_t len,
                          const char *name, const ft_import_options *opt,
                          ft_error *err);

#endif
