#ifndef CLI_LLM_TRAIN_H
#define CLI_LLM_TRAIN_H

#include "cli/predict.h"

/* Training of a language model over many devices, as predict asks for it. */
extern const ft__option ft__llm_train_table[]; /* of ft__llm_train_options */

/* Was any of them given? */
bool ft__llm_train_asked(const ft__llm_train_options *o);
/* Prints, complains itself. */
int ft__llm_train(ft__predict_question *q);

#endif
