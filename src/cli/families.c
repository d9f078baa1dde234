/* Predictors for families of devices: the user's own, then those that come with
 * foretell. */
#include <glob.h>
#include <string.h>

#include "cli/estimate.h"

static ft_status add(ft__families *f, const char *path, ft_error *err)
{
    ft_predictor_info info;
    ft_predictor *p;
    ft_status st;

    if (f->n == FT__MAX_FAMILIES)
        return FT_OK;
    st = ft_predictor_load(&p, path, err);
    if (st)
        return st;
    ft_predictor_get_info(p, &info);
    if (!info.n_datasets) {
        ft_predictor_free(p);
        return FT_OK;
    }
    snprintf(f->path[f->n], sizeof(f->path[0]), "%s", path);
    f->predictor[f->n++] = p;
    return FT_OK;
}

ft_status ft__families_open(ft__families *f, const char *data_dir, ft_error *err)
{
    char path[FT__PATH_MAX], pattern[FT__PATH_MAX + 20];
    ft_status st = FT_OK;
    glob_t found;

    if (f->opened)
        return FT_OK;
    f->opened = true;
    ft__path_family(path);
    if (ft__path_exists(path))
        st = add(f, path, err);
    f->own = f->n > 0;
    snprintf(pattern, sizeof(pattern), "%s/predictors/*.ftp", data_dir);
    if (st || glob(pattern, 0, NULL, &found))
        return st;
    for (size_t i = 0; i < found.gl_pathc && !st; i++)
        st = add(f, found.gl_pathv[i], err);
    globfree(&found);
    return st;
}

void ft__families_close(ft__families *f)
{
    for (size_t i = 0; i < f->n; i++)
        ft_predictor_free(f->predictor[i]);
    f->n = 0;
}

bool ft__family_has(const ft_predictor *p, const char *device)
{
    ft_predictor_info info;

    ft_predictor_get_info(p, &info);
    for (uint32_t i = 0; i < info.n_datasets; i++) {
        ft_predictor_dataset d;

        ft_predictor_get_dataset(p, i, &d);
        if (strcmp(d.device, device) == 0)
            return true;
    }
    return false;
}

const ft_predictor *ft__families_best(const ft__families *f, const char *device,
                                      const ft_graph *g, const char **path)
{
    /* Less than that learned: constants of other work fit no better than defaults. */
    static const double least = 0.3;
    const ft_predictor *best = NULL;
    double most = 0;

    for (size_t i = 0; i < f->n; i++) {
        double covers = ft_predictor_covers(f->predictor[i], g);

        if (covers < least)
            continue;
        covers += ft__family_has(f->predictor[i], device) ? 0.5 : 0;
        covers += i == 0 && f->own ? 1 : 0;
        if (covers > most) {
            most = covers;
            best = f->predictor[i];
            *path = f->path[i];
        }
    }
    return best;
}
