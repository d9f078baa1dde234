/* A predictor file, mapped, checked and opened: its sections (family_image.h) become a
 * family of devices, whose regressors and templates are used where they lie. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/op_inside.h"
#include "predict/file/family_image.h"
#include "predict/model/family.h"
#include "predict/schedule/networks_only.h"
#include "predict/schedule/schedule.h"

/* Limits above what ft_predictor_save() writes. */
enum { MAX_TEXT = 1024, MAX_DATASETS = 100000 };

/* A sticky reader: after a read beyond the end it returns zeros. */
struct section_cursor {
    const unsigned char *at;
    size_t left;
    bool bad, no_memory;
};

static const void *get(struct section_cursor *c, size_t len)
{
    const unsigned char *at = c->at;

    if (c->bad || len > c->left) {
        c->bad = true;
        return NULL;
    }
    c->at += len;
    c->left -= len;
    return at;
}

static void get_into(struct section_cursor *c, void *out, size_t len)
{
    const void *from = get(c, len);

    if (from)
        memcpy(out, from, len);
    else
        memset(out, 0, len);
}

static uint32_t get_u32(struct section_cursor *c)
{
    uint32_t v;

    get_into(c, &v, sizeof(v));
    return v;
}

static uint64_t get_u64(struct section_cursor *c)
{
    uint64_t v;

    get_into(c, &v, sizeof(v));
    return v;
}

static double get_f64(struct section_cursor *c)
{
    double v;

    get_into(c, &v, sizeof(v));
    return v;
}

/* A count of things of which each takes `least` bytes. */
static uint32_t get_count(struct section_cursor *c, size_t least)
{
    uint32_t n = get_u32(c);

    if (n > c->left / least)
        c->bad = true;
    return c->bad ? 0 : n;
}

/* Not terminated, *len bytes. */
static const char *get_text(struct section_cursor *c, size_t *len)
{
    uint32_t n = get_count(c, 1);
    const char *text;

    if (n > MAX_TEXT)
        c->bad = true;
    text = get(c, n);
    if (text && memchr(text, 0, n))
        c->bad = true;
    *len = c->bad ? 0 : n;
    return c->bad ? "" : text;
}

static bool text_is(struct section_cursor *c, const char *wanted)
{
    size_t len;
    const char *text = get_text(c, &len);

    return !c->bad && strlen(wanted) == len && memcmp(text, wanted, len) == 0;
}

/* To be freed; NULL: c->bad. */
static char *own_text(struct section_cursor *c)
{
    size_t len;
    const char *text = get_text(c, &len);
    char *own = c->bad ? NULL : strndup(text, len);

    if (!own && !c->bad)
        c->bad = c->no_memory = true;
    return own;
}

static ft_status verdict(const struct section_cursor *c, const char *what, uint64_t pos,
                         ft_error *err)
{
    if (c->no_memory)
        return ft_fail(err, FT_ENOMEM, 0, "predictor");
    return c->bad ? ft__predictor_damaged(pos, what, err) : FT_OK;
}

static void *own_list(struct section_cursor *c, size_t n, size_t size)
{
    void *list = c->bad ? NULL : calloc(n + 1, size);

    if (!list && !c->bad)
        c->bad = c->no_memory = true;
    return list;
}

static bool is_roof(const ft__roof *r)
{
    bool good = r->peak_flops > 0 && r->launch_s >= 0 && r->transcendental_s >= 0 &&
                r->n_points > 0 && r->n_points <= FT__MAX_ROOF_POINTS;

    for (uint32_t i = 0; good && i < r->n_points; i++)
        good = r->bandwidth[i] > 0 && r->working_set[i] > 0 &&
               (i == 0 || r->working_set[i] > r->working_set[i - 1]);
    return good;
}

static void get_roof(struct section_cursor *c, ft__roof *out)
{
    get_into(c, out, sizeof(*out));
    if (out->n_points && !is_roof(out))
        c->bad = true;
}

