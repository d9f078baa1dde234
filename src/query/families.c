/* Predictors for families of devices, and which of them knows a network best. */
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "predict/query/network.h"
#include "query/data.h"

static ft_status add(ft_data *d, const char *path, ft_error *err)
{
    ft__families *f = &d->families;
    ft_predictor_info info;
    ft__kept *k;
    ft_status st;

    if (f->n == FT__MAX_FAMILIES)
        return FT_OK;
    st = ft__data_keep_predictor(&k, d, path, err);
    if (st)
        return st;
    ft_predictor_get_info(k->thing, &info);
    if (!*info.device)
        f->predictor[f->n++] = k;
    return FT_OK;
}

/* With the lock held. */
static ft_status open_all(ft_data *d, ft_error *err)
{
    char path[FT__PATH];
    ft_status st = FT_OK;
    glob_t found = {0};

    if (d->families.opened)
        return FT_OK;
    d->families = (ft__families){0};
    ft_data_predictor_path(path, sizeof(path), d->user_dir, NULL, 0);
    if (*d->user_dir && access(path, F_OK) == 0)
        st = add(d, path, err);
    d->families.own = d->families.n > 0;
    ft_data_predictor_path(path, sizeof(path), d->user_dir, "kernels", 0);
    if (!st && *d->user_dir && access(path, F_OK) == 0)
        st = add(d, path, err);
    snprintf(path, sizeof(path), "%s/predictors/*.ftp", d->data_dir);
    if (!st) {
        if (glob(path, 0, NULL, &found) == GLOB_NOSPACE)
            st = ft_fail(err, FT_ENOMEM, 0, "%s", path);
        for (size_t i = 0; !st && i < found.gl_pathc; i++)
            st = add(d, found.gl_pathv[i], err);
        globfree(&found);
    }
    d->families.opened = !st;
    return st;
}

bool ft__family_has(const ft_predictor *p, const char *device)
{
    ft_predictor_info info;

    ft_predictor_get_info(p, &info);
    for (uint32_t i = 0; i < info.n_datasets; i++) {
        ft_predictor_dataset d;

        ft_predictor_get_dataset(p, i, &d);
        /* Without an engine: workloads, nothing of operations. */
        if (*d.engine && strcmp(d.device, device) == 0)
            return true;
    }
    return false;
}

ft_status ft__data_family(const ft_predictor **out, const char **path, ft_data *d,
                          const char *device, const ft_graph *g, ft_error *err)
{
    /* Less than that learned: constants of other work fit no better than defaults. */
    static const double least = 0.3;
    const ft__families *f = &d->families;
    double most = 0;
    ft_status st;

    *out = NULL;
    *path = "";
    pthread_mutex_lock(&d->lock);
    st = open_all(d, err);
    pthread_mutex_unlock(&d->lock);
    for (size_t i = 0; !st && g && i < f->n; i++) {
        const ft_predictor *p = f->predictor[i]->thing;
        double covers = ft_predictor_covers(p, device, g);

        if (covers < least)
            continue;
        covers += ft__family_has(p, device) ? 0.5 : 0;
        covers += i == 0 && f->own ? 1 : 0;
        if (covers > most) {
            most = covers;
            *out = p;
            *path = f->predictor[i]->asked;
        }
    }
    return st;
}

ft_status ft__data_kernels(const ft_predictor **out, const char **path, ft_data *d,
                           ft_error *err)
{
    const ft__families *f = &d->families;
    ft_status st;

    *out = NULL;
    *path = "";
    pthread_mutex_lock(&d->lock);
    st = open_all(d, err);
    pthread_mutex_unlock(&d->lock);
    for (size_t i = 0; !st && i < f->n && !*out; i++) {
        ft_predictor_info info;

        ft_predictor_get_info(f->predictor[i]->thing, &info);
        if (!info.n_launches)
            continue;
        *out = f->predictor[i]->thing;
        *path = f->predictor[i]->asked;
    }
    return st;
}
