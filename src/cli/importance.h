#ifndef CLI_IMPORTANCE_H
#define CLI_IMPORTANCE_H

#include <jansson.h>
#include <stdbool.h>

#include "foretell/predictor.h"

/* What training told of the worth of attributes. */
typedef struct ft__importance {
    struct ft__importance_row *row;
    size_t n;
    bool bad; /* memory was short */
} ft__importance;

/* ft_train_options.importance; user: an ft__importance that began as {0}. */
void ft__importance_take(void *user, const ft_regressor_attributes *of);
/* The best of each regressor; false: memory was short. */
bool ft__importance_print(const ft__importance *i);
/* Those that are worth anything. */
json_t *ft__importance_json(const ft__importance *i);
void ft__importance_free(ft__importance *i);

#endif