static void get_dataset(struct section_cursor *c, ft__dataset *d, ft__hardware *h)
{
    d->device = own_text(c);
    d->setting = own_text(c);
    d->engine = own_text(c);
    d->engine_version = own_text(c);
    d->policy = own_text(c);
    d->n = get_u64(c);
    d->context_bytes = get_f64(c);
    d->context_per_op_bytes = get_f64(c);
    d->lowering = get_u32(c);
    c->bad |= d->context_bytes < 0 || !(d->context_per_op_bytes >= 0);
    get_into(c, h, sizeof(*h));
    c->bad |= !ft__is_text(h->vendor, sizeof(h->vendor)) ||
              !ft__is_text(h->chip, sizeof(h->chip)) ||
              !ft__is_text(h->type, sizeof(h->type));
    if (get_u32(c)) {
        d->roof = own_list(c, 1, sizeof(*d->roof));
        if (d->roof) {
            get_roof(c, d->roof);
            c->bad |= !d->roof->n_points;
        }
    }
}

static void read_family(struct section_cursor *c, ft__family *f)
{
    uint32_t n = get_count(c, 60);

    if (n > MAX_DATASETS)
        c->bad = true;
    f->dataset = own_list(c, n, sizeof(*f->dataset));
    f->templates = own_list(c, n, sizeof(*f->templates));
    for (uint32_t i = 0; i < n && !c->bad; i++) {
        f->n_datasets++; /* what is there of it is freed with the others */
        get_dataset(c, &f->dataset[i], &f->templates[i].hardware);
    }
}

/* A constant by its name: they come in the order of our list, or nearly. */
static void get_constant(struct section_cursor *c, ft__physics_params *params,
                         int *next)
{
    size_t len;
    const char *name = get_text(c, &len);
    double v = get_f64(c);

    if (!(v > 0) || isinf(v))
        c->bad = true;
    for (int i = 0; i < FT__N_PHYSICS_PARAMS && !c->bad; i++) {
        int at = (*next + i) % FT__N_PHYSICS_PARAMS;
        const char *known = ft__physics_name(at);

        if (strlen(known) == len && memcmp(known, name, len) == 0) {
            params->v[at] = v;
            *next = at + 1;
            return;
        }
    }
}

static void read_parameters(struct section_cursor *c, ft__base *base)
{
    uint32_t n = get_count(c, 8);

    for (uint32_t i = 0; i < n && !c->bad; i++) {
        size_t len;
        const char *name = get_text(c, &len);
        ft__physics_params params = ft__physics_default();
        uint32_t n_constants = get_count(c, 12);
        int next = 0;

        for (uint32_t k = 0; k < n_constants && !c->bad; k++)
            get_constant(c, &params, &next);
        for (uint32_t k = 0; k < FT__N_GROUPS; k++) {
            const char *known = ft__group_name(k);

            if (strlen(known) == len && memcmp(known, name, len) == 0)
                base->params[k] = params;
        }
    }
}

static void read_base(struct section_cursor *c, ft__base *base, uint32_t n_datasets)
{
    base->n_datasets = n_datasets;
    base->roof = own_list(c, 2 * (size_t)n_datasets + 1, sizeof(*base->roof));
    for (size_t i = 0; i < 2 * (size_t)n_datasets + 1 && !c->bad; i++)
        get_roof(c, &base->roof[i]);
    /* The last is for everything that has none. */
    if (!c->bad && !base->roof[2 * (size_t)n_datasets].n_points)
        c->bad = true;
    for (int k = 0; k < FT__N_GROUPS; k++)
        base->params[k] = ft__physics_default();
    read_parameters(c, base);
}

static void get_code(struct section_cursor *c, ft__code *code)
{
    size_t len;
    const char *name = get_text(c, &len);
    uint32_t n = get_count(c, 4);

    if (len >= sizeof(code->name))
        c->bad = true;
    if (!c->bad)
        memcpy(code->name, name, len);
    code->value = own_list(c, n, sizeof(*code->value));
    for (uint32_t i = 0; i < n && !c->bad; i++) {
        code->value[i] = own_text(c);
        code->n++;
        if (i && !c->bad && strcmp(code->value[i - 1], code->value[i]) >= 0)
            c->bad = true;
    }
}

