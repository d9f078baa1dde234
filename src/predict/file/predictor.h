#ifndef PREDICT_FILE_PREDICTOR_H
#define PREDICT_FILE_PREDICTOR_H

#include "foretell/predictor.h"
#include "predict/file/image.h"
#include "predict/query/network.h"

/* clang-format off */
/* The file *.ftp, little-endian, every part a multiple of 8 bytes:
 *
 *   header | section table | sections
 *
 *   FT__SECTION_FAMILY     the datasets that were learned from
 *   FT__SECTION_MODEL_SET  of one metric: physical constants by name, columns, errors
 *   FT__SECTION_PART       ft__regressor_image, ranges, then the images of its models
 *                          and of the scale of their residuals; many
 *   FT__SECTION_TEMPLATES  of one dataset: what was measured against its estimate
 *   FT__SECTION_SCHEDULE   one ft__device_schedule; many
 *   FT__SECTION_UNSEEN     ft__unseen; or none
 *   FT__SECTION_ALONE      one ft__alone; many
 *   FT__SECTION_CLOCKS     of one device: workloads at clocks (predict/model/dvfs.h); many
 *   FT__SECTION_KERNELS    kernels in PTX (kernels.h); or none
 *   FT__SECTION_BOARDS     ft__family.between_boards; or none
 *
 * (family_image.h). The table is checked when the file is opened, each section at its
 * first use. */
/* clang-format on */
#define FT__PREDICTOR_MAGIC "ftpredct"
/* Grows with the format, and when features of operations change. The numbers of kinds
 * are a feature: new ones go to the end of the list; and neighbours are found by
 * numbers of layouts and the order of a kind's keys.
 */
enum { FT__PREDICTOR_VERSION = 2 };

typedef struct ft__header_image {
    char magic[8];
    uint32_t version, n_sections;
    uint64_t file_bytes, table_checksum;
} ft__header_image;

struct ft_predictor {
    const unsigned char *image;
    size_t len;
    void *mapping; /* to unmap, or NULL */
    void *memory;  /* to free, or NULL */
    struct ft__family *family;
};

/* ft_predictor_load() of a file in memory (8-byte aligned, kept by the caller while in
 * use). */
ft_status ft__predictor_load_image(ft_predictor **out, const void *image, size_t len,
                                   ft_error *err);
ft_status ft__predictor_of_family(ft_predictor **out, const struct ft__family *f,
                                  ft_error *err);

#endif
