/* A family of devices as a predictor file: its sections (family_image.h), then header
 * and table in front of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/file.h"
#include "foretell/names.h"
#include "predict/file/family_image.h"
#include "predict/model/family.h"
#include "predict/schedule/networks_only.h"
#include "predict/schedule/schedule.h"

static void put(ft__buf *b, const void *data, size_t len)
{
    ft__buf_add(b, data, len);
}

static void put_u32(ft__buf *b, uint32_t v)
{
    put(b, &v, sizeof(v));
}

static void put_u64(ft__buf *b, uint64_t v)
{
    put(b, &v, sizeof(v));
}

static void put_f64(ft__buf *b, double v)
{
    put(b, &v, sizeof(v));
}

static void put_text(ft__buf *b, const char *text)
{
    put_u32(b, (uint32_t)strlen(text));
    ft__buf_str(b, text);
}

static ft_status write_family(ft__writer *w, const ft__family *f, ft_error *err)
{
    ft__buf b = {0};
    ft_status st;

    put_u32(&b, f->n_datasets);
    for (uint32_t i = 0; i < f->n_datasets; i++) {
        const ft__dataset *d = &f->dataset[i];

        put_text(&b, d->device);
        put_text(&b, d->setting);
        put_text(&b, d->engine);
        put_text(&b, d->engine_version);
        put_text(&b, d->policy);
        put_u64(&b, d->n);
        put_f64(&b, d->context_bytes);
        put_f64(&b, d->context_per_op_bytes);
        put_u32(&b, d->lowering);
        put(&b, &f->templates[i].hardware, sizeof(f->templates[i].hardware));
        put_u32(&b, d->roof != NULL);
        if (d->roof)
            put(&b, d->roof, sizeof(*d->roof));
    }
    w->body.bad |= b.bad;
    st = ft__writer_section(w, FT__SECTION_FAMILY, b.bad ? "" : b.s, b.len, err);
    ft__buf_free(&b);
    return st;
}

static void put_base(ft__buf *b, const ft__base *base)
{
    put(b, base->roof, (2 * base->n_datasets + 1u) * sizeof(*base->roof));
    put_u32(b, FT__N_GROUPS);
    for (uint32_t c = 0; c < FT__N_GROUPS; c++) {
        put_text(b, ft__group_name(c));
        put_u32(b, FT__N_PHYSICS_PARAMS);
        for (int i = 0; i < FT__N_PHYSICS_PARAMS; i++) {
            put_text(b, ft__physics_name(i));
            put_f64(b, base->params[c].v[i]);
        }
    }
}

static void put_columns(ft__buf *b, const ft__columns *c)
{
    put_u32(b, c->n);
    for (uint32_t j = 0; j < c->n; j++) {
        char name[48];

        ft__columns_name(c, name, j);
        put_text(b, name);
    }
    put_u32(b, (c->devices ? FT__HAS_DEVICES : 0) | (c->common ? FT__HAS_COMMON : 0));
    put_u32(b, c->n_codes);
    for (uint32_t j = 0; j < c->n_codes; j++) {
        put_text(b, c->code[j].name);
        put_u32(b, c->code[j].n);
        for (uint32_t k = 0; k < c->code[j].n; k++)
            put_text(b, c->code[j].value[k]);
    }
}

static ft_status write_head(ft__writer *w, const ft__model_set *l, ft_error *err)
{
    ft__buf b = {0};
    ft_status st;

    put_text(&b, ft__metric_name(l->opt.metric));
    put_u32(&b, l->opt.single);
    put_u32(&b, l->opt.unseen);
    put_u64(&b, l->opt.part_rows);
    put_u64(&b, l->opt.fit.seed);
    put_f64(&b, l->centre);
    put_f64(&b, l->low);
    put_f64(&b, l->high);
    put_u32(&b, l->base.n_datasets);
    for (uint32_t i = 0; i < l->base.n_datasets; i++)
        put_u64(&b, l->rows_of[i]);
    put_base(&b, &l->base);
    put_columns(&b, &l->columns);
    w->body.bad |= b.bad;
    st = ft__writer_section(w, FT__SECTION_MODEL_SET, b.bad ? "" : b.s, b.len, err);
    ft__buf_free(&b);
    return st;
}

static void put_range(ft__writer *w, const ft__regressor *p, uint32_t width)
{
    ft__buf b = {0};

    put(&b, p->least, width * sizeof(float));
    put(&b, p->most, width * sizeof(float));
    w->body.bad |= b.bad;
    ft__writer_add(w, b.bad ? "" : b.s, b.len);
    ft__buf_free(&b);
}

static void describe(ft__regressor_image *out, const ft__regressor *p)
{
    *out = (ft__regressor_image){.scope = ft__scope_number(p->scope),
                                 .pooled = p->pooled,
                                 .n_rows = p->fit.n_rows,
                                 .low = p->fit.low,
                                 .high = p->fit.high,
                                 .typical = p->fit.typical,
                                 .mixture = {.rows = p->rows}};
    strncpy(out->which, ft__regressor_name(p), sizeof(out->which) - 1);
    strncpy(out->phase, ft_name(FT_NAMES_PHASE, p->phase), sizeof(out->phase) - 1);
    ft__errors_put(out->learned, &p->learned);
    ft__errors_put(out->constant, &p->constant);
    ft__errors_put(out->physics, &p->physics);
}

static ft_status write_regressor(ft__writer *w, const ft__regressor *p, uint32_t width,
                                 ft_error *err)
{
    size_t begin = w->body.len;
    ft__regressor_image head;

    /* Copied as it is where it was not made anew. */
    if (p->stored.section)
        return ft__writer_section(w, FT__SECTION_PART, p->stored.section,
                                  p->stored.bytes, err);
    describe(&head, p);
    ft__writer_add(w, &head, sizeof(head));
    put_range(w, p, width);
    if (p->scope == FT__SCOPE_NEIGHBOURS)
        ft__writer_add(w, p->neighbours.image, p->neighbours.bytes);
    ft__writer_models(w, &head.mixture, &p->fit);
    if (p->others.share > 0)
        ft__writer_add(w, &p->others, sizeof(p->others));
    if (!w->body.bad) /* now with the sizes */
        memcpy(w->body.s + begin, &head, sizeof(head));
    return ft__writer_end(w, FT__SECTION_PART, begin, w->body.len - begin, err);
}