/* false: the columns are not those that this version makes. */
static bool read_columns(struct section_cursor *c, ft__columns *columns)
{
    struct section_cursor names = {c->at, c->left, c->bad, false};
    uint32_t n = get_count(c, 4), n_codes, has;

    for (uint32_t j = 0; j < n && !c->bad; j++) {
        size_t len;

        get_text(c, &len);
    }
    has = get_u32(c);
    columns->devices = has & FT__HAS_DEVICES;
    columns->common = has & FT__HAS_COMMON;
    n_codes = get_count(c, 8);
    if (n_codes > FT__MAX_CODES)
        c->bad = true;
    for (uint32_t j = 0; j < n_codes && !c->bad; j++) {
        columns->n_codes++;
        get_code(c, &columns->code[j]);
    }
    ft__columns_count(columns);
    if (get_u32(&names) != columns->n)
        return false;
    for (uint32_t j = 0; j < columns->n; j++) {
        char name[48];

        ft__columns_name(columns, name, j);
        if (!text_is(&names, name))
            return false;
    }
    return true;
}

static bool get_metric(struct section_cursor *c, ft__metric *out)
{
    char *name = own_text(c);

    *out = name ? ft__metric_from_name(name) : FT__N_METRICS;
    free(name);
    return *out < FT__N_METRICS;
}

static ft_status read_model_set(struct section_cursor *c, ft__model_set *l,
                                uint32_t n_datasets, uint64_t pos, ft_error *err)
{
    bool known = get_metric(c, &l->opt.metric);

    l->opt.single = get_u32(c) != 0;
    l->opt.unseen = get_u32(c) != 0;
    l->opt.part_rows = (size_t)get_u64(c);
    l->opt.fit.seed = get_u64(c);
    l->centre = get_f64(c);
    l->low = get_f64(c);
    l->high = get_f64(c);
    if (get_u32(c) != n_datasets || !isfinite(l->centre) || !isfinite(l->low) ||
        !isfinite(l->high))
        c->bad = true;
    l->rows_of = own_list(c, n_datasets, sizeof(*l->rows_of));
    for (uint32_t i = 0; i < n_datasets && !c->bad; i++)
        l->rows_of[i] = get_u64(c);
    read_base(c, &l->base, n_datasets);
    if (!known)
        c->bad = true;
    if (!c->bad && !read_columns(c, &l->columns) && !c->bad)
        return ft_fail(err, FT_EFORMAT, pos,
                       "the predictor describes operations in another way than this "
                       "foretell; train it again");
    return verdict(c, "a learner", pos, err);
}

static ft_status open_family(ft_predictor *p, struct section_cursor *c, uint64_t pos,
                             ft_error *err)
{
    if (p->family)
        return ft__predictor_damaged(pos, "a second family", err);
    p->family = calloc(1, sizeof(*p->family));
    if (!p->family)
        return ft_fail(err, FT_ENOMEM, 0, "predictor");
    read_family(c, p->family);
    return verdict(c, "its datasets", pos, err);
}

static ft_status open_model_set(ft_predictor *p, struct section_cursor *c, uint64_t pos,
                                ft_error *err)
{
    ft__family *f = p->family;
    ft__model_set *l = calloc(1, sizeof(*l)), **place;
    ft_status st;

    if (!l)
        return ft_fail(err, FT_ENOMEM, 0, "predictor");
    st = read_model_set(c, l, f->n_datasets, pos, err);
    place = st ? NULL : &f->model_set[l->opt.metric][l->opt.unseen];
    if (!st && *place)
        st = ft__predictor_damaged(pos, "a learner twice", err);
    if (st) {
        ft__model_set_free(l);
        free(l);
        return st;
    }
    *place = l;
    f->reading = l;
    return FT_OK;
}

static bool find_which(ft__regressor *p, const char *name)
{
    const uint32_t n = p->scope <= FT__SCOPE_KIND    ? FT__N_KIND_NUMBERS
                       : p->scope == FT__SCOPE_CLASS ? FT_CLASS_COUNT
                                                     : 0;

    for (p->which = 0; p->which < n; p->which++)
        if (strcmp(ft__regressor_name(p), name) == 0)
            return true;
    p->which = 0;
    return p->scope == FT__SCOPE_ALL;
}

