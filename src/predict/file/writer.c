#include "predict/file/writer.h"

#include "learn/learn_inside.h"
#include <stdlib.h>
#include <string.h>

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
                      const ft_model *model)
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
    add_model(w, m, FT__MAX_MIXED, fit->spread);
}

/* Header, table and sections in one piece of memory. */
ft_status ft__writer_finish(ft_predictor **out, ft__writer *w, ft_error *err)
{
    size_t table_bytes = w->n_sections * sizeof(*w->section);
    size_t begin = ft__padded(sizeof(ft__header_image) + table_bytes);
    ft__header_image h = {.version = FT__PREDICTOR_VERSION,
                          .n_sections = w->n_sections};
    unsigned char *image =
        aligned_alloc(FT__ALIGNMENT, ft__padded(begin + w->body.len));

    if (!image)
        return ft_fail(err, FT_ENOMEM, 0, "predictor");
    for (uint32_t i = 0; i < w->n_sections; i++)
        w->section[i].offset += begin;
    memcpy(h.magic, FT__PREDICTOR_MAGIC, sizeof(h.magic));
    h.file_bytes = begin + w->body.len;
    h.table_checksum = ft__checksum(w->section, table_bytes);
    memset(image, 0, begin);
    memcpy(image, &h, sizeof(h));
    memcpy(image + sizeof(h), w->section, table_bytes);
    memcpy(image + begin, w->body.s, w->body.len);
    return ft__predictor_load_take(out, image, begin + w->body.len, err);
}

void ft__writer_free(ft__writer *w)
{
    free(w->section);
    ft__buf_free(&w->body);
}