static ft_status write_templates(ft__writer *w, const ft__family *f, uint32_t dataset,
                                 ft_error *err)
{
    const ft__templates *t = &f->templates[dataset];
    ft__buf b = {0};
    ft_status st;

    if (!t->n)
        return FT_OK;
    put_u32(&b, dataset);
    put_u32(&b, t->error != NULL);
    put_u64(&b, t->n);
    put(&b, t->hash, t->n * sizeof(*t->hash));
    put(&b, t->ratio, t->n * sizeof(*t->ratio));
    if (t->error)
        put(&b, t->error, t->n * sizeof(*t->error));
    w->body.bad |= b.bad;
    st = ft__writer_section(w, FT__SECTION_TEMPLATES, b.bad ? "" : b.s, b.len, err);
    ft__buf_free(&b);
    return st;
}

static ft_status write_model_set(ft__writer *w, const ft__model_set *l, ft_error *err)
{
    ft_status st = write_head(w, l, err);

    for (uint32_t i = 0; i < l->n_regressors && !st; i++)
        st = write_regressor(w, &l->part[i], l->columns.n, err);
    return st;
}

static ft_status write_sections(ft__writer *w, const ft__family *f, ft_error *err)
{
    ft_status st = write_family(w, f, err);

    for (int m = 0; m < FT__N_METRICS; m++)
        for (int u = 0; u < 2 && !st; u++)
            if (f->model_set[m][u])
                st = write_model_set(w, f->model_set[m][u], err);
    for (uint32_t i = 0; i < f->n_datasets && !st; i++)
        st = write_templates(w, f, i, err);
    for (uint32_t i = 0; i < f->n_device_schedules && !st; i++)
        st = ft__writer_section(w, FT__SECTION_SCHEDULE, &f->device_schedule[i],
                                sizeof(f->device_schedule[i]), err);
    for (uint32_t i = 0; i < f->n_alone && !st; i++)
        st = ft__writer_section(w, FT__SECTION_ALONE, &f->alone[i], sizeof(f->alone[i]),
                                err);
    if (!st && f->unseen)
        st = ft__writer_section(w, FT__SECTION_UNSEEN, f->unseen, sizeof(*f->unseen),
                                err);
    for (uint32_t i = 0; i < f->clocked.n && !st; i++)
        st = ft__clocked_write(w, &f->clocked.v[i], err);
    if (!st && f->kernels)
        st = ft__kernels_write(w, f->kernels, err);
    if (!st && f->between_boards > 0)
        st = ft__writer_section(w, FT__SECTION_BOARDS, &f->between_boards,
                                sizeof(f->between_boards), err);
    return st;
}

/* Header, table and sections in one piece of memory. */
static ft_status predictor_of(ft_predictor **out, ft__writer *w, ft_error *err)
{
    size_t table_bytes = w->n_sections * sizeof(*w->section);
    size_t begin = ft__padded(sizeof(ft__header_image) + table_bytes);
    ft__header_image h = {.version = FT__PREDICTOR_VERSION,
                          .n_sections = w->n_sections};
    unsigned char *image =
        aligned_alloc(FT__ALIGNMENT, ft__padded(begin + w->body.len));

    ft_status st;

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
    st = ft__predictor_load_image(out, image, begin + w->body.len, err);
    if (st)
        free(image);
    else
        (*out)->memory = image;
    return st;
}

ft_status ft__predictor_of_family(ft_predictor **out, const ft__family *f,
                                  ft_error *err)
{
    ft__writer w = {0};
    ft_status st = write_sections(&w, f, err);

    if (!st)
        st = predictor_of(out, &w, err);
    free(w.section);
    ft__buf_free(&w.body);
    return st;
}

ft_status ft_predictor_save(const ft_predictor *p, const char *path, ft_error *err)
{
    return ft_file_write(path, p->image, p->len, err);
}