/* What lies behind the models, `left` bytes with them. */
static bool read_others(ft__others *out, const ft__mixture_image *m,
                        const unsigned char *models, size_t left)
{
    for (uint32_t k = 0; k <= FT__MAX_MIXED; k++) {
        models += m->bytes[k];
        left -= (size_t)m->bytes[k];
    }
    if (left < sizeof(*out))
        return true;
    memcpy(out, models, sizeof(*out));
    return out->share > 0 && out->share <= 1 && isfinite(out->low) &&
           isfinite(out->high) && out->low <= 0 && out->high >= 0;
}

static bool read_regressor(ft__regressor *p, const ft__regressor_image *h, size_t bytes,
                           size_t range)
{
    const unsigned char *begin = (const unsigned char *)h;
    size_t models = ft__padded(sizeof(*h)) + ft__padded(2 * range);

    *p = (ft__regressor){.scope = ft__scope_numbered(h->scope), .pooled = h->pooled};
    if (p->scope == FT__SCOPE_NEIGHBOURS && bytes >= models) {
        /* Rows with neighbours are wider than those of the regressor of all kinds. */
        if (h->pooled ||
            !ft__neighbours_open(&p->neighbours, begin + models, bytes - models))
            return false;
        models += ft__padded(p->neighbours.bytes);
    }
    if (bytes < models || h->scope >= FT__N_SCOPES || h->pooled > FT__POOLED_SHARES ||
        !ft__is_text(h->which, sizeof(h->which)) ||
        !ft__is_text(h->phase, sizeof(h->phase)) || !find_which(p, h->which) ||
        !ft__phase_from_name(&p->phase, h->phase, strlen(h->phase)) ||
        !isfinite(h->low) || !isfinite(h->high) || !(h->typical >= 0) ||
        !ft__mixture_sound(&h->mixture, bytes - models) ||
        !read_others(&p->others, &h->mixture, begin + models, bytes - models))
        return false;
    p->fit = (ft__fit){.n_rows = h->n_rows,
                       .centre = h->mixture.centre,
                       .low = h->low,
                       .high = h->high,
                       .typical = h->typical,
                       .least = ft__fit_least(h->typical)};
    memcpy(p->fit.choice, h->mixture.choice, sizeof(p->fit.choice));
    p->learned = ft__errors_get(h->learned);
    p->constant = ft__errors_get(h->constant);
    p->physics = ft__errors_get(h->physics);
    p->rows = h->mixture.rows;
    p->stored = (ft__stored){.section = begin,
                             .bytes = bytes,
                             .mixture = &h->mixture,
                             .models = begin + models};
    p->least = malloc(range + 1);
    p->most = malloc(range + 1);
    if (!p->least || !p->most)
        return false;
    memcpy(p->least, begin + ft__padded(sizeof(*h)), range);
    memcpy(p->most, begin + ft__padded(sizeof(*h)) + range, range);
    return true;
}

static ft_status open_regressor(ft_predictor *p, const ft__section_image *s,
                                ft_error *err)
{
    ft__model_set *l = p->family->reading;
    ft__regressor *grown;

    if (!l || s->bytes < sizeof(ft__regressor_image))
        return ft__predictor_damaged(s->offset, "a regressor of no learner", err);
    grown = realloc(l->part, (l->n_regressors + 1u) * sizeof(*grown));
    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "predictor");
    l->part = grown;
    if (!read_regressor(&grown[l->n_regressors], (const void *)(p->image + s->offset),
                        (size_t)s->bytes, l->columns.n * sizeof(float))) {
        ft__regressor_free(&grown[l->n_regressors]);
        return ft__predictor_damaged(s->offset, "a regressor", err);
    }
    grown[l->n_regressors].stored.checksum = s->checksum;
    grown[l->n_regressors++].stored.pos = s->offset;
    return FT_OK;
}

static ft_status open_templates(ft_predictor *p, struct section_cursor *c,
                                const ft__section_image *s, ft_error *err)
{
    uint32_t dataset = get_u32(c), errors = get_u32(c);
    ft__templates *t;
    uint64_t n = get_u64(c);

    if (c->bad || dataset >= p->family->n_datasets || p->family->templates[dataset].n ||
        errors > 1 || n > c->left / (sizeof(uint64_t) + (1 + errors) * sizeof(float)))
        return ft__predictor_damaged(s->offset, "templates", err);
    t = &p->family->templates[dataset];
    t->hash = get(c, (size_t)n * sizeof(uint64_t));
    t->ratio = get(c, (size_t)n * sizeof(float));
    t->error = errors ? get(c, (size_t)n * sizeof(float)) : NULL;
    t->n = (size_t)n;
    t->section = p->image + s->offset;
    t->bytes = (size_t)s->bytes;
    t->checksum = s->checksum;
    return FT_OK;
}

