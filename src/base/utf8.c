/* Whether bytes are UTF-8. */
#include "base/utf8.h"

/* Lengths of UTF-8 sequences and overlong forms: RFC 3629. */
bool ft__utf8_valid(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text, *end = s + len;

    while (s < end) {
        unsigned c = *s++, more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        unsigned low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
        unsigned high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;

        if (c == 0 || (c > 0x7f && c < 0xc2) || c > 0xf4 || (size_t)(end - s) < more)
            return false;
        for (; more; more--, low = 0x80, high = 0xbf, s++)
            if (*s < low || *s > high)
                return false;
    }
    return true;
}
