/* A sample as the row of numbers that regressors see, and what its columns are called.
 */
#include "predict/data/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "graph/op_inside.h"

/* Share of the last tile of `unit` that is used. */
static float fill(double n, double unit)
{
    return n > 0 ? (float)(n / (ceil(n / unit) * unit)) : 1;
}

static float log_of(double v)
{
    return v > 0 ? (float)log2(v) : NAN;
}

/* A product of m x n results, each a sum of k: of all kinds that are one, 0 otherwise.
 */
struct product {
    double m, n, k;
};

static struct product product_of(const ft_op *op)
{
    ft_product p[FT_MAX_PRODUCTS];
    ft_shape x, y;

    if (ft_kind_class(op->kind) == FT_CLASS_CONV || ft_op_products(op, p) == 0)
        return (struct product){0};
    x = ft_op_shape(&p[0].op, FT_K_x);
    if (p[0].op.kind == FT_KIND_matmul) {
        y = ft_op_shape(&p[0].op, FT_K_y);
        return (struct product){(double)x.dim[x.rank - 2], (double)y.dim[y.rank - 1],
                                (double)x.dim[x.rank - 1]};
    }
    return (struct product){0};
}

static double channels(const ft_op *op, bool out)
{
    ft_shape x = ft_op_shape(op, FT_K_x);

    if (out)
        return (double)ft_op_at(op, FT_K_out, 0);
    return ft_kind_class(op->kind) == FT_CLASS_MATMUL ? (double)x.dim[x.rank - 1]
           : x.rank > 1                               ? (double)x.dim[1]
                                                      : 1;
}

/* The power of two in n, up to 64: libraries choose kernels by the alignment of sizes.
 */
static float twos(double n)
{
    uint64_t whole = n > 0 && n < 0x1p63 ? (uint64_t)n : 0;
    int power = 0;

    for (; power < 6 && whole > 0 && whole % 2 == 0; whole /= 2)
        power++;
    return (float)power;
}

static double places(const ft_shape *s)
{
    double n = 1;

    for (uint32_t i = 2; i < s->rank; i++)
        n *= (double)s->dim[i];
    return n;
}

/* Convolutions with kernels of 3x3 may be computed in tiles of 2x2 or 4x4 places
 * (Lavin, Gray 2016): is this one, and shares of such tiles that are used. */
static void fill_winograd(float *f, const ft_op *op, const ft_shape *out)
{
    ft_shape x = ft_op_shape(op, FT_K_x);
    uint32_t n;
    const int64_t *kernel = ft_op_get(op, FT_K_kernel, &n);
    int planar = op->kind == FT_KIND_conv2d && out->rank == 4 && x.rank == 4;

    f[0] =
        (float)(planar && kernel && n == 2 && kernel[0] == 3 && kernel[1] == 3 &&
                ft_op_at(op, FT_K_stride, 0) == 1 && ft_op_at(op, FT_K_groups, 0) == 1);
    f[1] = planar ? fill((double)out->dim[2], 2) * fill((double)out->dim[3], 2) : 1;
    f[2] = planar ? fill((double)out->dim[2], 4) * fill((double)out->dim[3], 4) : 1;
}

enum { N_FITS = 20 };
static const char *const fit_names[N_FITS] = {
    "in / 8",
    "in / 32",
    "in / 64",
    "out / 8",
    "out / 32",
    "out / 64",
    "m of product",
    "n of product",
    "k of product",
    "train",
    "bits",
    "weight bits",
    "block",
    "twos in in",
    "twos in out",
    "twos in places",
    "twos in output places",
    "3x3",
    "tiles of 2",
    "tiles of 4",
};