static ft_status open_schedule(ft__family *f, const ft__section_image *s,
                               const void *image, ft_error *err)
{
    ft__device_schedule *grown;

    if (s->bytes != sizeof(*grown))
        return ft__predictor_damaged(s->offset, "a schedule", err);
    grown = realloc(f->device_schedule, (f->n_device_schedules + 1u) * sizeof(*grown));
    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "predictor");
    f->device_schedule = grown;
    memcpy(&grown[f->n_device_schedules], image, sizeof(*grown));
    if (!ft__device_schedule_sound(&grown[f->n_device_schedules]))
        return ft__predictor_damaged(s->offset, "a schedule", err);
    f->n_device_schedules++;
    return FT_OK;
}

static ft_status open_unseen(ft__family *f, const ft__section_image *s,
                             const void *image, ft_error *err)
{
    ft__unseen u;

    if (s->bytes != sizeof(u) || f->unseen)
        return ft__predictor_damaged(s->offset, "errors of networks", err);
    memcpy(&u, image, sizeof(u));
    return ft__unseen_sound(&u)
               ? ft__unseen_set(f, &u, err)
               : ft__predictor_damaged(s->offset, "errors of networks", err);
}

static ft_status open_alone(ft__family *f, const ft__section_image *s,
                            const void *image, ft_error *err)
{
    ft__alone a;
    bool sound;
    ft_status st;

    if (s->bytes != sizeof(a))
        return ft__predictor_damaged(s->offset, "networks alone", err);
    memcpy(&a, image, sizeof(a));
    st = ft__alone_add(f, &a, &sound, err);
    return st || sound ? st : ft__predictor_damaged(s->offset, "networks alone", err);
}

static ft_status open_boards(ft__family *f, const ft__section_image *s,
                             const void *image, ft_error *err)
{
    double reach = 0;

    if (s->bytes == sizeof(reach) && !(f->between_boards > 0))
        memcpy(&reach, image, sizeof(reach));
    f->between_boards = reach;
    return reach > 0 && reach <= FT__WIDEST
               ? FT_OK
               : ft__predictor_damaged(s->offset, "how boards differ", err);
}

static ft_status open_section(ft_predictor *p, const ft__section_image *s,
                              ft_error *err)
{
    struct section_cursor c = {p->image + s->offset, (size_t)s->bytes, false, false};
    bool now = s->type == FT__SECTION_FAMILY || s->type == FT__SECTION_MODEL_SET ||
               s->type >= FT__SECTION_SCHEDULE;

    if (s->type > FT__SECTION_BOARDS)
        return ft__predictor_damaged(s->offset, "an unknown section", err);
    if (!p->family && s->type != FT__SECTION_FAMILY)
        return ft__predictor_damaged(s->offset, "a regressor of no family", err);
    if (now && !ft__predictor_sound(c.at, c.left, s->checksum))
        return ft__predictor_damaged(s->offset, "its description fails the checksum",
                                     err);
    switch (s->type) {
    case FT__SECTION_FAMILY: return open_family(p, &c, s->offset, err);
    case FT__SECTION_MODEL_SET: return open_model_set(p, &c, s->offset, err);
    case FT__SECTION_PART: return open_regressor(p, s, err);
    case FT__SECTION_SCHEDULE: return open_schedule(p->family, s, c.at, err);
    case FT__SECTION_UNSEEN: return open_unseen(p->family, s, c.at, err);
    case FT__SECTION_ALONE: return open_alone(p->family, s, c.at, err);
    case FT__SECTION_CLOCKS:
        return ft__clocked_open(&p->family->clocked, c.at, c.left, s->offset, err);
    case FT__SECTION_KERNELS:
        return ft__kernels_open(&p->family->kernels, c.at, c.left, s->offset, err);
    case FT__SECTION_BOARDS: return open_boards(p->family, s, c.at, err);
    default: return open_templates(p, &c, s, err);
    }
}

