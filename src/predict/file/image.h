#ifndef PREDICT_FILE_IMAGE_H
#define PREDICT_FILE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "learn/learn_inside.h"
#include "predict/model/fit.h"

/* Pieces of the predictor file (predictor.h): sections with checksums, and the images
 * of regressors. */

/* Where sections and models begin, relative to the file: models are fastest where a
 * cache line does. */
enum { FT__ALIGNMENT = 64 };
static inline size_t ft__padded(size_t len)
{
    return (len + FT__ALIGNMENT - 1) / FT__ALIGNMENT * FT__ALIGNMENT;
}

enum ft__section_type {
    FT__SECTION_FAMILY = 1,
    FT__SECTION_MODEL_SET,
    FT__SECTION_PART,
    FT__SECTION_TEMPLATES,
    FT__SECTION_SCHEDULE,
    FT__SECTION_UNSEEN,
    FT__SECTION_ALONE,
    FT__SECTION_CLOCKS,
    FT__SECTION_KERNELS,
    FT__SECTION_BOARDS,
};

typedef struct ft__section_image {
    uint32_t type, reserved;
    uint64_t offset, bytes, checksum;
} ft__section_image;

/* Does the text of a fixed field end inside it? */
static inline bool ft__is_text(const char *text, size_t size)
{
    return memchr(text, 0, size) != NULL;
}

uint64_t ft__checksum(const void *data, size_t len);
bool ft__predictor_sound(const void *data, uint64_t len, uint64_t checksum);
/* FT_EFORMAT that points at a place in the file. */
ft_status ft__predictor_damaged(uint64_t pos, const char *what, ft_error *err);

enum { FT__N_ERRORS = 12 };

/* In the order of the members of ft_errors. */
void ft__errors_put(double v[FT__N_ERRORS], const ft_errors *e);
ft_errors ft__errors_get(const double v[FT__N_ERRORS]);

/* What was chosen; images of `bytes` follow, padded: models, then that of the residual
 * scale. */
typedef struct ft__mixture_image {
    uint32_t n_models; /* 0: `centre` is the answer */
    uint32_t reserved;
    double weight[FT__MAX_MIXED];
    double centre;
    char choice[96];
    uint64_t bytes[FT__MAX_MIXED + 1]; /* 0: there is none */
    uint64_t rows;                     /* which it was made of, as a sum of them */
} ft__mixture_image;

/* Is it consistent, with `left` bytes of models behind it? */
bool ft__mixture_sound(const ft__mixture_image *m, uint64_t left);
/* Its models into f: those that were opened are there also on failure. */
ft_status ft__mixture_open(ft__fit *f, const ft__mixture_image *m, const void *models,
                           uint32_t width, uint64_t pos, ft_error *err);

/* A predictor file while it is made: sections, one behind the other. */
typedef struct ft__writer {
    ft__buf body;
    ft__section_image *section;
    uint32_t n_sections, cap_sections;
} ft__writer;

/* Bytes, and zeros up to the next multiple of FT__ALIGNMENT. */
void ft__writer_add(ft__writer *w, const void *data, size_t len);
/* What was added since `begin` (w->body.len then) is one section of `bytes`. */
ft_status ft__writer_end(ft__writer *w, uint32_t type, size_t begin, size_t bytes,
                         ft_error *err);
/* ft__writer_add() and ft__writer_end(). */
ft_status ft__writer_section(ft__writer *w, uint32_t type, const void *data, size_t len,
                             ft_error *err);
/* The choice and the models of a fit, which are added; *m is to be written in front of
 * them. */
void ft__writer_models(ft__writer *w, ft__mixture_image *m, const ft__fit *fit);

#endif
