/* Workloads at clocks and under caps: what a predictor learns of them, its section of
 * the file, and what is answered about one at other clocks (clock.h). */
#include "predict/model/dvfs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "graph/op_inside.h"
#include "learn/learn_inside.h"
#include "predict/model/family.h"
#include "predict/query/op_query.h"

enum { N_WORDS = 3 }; /* of a name; its numbers are as many */

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Where a word stands in the alphabet, 0 to 1; the first letters count. */
static double word_value(const char *text, size_t n)
{
    double value = 0, place = 1;

    for (size_t i = 0; i < n && i < 5; i++) {
        place /= 27;
        value += place * ((text[i] | 32) - 'a' + 1);
    }
    return value;
}

static double number_value(const char *text, size_t n)
{
    double value = 0;

    for (size_t i = 0; i < n; i++)
        value = 10 * value + (text[i] - '0');
    return log2(1 + value);
}

static void put_part(float *out, uint32_t *n, double value)
{
    out[*n < 2 ? *n : 2] = (float)value;
    out[2] = (float)value;
    ++*n;
}

void ft__clock_name(float out[FT__CLOCK_NAMES], const char *name)
{
    uint32_t words = 0, numbers = 0;

    for (int i = 0; i < FT__CLOCK_NAMES; i++)
        out[i] = NAN;
    for (const char *p = name ? name : ""; *p;) {
        size_t n = 0;

        if (is_letter(*p)) {
            while (is_letter(p[n]))
                n++;
            put_part(out, &words, word_value(p, n));
        } else if (is_digit(*p)) {
            while (is_digit(p[n]))
                n++;
            put_part(out + N_WORDS, &numbers, number_value(p, n));
        }
        p += n ? n : 1;
    }
}

static uint64_t hash(const char *text, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return (h ^ h >> 29) * 0x9fb21c651e98df25u;
}

static uint64_t hash_text(const char *text)
{
    return hash(text, strlen(text));
}

/* Pairs in any order, without clocks and cap; the run mode is the dataset's. */
static uint64_t hash_rest(const char *setting)
{
    static const char *const left_out[] = {"clock=", "memory=", "power=", "run_mode="};
    uint64_t sum = 0;

    for (const char *p = setting; *p;) {
        size_t n = strcspn(p, " ");
        bool counts = n > 0;

        for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
            counts = counts && strncmp(p, left_out[i], strlen(left_out[i])) != 0;
        sum += counts ? hash(p, n) : 0;
        p += n + (p[n] == ' ');
    }
    return sum;
}

struct workload_point {
    const char *device;
    size_t sample;
    ft__clocked_row row;
};

