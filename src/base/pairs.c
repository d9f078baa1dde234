/* Values out of "name=value name=value". */
#include "base/pairs.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

const char *ft__pair(const char *text, const char *name, size_t *len)
{
    size_t n = strlen(name);

    while (text && *text) {
        if (*text == *name && strncmp(text, name, n) == 0 && text[n] == '=') {
            *len = strcspn(text + n + 1, " ");
            return text + n + 1;
        }
        text = strchr(text, ' ');
        if (text)
            text++;
    }
    return NULL;
}

double ft__pair_number(const char *text, const char *name)
{
    static const char prefix[] = "kMGmu";
    static const double factor[] = {1e3, 1e6, 1e9, 1e-3, 1e-6};
    char digits[FT__NUMBER_TEXT];
    size_t len = 0, n;
    const char *value = ft__pair(text, name, &len), *p;
    double v;

    n = value ? strspn(value, "+-.0123456789") : 0;
    if (n > len)
        n = len;
    if (!n || n >= sizeof(digits))
        return NAN;
    memcpy(digits, value, n);
    digits[n] = '\0';
    if (!ft__number_parse(digits, &v))
        return NAN;
    /* A prefix stands before a unit: what is 5m is five metres. */
    p = n + 1 < len ? strchr(prefix, value[n]) : NULL;
    return p ? v * factor[p - prefix] : v;
}