static void fill_fits(float *f, const ft_op *op)
{
    double in = channels(op, false), out = channels(op, true);
    struct product p = product_of(op);
    ft_shape x = ft_op_shape(op, FT_K_x), result;
    int is_product = ft_kind_class(op->kind) == FT_CLASS_MATMUL;
    ft_dtype type;

    ft_op_output(op, 0, &result, &type);
    *f++ = fill(in, 8);
    *f++ = fill(in, 32);
    *f++ = fill(in, 64);
    *f++ = fill(out, 8);
    *f++ = fill(out, 32);
    *f++ = fill(out, 64);
    *f++ = (float)log2(1 + p.m);
    *f++ = (float)log2(1 + p.n);
    *f++ = (float)log2(1 + p.k);
    *f++ = (float)ft_op_at(op, FT_K_train, 0);
    *f++ = (float)ft_dtype_bits(op->dtype); /* FT__COLUMN_BITS */
    *f++ = (float)ft_dtype_bits((ft_dtype)ft_op_at(op, FT_K_weights, 0));
    *f++ = (float)log2(1 + (double)ft_op_at(op, FT_K_block, 0));
    *f++ = twos(in);
    *f++ = twos(out);
    *f++ = twos(is_product ? p.m : places(&x));
    *f++ = twos(is_product ? p.n : places(&result));
    fill_winograd(f, op, &result);
}

enum { N_TERMS = 8 };
static const char *const term_names[N_TERMS] = {
    "base",         "compute share", "cache share", "memory share",
    "launch share", "kernels",       "waves",       "wave fill",
};

static void fill_terms(float *f, const ft__terms *t)
{
    *f++ = log_of(t->total_s);
    *f++ = (float)(t->compute_s / t->total_s);
    *f++ = (float)(t->cache_s / t->total_s);
    *f++ = (float)(t->memory_s / t->total_s);
    *f++ = (float)(t->launch_s / t->total_s);
    *f++ = (float)t->kernels;
    *f++ = log_of(t->waves);
    *f++ = (float)t->fill;
}

/* A Gaussian process cannot form differences of columns, so it gets arithmetic and
 * memory utilisation as logarithms, and classes one-hot encoded. */
enum { N_LOGS = 4, N_COMMON = N_LOGS + FT_CLASS_COUNT };
static const char *const log_names[N_LOGS] = {"log compute share", "log cache share",
                                              "log memory share", "log launch share"};
static const double least_share = 1e-5;

static float log_share(double part_s, double total_s)
{
    return isfinite(part_s) ? log_of(fmax(part_s / total_s, least_share)) : NAN;
}

static void fill_common(float *f, const ft_op *op, const ft__terms *t)
{
    *f++ = log_share(t->compute_s, t->total_s);
    *f++ = log_share(t->cache_s, t->total_s);
    *f++ = log_share(t->memory_s, t->total_s);
    *f++ = log_share(t->launch_s, t->total_s);
    for (int i = 0; i < FT_CLASS_COUNT; i++)
        *f++ = (float)(ft_kind_class(op->kind) == (ft_class)i);
}

enum { N_DEVICE = 10 };
static const char *const device_names[N_DEVICE] = {
    "peak", "bandwidth", "peak / bandwidth", "cores", "clock",
    "L2",   "power",     "tensor peak",      "year",  "bytes / L2",
};

static void fill_device(float *f, const ft__samples *s, const ft__sample *v,
                        const ft_cost *cost)
{
    const ft__dataset *d = &s->dataset[v->dataset];
    ft__hardware_spec c;

    for (int i = 0; i < N_DEVICE; i++)
        f[i] = NAN;
    if (!d->file)
        return;
    ft__hardware_spec_make(&c, ft_device_get(d->file), d->setting, d->policy, &v->op);
    *f++ = log_of(c.peak_flops);
    *f++ = log_of(c.bandwidth);
    *f++ = log_of(c.peak_flops / c.bandwidth);
    *f++ = log_of(c.cores);
    *f++ = log_of(c.clock_hz);
    *f++ = log_of(c.l2_bytes);
    *f++ = log_of(c.power_w);
    *f++ = log_of(c.tensor_flops);
    *f++ = (float)c.year;
    *f++ = log_of((cost->bytes_read + cost->bytes_written) / c.l2_bytes);
}