static double or_nothing(double v)
{
    return isfinite(v) ? v : 0;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_workload(const ft__clocked_row *x, const ft__clocked_row *y)
{
    int c = compare(x->op, y->op);

    c = c ? c : compare(x->engine, y->engine);
    c = c ? c : compare(x->engine_version, y->engine_version);
    return c ? c : compare(x->rest, y->rest);
}

/* The highest clocks and caps first; repeats in an order of their own. */
static int by_clocks(const ft__clock_row *x, const ft__clock_row *y)
{
    const double a[] = {or_nothing(y->core_hz), or_nothing(y->memory_hz),
                        or_nothing(y->cap_w)};
    const double b[] = {or_nothing(x->core_hz), or_nothing(x->memory_hz),
                        or_nothing(x->cap_w)};

    for (int i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] > b[i] ? 1 : -1;
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct workload_point *x = a, *y = b;
    const double v[] = {or_nothing(x->row.r.time_s), or_nothing(x->row.r.power_w)};
    const double w[] = {or_nothing(y->row.r.time_s), or_nothing(y->row.r.power_w)};
    int c = strcmp(x->device, y->device);

    c = c ? c : by_workload(&x->row, &y->row);
    c = c ? c : by_clocks(&x->row.r, &y->row.r);
    for (int i = 0; i < 2 && !c; i++)
        c = (v[i] > w[i]) - (v[i] < w[i]);
    return c;
}

/* As the setting says, otherwise as the device comes (NaN: that is not known). */
static void place(ft__clock_row *r, const char *setting, const ft_device *file)
{
    const ft_device_facts *d = file ? ft_device_get(file) : NULL;

    r->core_hz = ft__pair_number(setting, "clock");
    r->memory_hz = ft__pair_number(setting, "memory");
    r->cap_w = ft__pair_number(setting, "power");
    if (isfinite(r->cap_w) && r->class == FT__CLOCK_NETWORK)
        r->class = FT__CLOCK_CAPPED;
    if (isnan(r->core_hz) && d)
        r->core_hz = d->boost_clock_hz;
    if (isnan(r->cap_w) && d)
        r->cap_w = d->tdp_w;
}

static struct workload_point point_of(const ft__samples *s, const ft__sample *v)
{
    const ft__dataset *d = &s->dataset[v->dataset];
    const char *name = strstr(v->whole->spec, "name=");
    struct workload_point p = {
        .device = d->device,
        .row = {.op = v->hash,
                .engine = hash_text(d->engine),
                .engine_version = hash_text(d->engine_version),
                .rest = hash_rest(d->setting),
                .r = {.class = strncmp(v->whole->spec, "kernel ", 7) == 0
                                   ? FT__CLOCK_KERNEL
                                   : FT__CLOCK_NETWORK,
                      .called = name ? hash(name, strcspn(name, " ")) : 0,
                      .time_s = v->value[FT__METRIC_TIME],
                      .power_w = v->value[FT__METRIC_POWER]}}};

    place(&p.row.r, d->setting, d->file);
    memcpy(p.row.r.hint, v->whole->hint, sizeof(p.row.r.hint));
    ft__clock_name(p.row.r.name, name ? name + 5 : "");
    return p;
}

static bool is_same(const struct workload_point *a, const struct workload_point *b)
{
    return strcmp(a->device, b->device) == 0 && by_workload(&a->row, &b->row) == 0;
}

ft_status ft__clocked_top(bool *top, const ft__samples *s, ft_error *err)
{
    struct workload_point *v = calloc(s->n + 1, sizeof(*v)), *first = v;

    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "%zu clocks", s->n);
    for (size_t i = 0; i < s->n; i++) {
        v[i] = point_of(s, &s->v[i]);
        v[i].sample = i;
    }
    qsort(v, s->n, sizeof(*v), by_place);
    for (size_t i = 0; i < s->n; i++) {
        first = is_same(first, &v[i]) ? first : &v[i];
        top[v[i].sample] = by_clocks(&first->row.r, &v[i].row.r) == 0;
    }
    free(v);
    return FT_OK;
}

/* Repeats are one row: the first of each. Workloads get their numbers. */
static size_t join(struct workload_point *v, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        struct workload_point *last = kept ? &v[kept - 1] : NULL;
        bool device = last && strcmp(last->device, v[i].device) == 0;
        bool workload = last && is_same(last, &v[i]);

        if (workload && by_clocks(&last->row.r, &v[i].row.r) == 0) {
            if (isnan(last->row.r.time_s))
                last->row.r.time_s = v[i].row.r.time_s;
            if (isnan(last->row.r.power_w))
                last->row.r.power_w = v[i].row.r.power_w;
            continue;
        }
        v[i].row.r.workload = device ? last->row.r.workload + !workload : 0;
        v[kept++] = v[i];
    }
    return kept;
}

static ft_status fit_device(ft__clocked_list *l, const struct workload_point *v,
                            size_t n, uint64_t seed, ft_error *err)
{
    ft__clocked *c = &l->v[l->n];
    ft__clock_row *row = calloc(n + 1, sizeof(*row));
    ft_status st;

    *c = (ft__clocked){.row = calloc(n + 1, sizeof(*c->row)), .n = n};
    l->n++;
    if (!row || !c->row) {
        free(row);
        return ft_fail(err, FT_ENOMEM, 0, "%zu clocks", n);
    }
    snprintf(c->device, sizeof(c->device), "%s", v->device);
    for (size_t i = 0; i < n; i++) {
        c->row[i] = v[i].row;
        row[i] = v[i].row.r;
    }
    st = ft__clocks_fit(&c->model, row, n, 1, seed, err);
    free(row);
    return st;
}

