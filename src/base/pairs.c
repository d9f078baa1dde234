/* Values out of "name=value name=value". */
#include "base/pairs.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

const char *ft__pair_of(const char *text, const char *name, size_t n, size_t *len)
{
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

const char *ft__pair(const char *text, const char *name, size_t *len)
{
    return ft__pair_of(text, name, strlen(name), len);
}

void ft__pairs_without(ft__buf *out, const char *text, const char *name)
{
    size_t len;
    const char *value = ft__pair(text, name, &len), *pair, *after;

    if (!value) {
        ft__buf_str(out, text);
        return;
    }
    pair = value - strlen(name) - 1;
    after = value + len + (value[len] == ' ');
    ft__buf_add(out, text, (size_t)(pair - text) - (pair > text && !*after));
    ft__buf_str(out, after);
}

void ft__pairs_find(ft__pair_value *out, const char *text, const char *const *name,
                    size_t n)
{
    memset(out, 0, n * sizeof(*out));
    while (text && *text) {
        const char *end = strchr(text, ' '), *value = text;

        end = end ? end : text + strlen(text);
        while (value < end && *value != '=')
            value++;
        for (size_t i = 0; i < n && value < end; i++)
            if (!out[i].s && *name[i] == *text &&
                strncmp(name[i], text, (size_t)(value - text)) == 0 &&
                !name[i][value - text]) {
                out[i] = (ft__pair_value){value + 1, (size_t)(end - value) - 1};
                break;
            }
        text = end + (*end == ' ');
    }
}

double ft__pair_value_number(const ft__pair_value *value)
{
    static const char prefix[] = "kMGmu";
    static const double factor[] = {1e3, 1e6, 1e9, 1e-3, 1e-6};
    char digits[FT__NUMBER_TEXT];
    size_t n = value->s ? strspn(value->s, "+-.0123456789") : 0;
    const char *p;
    double v;

    if (n > value->len)
        n = value->len;
    if (!n || n >= sizeof(digits))
        return NAN;
    memcpy(digits, value->s, n);
    digits[n] = '\0';
    if (!ft__number_parse(digits, &v))
        return NAN;
    /* A prefix stands before a unit: what is 5m is five metres. */
    p = n + 1 < value->len ? strchr(prefix, value->s[n]) : NULL;
    return p ? v * factor[p - prefix] : v;
}

double ft__pair_number(const char *text, const char *name)
{
    ft__pair_value v = {0};

    v.s = ft__pair(text, name, &v.len);
    return ft__pair_value_number(&v);
}
