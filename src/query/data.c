/* What queries read, kept for later ones. */
#include "query/data.h"
#include "foretell/store.h"
#include "predict/model/calibration_set.h"
#include "predict/query/network.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ft_status ft_data_open(ft_data **out, const char *data_dir, const char *user_dir,
                       ft_error *err)
{
    ft_data *d = *out = calloc(1, sizeof(*d));

    if (d) {
        d->data_dir = strdup(data_dir ? data_dir : FT__INSTALLED_DATA);
        d->user_dir = strdup(user_dir ? user_dir : "");
    }
    if (d && d->data_dir && d->user_dir && !pthread_mutex_init(&d->lock, NULL))
        return FT_OK;
    if (d) {
        free(d->data_dir);
        free(d->user_dir);
    }
    free(d);
    *out = NULL;
    return ft_fail(err, FT_ENOMEM, 0, "data folder");
}

static void free_all(ft__data_kept *k, void (*free_thing)(void *))
{
    while (k) {
        ft__data_kept *next = k->next;

        free_thing(k->thing);
        free(k);
        k = next;
    }
}

static void free_device(void *p)
{
    ft_device_free(p);
}

static void free_predictor(void *p)
{
    ft_predictor_free(p);
}

static void free_known(void *p)
{
    ft__calibration_set_free(p);
}

void ft__remembered_free(ft__remembered *r)
{
    while (r) {
        ft__remembered *next = r->next;

        ft__op_costs_free(r->costs);
        ft__op_answers_free(r->answered);
        free(r);
        r = next;
    }
}

void ft_data_close(ft_data *d)
{
    if (!d)
        return;
    free_all(d->device, free_device);
    free_all(d->predictor, free_predictor);
    free_all(d->known, free_known);
    ft__remembered_free(d->idle);
    pthread_mutex_destroy(&d->lock);
    free(d->no_sensors);
    free(d->data_dir);
    free(d->user_dir);
    free(d);
}

static ft__data_kept *find(ft__data_kept *k, const char *asked)
{
    while (k && strcmp(k->asked, asked) != 0)
        k = k->next;
    return k;
}

/* Not yet in a list. */
static ft_status new_kept(ft__data_kept **out, const char *asked, ft_error *err)
{
    const size_t size = strlen(asked) + 1;

    *out = calloc(1, sizeof(**out) + size);
    if (!*out)
        return ft_fail(err, FT_ENOMEM, 0, "%s", asked);
    memcpy((*out)->asked, asked, size);
    return FT_OK;
}

/* Into the list, or freed where the reading failed. */
static ft_status keep_take(ft__data_kept **list, ft__data_kept **k, ft_status st)
{
    if (st) {
        free(*k);
        *k = NULL;
        return st;
    }
    (*k)->next = *list;
    *list = *k;
    return FT_OK;
}

/* Its file is read at once where it is called so; otherwise its name is looked up. */
static ft_status keep_device(ft__data_kept **out, ft_data *d, const char *asked,
                             ft_error *err)
{
    ft_device *read = NULL;
    ft_status st;

    *out = find(d->device, asked);
    if (*out)
        return FT_OK;
    if (strlen(asked) >= FT__NAME)
        return ft_fail(err, FT_EINVAL, 0, "device %.60s...: too long a name", asked);
    st = new_kept(out, asked, err);
    if (st)
        return st;
    snprintf((*out)->name, FT__NAME, "%s", asked);
    if (!ft_device_load(&read, d->data_dir, asked, NULL)) {
        (*out)->thing = read;
        return keep_take(&d->device, out, FT_OK);
    }
    st = ft_device_resolve((*out)->name, FT__NAME, (*out)->note, FT__NOTE, d->data_dir,
                           err);
    return keep_take(&d->device, out, st);
}

ft_status ft__data_device(const ft__data_kept **out, ft_data *d, const char *asked,
                          bool read, ft_error *err)
{
    ft_device *device = NULL;
    ft__data_kept *k;
    ft_status st;

    pthread_mutex_lock(&d->lock);
    st = keep_device(&k, d, asked, err);
    if (!st && read && !k->thing) {
        st = strcmp(asked, "local") == 0
                 ? ft_device_local(&device, "", err)
                 : ft_device_load(&device, d->data_dir, asked, err);
        k->thing = device;
    }
    pthread_mutex_unlock(&d->lock);
    *out = st ? NULL : k;
    return st;
}