ft_status ft__clocked_fit(ft__clocked_list *out, const ft__samples *s, uint64_t seed,
                          ft_error *err)
{
    struct workload_point *v = calloc(s->n + 1, sizeof(*v));
    size_t n = 0;
    ft_status st = FT_OK;

    *out = (ft__clocked_list){.v = calloc(s->n_datasets + 1u, sizeof(*out->v))};
    if (!v || !out->v)
        st = ft_fail(err, FT_ENOMEM, 0, "%zu clocks", s->n);
    for (size_t i = 0; i < s->n && !st; i++)
        if (s->v[i].value[FT__METRIC_TIME] > 0 || s->v[i].value[FT__METRIC_POWER] > 0)
            v[n++] = point_of(s, &s->v[i]);
    if (!st) {
        qsort(v, n, sizeof(*v), by_place);
        n = join(v, n);
    }
    for (size_t from = 0, to; from < n && !st; from = to) {
        for (to = from + 1; to < n && strcmp(v[to].device, v[from].device) == 0;)
            to++;
        st = fit_device(out, v + from, to - from, seed, err);
    }
    free(v);
    if (st)
        ft__clocked_free(out);
    return st;
}

void ft__clocked_free(ft__clocked_list *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        ft__clocks_free(l->v[i].model);
        free(l->v[i].row);
    }
    free(l->v);
    *l = (ft__clocked_list){0};
}

/* NULL: no workload was measured at clocks of the device. */
static const ft__clocked *clocked_of(const ft__clocked_list *l, const char *device)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (strcmp(l->v[i].device, device) == 0)
            return &l->v[i];
    return NULL;
}

enum { N_MODELS = 6 };

struct clocks_image {
    char device[80];
    double v[FT__CLOCK_CONSTANTS];
    double core_hz, memory_hz, power_w;
    double bound[4]; /* low and high of time, of power */
    double share[2]; /* of time, of power */
    uint64_t n;
    uint64_t bytes[N_MODELS]; /* 0: there is none */
};

static void models_of(ft__learn_model **out[N_MODELS], ft__clocks *c)
{
    ft__learn_model **const all[N_MODELS] = {
        &c->time.miss,  &c->time.whole,  &c->time.residual_scale,
        &c->power.miss, &c->power.whole, &c->power.residual_scale};

    memcpy(out, all, sizeof(all));
}

ft_status ft__clocked_write(ft__writer *w, const ft__clocked *c, ft_error *err)
{
    const ft__clocks *m = c->model;
    const size_t begin = w->body.len;
    struct clocks_image head = {
        .core_hz = m->core_hz,
        .memory_hz = m->memory_hz,
        .power_w = m->power_w,
        .bound = {m->time.low, m->time.high, m->power.low, m->power.high},
        .share = {m->time.share, m->power.share},
        .n = c->n};
    ft__learn_model **model[N_MODELS];
    const void *image[N_MODELS];

    models_of(model, c->model);
    memcpy(head.device, c->device, sizeof(head.device));
    memcpy(head.v, m->v, sizeof(head.v));
    for (int i = 0; i < N_MODELS; i++) {
        size_t len = 0;

        image[i] = *model[i] ? ft__model_image(*model[i], &len) : NULL;
        head.bytes[i] = len;
    }
    ft__writer_add(w, &head, sizeof(head));
    ft__writer_add(w, c->row, c->n * sizeof(*c->row));
    for (int i = 0; i < N_MODELS; i++)
        if (image[i])
            ft__writer_add(w, image[i], (size_t)head.bytes[i]);
    return ft__writer_end(w, FT__SECTION_CLOCKS, begin, w->body.len - begin, err);
}

