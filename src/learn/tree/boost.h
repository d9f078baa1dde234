#ifndef LEARN_TREE_BOOST_H
#define LEARN_TREE_BOOST_H

#include <stdint.h>

/* The part of XGBoost's C interface that fitting needs, found when it is needed: what
 * was fitted is kept in our form, so that neither building nor predicting wants it. */
typedef struct ft__xgboost {
    void *dl;
    int (*matrix_new)(const float *x, uint64_t rows, uint64_t columns, float missing,
                      void **out);
    int (*matrix_set)(void *matrix, const char *field, const float *v, uint64_t len);
    int (*matrix_free)(void *matrix);
    int (*booster_new)(void *const matrix[], uint64_t len, void **out);
    int (*booster_set)(void *booster, const char *name, const char *value);
    int (*booster_update)(void *booster, int round, void *matrix);
    int (*booster_dump)(void *booster, const char *names, int statistics, uint64_t *len,
                        const char ***out);
    int (*booster_free)(void *booster);
    const char *(*last_error)(void);
} ft__xgboost;

/* NULL, or what is missing. Close it in either case. */
const char *ft__xgboost_open(ft__xgboost *x);
void ft__xgboost_close(ft__xgboost *x);

#endif
