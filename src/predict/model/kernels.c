/* What a predictor knows of kernels: its names, its section of the file (an image,
 * names, what hosts need, and the models of each regressor; each part is padded), and
 * what is answered about a launch. */
#include "predict/model/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/file/predictor.h"
#include "predict/model/family.h"

/* names->n: there is none called so. */
static uint32_t find_name(const ft__name_list *names, const char *name)
{
    uint32_t i = 0;

    while (i < names->n && strncmp(names->v[i], name, FT__NAME_BYTES - 1) != 0)
        i++;
    return i;
}

ft_status ft__names_add(uint32_t *out, ft__name_list *names, const char *name,
                        ft_error *err)
{
    char **v;

    *out = find_name(names, name);
    if (*out < names->n)
        return FT_OK;
    v = realloc(names->v, (names->n + 1u) * sizeof(*v));
    if (v)
        names->v = v;
    if (!v || !(v[names->n] = strndup(name, FT__NAME_BYTES - 1)))
        return ft_fail(err, FT_ENOMEM, 0, "a name");
    names->n++;
    return FT_OK;
}

void ft__names_free(ft__name_list *names)
{
    for (uint32_t i = 0; i < names->n; i++)
        free(names->v[i]);
    free(names->v);
    *names = (ft__name_list){0};
}

void ft__kernels_free(ft__kernel_models *k)
{
    if (!k)
        return;
    for (int i = 0; i < FT__N_REGRESSORS; i++)
        ft__fit_free(&k->of[i].fit);
    free(k->hosts.known);
    free(k->hosts.level);
    free(k->hosts.part);
    ft__names_free(&k->devices);
    ft__names_free(&k->kernels);
    ft__names_free(&k->calls);
    free(k->n_of);
    free(k);
}

enum { NAME = FT__NAME_BYTES, MOST_NAMES = 1 << 20 };

struct kernel_regressor_image {
    ft__mixture_image mixture;
    double low, high, typical;
    uint64_t n_rows; /* 0: there is none */
    double learned[FT__N_ERRORS], constant[FT__N_ERRORS], physics[FT__N_ERRORS];
};

struct kernels_image {
    uint32_t n_devices, n_kernels, n_calls, n_constants;
    double params[FT__N_KERNEL_CONSTANTS];
    double usual, low, high, part_low, part_high; /* of ft__hosts */
    struct kernel_regressor_image of[FT__N_REGRESSORS];
};

static void put_names(ft__writer *w, const ft__name_list *names)
{
    ft__buf b = {0};

    for (uint32_t i = 0; i < names->n; i++) {
        char text[NAME] = "";

        strncpy(text, names->v[i], NAME - 1);
        ft__buf_add(&b, text, NAME);
    }
    w->body.bad |= b.bad;
    ft__writer_add(w, b.s ? b.s : "", b.bad ? 0 : b.len);
    ft__buf_free(&b);
}

ft_status ft__kernels_write(ft__writer *w, const ft__kernel_models *k, ft_error *err)
{
    const ft__hosts *h = &k->hosts;
    const size_t begin = w->body.len;
    struct kernels_image head = {.n_devices = k->devices.n,
                                 .n_kernels = k->kernels.n,
                                 .n_calls = k->calls.n,
                                 .n_constants = FT__N_KERNEL_CONSTANTS,
                                 .usual = h->usual,
                                 .low = h->low,
                                 .high = h->high,
                                 .part_low = h->part_low,
                                 .part_high = h->part_high};

    if (k->section) /* as it is */
        return ft__writer_section(w, FT__SECTION_KERNELS, k->section, k->bytes, err);
    memcpy(head.params, k->params.v, sizeof(head.params));
    for (int i = 0; i < FT__N_REGRESSORS; i++) {
        head.of[i] = (struct kernel_regressor_image){.low = k->of[i].fit.low,
                                                     .high = k->of[i].fit.high,
                                                     .typical = k->of[i].fit.typical,
                                                     .n_rows = k->of[i].fit.n_rows};
        ft__errors_put(head.of[i].learned, &k->of[i].learned);
        ft__errors_put(head.of[i].constant, &k->of[i].constant);
        ft__errors_put(head.of[i].physics, &k->of[i].physics);
    }
    ft__writer_add(w, &head, sizeof(head));
    put_names(w, &k->devices);
    put_names(w, &k->kernels);
    put_names(w, &k->calls);
    ft__writer_add(w, k->n_of, k->devices.n * sizeof(*k->n_of));
    ft__writer_add(w, h->known, (size_t)h->n_devices * h->n_calls * sizeof(*h->known));
    ft__writer_add(w, h->level, h->n_devices * sizeof(*h->level));
    ft__writer_add(w, h->part, h->n_calls * sizeof(*h->part));
    for (int i = 0; i < FT__N_REGRESSORS; i++)
        ft__writer_models(w, &head.of[i].mixture, &k->of[i].fit);
    if (!w->body.bad) /* now with the sizes */
        memcpy(w->body.s + begin, &head, sizeof(head));
    return ft__writer_end(w, FT__SECTION_KERNELS, begin, w->body.len - begin, err);
}

