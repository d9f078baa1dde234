#ifndef PREDICT_PREDICTOR_H
#define PREDICT_PREDICTOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "foretell/predictor.h"
#include "predict/features.h"
#include "predict/fit.h"

/* The file *.ftp, little-endian, every part a multiple of 8 bytes:
 *
 *   header | section table | sections
 *
 *   FT__SECTION_INFO       one ft__info_image
 *   FT__SECTION_REGRESSOR  ft__regressor_image, ft__mixture_image, then the images of
 *                          its models and of the scale of their residuals; many
 *   FT__SECTION_MEASURED   ft__measured_image, ascending by hash
 *
 * A file may be of several devices instead of one machine (family_image.h says what is
 * in these):
 *
 *   FT__SECTION_FAMILY     the datasets that were learned from
 *   FT__SECTION_LEARNER    of one metric: physical constants by name, columns, errors
 *   FT__SECTION_PART       ft__part_image, ranges, then images as a regressor's; many
 *   FT__SECTION_TEMPLATES  of one dataset: what was measured against its estimate
 *   FT__SECTION_SCHEDULE   one ft__placed; many
 *   FT__SECTION_CLOCKS     of one device: workloads at clocks (clocked.h); many
 *
 * The table is checked when the file is opened, each section at its first use. */
#define FT__PREDICTOR_MAGIC "ftpredct"
/* Grows with the format. The numbers of kinds are a feature: new ones go to the end of
 * the list; and neighbours are found by numbers of layouts and the order of a kind's
 * keys.
 */
enum { FT__PREDICTOR_VERSION = 1 };
/* Where sections and models begin, relative to the file. */
enum { FT__ALIGNMENT = 64 };

enum ft__section_type {
    FT__SECTION_INFO = 1,
    FT__SECTION_REGRESSOR = 2,
    FT__SECTION_MEASURED = 3,
    FT__SECTION_FAMILY = 4,
    FT__SECTION_LEARNER = 5,
    FT__SECTION_PART = 6,
    FT__SECTION_TEMPLATES = 7,
    FT__SECTION_SCHEDULE = 8,
    FT__SECTION_CLOCKS = 9,
};

typedef struct ft__header_image {
    char magic[8];
    uint32_t version;
    uint32_t n_sections;
    uint64_t file_bytes;
    uint64_t table_checksum;
} ft__header_image;

typedef struct ft__section_image {
    uint32_t type;
    uint32_t reserved;
    uint64_t offset;
    uint64_t bytes;
    uint64_t checksum;
} ft__section_image;

typedef struct ft__info_image {
    ft__roof roof;
    double context_bytes;        /* of engine and process */
    double context_per_op_bytes; /* added by every unique operation */
    uint32_t policy;
    uint32_t n_features;
    char device[128];
    char setting[64];
    char engine[32];
    char engine_version[32];
} ft__info_image;

enum { FT__N_ERRORS = 12 };

typedef struct ft__regressor_image {
    char kind[32]; /* a kind, or a class when whole_class is 1, FT__ALL_KINDS when 2;
                      FT__BACKWARD behind it */
    char metric[16];
    uint32_t whole_class;
    uint32_t reserved;
    double forest[FT__N_ERRORS]; /* ft_errors in the order of its members */
    double constant[FT__N_ERRORS];
    double roofline[FT__N_ERRORS];
    /* 90 % of log(truth / predicted) lie between these times the spread. */
    double interval_low;
    double interval_high;
    double typical_spread;       /* median over the training rows */
    float least[FT__N_FEATURES]; /* range of the training rows */
    float most[FT__N_FEATURES];
} ft__regressor_image;

/* What was chosen; images of `bytes` follow, padded: models, then the spread's. */
typedef struct ft__mixture_image {
    uint32_t n_models; /* 0: `centre` is the answer */
    uint32_t reserved;
    double weight[FT__MAX_MIXED];
    double centre;
    char choice[96];
    uint64_t bytes[FT__MAX_MIXED + 1]; /* 0: there is none */
    uint64_t rows;                     /* which it was made of, as a sum of them */
    double tails[2]; /* of one machine: what all regressors of the metric shared */
} ft__mixture_image;

typedef struct ft__measured_image {
    uint64_t hash; /* ft_op_hash() */
    double time_s;
    double error_s;
    double workspace_bytes;
} ft__measured_image;

/* Models are opened when first needed; the pointer is set once. */
typedef struct ft__regressor {
    const ft__section_image *section;
    const ft__regressor_image *image;
    const ft__mixture_image *mixture;
    _Atomic(ft__fit *) models;
} ft__regressor;

struct ft__family;

/* What a predictor of one machine tells of operations. */
typedef enum ft__told {
    FT__TOLD_TIME,
    FT__TOLD_WORKSPACE,
    FT__TOLD_POWER,
    FT__N_TOLD
} ft__told;
const char *ft__told_name(ft__told t);
/* A regressor of power that answers for every kind without one of its own. */
#define FT__ALL_KINDS "all"

struct ft_predictor {
    const unsigned char *image;
    size_t len;
    void *mapping; /* to unmap, or NULL */
    void *memory;  /* to free, or NULL */
    const ft__info_image *info;
    const ft__measured_image *measured;
    uint32_t n_measured;
    ft__regressor *regressor;
    uint32_t n_regressors;
    /* Regressor for each kind by metric: index or FT_NONE. Of kind k's backward
     * operations: FT_KIND_COUNT + k. */
    uint32_t of[FT__N_TOLD][2 * FT_KIND_COUNT];
    struct ft__family *family; /* of several devices, instead of info; or NULL */
};

/* Where the regressor of an operation stands in these tables. */
static inline uint32_t ft__regressor_of(const ft_op *op)
{
    return (uint32_t)op->kind + (op->phase == FT_PHASE_BACKWARD ? FT_KIND_COUNT : 0);
}
/* What is behind the name of a kind or class in a regressor of backward operations. */
#define FT__BACKWARD ".backward"

uint64_t ft__checksum(const void *data, size_t len);
/* Like ft_predictor_load_image(), but frees `memory` with the predictor, and
 * now on failure. */
ft_status ft__predictor_load_take(ft_predictor **out, void *memory, size_t len,
                                  ft_error *err);
/* Does a part of a file still have its checksum? */
bool ft__predictor_sound(const void *data, uint64_t len, uint64_t checksum);
/* FT_EFORMAT that points at a place in the file. */
ft_status ft__predictor_damaged(uint64_t pos, const char *what, ft_error *err);
bool ft__roof_sound(const ft__roof *r);
/* In the order of the members of ft_errors. */
void ft__errors_put(double v[FT__N_ERRORS], const ft_errors *e);
ft_errors ft__errors_get(const double v[FT__N_ERRORS]);
/* Can it be true, with `left` bytes of models behind it? */
bool ft__mixture_sound(const ft__mixture_image *m, uint64_t left);
/* Its models into f: those that were opened are there also on failure. */
ft_status ft__mixture_open(ft__fit *f, const ft__mixture_image *m, const void *models,
                           uint32_t width, uint64_t pos, ft_error *err);
/* The models of regressor i, verified and opened when first asked for. */
ft_status ft__predictor_models(const ft__fit **out, const ft_predictor *p, uint32_t i,
                               ft_error *err);
const ft__measured_image *ft__predictor_measured(const ft_predictor *p,
                                                 const ft_op *op);

#endif
