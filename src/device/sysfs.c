/* Files of /proc and /sys, and whole small files. */
#include "device/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/number.h"

static bool path_of(char path[PATH_MAX], const char *root, const char *fmt, va_list ap)
{
    size_t len = strlen(root);
    int n;

    if (len >= PATH_MAX)
        return false;
    memcpy(path, root, len + 1);
    n = vsnprintf(path + len, PATH_MAX - len, fmt, ap);
    return n >= 0 && (size_t)n < PATH_MAX - len;
}

static int read_text(char *text, size_t size, const char *path)
{
    FILE *fp = fopen(path, "r");
    size_t len;
    int rc = 0;

    *text = '\0';
    if (!fp)
        return errno;
    errno = 0;
    len = fread(text, 1, size - 1, fp);
    if (ferror(fp))
        rc = errno ? errno : EIO;
    while (len && (isspace((unsigned char)text[len - 1]) || !text[len - 1]))
        len--;
    text[len] = '\0';
    fclose(fp);
    return rc;
}

int ft__sys_text(char *text, size_t size, const char *root, const char *fmt, ...)
{
    char path[PATH_MAX];
    va_list ap;
    bool fits;

    *text = '\0';
    va_start(ap, fmt);
    fits = path_of(path, root, fmt, ap);
    va_end(ap);
    return fits ? read_text(text, size, path) : ENAMETOOLONG;
}

bool ft__sys_number(double *v, const char *root, const char *fmt, ...)
{
    char path[PATH_MAX], text[64];
    va_list ap;
    bool fits;

    va_start(ap, fmt);
    fits = path_of(path, root, fmt, ap);
    va_end(ap);
    return fits && read_text(text, sizeof(text), path) == 0 &&
           ft__number_parse(text, v);
}

int ft__sys_make_folders(const char *path)
{
    char part[PATH_MAX];
    size_t len = strlen(path);

    if (len >= sizeof(part))
        return ENAMETOOLONG;
    memcpy(part, path, len + 1);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0777) && errno != EEXIST)
            return errno;
        *slash = '/';
    }
    return 0;
}

static int visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* alphasort() would depend on the locale. */
static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

ft_status ft__sys_names(char ***names, size_t *n, const char *root, const char *fmt,
                        ...)
{
    struct dirent **found = NULL;
    char path[PATH_MAX];
    ft_status st = FT_OK;
    va_list ap;
    int count = 0;

    *names = NULL;
    *n = 0;
    va_start(ap, fmt);
    if (path_of(path, root, fmt, ap))
        count = scandir(path, &found, visible, by_bytes);
    va_end(ap);
    if (count < 0)
        return errno == ENOMEM ? FT_ENOMEM : FT_OK;
    *names = calloc((size_t)count + 1, sizeof(**names));
    if (!*names)
        st = FT_ENOMEM;
    for (int i = 0; i < count; i++) {
        if (st == FT_OK && !((*names)[*n] = strdup(found[i]->d_name)))
            st = FT_ENOMEM;
        *n += st == FT_OK;
        free(found[i]);
    }
    free(found);
    if (st == FT_OK)
        return FT_OK;
    ft__sys_names_free(*names, *n);
    *names = NULL;
    *n = 0;
    return st;
}

void ft__sys_names_free(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

char *ft__cpuinfo(const char *root)
{
    char path[PATH_MAX], *text = NULL;
    size_t len;

    if (snprintf(path, sizeof(path), "%s/proc/cpuinfo", root) < (int)sizeof(path))
        (void)ft__file_read(&text, &len, path, FT__MAX_TEXT_FILE, NULL);
    return text;
}

/* Where the value of the first line "key\t: value" begins; NULL when there is
 * no such line. */
static const char *find_value(const char *text, const char *key)
{
    size_t len = strlen(key);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, len) == 0) {
            const char *p = line + len + strspn(line + len, " \t");

            if (*p == ':')
                return p + 1 + strspn(p + 1, " \t");
        }
    }
    return NULL;
}

void ft__cpuinfo_value(char *value, size_t size, const char *cpuinfo, const char *key)
{
    const char *from = find_value(cpuinfo, key);
    size_t len = from ? strcspn(from, "\n") : 0;

    if (len >= size)
        len = size - 1;
    if (from)
        memcpy(value, from, len);
    value[len] = '\0';
}

bool ft__is_virtual(const char *root)
{
    char *cpuinfo = ft__cpuinfo(root);
    const char *flags = find_value(cpuinfo, "flags");
    const char *word = flags ? strstr(flags, " hypervisor") : NULL;
    bool is_virtual = word && word < flags + strcspn(flags, "\n");

    free(cpuinfo);
    return is_virtual;
}