static bool is_sound(const struct clocks_image *h, size_t bytes)
{
    size_t left = bytes - ft__padded(sizeof(*h));

    if (!ft__is_text(h->device, sizeof(h->device)) || h->n == 0 ||
        h->n > left / sizeof(ft__clocked_row) ||
        ft__padded((size_t)h->n * sizeof(ft__clocked_row)) > left)
        return false;
    left -= ft__padded((size_t)h->n * sizeof(ft__clocked_row));
    for (int i = 0; i < N_MODELS; i++) {
        if (h->bytes[i] > left || ft__padded((size_t)h->bytes[i]) > left)
            return false;
        left -= ft__padded((size_t)h->bytes[i]);
    }
    for (int i = 0; i < 4; i++)
        if (!isfinite(h->bound[i]))
            return false;
    for (int i = 0; i < 2; i++)
        if (!(h->share[i] >= 0 && h->share[i] <= 1))
            return false;
    return left == 0;
}

static bool is_positive(double v)
{
    return isnan(v) || (v > 0 && isfinite(v));
}

static bool is_sound_row(const ft__clock_row *r)
{
    return is_positive(r->core_hz) && is_positive(r->memory_hz) &&
           is_positive(r->cap_w) && (isfinite(r->core_hz) || isfinite(r->cap_w)) &&
           r->class < FT__N_CLOCK_CLASSES && (r->time_s > 0 || r->power_w > 0);
}

static ft_status open_models(ft__clocked *c, const struct clocks_image *h,
                             const unsigned char *at, uint64_t pos, ft_error *err)
{
    ft__learn_model **model[N_MODELS];
    ft_status st = FT_OK;

    models_of(model, c->model);
    for (int i = 0; i < N_MODELS && !st; i++) {
        if (h->bytes[i])
            st = ft__model_load(model[i], at, (size_t)h->bytes[i], err);
        if (!st && *model[i] && ft__model_width(*model[i]) != FT__CLOCK_COLUMNS)
            st = ft__predictor_damaged(pos, "a model of another width", err);
        at += ft__padded((size_t)h->bytes[i]);
    }
    return st;
}

ft_status ft__clocked_open(ft__clocked_list *l, const void *section, size_t bytes,
                           uint64_t pos, ft_error *err)
{
    const struct clocks_image *h = section;
    ft__clocked *grown = realloc(l->v, (l->n + 1u) * sizeof(*grown)), *c;
    const unsigned char *at = section;

    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "predictor");
    l->v = grown;
    if (bytes < ft__padded(sizeof(*h)) || !is_sound(h, bytes))
        return ft__predictor_damaged(pos, "clocks", err);
    c = &l->v[l->n];
    *c = (ft__clocked){.model = calloc(1, sizeof(*c->model)),
                       .row = malloc((size_t)h->n * sizeof(*c->row)),
                       .n = (size_t)h->n};
    l->n++;
    if (!c->model || !c->row)
        return ft_fail(err, FT_ENOMEM, 0, "predictor");
    memcpy(c->device, h->device, sizeof(c->device));
    memcpy(c->row, at + ft__padded(sizeof(*h)), c->n * sizeof(*c->row));
    memcpy(c->model->v, h->v, sizeof(h->v));
    c->model->core_hz = h->core_hz;
    c->model->memory_hz = h->memory_hz;
    c->model->power_w = h->power_w;
    c->model->time.low = h->bound[0];
    c->model->time.high = h->bound[1];
    c->model->power.low = h->bound[2];
    c->model->power.high = h->bound[3];
    c->model->time.share = h->share[0];
    c->model->power.share = h->share[1];
    for (size_t i = 0; i < c->n; i++)
        if (!is_sound_row(&c->row[i].r))
            return ft__predictor_damaged(pos, "clocks", err);
    if (!ft__clocks_sound(c->model))
        return ft__predictor_damaged(pos, "what clocks do", err);
    return open_models(c, h,
                       at + ft__padded(sizeof(*h)) + ft__padded(c->n * sizeof(*c->row)),
                       pos, err);
}

static const ft__clocked_row *rows_of(const ft__clocked *c, uint64_t op,
                                      const ft__device_use *on, size_t *n)
{
    const uint64_t rest = on->setting ? hash_rest(on->setting) : 0;

    for (size_t i = 0; i < c->n; i++) {
        const ft__clocked_row *r = &c->row[i];

        if (r->op != op || (rest && r->rest != rest) ||
            (on->engine && hash_text(on->engine) != r->engine) ||
            (on->engine_version && hash_text(on->engine_version) != r->engine_version))
            continue;
        for (*n = 1; i + *n < c->n && by_workload(r, &r[*n]) == 0;)
            ++*n;
        return r;
    }
    *n = 0;
    return NULL;
}

