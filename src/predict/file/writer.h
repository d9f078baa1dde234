#ifndef PREDICT_FILE_WRITER_H
#define PREDICT_FILE_WRITER_H

#include "base/buf.h"
#include "predict/file/predictor.h"

/* A predictor file while it is made: sections, one behind the other. */
typedef struct ft__writer {
    ft__buf body;
    ft__section_image *section;
    uint32_t n_sections;
    uint32_t cap_sections;
} ft__writer;

/* Bytes, and zeros up to the next multiple of FT__ALIGNMENT. */
void ft__writer_add(ft__writer *w, const void *data, size_t len);
/* What was added since `begin` (w->body.len then) is one section of `bytes`. */
ft_status ft__writer_end(ft__writer *w, uint32_t type, size_t begin, size_t bytes,
                         ft_error *err);
/* Both. */
ft_status ft__writer_section(ft__writer *w, uint32_t type, const void *data, size_t len,
                             ft_error *err);
/* The choice and the models of a fit, which are added; *m is to be written in front of
 * them. */
void ft__writer_models(ft__writer *w, ft__mixture_image *m, const ft__fit *fit);
/* The file, opened from memory. */
ft_status ft__writer_finish(ft_predictor **out, ft__writer *w, ft_error *err);
void ft__writer_free(ft__writer *w);

#endif
