/* Files that are written whole or not at all. */
#define _XOPEN_SOURCE 700
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "foretell/file.h"

static ft_status cannot_write(const ft__output *o, ft_error *err)
{
    return ft_fail(err, FT_EIO, 0, "cannot write %s: %s", o->path, strerror(errno));
}

static void release(ft__output *o)
{
    free(o->target);
    free(o->temporary);
    *o = (ft__output){0};
}

/* A name beside the target that nobody can guess, so that nothing waits under it. */
static char *name_beside(const char *target)
{
    FILE *fp = fopen("/dev/urandom", "rb");
    ft__buf b = {0};
    uint64_t random = 0;
    bool drawn = fp && fread(&random, sizeof(random), 1, fp) == 1;

    if (fp)
        fclose(fp);
    if (!drawn)
        return NULL;
    ft__buf_fmt(&b, "%s.%016llx", target, (unsigned long long)random);
    if (b.bad)
        ft__buf_free(&b);
    return b.s;
}

/* old: the file that stands there; NULL: none does. */
static ft_status open_beside(ft__output *o, const struct stat *old, ft_error *err)
{
    int fd = -1;

    o->target = old ? realpath(o->path, NULL) : strdup(o->path);
    o->temporary = o->target ? name_beside(o->target) : NULL;
    if (o->temporary)
        fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return cannot_write(o, err);
    if (old)
        (void)!fchmod(fd, old->st_mode & 0777);
    o->fp = fdopen(fd, "wb");
    if (!o->fp) {
        ft_status st = cannot_write(o, err);

        close(fd);
        remove(o->temporary);
        return st;
    }
    return FT_OK;
}

ft_status ft__output_open(ft__output *o, const char *path, ft_error *err)
{
    struct stat now;
    bool there = stat(path, &now) == 0;
    ft_status st = FT_OK;

    *o = (ft__output){.path = path};
    if (there && S_ISDIR(now.st_mode))
        return ft_fail(err, FT_EIO, 0, "cannot write %s: it is a folder", path);
    if (!there || S_ISREG(now.st_mode))
        st = open_beside(o, there ? &now : NULL, err);
    else if (!(o->fp = fopen(path, "wb")))
        st = cannot_write(o, err);
    if (st)
        release(o);
    return st;
}

/* And closes it. */
static bool synchronize(ft__output *o)
{
    bool good = !ferror(o->fp) && fflush(o->fp) == 0;

    good = good && (!o->target || fsync(fileno(o->fp)) == 0);
    return fclose(o->fp) == 0 && good;
}

ft_status ft__output_close(ft__output *o, ft_status st, ft_error *err)
{
    bool good;

    if (!o->fp)
        return st;
    errno = 0;
    good = synchronize(o) && (st || !o->target || !rename(o->temporary, o->target));
    if (!st && !good)
        st = ft_fail(err, FT_EIO, 0, "cannot write all of %s: %s", o->path,
                     errno ? strerror(errno) : "is the disk full?");
    if (st && o->temporary)
        remove(o->temporary);
    release(o);
    return st;
}

ft_status ft_file_write(const char *path, const void *bytes, size_t len, ft_error *err)
{
    ft__output o;
    ft_status st = ft__output_open(&o, path, err);

    if (st)
        return st;
    fwrite(bytes, 1, len, o.fp);
    return ft__output_close(&o, FT_OK, err);
}