double ft__clocked_covers(const ft__clocked_list *l, const ft_graph *g)
{
    static const ft__device_use any = {0};
    uint32_t known = 0, n = g->n_ops;
    size_t rows;

    for (uint32_t i = 0; i < n; i++) {
        bool found = false;

        for (uint32_t k = 0; k < l->n && !found; k++)
            found = rows_of(&l->v[k], ft__op_hash(&g->op[i]), &any, &rows);
        known += found;
    }
    return n ? (double)known / n : 0;
}

static bool is_at(double asked, double measured)
{
    return isnan(asked) || fabs(asked - measured) <= 1e-3 * asked;
}

static ft_estimate around(double value, double low, double high, ft_basis basis)
{
    return isfinite(value) ? (ft_estimate){value, low, high, basis, ""}
                           : (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE,
                                           "it was not measured of this workload"};
}

/* A measured value, with the spread between repeats. */
static ft_estimate as_measured(double value)
{
    ft__op_answer a = {.value = value};

    ft__answer_as_measured(&a, value, 0);
    return around(value, a.low, a.high, FT_BASIS_MEASURED);
}

/* What constants that nobody fitted to the device err by, as 90 % of the logarithm: at
 * the measured clocks, and for each e-fold from there. Of networks, as those of one
 * device showed (docs/notes/power.md); of kernels, so that 90 % of a Titan X's and a
 * GTX 1080 Ti's times lie within: which ones wait for memory is not known. */
static const struct plain_error {
    double least, more;
} plain_time = {0.12, 0.25}, plain_power = {0.05, 0.25},
  kernel_time = {FT__RESCALING_ERROR, 0.35}, kernel_power = {FT__RESCALING_ERROR, 0.25};

/* ratio: with its 90 % interval, NaN where too few workloads were known to tell one. */
static ft_estimate scaled(double measured, double ratio, double low, double high,
                          const struct plain_error *plain)
{
    const double error = plain->least + plain->more * fabs(log(ratio));

    if (isfinite(low))
        return around(measured * ratio, measured * low, measured * high,
                      FT_BASIS_LEARNED);
    return around(measured * ratio, measured * ratio * exp(-error),
                  measured * ratio * exp(error), FT_BASIS_SCALED);
}

static void ask(ft_estimate *time, ft_estimate *power, const ft__clocked *c,
                const ft__clocked_row *row, size_t n, const char *setting)
{
    const double core_hz = ft__pair_number(setting, "clock"),
                 memory_hz = ft__pair_number(setting, "memory"),
                 cap_w = ft__pair_number(setting, "power");
    const ft__clock_row *from = &row->r;
    ft__clock_ratio r;

    for (size_t i = 0; i < n; i++)
        if (is_at(core_hz, row[i].r.core_hz) && is_at(memory_hz, row[i].r.memory_hz) &&
            is_at(cap_w, row[i].r.cap_w)) {
            *time = as_measured(row[i].r.time_s);
            *power = as_measured(row[i].r.power_w);
            return;
        }
    r = ft__clocks_at(c->model, from, core_hz, memory_hz, cap_w);
    *time = scaled(from->time_s, r.time, r.time_low, r.time_high,
                   from->class == FT__CLOCK_KERNEL ? &kernel_time : &plain_time);
    *power = scaled(from->power_w, r.power, r.power_low, r.power_high,
                    from->class == FT__CLOCK_KERNEL ? &kernel_power : &plain_power);
}

