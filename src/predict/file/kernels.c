/* What was learned of kernels, as a section of the predictor file: an image, names,
 * what hosts need, and the models of each regressor. Each part is padded. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/model/kernels.h"

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

/* ---- writing ---- */

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

static void describe(struct kernel_regressor_image *out, const ft__kernel_regressor *r)
{
    *out = (struct kernel_regressor_image){.low = r->fit.low,
                                           .high = r->fit.high,
                                           .typical = r->fit.typical,
                                           .n_rows = r->fit.n_rows};
    ft__errors_put(out->learned, &r->learned);
    ft__errors_put(out->constant, &r->constant);
    ft__errors_put(out->physics, &r->physics);
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
    for (int i = 0; i < FT__N_REGRESSORS; i++)
        describe(&head.of[i], &k->of[i]);
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

/* ---- reading ---- */

/* Sticky: after one part beyond the end there are no others. */
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
                           ft__kernel_columns(i == FT__OF_KERNELS), pos, err);
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
