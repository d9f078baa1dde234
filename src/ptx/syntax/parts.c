/* Files, and the modules in them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "ptx/launch/launches.h"
#include "ptx/ptx_inside.h"
#include "ptx/syntax/module.h"

/* ---- files ---- */

static ft_status read_fd(char **out, size_t *len, int fd, const char *path, size_t most,
                         ft_error *err)
{
    struct stat s;
    size_t n = 0;
    ssize_t got;

    if (fstat(fd, &s))
        return ft_fail(err, FT_EIO, 0, "%s: %s", path, strerror(errno));
    if (!S_ISREG(s.st_mode))
        return ft_fail(err, FT_EIO, 0, "%s: not a file", path);
    if ((uint64_t)s.st_size > most)
        return ft_fail(err, FT_EFORMAT, 0, "%s: larger than %zu MiB", path, most >> 20);
    *out = malloc((size_t)s.st_size + 1);
    if (!*out)
        return ft_fail(err, FT_ENOMEM, 0, "%s", path);
    while (n < (size_t)s.st_size &&
           (got = read(fd, *out + n, (size_t)s.st_size - n)) > 0)
        n += (size_t)got;
    (*out)[n] = '\0';
    *len = n;
    return FT_OK;
}

ft_status ft__ptx_load(char **out, size_t *len, const char *path, size_t most,
                       ft_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ft_status st;

    *out = NULL;
    *len = 0;
    if (fd < 0)
        return ft_fail(err, FT_EIO, 0, "%s: %s", path, strerror(errno));
    st = read_fd(out, len, fd, path, most, err);
    close(fd);
    return st;
}

/* ---- modules of a text ---- */

struct text_parts {
    const char *at, *end; /* what is not looked at yet */
    uint32_t line;
    bool comment; /* at is inside of one */
};

static bool starts(const char *p, const char *end, const char *word)
{
    size_t n = strlen(word);

    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return (size_t)(end - p) > n && memcmp(p, word, n) == 0 &&
           (p[n] == ' ' || p[n] == '\t');
}

static bool in_comment(const char *p, const char *end, bool inside)
{
    for (; p + 1 < end; p++) {
        if (!inside && p[0] == '/' && p[1] == '/')
            return false;
        if (inside ? p[0] == '*' && p[1] == '/' : p[0] == '/' && p[1] == '*') {
            inside = !inside;
            p++;
        }
    }
    return inside;
}

/* The next line that begins a module, or what cuobjdump writes between two; NULL: none.
 * *module says which; *line is its number. */
static const char *next_mark(struct text_parts *p, bool *module, uint32_t *line)
{
    while (p->at < p->end) {
        const char *begin = p->at,
                   *stop = memchr(begin, '\n', (size_t)(p->end - begin));
        const char *end = stop ? stop : p->end;
        bool comment = p->comment;

        p->at = stop ? stop + 1 : p->end;
        p->comment = in_comment(begin, end, comment);
        *line = p->line++;
        *module = starts(begin, end, ".version");
        if (!comment && (*module || starts(begin, end, "Fatbin")))
            return begin;
    }
    return NULL;
}

/* A module of a text of its own, which it keeps. */
static ft_status add_module(ft_ptx ***list, size_t *n, size_t *cap, const char *begin,
                            const char *end, const char *name, ft_error *err)
{
    ft_ptx **grown = ft__list_grow(*list, *n, cap, sizeof(*grown));
    size_t len = (size_t)(end - begin);
    char *text;
    ft_status st;

    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "%s", name);
    *list = grown;
    text = malloc(len + 1);
    if (!text)
        return ft_fail(err, FT_ENOMEM, 0, "%s", name);
    memcpy(text, begin, len);
    text[len] = '\0';
    st = ft__ptx_parse(&grown[*n], text, len, name, err);
    if (st) {
        free(text);
        return st;
    }
    grown[(*n)++]->owned = text;
    return FT_OK;
}

static ft_status add_parts(ft_ptx ***list, size_t *n, const char *text, size_t len,
                           const char *path, ft_error *err)
{
    struct text_parts p = {text, text + len, 1, false};
    bool module, next_module;
    uint32_t line, next_line;
    size_t cap = 0;
    const char *next, *begin = next_mark(&p, &module, &line);
    ft_status st = FT_OK;
    char name[FT__MAX_NAME];

    while (begin && !st) {
        next = next_mark(&p, &next_module, &next_line);
        snprintf(name, sizeof(name), "%.3900s from line %u on", path, line);
        if (module)
            st = add_module(list, n, &cap, begin, next ? next : p.end, name, err);
        begin = next;
        module = next_module;
        line = next_line;
    }
    if (!st && *n == 0)
        st = ft_fail(err, FT_EFORMAT, 0,
                     "%s: no PTX in it; what cuobjdump -ptx prints has it where the "
                     "program was compiled with PTX for a later GPU",
                     path);
    return st;
}

static size_t count_marks(const char *text, size_t len)
{
    struct text_parts p = {text, text + len, 1, false};
    uint32_t line;
    bool module;
    size_t n = 0;

    while (n < 2 && next_mark(&p, &module, &line))
        n += module ? 1 : 2;
    return n;
}

ft_status ft_ptx_modules_open(ft_ptx ***out, size_t *n, const char *path, ft_error *err)
{
    size_t len, cap = 0;
    char *text;
    ft_status st = ft__ptx_load(&text, &len, path, FT__PTX_MAX_FILE, err);

    *out = NULL;
    *n = 0;
    if (st)
        return st;
    if (count_marks(text, len) < 2)
        st = add_module(out, n, &cap, text, text + len, path, err);
    else
        st = add_parts(out, n, text, len, path, err);
    free(text);
    if (st) {
        ft_ptx_modules_free(*out, *n);
        *out = NULL;
        *n = 0;
    }
    return st;
}

void ft_ptx_modules_free(ft_ptx **m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ft__ptx_free(m[i]);
    free(m);
}
