#ifndef PREDICT_FILE_PREDICTOR_H
#define PREDICT_FILE_PREDICTOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "predict/data/features.h"
#include "predict/file/predictor_inside.h"
#include "predict/model/fit.h"
#include "predict/query/network.h"

/* The file *.ftp, little-endian, every part a multiple of 8 bytes:
 *
 *   header | section table | sections
 *
 *   FT__SECTION_FAMILY     the datasets that were learned from
 *   FT__SECTION_LEARNER    of one metric: physical constants by name, columns, errors
 *   FT__SECTION_PART       ft__part_image, ranges, then the images of its models and of
 *                          the scale of their residuals; many
 *   FT__SECTION_TEMPLATES  of one dataset: what was measured against its estimate
 *   FT__SECTION_SCHEDULE   one ft__placed; many
 *   FT__SECTION_UNSEEN     ft__unseen; or none
 *   FT__SECTION_ALONE      one ft__alone; many
 *   FT__SECTION_CLOCKS     of one device: workloads at clocks (predict/model/dvfs.h);
 * many FT__SECTION_KERNELS    kernels in PTX (kernels.h); or none
 *
 * (family_image.h). The table is checked when the file is opened, each section at its
 * first use. */
#define FT__PREDICTOR_MAGIC "ftpredct"
/* Grows with the format. The numbers of kinds are a feature: new ones go to the end of
 * the list; and neighbours are found by numbers of layouts and the order of a kind's
 * keys.
 */
enum { FT__PREDICTOR_VERSION = 1 };
/* Where sections and models begin, relative to the file: models are fastest where a
 * cache line does. */
enum { FT__ALIGNMENT = 64 };
static inline size_t ft__padded(size_t len)
{
    return (len + FT__ALIGNMENT - 1) / FT__ALIGNMENT * FT__ALIGNMENT;
}

enum ft__section_type {
    FT__SECTION_FAMILY = 1,
    FT__SECTION_LEARNER,
    FT__SECTION_PART,
    FT__SECTION_TEMPLATES,
    FT__SECTION_SCHEDULE,
    FT__SECTION_UNSEEN,
    FT__SECTION_ALONE,
    FT__SECTION_CLOCKS,
    FT__SECTION_KERNELS,
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

enum { FT__N_ERRORS = 12 };

/* What was chosen; images of `bytes` follow, padded: models, then the spread's. */
typedef struct ft__mixture_image {
    uint32_t n_models; /* 0: `centre` is the answer */
    uint32_t reserved;
    double weight[FT__MAX_MIXED];
    double centre;
    char choice[96];
    uint64_t bytes[FT__MAX_MIXED + 1]; /* 0: there is none */
    uint64_t rows;                     /* which it was made of, as a sum of them */
} ft__mixture_image;

struct ft_predictor {
    const unsigned char *image;
    size_t len;
    void *mapping; /* to unmap, or NULL */
    void *memory;  /* to free, or NULL */
    struct ft__family *family;
};

uint64_t ft__checksum(const void *data, size_t len);
/* Like ft__predictor_load_image(), but frees `memory` with the predictor, and
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

#endif