/* A sticky reader of parts of the section. */
struct section_parts {
    const unsigned char *at;
    size_t left;
    bool bad, no_memory;
};

static const void *part(struct section_parts *p, size_t n, size_t size)
{
    const unsigned char *at = p->at;

    if (p->bad || n > p->left / size || ft__padded(n * size) > p->left) {
        p->bad = true;
        return NULL;
    }
    p->at += ft__padded(n * size);
    p->left -= ft__padded(n * size);
    return at;
}

static void *copy(struct section_parts *p, size_t n, size_t size)
{
    const void *from = part(p, n, size);
    void *own = from ? malloc(n * size + 1) : NULL;

    if (own)
        memcpy(own, from, n * size);
    p->no_memory |= from && !own;
    p->bad |= !own;
    return own;
}

static void get_names(struct section_parts *p, ft__name_list *out, uint32_t n)
{
    const char *text = part(p, n, NAME);

    for (uint32_t i = 0; i < n && !p->bad; i++) {
        const char *name = text + (size_t)i * NAME;
        uint32_t at;

        if (!memchr(name, 0, NAME))
            p->bad = true;
        else if (ft__names_add(&at, out, name, NULL))
            p->bad = p->no_memory = true;
        else
            p->bad = at != i; /* a second one of that name */
    }
}

static bool is_sound(const struct kernels_image *h)
{
    bool good = h->n_constants == FT__N_KERNEL_CONSTANTS && h->n_devices &&
                h->n_kernels && h->n_devices <= MOST_NAMES &&
                h->n_kernels <= MOST_NAMES && h->n_calls <= MOST_NAMES &&
                (h->of[0].n_rows || h->of[1].n_rows);

    for (int i = 0; i < FT__N_KERNEL_CONSTANTS; i++)
        good = good && h->params[i] > 0 && isfinite(h->params[i]);
    return good &&
           (!h->n_calls || (!isinf(h->usual) && isfinite(h->low) && isfinite(h->high) &&
                            isfinite(h->part_low) && isfinite(h->part_high)));
}

static void get_hosts(struct section_parts *p, ft__hosts *out,
                      const struct kernels_image *h)
{
    *out = (ft__hosts){.n_devices = h->n_devices,
                       .n_calls = h->n_calls,
                       .usual = h->usual,
                       .low = h->low,
                       .high = h->high,
                       .part_low = h->part_low,
                       .part_high = h->part_high};
    out->known = copy(p, (size_t)h->n_devices * h->n_calls, sizeof(*out->known));
    out->level = copy(p, h->n_devices, sizeof(*out->level));
    out->part = copy(p, h->n_calls, sizeof(*out->part));
    for (uint32_t i = 0; i < h->n_calls && !p->bad; i++)
        p->bad = !isfinite(out->part[i]);
}

static ft_status get_regressor(struct section_parts *p, ft__kernel_regressor *r,
                               const struct kernel_regressor_image *h, uint32_t width,
                               uint64_t pos, ft_error *err)
{
    const void *models = p->at;
    size_t bytes = 0;

    if (!h->n_rows)
        return FT_OK;
    if (!ft__mixture_sound(&h->mixture, p->left) || !isfinite(h->low) ||
        !isfinite(h->high) || !(h->typical >= 0))
        return ft__predictor_damaged(pos, "a regressor of kernels", err);
    for (int i = 0; i <= FT__MAX_MIXED; i++)
        bytes += h->mixture.bytes[i];
    part(p, bytes, 1);
    r->fit = (ft__fit){.n_rows = (size_t)h->n_rows,
                       .low = h->low,
                       .high = h->high,
                       .typical = h->typical,
                       .least = ft__fit_least(h->typical)};
    memcpy(r->fit.choice, h->mixture.choice, sizeof(r->fit.choice));
    r->learned = ft__errors_get(h->learned);
    r->constant = ft__errors_get(h->constant);
    r->physics = ft__errors_get(h->physics);
    return ft__mixture_open(&r->fit, &h->mixture, models, width, pos, err);
}

