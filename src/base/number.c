/* Numbers to decimal text and back, whatever the locale. */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

locale_t ft__locale_plain(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void ft__locale_back(locale_t before)
{
    const locale_t plain = uselocale(before);

    if (plain != before) /* without memory there was none */
        freelocale(plain);
}

bool ft__number_parse(const char *s, double *v)
{
    const locale_t before = ft__locale_plain();
    char *end;

    *v = strtod(s, &end);
    ft__locale_back(before);
    return *s && *end == '\0' && s[strspn(s, "0123456789.eE+-")] == '\0' &&
           isfinite(*v);
}

void ft__number_text(char text[FT__NUMBER_TEXT], double v)
{
    const locale_t before = ft__locale_plain();

    snprintf(text, FT__NUMBER_TEXT, "%.17g", v);
    ft__locale_back(before);
}

size_t ft__whole_text(char text[FT__NUMBER_TEXT], int64_t v)
{
    char digits[FT__NUMBER_TEXT], *end = digits + sizeof(digits), *p = end;
    uint64_t left = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

    do
        *--p = (char)('0' + left % 10);
    while (left /= 10);
    if (v < 0)
        *--p = '-';
    memcpy(text, p, (size_t)(end - p));
    return (size_t)(end - p);
}