/* FT_EFORMAT: sections are missing. */
static ft_status check_family(const ft_predictor *p, ft_error *err)
{
    const ft__family *f = p->family;
    const bool learned = ft__family_any(f, FT__METRIC_TIME) != NULL;

    return (f->n_datasets ? learned
                          : (f->n_alone || f->clocked.n || f->kernels) && !learned)
               ? FT_OK
               : ft__predictor_damaged(0, "nothing was learned of times", err);
}

static ft_status open_inside(ft_predictor *p, const ft__section_image *s,
                             uint64_t table_end, ft_error *err)
{
    if (s->offset % 8 || s->offset < table_end || s->offset > p->len ||
        s->bytes > p->len - s->offset)
        return ft__predictor_damaged(s->offset, "a section lies outside the file", err);
    return open_section(p, s, err);
}

static ft_status open_table(ft_predictor *p, ft_error *err)
{
    const ft__header_image *h = (const void *)p->image;
    const ft__section_image *table = (const void *)(p->image + sizeof(*h));
    uint64_t table_bytes;
    ft_status st = FT_OK;

    if (p->len < sizeof(*h) || memcmp(h->magic, FT__PREDICTOR_MAGIC, 8) != 0)
        return ft_fail(err, FT_EFORMAT, 0, "not a predictor file");
    if (h->version != FT__PREDICTOR_VERSION)
        return ft_fail(
            err, FT_EFORMAT, 8,
            "the predictor has format %u, this foretell reads %d; train it again",
            h->version, FT__PREDICTOR_VERSION);
    table_bytes = (uint64_t)h->n_sections * sizeof(*table);
    if (h->file_bytes != p->len || table_bytes > p->len - sizeof(*h))
        return ft__predictor_damaged(16, "the file is cut short", err);
    if (!ft__predictor_sound(table, table_bytes, h->table_checksum))
        return ft__predictor_damaged(sizeof(*h), "its table fails the checksum", err);
    for (uint32_t i = 0; i < h->n_sections && !st; i++)
        st = open_inside(p, &table[i], sizeof(*h) + table_bytes, err);
    if (!st && !p->family)
        st = ft__predictor_damaged(sizeof(*h), "it has no description", err);
    return st ? st : check_family(p, err);
}

/* `mapping` and `memory`: what the predictor is to release at its end. */
static ft_status load(ft_predictor **out, const void *image, size_t len, void *mapping,
                      void *memory, ft_error *err)
{
    ft_predictor *p = calloc(1, sizeof(*p));
    ft_status st;

    *out = NULL;
    if (!p) {
        if (mapping)
            munmap(mapping, len);
        free(memory);
        return ft_fail(err, FT_ENOMEM, 0, "predictor");
    }
    p->image = image;
    p->len = len;
    p->mapping = mapping;
    p->memory = memory;
    st = open_table(p, err);
    if (st) {
        ft_predictor_free(p);
        return st;
    }
    *out = p;
    return FT_OK;
}

ft_status ft__predictor_load_image(ft_predictor **out, const void *image, size_t len,
                                   ft_error *err)
{
    return load(out, image, len, NULL, NULL, err);
}

ft_status ft_predictor_load(ft_predictor **out, const char *path, ft_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    ft_error why;
    void *map;
    ft_status st;

    *out = NULL;
    if (fd < 0 || fstat(fd, &info)) {
        st = ft_fail(err, FT_EIO, 0, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return st;
    }
    if (!S_ISREG(info.st_mode) || info.st_size == 0) {
        close(fd);
        return ft_fail(err, FT_EFORMAT, 0, "%s: not a predictor file", path);
    }
    map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return ft_fail(err, FT_EIO, 0, "%s: %s", path, strerror(errno));
    st = load(out, map, (size_t)info.st_size, map, NULL, &why);
    return st ? ft_fail(err, st, why.pos, "%s: %s", path, why.msg) : FT_OK;
}

void ft_predictor_free(ft_predictor *p)
{
    if (!p)
        return;
    if (p->family)
        ft__family_free(p->family);
    free(p->family);
    if (p->mapping)
        munmap(p->mapping, p->len);
    free(p->memory);
    free(p);
}
