/* What an engine is given when it is opened: options, and the library below it. */
#include "options.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ft_status ft__options_read(void *to, const char *engine, const char *text,
                           ft__read_option_fn *read, const char *knows, ft_error *err)
{
    char pair[4200], *value;

    while (text && *text) {
        size_t len = strcspn(text, ",");

        snprintf(pair, sizeof(pair), "%.*s", (int)len, text);
        value = strchr(pair, '=');
        if (value)
            *value++ = '\0';
        if (!value || len >= sizeof(pair) || !read(to, pair, value))
            return ft_fail(err, FT_EINVAL, 0, "%s: bad option \"%.*s\"; it knows %s",
                           engine, (int)(len < 191 ? len : 191), text, knows);
        text += len + (text[len] == ',');
    }
    return FT_OK;
}

bool ft__option_text(char *out, size_t size, const char *value)
{
    return (size_t)snprintf(out, size, "%s", value) < size;
}

int ft__option_word(const char *words, const char *value)
{
    size_t len = strlen(value);
    int n = 0;

    for (const char *p = words; *p; n++) {
        size_t end = strcspn(p, "|");

        if (end == len && memcmp(p, value, len) == 0)
            return n;
        p += end + (p[end] == '|');
    }
    return -1;
}

bool ft__option_number(int *out, const char *value, long most)
{
    char *end;
    long n = strtol(value, &end, 10);

    *out = (int)n;
    return end != value && !*end && n >= 0 && n <= most;
}

void *ft__library_load(const char *engine, const char *path, const char *const names[2],
                       int mode, const char *how_to_get_it, ft_error *err)
{
    void *lib = *path ? dlopen(path, mode) : NULL;

    for (int i = 0; i < 2 && !*path && !lib; i++)
        lib = dlopen(names[i], mode);
    if (!lib && *path)
        ft_fail(err, FT_ENOTFOUND, 0, "%s: cannot load %.300s: %.300s", engine, path,
                dlerror());
    else if (!lib)
        ft_fail(err, FT_ENOTFOUND, 0, "%s: %s", engine, how_to_get_it);
    return lib;
}
