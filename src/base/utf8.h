#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Are these bytes UTF-8 without a zero byte? (RFC 3629) */
bool ft__utf8_valid(const char *text, size_t len);

#endif