static ft_status get_all(ft__kernel_models *k, struct section_parts *p, uint64_t pos,
                         ft_error *err)
{
    const struct kernels_image *h = part(p, 1, sizeof(*h));
    ft_status st = FT_OK;

    if (!h || !is_sound(h))
        return ft__predictor_damaged(pos, "kernels", err);
    memcpy(k->params.v, h->params, sizeof(h->params));
    get_names(p, &k->devices, h->n_devices);
    get_names(p, &k->kernels, h->n_kernels);
    get_names(p, &k->calls, h->n_calls);
    k->n_of = copy(p, h->n_devices, sizeof(*k->n_of));
    get_hosts(p, &k->hosts, h);
    if (p->no_memory)
        return ft_fail(err, FT_ENOMEM, 0, "predictor");
    for (int i = 0; i < FT__N_REGRESSORS && !st && !p->bad; i++)
        st = get_regressor(p, &k->of[i], &h->of[i],
                           ft__kernel_columns(NULL, i == FT__OF_KERNELS), pos, err);
    return st || (!p->bad && !p->left) ? st
                                       : ft__predictor_damaged(pos, "kernels", err);
}

ft_status ft__kernels_open(ft__kernel_models **out, const void *section, size_t bytes,
                           uint64_t pos, ft_error *err)
{
    struct section_parts p = {section, bytes, false, false};
    ft_status st;

    if (*out)
        return ft__predictor_damaged(pos, "kernels a second time", err);
    *out = calloc(1, sizeof(**out));
    st = *out ? get_all(*out, &p, pos, err) : ft_fail(err, FT_ENOMEM, 0, "predictor");
    if (*out) {
        (*out)->section = section;
        (*out)->bytes = bytes;
    }
    if (st) {
        ft__kernels_free(*out);
        *out = NULL;
    }
    return st;
}

enum { MOST_COLUMNS = 64 };
/* Around the physical estimate with its default constants: of launches that keep a GPU
 * busy 98 % lie there where blocks stream (docs/notes/ptx-prediction.md); of kernels
 * unlike those nobody knows. Of power neither. */
static const double PHYSICS_LOW = 0.6, PHYSICS_HIGH = 1.7, POWER = 2;

/* Of a call that was not timed on the device: level of the host and part of the call,
 * as far as they are known, otherwise as others have them. */
ft__kernel_call ft__hosts_call(const ft__kernel_models *k, const char *device,
                               const char *call)
{
    const ft__hosts *h = &k->hosts;
    const uint32_t d = find_name(&k->devices, device), c = find_name(&k->calls, call);
    const bool of_device = d < h->n_devices && isfinite(h->level[d]);
    ft__kernel_call out = {.call_s = of_device ? h->level[d] : h->usual};

    if (d < h->n_devices && c < h->n_calls &&
        isfinite(h->known[(size_t)d * h->n_calls + c]))
        return (ft__kernel_call){exp(h->known[(size_t)d * h->n_calls + c]), 0, 0};
    if (!of_device) {
        out.low = h->low;
        out.high = h->high;
    }
    if (c < h->n_calls) {
        out.call_s += h->part[c];
    } else {
        out.low = -hypot(out.low, fmin(0, h->part_low));
        out.high = hypot(out.high, fmax(0, h->part_high));
    }
    out.call_s = exp(out.call_s);
    return out;
}

static const char *bound_of(const ft_kernel_terms *t, double call_s)
{
    const struct {
        const char *name;
        double s;
    } part[] = {{"issue", t->issue_s},   {"compute", t->compute_s},
                {"shared", t->shared_s}, {"cache", t->cache_s},
                {"memory", t->memory_s}, {"latency", t->latency_s},
                {"launch", t->launch_s}};
    size_t most = 0;

    for (size_t i = 1; i < sizeof(part) / sizeof(*part); i++)
        if (part[i].s > part[most].s)
            most = i;
    return call_s > t->device_s ? "host" : part[most].name;
}

/* What the predictor knows of the launch's device and kernel. */
struct learned_kernels {
    const ft__kernel_models *k; /* NULL: nothing */
    const ft__kernel_regressor *by;
    bool device, kernel; /* are among those learned from */
};

/* Of other devices that is what was learned by leaving devices out; of kernels that are
 * new as well, as long as it is known how far off such are. */
static struct learned_kernels find_known(const ft__kernel_models *k, const char *device,
                                         const char *kernel)
{
    struct learned_kernels on = {
        .k = k,
        .device = k && find_name(&k->devices, device) < k->devices.n,
        .kernel = k && find_name(&k->kernels, kernel) < k->kernels.n};
    const bool kernels = k && k->of[FT__OF_KERNELS].fit.n_rows > 0;
    const bool devices = k && k->of[FT__OF_DEVICES].fit.n_rows > 0;

    if (on.device && kernels)
        on.by = &k->of[FT__OF_KERNELS];
    else if (devices && (on.kernel || kernels))
        on.by = &k->of[FT__OF_DEVICES];
    else
        on.k = NULL;
    return on;
}

