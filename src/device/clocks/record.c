/* The record of what is to be put back, in a user's folder of state. */
#include "device/clocks/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "device/sysfs.h"

#define HEAD "foretell settings 1\n"

bool ft__state_path(ft__state_path_text *p, const char *dir, const char *name)
{
    return (size_t)snprintf(p->s, sizeof(p->s), "%s/%s", dir, name) < sizeof(p->s);
}

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

ft_status ft__settings_record_write(const char *dir, const char *name, const char *root,
                                    const ft__acts *a, ft_error *err)
{
    char boot[64], fresh[64];
    ft__state_path_text to, from;
    ft__buf b = {0};
    bool good;

    if (!dir)
        return FT_OK;
    boot_of(boot, root);
    ft__buf_fmt(&b, HEAD "boot\t%s\nroot\t%s\n", boot, root);
    ft__acts_print(a, &b);
    ft__buf_str(&b, "end\n");
    snprintf(fresh, sizeof(fresh), "%s.new", name);
    good = !b.bad && ft__state_path(&to, dir, name) &&
           ft__state_path(&from, dir, fresh) && write_all(from.s, &b) &&
           rename(from.s, to.s) == 0;
    ft__buf_free(&b);
    if (!good)
        return ft_fail(err, FT_EIO, 0,
                       "settings are not changed, because what to put back cannot be "
                       "written down in %s: %s",
                       dir, strerror(errno));
    sync_folder(dir);
    return FT_OK;
}

void ft__settings_record_remove(const char *dir, const char *name)
{
    ft__state_path_text p;

    if (!dir || !ft__state_path(&p, dir, name) || unlink(p.s))
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

ft_status ft__settings_record_read(ft__acts *a, const char *dir, const char *name,
                                   const char *root, ft_error *err)
{
    ft__state_path_text p;
    bool stale = false;
    char *text;
    size_t len;
    ft_status st;

    if (!dir || !ft__state_path(&p, dir, name) || access(p.s, F_OK))
        return FT_OK;
    st = ft__file_read(&text, &len, p.s, FT__MAX_TEXT_FILE, err);
    if (!st && !len)
        st = ft_fail(err, FT_EFORMAT, 0, "%s is empty; remove it", p.s);
    if (!st)
        st = parse(a, &stale, text, p.s, root, err);
    free(text);
    if (stale)
        ft__settings_record_remove(dir, name);
    return st;
}