static const char *const part_names[] = {"device", "engine", "version", "policy",
                                         "dtype"};
enum { N_PARTS = sizeof(part_names) / sizeof(*part_names) };

/* The text of one code for a sample; NULL: it has none. */
static const char *text_of(const char *name, const ft__samples *s, const ft__sample *v,
                           size_t *len)
{
    const ft__dataset *d = &s->dataset[v->dataset];
    const char *const part[N_PARTS] = {d->device, d->engine, d->engine_version,
                                       d->policy, ft_dtype_name(v->op.dtype)};

    for (size_t i = 0; i < N_PARTS; i++)
        if (strcmp(name, part_names[i]) == 0) {
            *len = strlen(part[i]);
            return part[i];
        }
    return ft__pair(d->setting, name, len);
}

/* The place of a value in a sorted list, where it stands (*found) or would. */
static uint32_t place_of(const ft__code *c, const char *text, size_t len, bool *found)
{
    uint32_t lo = 0, hi = c->n;

    *found = false;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int order = strncmp(c->value[mid], text, len);

        if (order == 0)
            order = c->value[mid][len] != '\0';
        if (order == 0) {
            *found = true;
            return mid;
        }
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool learn_value(ft__code *c, const char *text, size_t len)
{
    bool found;
    uint32_t at = place_of(c, text, len, &found);
    char **v;

    if (found)
        return true;
    v = realloc(c->value, (c->n + 1) * sizeof(*v));
    if (!v)
        return false;
    c->value = v;
    memmove(v + at + 1, v + at, (c->n - at) * sizeof(*v));
    v[at] = strndup(text, len);
    c->n++;
    return v[at] != NULL;
}

static void code_free(ft__code *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        free(c->value[i]);
    free(c->value);
    *c = (ft__code){0};
}

/* A code with fewer than two values says nothing and is not kept. */
static ft_status add_code(ft__columns *c, const char *name, size_t len,
                          const ft__samples *s, const uint32_t *row, size_t n,
                          ft_error *err)
{
    ft__code *code = &c->code[c->n_codes];

    if (c->n_codes == FT__MAX_CODES || len >= sizeof(code->name))
        return FT_OK;
    memcpy(code->name, name, len);
    code->name[len] = '\0';
    for (size_t i = 0; i < n; i++) {
        size_t got;
        const char *text = text_of(code->name, s, &s->v[row[i]], &got);

        if (text && !learn_value(code, text, got))
            return ft_fail(err, FT_ENOMEM, 0, "training set");
    }
    if (code->n < 2)
        code_free(code);
    else
        c->n_codes++;
    return FT_OK;
}

static bool is_known(const ft__columns *c, const char *name, size_t len)
{
    for (uint32_t i = 0; i < c->n_codes; i++)
        if (strncmp(c->code[i].name, name, len) == 0 && c->code[i].name[len] == '\0')
            return true;
    return false;
}

/* The pairs of all settings, in the order in which they are met. */
static ft_status add_pairs(ft__columns *c, const ft__samples *s, const uint32_t *row,
                           size_t n, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t d = 0; d < s->n_datasets && !st; d++)
        for (const char *p = s->dataset[d].setting; *p && !st;) {
            size_t all = strcspn(p, " "), len = strcspn(p, "= ");

            if (len && len < all && !is_known(c, p, len))
                st = add_code(c, p, len, s, row, n, err);
            p += all + (p[all] == ' ');
        }
    return st;
}

static bool is_several(const ft__samples *s, const uint32_t *row, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (strcmp(s->dataset[s->v[row[i]].dataset].device,
                   s->dataset[s->v[row[0]].dataset].device) != 0)
            return true;
    return false;
}

static bool copy_code(ft__code *out, const ft__code *c)
{
    memcpy(out->name, c->name, sizeof(out->name));
    out->value = calloc(c->n + 1u, sizeof(*out->value));
    for (; out->value && out->n < c->n; out->n++) {
        out->value[out->n] = strdup(c->value[out->n]);
        if (!out->value[out->n])
            return false;
    }
    return out->value != NULL;
}