/* The estimate times what the regressor says it misses. */
static void correct(ft_kernel_estimate *out, const struct learned_kernels *on,
                    const ft__kernel_work *work, const ft__gpu *gpu, double call_s)
{
    const ft__fit *f = &on->by->fit, *other = &on->k->of[FT__OF_KERNELS].fit;
    float row[MOST_COLUMNS];
    double value, residual_scale, scratch, low, high;

    ft__kernel_fill(row, work, gpu, &out->terms, call_s,
                    on->by == &on->k->of[FT__OF_KERNELS]);
    ft__fit_predict(f, row, 1, &value, &residual_scale, &scratch);
    low = fmin(0, f->low * residual_scale);
    high = fmax(0, f->high * residual_scale);
    if (!on->device && !on->kernel) { /* both are new */
        low = -hypot(low, fmin(0, other->low * other->typical));
        high = hypot(high, fmax(0, other->high * other->typical));
    }
    out->time.value *= exp(value);
    out->time.low *= exp(value + low);
    out->time.high *= exp(value + high);
    out->time.basis = on->device ? FT_BASIS_LEARNED : FT_BASIS_SCALED;
}

static void predict_time(ft_kernel_estimate *out, const struct learned_kernels *on,
                         const ft__kernel_params *params, const ft__kernel_work *work,
                         const ft__gpu *gpu, const ft__kernel_call *c)
{
    const ft_kernel_terms *t = &out->terms;

    out->physics_s = ft__kernel_time(t, c->call_s, params);
    out->time =
        (ft_estimate){.value = out->physics_s,
                      .low = ft__kernel_time(t, c->call_s * exp(c->low), params),
                      .high = ft__kernel_time(t, c->call_s * exp(c->high), params),
                      .basis = FT_BASIS_SCALED,
                      .why = ""};
    if (on->k) {
        correct(out, on, work, gpu, c->call_s);
    } else {
        out->time.low *= PHYSICS_LOW;
        out->time.high *= PHYSICS_HIGH;
    }
    out->time.low =
        fmax(out->time.low, fmin(out->time.value, ft__kernel_least_time(work, gpu)));
}

static void predict_power(ft_kernel_estimate *out, const ft__kernel_params *params,
                          const ft__gpu *gpu)
{
    const double power = ft__kernel_power(&out->terms, gpu, out->time.value, params);

    if (!(gpu->power_w > 0)) {
        out->power = out->energy = (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE,
                                                 "the device's file has no tdp_w"};
        return;
    }
    out->power = (ft_estimate){power, power / POWER, fmin(power * POWER, gpu->power_w),
                               FT_BASIS_SCALED, ""};
    out->energy = (ft_estimate){power * out->time.value, out->power.low * out->time.low,
                                out->power.high * out->time.high, FT_BASIS_SCALED, ""};
}

ft_status ft__kernel_predict(ft_kernel_estimate *out, const ft__kernel_models *k,
                             const ft__kernel_work *work, const ft_device_facts *device,
                             const char *kernel, const char *call, ft_error *err)
{
    const struct learned_kernels on = find_known(k, device->name, kernel);
    const ft__kernel_params params = on.k ? k->params : ft__kernel_default();
    ft__kernel_call c = {.call_s = NAN};
    double sum = 0;
    ft__gpu gpu;
    ft_status st = ft__gpu_make(&gpu, device, err);

    *out = (ft_kernel_estimate){.bound = "", .predictor = ""};
    if (st)
        return st;
    if (on.k && call)
        c = ft__hosts_call(k, device->name, call);
    for (int i = 0; i < FT_PTX_CLASSES; i++)
        sum += work->warp[i];
    ft__kernel_cost(&out->terms, work, &gpu, &params);
    predict_time(out, &on, &params, work, &gpu, &c);
    predict_power(out, &params, &gpu);
    out->bound = bound_of(&out->terms, c.call_s);
    out->call_s = c.call_s;
    out->registers = (uint64_t)work->registers;
    out->ipc = sum / (out->time.value * gpu.clock_hz * gpu.sms);
    return FT_OK;
}

ft_status ft__predict_kernel(ft_kernel_estimate *out, const ft_predictor *p,
                             const ft_kernel_query *q, ft_error *err)
{
    const ft_ptx_listed *v = q->launch;
    ft__kernel_work work;
    ft_status st = ft__kernel_work_of(&work, q, err);

    *out = (ft_kernel_estimate){.bound = "", .predictor = ""};
    return st ? st
              : ft__kernel_predict(out, p ? p->family->kernels : NULL, &work, q->device,
                                   ft__kernel_name_of(v), v->call, err);
}
