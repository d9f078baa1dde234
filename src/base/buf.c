/* Growing text: pieces and formats in, one terminated string out. */
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Make room for `more` bytes and the terminator. */
static bool reserve(ft__buf *b, size_t more)
{
    size_t cap = b->cap ? b->cap : 64;
    char *s;

    if (b->bad || more > SIZE_MAX / 4) {
        b->bad = true;
        return false;
    }
    while (cap - b->len <= more)
        cap *= 2;
    if (cap != b->cap) {
        s = realloc(b->s, cap);
        if (!s) {
            b->bad = true;
            return false;
        }
        b->s = s;
        b->cap = cap;
    }
    return true;
}

void ft__buf_add(ft__buf *b, const char *s, size_t len)
{
    if (!reserve(b, len))
        return;
    memcpy(b->s + b->len, s, len);
    b->len += len;
    b->s[b->len] = '\0';
}

void ft__buf_str(ft__buf *b, const char *s)
{
    ft__buf_add(b, s, strlen(s));
}

void ft__buf_word(ft__buf *b, const char *s, size_t len)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=.,:/@%";

    if (len > 0 && strspn(s, plain) >= len) {
        ft__buf_add(b, s, len);
        return;
    }
    ft__buf_str(b, "'");
    for (size_t i = 0; i < len; i++)
        if (s[i] == '\'')
            ft__buf_str(b, "'\\''");
        else
            ft__buf_add(b, s + i, 1);
    ft__buf_str(b, "'");
}

void ft__buf_fmt(ft__buf *b, const char *fmt, ...)
{
    va_list ap;
    size_t room;
    int n = 60; /* most are shorter */

    do {
        if (!reserve(b, (size_t)n))
            return;
        room = b->cap - b->len;
        va_start(ap, fmt);
        n = vsnprintf(b->s + b->len, room, fmt, ap);
        va_end(ap);
    } while (n >= 0 && (size_t)n >= room);
    b->bad = n < 0;
    b->len += n < 0 ? 0 : (size_t)n;
}

void ft__buf_free(ft__buf *b)
{
    free(b->s);
    *b = (ft__buf){0};
}

ft_status ft__file_read(char **text, size_t *len, const char *path, size_t most,
                        ft_error *err)
{
    enum { PIECE = 1 << 12 };
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : 1;
    ft__buf b = {0};
    ft_status st = FT_OK;
    struct stat of;

    if (fd >= 0 && fstat(fd, &of) == 0 && S_ISREG(of.st_mode) &&
        (uintmax_t)of.st_size > most)
        b.len = most + 1;
    while (n > 0 && b.len <= most && reserve(&b, PIECE)) {
        n = read(fd, b.s + b.len, b.cap - b.len - 1);
        b.len += n > 0 ? (size_t)n : 0;
        b.s[b.len] = '\0';
    }
    if (n < 0)
        st = ft_fail(err, FT_EIO, 0, "cannot read %s: %s", path, strerror(errno));
    else if (b.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "%s", path);
    else if (b.len > most)
        st = ft_fail(err, FT_EFORMAT, 0, "%s: larger than %zu MiB", path, most >> 20);
    if (fd >= 0)
        close(fd);
    if (st)
        ft__buf_free(&b);
    *text = b.s;
    *len = b.len;
    return st;
}

const char *ft__base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}
