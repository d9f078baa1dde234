/* One interface for all methods: a matrix and targets in, a model out; its image,
 * loaded and saved; rows in, predictions out. */
#include "learn/model.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/names.h"
#include "learn/learn_inside.h"
#include "learn/training_set.h"

static const ft__method_ops *const methods[FT_METHOD_COUNT] = {
    [FT_METHOD_RIDGE] = &ft__method_ridge,
    [FT_METHOD_KNN] = &ft__method_knn,
    [FT_METHOD_TEMPLATE] = &ft__method_template,
    [FT_METHOD_TREE] = &ft__method_tree,
    [FT_METHOD_FOREST] = &ft__method_forest,
    [FT_METHOD_EXTRA] = &ft__method_extra,
    [FT_METHOD_BOOST] = &ft__method_boost,
    [FT_METHOD_MLP] = &ft__method_mlp,
    [FT_METHOD_SVR] = &ft__method_svr,
    [FT_METHOD_GP] = &ft__method_gp,
    [FT_METHOD_HIST] = &ft__method_hist,
    [FT_METHOD_MIDDLE] = &ft__method_middle,
};

int ft_method_available(ft_method m, const char **why)
{
    const char *missing = NULL;

    if ((unsigned)m >= FT_METHOD_COUNT)
        missing = "there is no such method";
    else if (methods[m]->missing)
        missing = methods[m]->missing();
    *why = missing ? missing : "";
    return !missing;
}

void *ft__draft_body(ft__draft *d, size_t len)
{
    d->head = calloc(1, sizeof(*d->head) + len);
    if (!d->head)
        return NULL;
    d->head->bytes = sizeof(*d->head) + len;
    return d->head + 1;
}

ft_status ft__model_damaged(const ft__learn_model *m, const void *at, ft_error *err,
                            const char *fmt, ...)
{
    const uint64_t pos = (uint64_t)((const char *)at - (const char *)m->head);
    char what[200];
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    return ft_fail(err, FT_EFORMAT, pos, "damaged model (%s): %s",
                   ft_name(FT_NAMES_METHOD, m->head->method), what);
}

ft_status ft__columns_check(const ft__learn_model *m, const ft__column *c, uint32_t n,
                            ft_error *err)
{
    for (uint32_t j = 0; j < n; j++) {
        if (c[j].col >= m->head->width)
            return ft__model_damaged(m, &c[j], err, "column %u of %u", c[j].col,
                                     m->head->width);
        if (!isfinite(c[j].fill) || !isfinite(c[j].mean) || !isfinite(c[j].scale))
            return ft__model_damaged(m, &c[j], err, "column %u is standardised by %g",
                                     c[j].col, c[j].scale);
    }
    return FT_OK;
}

/* Targets that have bounds lie strictly between them. */
static bool are_bounds(double least, double most)
{
    return isfinite(most - least) && least < most;
}

static ft_status check_header(const ft__model_header *h, size_t len, ft_error *err)
{
    if (len < sizeof(*h) || memcmp(h->magic, FT__MODEL_MAGIC, sizeof(h->magic)))
        return ft_fail(err, FT_EFORMAT, 0, "this is not the image of a model");
    if (h->version != FT__MODEL_VERSION && h->version != FT__MODEL_UNBOUNDED)
        return ft_fail(err, FT_EFORMAT, offsetof(ft__model_header, version),
                       "a model of version %u, this program reads up to %u: train it "
                       "again",
                       h->version, FT__MODEL_VERSION);
    if (h->method >= FT_METHOD_COUNT)
        return ft_fail(err, FT_EFORMAT, offsetof(ft__model_header, method),
                       "damaged model: there is no method %u", h->method);
    if (h->width == 0 || h->width >= FT__MAX_WIDTH)
        return ft_fail(err, FT_EFORMAT, offsetof(ft__model_header, width),
                       "damaged model: %u columns", h->width);
    if (h->bytes != len)
        return ft_fail(err, FT_EFORMAT, offsetof(ft__model_header, bytes),
                       "damaged model: %zu bytes instead of %llu", len,
                       (unsigned long long)h->bytes);
    if (h->version == FT__MODEL_VERSION && !are_bounds(h->least, h->most))
        return ft_fail(err, FT_EFORMAT, offsetof(ft__model_header, least),
                       "damaged model: it predicts between %g and %g", h->least,
                       h->most);
    return FT_OK;
}

ft_status ft__model_load(ft__learn_model **out, const void *image, size_t len,
                         ft_error *err)
{
    ft__learn_model *m;
    ft_status st;

    *out = NULL;
    if ((uintptr_t)image % sizeof(uint64_t))
        return ft_fail(err, FT_EINVAL, 0,
                       "the image of a model must be aligned to 8 bytes");
    st = check_header(image, len, err);
    if (st)
        return st;
    m = calloc(1, sizeof(*m));
    if (!m)
        return ft_fail(err, FT_ENOMEM, 0, "no memory for a model");
    m->head = image;
    m->ops = methods[m->head->method];
    m->body = m->head + 1;
    m->len = len - sizeof(*m->head);
    st = m->ops->open(m, err);
    if (st) {
        ft__model_free(m);
        return st;
    }
    *out = m;
    return FT_OK;
}

