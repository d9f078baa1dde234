#ifndef STORE_BLOB_H
#define STORE_BLOB_H

#include "foretell/store.h"

/* Readings on disk, little-endian: 24 bytes each of value, start_s and iterations;
 * apart from them, where any is not 0, 8 bytes each of round and marks. */
enum { FT__READING_BYTES = 24, FT__ROUND_BYTES = 8 };

/* The caller's to free(); NULL when memory is short. */
unsigned char *ft__readings_encode(const ft_reading *r, size_t n);
/* NULL and *bad 0: all rounds and marks are 0. */
unsigned char *ft__rounds_encode(const ft_reading *r, size_t n, int *bad);
void ft__readings_decode(ft_reading *r, size_t n, const unsigned char *data);
void ft__rounds_decode(ft_reading *r, size_t n, const unsigned char *data);

#endif
