#ifndef IMPORT_LLM_READ_H
#define IMPORT_LLM_READ_H

#include "base/json.h"
#include "import/llm/llm.h"

/* What a configuration says of single layers; -1: nothing. */
typedef struct ft__llm_layers {
    int8_t mixer[FT__LLM_LAYERS], ffn[FT__LLM_LAYERS]; /* ft__llm_mixer, ft__llm_ffn */
    bool alone; /* each layer is a mixer or a feed-forward layer */
} ft__llm_layers;

/* A configuration that is read: the first thing that is not known, with its key. */
typedef struct ft__llm_reader {
    ft__llm *m;
    const char *why;
    char key[48];
    ft__llm_layers layers;
} ft__llm_reader;

/* Where nothing is said yet. */
extern const ft__llm ft__llm_unsaid;

/* Whether `what` stands somewhere in s. */
bool ft__llm_holds(ft__text s, const char *what);
void ft__llm_refuse(ft__llm_reader *r, const char *why, const char *key);
/* quantization_config, or the whole of a hf_quant_config.json. */
void ft__llm_take_quant(ft__llm_reader *r, ft__json *j);
/* Whether the key is a list of what layers are; if so it is read. */
bool ft__llm_take_layers(ft__llm_reader *r, ft__json *j, ft__text key);
/* What follows from the rest where it is not said. */
void ft__llm_complete(ft__llm *m, const ft__llm_layers *said);
/* Whether a completed one has what a step needs. */
ft_status ft__llm_check(const ft__llm *m, const char *name, ft_error *err);

#endif
