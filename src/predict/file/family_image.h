#ifndef PREDICT_FILE_FAMILY_IMAGE_H
#define PREDICT_FILE_FAMILY_IMAGE_H

#include "predict/file/predictor.h"
#include "predict/model/model_set.h"

/* A family of devices in the predictor file. Numbers are little-endian, texts have
 * their length in front (u32), lists their count (u32).
 *
 *   FAMILY     datasets: device, setting, engine, version, policy, rows (u64),
 *              ft__hardware, whether its probes were measured (u32) and their ft__roof
 *   LEARNER    metric, single, unseen (u32); most rows a regressor, seed (u64);
 *              centre, low, high (f64); rows of each dataset (u64); its roofs; of each
 *              class its constants, name and value; the names of all columns; which
 *              columns not every model set has (u32: FT__HAS_ bits); codes: name and
 *              values
 *   PART       ft__regressor_image, least and most (f32 a column), images of models,
 *              ft__others where a share of it is not 0
 *   TEMPLATES  dataset, whether errors follow (u32), count (u64), hashes (u64), ratios
 *              (f32), their errors (f32)
 *   SCHEDULE   ft__device_schedule
 *   UNSEEN     ft__unseen
 *   ALONE      ft__alone
 *   CLOCKS     see predict/model/dvfs.h
 *
 * The family comes first, a model set before its parts. */

/* Regressors of rows that have neighbours (predict/model/neighbours.h) have the
 * image of these between their ranges and models. */

/* As files have it. */
static inline uint32_t ft__scope_number(ft__scope scope)
{
    return (uint32_t)(scope + FT__N_SCOPES - 1) % FT__N_SCOPES;
}

static inline ft__scope ft__scope_numbered(uint32_t number)
{
    return (ft__scope)((number + 1) % FT__N_SCOPES);
}

/* Columns that not every model set has. */
enum { FT__HAS_DEVICES = 1, FT__HAS_COMMON = 2 };

typedef struct ft__regressor_image {
    char which[32]; /* kind, class, or "all" */
    char phase[24];
    uint32_t scope;
    uint32_t pooled; /* tenths of the answer that the regressor of all kinds gives */
    uint64_t n_rows;
    double learned[FT__N_ERRORS], constant[FT__N_ERRORS], physics[FT__N_ERRORS];
    double low, high, typical;
    ft__mixture_image mixture;
} ft__regressor_image;

#endif