static ft_status known_open(ft__calibration_set **out, const char *path, ft_error *err)
{
    ft_store *store = NULL;
    ft_status st = ft_store_open_any(&store, path, FT_STORE_READ, err);

    *out = NULL;
    if (!st)
        st = ft__calibration_set_read(out, store, err);
    ft_store_close(store);
    if (st || ft__calibration_set_count(*out, NULL, FT__METRIC_TIME) ||
        ft__calibration_set_networks(*out, NULL))
        return st;
    ft__calibration_set_free(*out);
    *out = NULL;
    return ft_fail(err, FT_EFORMAT, 0,
                   "--correct %s: it holds no time of an operation, nor of a network "
                   "with its operations",
                   path);
}

static ft_status keep_predictor(ft__data_kept **out, ft_data *d, const char *path,
                                ft_error *err)
{
    ft_predictor *p = NULL;
    ft_status st;

    *out = find(d->predictor, path);
    if (*out)
        return FT_OK;
    st = new_kept(out, path, err);
    if (st)
        return st;
    st = ft_predictor_load(&p, path, err);
    (*out)->thing = p;
    return keep_take(&d->predictor, out, st);
}

ft_status ft__data_predictor(const ft_predictor **out, ft_data *d, const char *path,
                             ft_error *err)
{
    ft__data_kept *k;
    ft_status st;

    pthread_mutex_lock(&d->lock);
    st = keep_predictor(&k, d, path, err);
    *out = st ? NULL : k->thing;
    pthread_mutex_unlock(&d->lock);
    return st;
}

ft_status ft__data_calibration_set(const ft__calibration_set **out, ft_data *d,
                                   const char *path, ft_error *err)
{
    ft__calibration_set *known = NULL;
    ft_status st = FT_OK;
    ft__data_kept *k;

    pthread_mutex_lock(&d->lock);
    k = find(d->known, path);
    if (!k && !(st = new_kept(&k, path, err))) {
        st = known_open(&known, path, err);
        k->thing = known;
        st = keep_take(&d->known, &k, st);
    }
    *out = st ? NULL : k->thing;
    pthread_mutex_unlock(&d->lock);
    return st;
}

/* Predictors for families of devices. */

static ft_status add_family(ft_data *d, const char *path, ft_error *err)
{
    ft__families *f = &d->families;
    ft_predictor_info info;
    ft_error why = {0};
    ft__data_kept *k;
    ft_status st;

    if (f->n == FT__MAX_FAMILIES)
        return FT_OK;
    st = keep_predictor(&k, d, path, &why);
    if (st == FT_ENOMEM)
        return ft_fail(err, st, 0, "%s", path);
    if (st && !*f->damaged)
        snprintf(f->damaged, sizeof(f->damaged), "%s", why.msg);
    if (st)
        return FT_OK; /* the others answer */
    ft_predictor_get_info(k->thing, &info);
    if (!*info.device)
        f->predictor[f->n++] = k;
    return FT_OK;
}

/* With the lock held. */
static ft_status open_families(ft_data *d, ft_error *err)
{
    char path[FT__PATH];
    ft_status st = FT_OK;
    glob_t found = {0};

    if (d->families.opened)
        return FT_OK;
    d->families = (ft__families){0};
    ft_data_predictor_path(path, sizeof(path), d->user_dir, NULL, 0);
    if (*d->user_dir && access(path, F_OK) == 0)
        st = add_family(d, path, err);
    d->families.own = d->families.n > 0;
    ft_data_predictor_path(path, sizeof(path), d->user_dir, "kernels", 0);
    if (!st && *d->user_dir && access(path, F_OK) == 0)
        st = add_family(d, path, err);
    snprintf(path, sizeof(path), "%s/predictors/*.ftp", d->data_dir);
    if (!st) {
        if (glob(path, 0, NULL, &found) == GLOB_NOSPACE)
            st = ft_fail(err, FT_ENOMEM, 0, "%s", path);
        for (size_t i = 0; !st && i < found.gl_pathc; i++)
            st = add_family(d, found.gl_pathv[i], err);
        globfree(&found);
    }
    d->families.opened = !st;
    return st;
}

ft_status ft__data_families(const ft__families **out, ft_data *d, ft_error *err)
{
    ft_status st;

    pthread_mutex_lock(&d->lock);
    st = open_families(d, err);
    pthread_mutex_unlock(&d->lock);
    *out = &d->families;
    return st;
}

size_t ft_data_predictor_path(char *buf, size_t size, const char *user_dir,
                              const char *engine, uint64_t threads)
{
    char suffix[32] = "";

    if (!engine || strcmp(engine, "kernels") == 0)
        return (size_t)snprintf(buf, size, "%s/%s.ftp", user_dir,
                                engine ? engine : "family");
    if (threads > 1)
        snprintf(suffix, sizeof(suffix), "-%llu-threads", (unsigned long long)threads);
    return (size_t)snprintf(buf, size, "%s/local-%s%s.ftp", user_dir, engine, suffix);
}
