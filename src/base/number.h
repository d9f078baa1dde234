#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers as decimal text, exactly and whatever locale the host program set. */

/* This thread writes and reads numbers with a point, until what was before is back. */
locale_t ft__locale_plain(void);
void ft__locale_back(locale_t before);

/* The whole of `s` is a finite number: digits, '.', sign and exponent; no
 * blanks, no "nan" or "inf", no hexadecimal. */
bool ft__number_parse(const char *s, double *v);

/* 17 significant digits, which give back the same double. */
enum { FT__NUMBER_TEXT = 32 };
void ft__number_text(char text[FT__NUMBER_TEXT], double v);
/* Its length; text has no end mark. */
size_t ft__whole_text(char text[FT__NUMBER_TEXT], int64_t v);

#endif
