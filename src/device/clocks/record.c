/* The lock of settings, and the records of what is to be put back. */
#define _DEFAULT_SOURCE /* flock() */
#include "device/clocks/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/sysfs.h"

#define LOCK "settings.lock"
#define HEAD "foretell settings 1\n"

static const double patience_s = 5;

struct path {
    char s[PATH_MAX];
};

static bool path_of(struct path *p, const char *dir, const char *name)
{
    return (size_t)snprintf(p->s, sizeof(p->s), "%s/%s", dir, name) < sizeof(p->s);
}

/* ---- the lock ---- */

static long number_in(int fd)
{
    char text[32] = "";

    return pread(fd, text, sizeof(text) - 1, 0) > 0 ? strtol(text, NULL, 10) : 0;
}

static bool is_alive(long pid)
{
    return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

/* The guard of a process that is gone holds the lock until all is put back. */
static bool lock_patiently(int fd)
{
    double end_s = ft__now_s() + patience_s;

    while (flock(fd, LOCK_EX | LOCK_NB)) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        if (is_alive(number_in(fd)) || ft__now_s() > end_s)
            return false;
        ft__sleep_s(0.01);
    }
    return true;
}

ft_status ft__state_lock(int *fd, const char *dir, ft_error *err)
{
    struct path p;
    char text[32];
    int len = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    long holder;

    *fd = -1;
    if (!dir)
        return FT_OK;
    if (!path_of(&p, dir, LOCK) || ft__sys_make_folders(p.s) ||
        (*fd = open(p.s, O_RDWR | O_CREAT | O_CLOEXEC, 0666)) < 0)
        return ft_fail(err, FT_EIO, 0,
                       "settings are not changed, because what to put back cannot be "
                       "written down in %s: %s",
                       dir, strerror(errno));
    if (!lock_patiently(*fd)) {
        holder = number_in(*fd);
        close(*fd);
        *fd = -1;
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "settings are held by process %ld already; wait for its end, or "
                       "end it (it puts back what it set)",
                       holder);
    }
    if (ftruncate(*fd, 0) || pwrite(*fd, text, (size_t)len, 0) != len) {
        ft__state_unlock(*fd);
        *fd = -1;
        return ft_fail(err, FT_EIO, 0, "%s: %s", p.s, strerror(errno));
    }
    return FT_OK;
}

void ft__state_unlock(int fd)
{
    bool cleared;

    if (fd < 0)
        return;
    /* So that nobody takes the last holder for the present one. */
    cleared = ftruncate(fd, 0) == 0;
    (void)cleared;
    /* Also for those who got it by a fork. */
    (void)flock(fd, LOCK_UN);
    close(fd);
}

long ft__state_holder(const char *dir)
{
    struct path p;
    long holder = 0;
    int fd;

    if (!dir || !path_of(&p, dir, LOCK) || (fd = open(p.s, O_RDONLY | O_CLOEXEC)) < 0)
        return 0;
    if (flock(fd, LOCK_SH | LOCK_NB))
        holder = number_in(fd);
    close(fd);
    return holder;
}

/* ---- records ---- */

static void boot_of(char text[64], const char *root)
{
    ft__sys_text(text, 64, root, "/proc/sys/kernel/random/boot_id");
}

static bool write_all(const char *path, const ft__buf *b)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool good;

    if (fd < 0)
        return false;
    good = write(fd, b->s, b->len) == (ssize_t)b->len && fsync(fd) == 0;
    return close(fd) == 0 && good;
}

/* So that the new name survives a power cut. */
static void sync_folder(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}

ft_status ft__record_write(const char *dir, const char *name, const char *root,
                           const ft__acts *a, ft_error *err)
{
    char boot[64], fresh[64];
    struct path to, from;
    ft__buf b = {0};
    bool good;

    if (!dir)
        return FT_OK;
    boot_of(boot, root);
    ft__buf_fmt(&b, HEAD "boot\t%s\nroot\t%s\n", boot, root);
    ft__acts_print(a, &b);
    ft__buf_str(&b, "end\n");
    snprintf(fresh, sizeof(fresh), "%s.new", name);
    good = !b.bad && path_of(&to, dir, name) && path_of(&from, dir, fresh) &&
           write_all(from.s, &b) && rename(from.s, to.s) == 0;
    ft__buf_free(&b);
    if (!good)
        return ft_fail(err, FT_EIO, 0,
                       "settings are not changed, because what to put back cannot be "
                       "written down in %s: %s",
                       dir, strerror(errno));
    sync_folder(dir);
    return FT_OK;
}

void ft__record_remove(const char *dir, const char *name)
{
    struct path p;

    if (!dir || !path_of(&p, dir, name) || unlink(p.s))
        return;
    sync_folder(dir);
}

/* "boot\tX\n" at *at: X, and *at behind it; NULL: it is not there. */
static char *field(char **at, const char *name)
{
    size_t len = strlen(name);
    char *value = *at + len + 1, *end;

    if (strncmp(*at, name, len) != 0 || (*at)[len] != '\t')
        return NULL;
    end = strchr(value, '\n');
    if (!end)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return value;
}

static ft_status parse(ft__acts *a, bool *stale, char *text, const char *path,
                       const char *root, ft_error *err)
{
    char *at = text, *boot = NULL, *of = NULL, *end;
    char now[64];

    boot_of(now, root);
    if (strncmp(at, HEAD, sizeof(HEAD) - 1) == 0) {
        at += sizeof(HEAD) - 1;
        boot = field(&at, "boot");
        of = boot ? field(&at, "root") : NULL;
    }
    end = of ? strstr(at, "end\n") : NULL;
    if (!end || end[4] || (end > at && end[-1] != '\n'))
        return ft_fail(err, FT_EFORMAT, 0, "%s is no record of settings; remove it",
                       path);
    if (strcmp(of, root) != 0)
        return ft_fail(err, FT_EFORMAT, 0, "%s is of another machine, recorded in %s",
                       path, of);
    *end = '\0';
    *stale = strcmp(boot, now) != 0;
    return *stale ? FT_OK : ft__acts_parse(a, at, err);
}

ft_status ft__record_read(ft__acts *a, const char *dir, const char *name,
                          const char *root, ft_error *err)
{
    struct path p;
    bool stale = false;
    char *text;
    size_t len;
    ft_status st;

    if (!dir || !path_of(&p, dir, name) || access(p.s, F_OK))
        return FT_OK;
    st = ft__sys_file(&text, &len, p.s, err);
    if (!st && !text)
        st = ft_fail(err, FT_EFORMAT, 0, "%s is empty; remove it", p.s);
    if (!st)
        st = parse(a, &stale, text, p.s, root, err);
    free(text);
    if (stale)
        ft__record_remove(dir, name);
    return st;
}