double ft__clocked_formulae(const ft__clocked_list *l, const ft__device_use *on,
                            uint64_t op, bool time, bool power)
{
    const ft__clocked *c = clocked_of(l, on->name);
    size_t n;
    const ft__clocked_row *row = c ? rows_of(c, op, on, &n) : NULL;
    ft__clocks plain;
    ft__clock_ratio r;

    if (!row)
        return NAN;
    plain = *c->model;
    plain.time = plain.power = (ft__clock_trees){0};
    r = ft__clocks_at(&plain, &row->r, ft__pair_number(on->setting, "clock"),
                      ft__pair_number(on->setting, "memory"),
                      ft__pair_number(on->setting, "power"));
    return (power ? 1 : row->r.time_s * r.time) * (time ? 1 : row->r.power_w * r.power);
}

/* The residual of workloads, taken to be perfectly correlated. */
static ft__log_residual residual_of(const ft__network_estimate *e, const ft_graph *g)
{
    ft__log_residual s = {0};
    double sum = 0;

    for (uint32_t i = 0; i < e->n_ops; i++) {
        const ft_estimate *t = &e->op_time[i], *p = &e->op_power[i];
        const double part = t->value * (double)g->op_count[i];

        sum += part;
        s.time_low += part * log(t->low / t->value);
        s.time_high += part * log(t->high / t->value);
        s.power_low += p->value > 0 ? part * log(p->low / p->value) : 0;
        s.power_high += p->value > 0 ? part * log(p->high / p->value) : 0;
    }
    s.time_low /= sum;
    s.time_high /= sum;
    s.power_low /= sum;
    s.power_high /= sum;
    s.energy_low = -hypot(s.time_low, s.power_low);
    s.energy_high = hypot(s.time_high, s.power_high);
    return s;
}

/* Sums a sequence of workloads. */
static ft_status add_up(ft__network_estimate *e, const ft_graph *g, ft_error *err)
{
    const ft__schedule plain = ft__schedule_plain();
    ft__op_task *task = calloc(e->n_ops + 1u, sizeof(*task));
    ft__log_residual residual;
    ft_status st;

    if (!task)
        return ft_fail(err, FT_ENOMEM, 0, "%u workloads", e->n_ops);
    for (uint32_t i = 0; i < e->n_ops; i++)
        task[i] = (ft__op_task){.group = FT__TASK_OTHER,
                                .count = (double)g->op_count[i],
                                .alone_s = e->op_time[i].value,
                                .bare_s = e->op_time[i].value,
                                .power_w = e->op_power[i].value};
    residual = residual_of(e, g);
    st = ft__estimate_assemble(e, g, task, &plain, INFINITY, 0, &residual, err);
    free(task);
    return st;
}

static ft_status ask_all(ft__network_estimate *e, const ft__clocked *c,
                         const ft__device_use *on, const ft_graph *g, ft_error *err)
{
    const char *setting = on->setting ? on->setting : "";
    bool timed = true;

    for (uint32_t i = 0; i < e->n_ops; i++) {
        size_t n;
        const ft__clocked_row *row =
            c ? rows_of(c, ft__op_hash(&g->op[i]), on, &n) : NULL;

        if (!row)
            return ft_fail(err, FT_ENOTFOUND, 0,
                           "workload %u of the list was measured at no clock and under "
                           "no cap of %s",
                           i + 1, on->name);
        ask(&e->op_time[i], &e->op_power[i], c, row, n, setting);
        e->op_device[i] = e->op_time[i];
        ft__estimate_op_energy(e, i);
        timed = timed && e->op_time[i].value > 0;
    }
    if (timed)
        return add_up(e, g, err);
    e->time = around(NAN, NAN, NAN, FT_BASIS_UNAVAILABLE);
    e->power = e->n_ops == 1 ? e->op_power[0] : e->time;
    return FT_OK;
}

ft_status ft__clocked_network(ft__network_estimate *out, const ft__clocked_list *l,
                              const ft__device_use *asked, const ft_graph *g,
                              ft_error *err)
{
    ft__device_use on = *asked;
    ft_status st = ft__estimate_start(out, g, err);

    if (on.device)
        on.name = ft_device_get(on.device)->name;
    if (!st)
        st = ask_all(out, clocked_of(l, on.name ? on.name : ""), &on, g, err);
    if (st) {
        ft__network_estimate_free(out);
        return st;
    }
    out->memory = (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE,
                                "of what was measured whole no memory is known"};
    ft__estimate_count(out);
    return FT_OK;
}
