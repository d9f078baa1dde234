/* Names instead of paths, so that no request reaches a file that nobody offered. */
#define _DEFAULT_SOURCE /* syscall */
#include "cli/web/web.h"

#include <dirent.h>
#include <errno.h>
#include <linux/memfd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/web/request.h"

struct offered {
    char *name, *path;
};

struct upload {
    char name[128];
    int fd; /* a file without a name in any folder */
};

struct ft__web_models {
    struct offered *offered;
    size_t n;
    pthread_rwlock_t lock; /* of uploads; read while their paths are in use */
    struct upload upload[FT__UPLOADS];
    size_t n_uploads, oldest;
};

static bool offer(ft__web_models *m, const char *path)
{
    struct offered *grown = realloc(m->offered, (m->n + 1) * sizeof(*grown));
    struct offered *o;

    if (!grown)
        return false;
    m->offered = grown;
    o = &m->offered[m->n++];
    o->name = strdup(ft__path_name(path));
    o->path = strdup(path);
    return o->name && o->path;
}

static bool is_model(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && (strcmp(dot, ".onnx") == 0 || strcmp(dot, ".pt2") == 0);
}

static bool offer_folder(ft__web_models *m, const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *e;
    bool good = true;

    while (dir && good && (e = readdir(dir))) {
        char path[FT__PATH_MAX + 300];

        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        if (is_model(e->d_name))
            good = offer(m, path);
    }
    if (dir)
        closedir(dir);
    return good;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct offered *)a)->name, ((const struct offered *)b)->name);
}

int ft__web_models_open(ft__web_models **out, ft__cli *c)
{
    ft__web_models *m = calloc(1, sizeof(*m));
    char folder[FT__PATH_MAX + 16];
    bool good;

    *out = m;
    if (!m)
        return ft__cli_done(c, false);
    pthread_rwlock_init(&m->lock, NULL);
    for (size_t i = 0; i < FT__UPLOADS; i++)
        m->upload[i].fd = -1;
    ft__path_data(c, folder);
    strcat(folder, "/models");
    good = offer_folder(m, folder);
    if (m->n)
        qsort(m->offered, m->n, sizeof(*m->offered), by_name);
    for (size_t i = 0; i < c->args.n && good; i++) {
        if (access(c->args.v[i], R_OK))
            return ft__cli_exit(c, FT__EXIT_INPUT, "%s: %s", c->args.v[i],
                                strerror(errno));
        good = offer(m, c->args.v[i]);
    }
    return good ? FT__EXIT_GOOD : ft__cli_done(c, false);
}

void ft__web_models_close(ft__web_models *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++) {
        free(m->offered[i].name);
        free(m->offered[i].path);
    }
    for (size_t i = 0; i < FT__UPLOADS; i++)
        if (m->upload[i].fd >= 0)
            close(m->upload[i].fd);
    free(m->offered);
    pthread_rwlock_destroy(&m->lock);
    free(m);
}

void ft__web_models_use(ft__web_models *m)
{
    pthread_rwlock_rdlock(&m->lock);
}

void ft__web_models_unuse(ft__web_models *m)
{
    pthread_rwlock_unlock(&m->lock);
}

static char *path_of_upload(ft__web_models *m, const char *name)
{
    char path[64];
    int fd = -1;

    for (size_t i = 0; i < m->n_uploads; i++)
        if (strcmp(m->upload[i].name, name) == 0)
            fd = m->upload[i].fd;
    if (fd < 0)
        return NULL;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return strdup(path);
}

/* What was offered last is what the user named. */
char *ft__web_models_path(void *models, const char *name)
{
    ft__web_models *m = models;

    for (size_t i = m->n; i-- > 0;)
        if (strcmp(m->offered[i].name, name) == 0)
            return strdup(m->offered[i].path);
    return path_of_upload(m, name);
}

json_t *ft__web_models_json(ft__web_models *m)
{
    json_t *all = json_array();

    for (size_t i = 0; i < m->n; i++)
        ft__json_append_take(&all, ft__json_text(m->offered[i].name));
    return all;
}

static bool write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        const ssize_t n = write(fd, bytes, len);

        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static bool random_bytes(void *to, size_t n)
{
    FILE *fp = fopen("/dev/urandom", "rb");
    const bool good = fp && fread(to, 1, n, fp) == n;

    if (fp)
        fclose(fp);
    return good;
}

bool ft__web_models_add(ft__web_models *m, char *as, size_t size, const char *name,
                        const char *bytes, size_t len)
{
    /* By its number: the C library of the portable build does not know it. */
    const int fd = (int)syscall(__NR_memfd_create, "foretell-upload", MFD_CLOEXEC);
    char clean[64];
    struct upload *u;
    uint64_t random[2];

    if (fd < 0 || !write_all(fd, bytes, len) || !random_bytes(random, sizeof(random))) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    ft__web_clean_name(clean, sizeof(clean), name);
    pthread_rwlock_wrlock(&m->lock);
    u = &m->upload[m->oldest];
    m->oldest = (m->oldest + 1) % FT__UPLOADS;
    m->n_uploads += m->n_uploads < FT__UPLOADS;
    if (u->fd >= 0)
        close(u->fd);
    u->fd = fd;
    snprintf(u->name, sizeof(u->name), "upload-%016jx%016jx-%s", (uintmax_t)random[0],
             (uintmax_t)random[1], clean);
    snprintf(as, size, "%s", u->name);
    pthread_rwlock_unlock(&m->lock);
    return true;
}
