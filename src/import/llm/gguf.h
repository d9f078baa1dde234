#ifndef IMPORT_LLM_GGUF_H
#define IMPORT_LLM_GGUF_H

#include "import/llm/llm.h"

/* A GGUF file's header -> what a config.json says, with types of each part's weights as
 * the file has them. Weights are not read. FT_EFORMAT: the header is damaged, or lacks
 * what a model needs. */
ft_status ft__llm_read_gguf(ft__llm *out, const uint8_t *data, size_t len,
                            const char *name, ft_error *err);

#endif