static ft_status copy(ft__columns *out, const ft__columns *c, ft_error *err)
{
    *out = (ft__columns){
        .n = c->n, .n_common = c->n_common, .devices = c->devices, .common = c->common};
    while (out->n_codes < c->n_codes) {
        uint32_t j = out->n_codes++;

        if (!copy_code(&out->code[j], &c->code[j])) {
            ft__columns_free(out);
            return ft_fail(err, FT_ENOMEM, 0, "training set");
        }
    }
    return FT_OK;
}

ft_status ft__columns_make(ft__columns *out, const ft__columns *before,
                           const ft__samples *s, const uint32_t *row, size_t n,
                           bool unseen, bool common, ft_error *err)
{
    ft_status st = FT_OK;

    if (before)
        return copy(out, before, err);
    *out = (ft__columns){.devices = !unseen && is_several(s, row, n), .common = common};
    for (size_t i = unseen ? 1 : 0; i < N_PARTS && !st; i++) /* the first: device */
        st = add_code(out, part_names[i], strlen(part_names[i]), s, row, n, err);
    if (!st)
        st = add_pairs(out, s, row, n, err);
    ft__columns_count(out);
    if (st)
        ft__columns_free(out);
    return st;
}

void ft__columns_count(ft__columns *c)
{
    c->n_common = c->common ? N_COMMON : 0;
    c->n = FT__N_FEATURES + N_FITS + N_TERMS + (c->devices ? (uint32_t)N_DEVICE : 0) +
           c->n_codes + c->n_common;
}

void ft__columns_free(ft__columns *c)
{
    for (uint32_t i = 0; i < c->n_codes; i++)
        code_free(&c->code[i]);
    c->n_codes = 0;
}

static float code_of(const ft__code *c, const ft__samples *s, const ft__sample *v)
{
    size_t len;
    const char *text = text_of(c->name, s, v, &len);
    bool found = false;
    uint32_t at = text ? place_of(c, text, len, &found) : 0;

    return found ? (float)at : NAN;
}

void ft__columns_fill(const ft__columns *c, float *row, const ft__samples *s,
                      uint32_t i, const ft__terms *terms)
{
    const ft__roof one = ft__flat_roof(1, 1, 0);
    const ft__sample *v = &s->v[i];
    ft_cost cost;

    ft_op_cost(&v->op, &cost);
    ft__features(row, &v->op, &cost, &one);
    row[FT__F_roofline] = log_of(terms->total_s);
    row += FT__N_FEATURES;
    fill_fits(row, &v->op);
    row += N_FITS;
    fill_terms(row, terms);
    row += N_TERMS;
    if (c->devices) {
        fill_device(row, s, v, &cost);
        row += N_DEVICE;
    }
    for (uint32_t j = 0; j < c->n_codes; j++)
        *row++ = code_of(&c->code[j], s, v);
    if (c->common)
        fill_common(row, &v->op, terms);
}

#define FT__FEATURE(name) #name,
static const char *const feature_names[] = {FT__FEATURES(FT__FEATURE)};
#undef FT__FEATURE

void ft__columns_name(const ft__columns *c, char name[48], uint32_t j)
{
    const char *text;

    if (j < FT__N_FEATURES)
        text = feature_names[j];
    else if ((j -= FT__N_FEATURES) < N_FITS)
        text = fit_names[j];
    else if ((j -= N_FITS) < N_TERMS)
        text = term_names[j];
    else if ((j -= N_TERMS) < N_DEVICE && c->devices)
        text = device_names[j];
    else if ((j -= c->devices ? N_DEVICE : 0) < c->n_codes)
        text = c->code[j].name;
    else if ((j -= c->n_codes) < N_LOGS)
        text = log_names[j];
    else
        text = ft__class_name((ft_class)(j - N_LOGS));
    snprintf(name, 48, "%s", text);
}
