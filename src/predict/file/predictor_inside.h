#ifndef PREDICT_FILE_PREDICTOR_INSIDE_H
#define PREDICT_FILE_PREDICTOR_INSIDE_H

#include "foretell/predictor.h"

/* The same from memory (8-byte aligned, kept by the caller while in use). */
ft_status ft__predictor_load_image(ft_predictor **out, const void *image, size_t len,
                                   ft_error *err);

#endif