const void *ft__model_image(const ft__learn_model *m, size_t *len)
{
    *len = m->head->bytes;
    return m->head;
}

void ft__model_free(ft__learn_model *m)
{
    if (!m)
        return;
    ft__forest_free(m->forest);
    free(m->owned);
    free(m);
}

uint32_t ft__model_width(const ft__learn_model *m)
{
    return m->head->width;
}

static ft_status check_number(double v, double most, const char *name, ft_error *err)
{
    if (isnan(v) || (v >= 0 && v <= most))
        return FT_OK;
    return ft_fail(err, FT_EINVAL, 0, "%s is %g: it lies between 0 and %g", name, v,
                   most);
}

static bool is_bounded(const ft__learn_model_options *o)
{
    return o->least != 0 || o->most != 0;
}

static ft_status check_options(const ft__learn_model_options *o, ft_error *err)
{
    const struct {
        double v, most;
        const char *name;
    } numbers[] = {
        {o->penalty, 1e12, "penalty"},
        {o->rate, 1, "rate"},
        {o->share, 1, "share"},
        {o->epsilon, 1e6, "epsilon"},
    };
    ft_status st = FT_OK;

    if ((unsigned)o->method >= FT_METHOD_COUNT)
        return ft_fail(err, FT_EINVAL, 0, "there is no method %d", (int)o->method);
    if (is_bounded(o) && !are_bounds(o->least, o->most))
        return ft_fail(err, FT_EINVAL, 0, "nothing lies between %g and %g", o->least,
                       o->most);
    for (size_t i = 0; !st && i < sizeof(numbers) / sizeof(*numbers); i++)
        st = check_number(numbers[i].v, numbers[i].most, numbers[i].name, err);
    return st;
}

/* Targets as they are learned, to be freed: any number in rows that do not count. */
static ft_status stretch(double **out, const ft__task *t, ft_error *err)
{
    const ft__learn_model_options *o = t->opt;
    const size_t n = t->x->n_rows;
    double *v = calloc(n + 1, sizeof(*v));

    if (!v)
        return ft_fail(err, FT_ENOMEM, 0, "no memory to learn from %zu rows", n);
    *out = v;
    for (size_t i = 0; i < n; i++) {
        const double y = t->y[i];

        if (t->weights && t->weights[i] == 0)
            continue;
        if (!(y > o->least && y < o->most))
            return ft_fail(err, FT_EINVAL, 0, "target %zu is %g, not between %g and %g",
                           i, y, o->least, o->most);
        v[i] = log((y - o->least) / (o->most - y));
    }
    return FT_OK;
}

static ft_status fit_stretched(ft__draft *d, const ft__task *t, ft_error *err)
{
    double *y = NULL;
    ft__task inner = *t;
    ft_status st = stretch(&y, t, err);

    inner.y = y;
    if (!st)
        st = methods[t->opt->method]->fit(d, &inner, err);
    free(y);
    return st;
}

/* The model over a finished draft, which it owns from now on. */
static ft_status open_take(ft__learn_model **out, ft__draft *d, const ft__task *t,
                           ft_error *err)
{
    ft__model_header *h = d->head;
    ft_status st;

    memcpy(h->magic, FT__MODEL_MAGIC, sizeof(h->magic));
    h->version = is_bounded(t->opt) ? FT__MODEL_VERSION : FT__MODEL_UNBOUNDED;
    h->least = t->opt->least;
    h->most = t->opt->most;
    h->method = (uint32_t)t->opt->method;
    h->width = (uint32_t)t->x->n_cols;
    st = ft__model_load(out, h, h->bytes, err);
    if (st)
        free(h);
    else
        (*out)->owned = h;
    return st;
}

ft_status ft__model_fit(ft__learn_model **out, const ft__matrix *x, const double *y,
                        const double *weights, const ft__learn_model_options *opt,
                        ft_error *err)
{
    const ft__task t = {x, y, weights, opt};
    const char *why;
    ft__draft d = {0};
    ft_status st;

    *out = NULL;
    st = check_options(opt, err);
    if (!st)
        st = ft__train_check(x, y, weights, err);
    if (st)
        return st;
    if (!ft_method_available(opt->method, &why))
        return ft_fail(err, FT_EUNSUPPORTED, 0, "%s", why);
    st = is_bounded(opt) ? fit_stretched(&d, &t, err)
                         : methods[opt->method]->fit(&d, &t, err);
    if (st) {
        free(d.head);
        return st;
    }
    return open_take(out, &d, &t, err);
}

void ft__model_predict(const ft__learn_model *m, const float *rows, size_t n,
                       double *out)
{
    m->ops->predict(m, rows, n, out);
    if (ft__model_is_bounded(m))
        for (size_t i = 0; i < n; i++)
            out[i] = ft__model_bounded(m, out[i]);
}
