/* Pieces of the predictor file: sections with checksums, and the images of regressors.
 */
#include "predict/file/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/learn_inside.h"
#include "learn/model.h"

uint64_t ft__checksum(const void *data, size_t len)
{
    const unsigned char *p = data;
    uint64_t h = 0xcbf29ce484222325u ^ len;

    for (; len >= 8; p += 8, len -= 8) {
        uint64_t w;

        memcpy(&w, p, 8);
        h = (h ^ w) * 0x9fb21c651e98df25u;
        h ^= h >> 29;
    }
    for (; len; p++, len--)
        h = (h ^ *p) * 0x100000001b3u;
    return h;
}

bool ft__predictor_sound(const void *data, uint64_t len, uint64_t checksum)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    /* No fuzzer guesses a checksum; what lies behind it must hold as well. */
    (void)data, (void)len, (void)checksum;
    return true;
#else
    return ft__checksum(data, (size_t)len) == checksum;
#endif
}

ft_status ft__predictor_damaged(uint64_t pos, const char *what, ft_error *err)
{
    return ft_fail(err, FT_EFORMAT, pos,
                   "damaged predictor: %s (byte %llu); train it again", what,
                   (unsigned long long)pos);
}

void ft__errors_put(double v[FT__N_ERRORS], const ft_errors *e)
{
    const double all[FT__N_ERRORS] = {
        (double)e->n, e->mape, e->median_ape,  e->p90_ape, e->within_10, e->max_ape,
        e->bias,      e->r2,   e->adjusted_r2, e->mae,     e->median_ae, e->max_ae};

    memcpy(v, all, sizeof(all));
}

ft_errors ft__errors_get(const double v[FT__N_ERRORS])
{
    /* A damaged file may say anything; NaN fails both comparisons. */
    return (ft_errors){.n = v[0] >= 0 && v[0] < 0x1p53 ? (size_t)v[0] : 0,
                       .mape = v[1],
                       .median_ape = v[2],
                       .p90_ape = v[3],
                       .within_10 = v[4],
                       .max_ape = v[5],
                       .bias = v[6],
                       .r2 = v[7],
                       .adjusted_r2 = v[8],
                       .mae = v[9],
                       .median_ae = v[10],
                       .max_ae = v[11]};
}

void ft__writer_add(ft__writer *w, const void *data, size_t len)
{
    static const char zeros[FT__ALIGNMENT];

    ft__buf_add(&w->body, data, len);
    ft__buf_add(&w->body, zeros, ft__padded(len) - len);
}

ft_status ft__writer_end(ft__writer *w, uint32_t type, size_t begin, size_t bytes,
                         ft_error *err)
{
    ft__section_image *s;

    if (w->n_sections == w->cap_sections) {
        uint32_t cap = w->cap_sections ? 2 * w->cap_sections : 32;

        s = realloc(w->section, cap * sizeof(*s));
        if (!s)
            return ft_fail(err, FT_ENOMEM, 0, "predictor");
        w->section = s;
        w->cap_sections = cap;
    }
    if (w->body.bad)
        return ft_fail(err, FT_ENOMEM, 0, "predictor");
    s = &w->section[w->n_sections++];
    *s = (ft__section_image){.type = type, .offset = begin, .bytes = bytes};
    s->checksum = ft__checksum(w->body.s + begin, bytes);
    return FT_OK;
}

ft_status ft__writer_section(ft__writer *w, uint32_t type, const void *data, size_t len,
                             ft_error *err)
{
    size_t begin = w->body.len;

    ft__writer_add(w, data, len);
    return ft__writer_end(w, type, begin, len, err);
}

static void add_model(ft__writer *w, ft__mixture_image *m, uint32_t k,
                      const ft__learn_model *model)
{
    size_t len = 0;
    const void *image = model ? ft__model_image(model, &len) : NULL;

    m->bytes[k] = ft__padded(len);
    if (len)
        ft__writer_add(w, image, len);
}

void ft__writer_models(ft__writer *w, ft__mixture_image *m, const ft__fit *fit)
{
    m->n_models = fit->n_models;
    m->centre = fit->centre;
    memcpy(m->choice, fit->choice, sizeof(m->choice));
    memcpy(m->weight, fit->weight, sizeof(m->weight));
    for (uint32_t k = 0; k < FT__MAX_MIXED; k++)
        add_model(w, m, k, fit->model[k]);
    add_model(w, m, FT__MAX_MIXED, fit->residual_scale);
}

bool ft__mixture_sound(const ft__mixture_image *m, uint64_t left)
{
    if (m->n_models > FT__MAX_MIXED || !ft__is_text(m->choice, sizeof(m->choice)) ||
        !isfinite(m->centre))
        return false;
    for (uint32_t k = 0; k <= FT__MAX_MIXED; k++) {
        if (m->bytes[k] > left || m->bytes[k] % FT__ALIGNMENT ||
            (k < FT__MAX_MIXED && (k < m->n_models) != (m->bytes[k] > 0)) ||
            (k < m->n_models && !isfinite(m->weight[k])))
            return false;
        left -= m->bytes[k];
    }
    return true;
}

static ft_status open_model(ft__learn_model **out, const void *image, uint64_t bytes,
                            uint32_t width, uint64_t pos, ft_error *err)
{
    uint64_t own = bytes;
    ft_status st;

    /* Images are padded; how long one is stands in itself. */
    if (bytes >= sizeof(ft__model_header))
        own = ((const ft__model_header *)image)->bytes;
    if (own > bytes ||
        (own + FT__ALIGNMENT - 1) / FT__ALIGNMENT * FT__ALIGNMENT != bytes)
        own = bytes;
    st = ft__model_load(out, image, own, err);
    return !st && ft__model_width(*out) != width
               ? ft__predictor_damaged(pos, "a model of another width", err)
               : st;
}

ft_status ft__mixture_open(ft__fit *f, const ft__mixture_image *m, const void *models,
                           uint32_t width, uint64_t pos, ft_error *err)
{
    const char *at = models;
    ft_status st = FT_OK;

    f->centre = m->centre;
    for (uint32_t k = 0; k < m->n_models && !st; k++) {
        st = open_model(&f->model[k], at, m->bytes[k], width, pos, err);
        f->weight[k] = m->weight[k];
        f->n_models = k + 1;
        at += m->bytes[k];
    }
    if (!st && m->bytes[FT__MAX_MIXED])
        st = open_model(&f->residual_scale, at, m->bytes[FT__MAX_MIXED], width, pos,
                        err);
    return st;
}
