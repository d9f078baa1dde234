/* A list in the order of use; its tail is what nobody used for longest. */
#include "cli/ask/models.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MOST_GRAPHS = 1024,
    MOST_NODES = 1 << 20, /* of all of them: some 500 MB */
    MOST_KEY = 4096,
};

struct entry {
    struct entry *next;
    char *key;
    ft_graph *graph;
    unsigned users;
};

struct ft__models {
    pthread_mutex_t lock;
    struct entry *first;
};

ft__models *ft__models_new(void)
{
    ft__models *m = calloc(1, sizeof(*m));

    if (m)
        pthread_mutex_init(&m->lock, NULL);
    return m;
}

static void entry_free(struct entry *e)
{
    ft_graph_free(e->graph);
    free(e->key);
    free(e);
}

void ft__models_free(ft__models *m)
{
    if (!m)
        return;
    while (m->first) {
        struct entry *e = m->first;

        m->first = e->next;
        entry_free(e);
    }
    pthread_mutex_destroy(&m->lock);
    free(m);
}

/* Which file, as it is now, and all that the graph depends on; false: too long. */
static bool make_key(char key[MOST_KEY], const char *path, const struct stat *file,
                     const ft__model_options *opt)
{
    size_t n = (size_t)snprintf(
        key, MOST_KEY,
        "%s\n%ju.%ju.%jd.%jd.%ld\n%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
        " %" PRIu64 " %s",
        path, (uintmax_t)file->st_dev, (uintmax_t)file->st_ino, (intmax_t)file->st_size,
        (intmax_t)file->st_mtim.tv_sec, file->st_mtim.tv_nsec, opt->batch, opt->trips,
        opt->tp, opt->ep, opt->weight_bits, opt->dtype ? opt->dtype : "");

    for (size_t i = 0; i < opt->dims.n && n < MOST_KEY; i++)
        n += (size_t)snprintf(key + n, MOST_KEY - n, "\nd%s", opt->dims.v[i]);
    for (size_t i = 0; i < opt->inputs.n && n < MOST_KEY; i++)
        n += (size_t)snprintf(key + n, MOST_KEY - n, "\ni%s", opt->inputs.v[i]);
    return n < MOST_KEY;
}

static ft_graph *find(ft__models *m, const char *key)
{
    ft_graph *found = NULL;

    pthread_mutex_lock(&m->lock);
    for (struct entry **at = &m->first; *at && !found; at = &(*at)->next) {
        struct entry *e = *at;

        if (strcmp(e->key, key) != 0)
            continue;
        *at = e->next;
        e->next = m->first;
        m->first = e;
        e->users++;
        found = e->graph;
        break;
    }
    pthread_mutex_unlock(&m->lock);
    return found;
}

static void drop_oldest(ft__models *m)
{
    size_t n = 0, nodes = 0;

    for (struct entry **at = &m->first; *at;) {
        struct entry *e = *at;

        n++;
        nodes += e->graph->n_nodes;
        if (e->users == 0 && (n > MOST_GRAPHS || nodes > MOST_NODES)) {
            n--;
            nodes -= e->graph->n_nodes;
            *at = e->next;
            entry_free(e);
        } else {
            at = &e->next;
        }
    }
}

/* Out of memory: the graph is the caller's alone. */
static void keep(ft__models *m, const char *key, ft_graph *g)
{
    struct entry *e = calloc(1, sizeof(*e));

    if (e)
        e->key = strdup(key);
    if (!e || !e->key) {
        free(e);
        return;
    }
    e->graph = g;
    e->users = 1;
    pthread_mutex_lock(&m->lock);
    e->next = m->first;
    m->first = e;
    drop_oldest(m);
    pthread_mutex_unlock(&m->lock);
}

ft_status ft__models_read(ft__models *m, ft_graph **out, const char *path,
                          const ft__model_options *opt, ft_error *err)
{
    char key[MOST_KEY];
    struct stat file;
    bool keeps;
    ft_status st;

    if (strcmp(path, "-") == 0)
        return ft_fail(err, FT_EIO, 0, "-: there is no standard input here");
    keeps = stat(path, &file) == 0 && make_key(key, path, &file, opt);
    *out = keeps ? find(m, key) : NULL;
    if (*out)
        return FT_OK;
    st = ft__model_import(out, path, opt, err);
    if (!st && keeps)
        keep(m, key, *out);
    return st;
}

void ft__models_close(ft__models *m, ft_graph *g)
{
    bool kept = false;

    pthread_mutex_lock(&m->lock);
    for (struct entry *e = m->first; g && e && !kept; e = e->next)
        if (e->graph == g) {
            e->users--;
            kept = true;
        }
    pthread_mutex_unlock(&m->lock);
    if (!kept)
        ft_graph_free(g);
}
