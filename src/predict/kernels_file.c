/* What was learned of kernels, as a file:
 *
 *   header
 *   constant[n_constants]   the estimate's, by name
 *   fit
 *   length, image           of each model, then of the spread; each a multiple of 8
 * bytes
 *
 * Little-endian. Nothing in it is believed before it was looked at. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "learn/learn_inside.h"
#include "predict/kernels.h"
#include "predict/kernels_inside.h"

enum { VERSION = 1, NAME = 24, STEP = 8, MOST_BYTES = 64 << 20 };
static const char magic[8] = {'f', 't', 'k', 'e', 'r', 'n', 'e', 'l'};

struct header {
    char magic[8];
    uint32_t version, n_constants, n_columns, of_gpu;
    double usual, host_low, host_high; /* logarithms */
};

struct constant {
    char name[NAME];
    double value;
};

struct image {
    double centre, typical, low, high;
    double weight[FT__MAX_MIXED];
    char choice[96];
    uint32_t n_models, has_spread;
    uint64_t n_rows;
};

/* ---- writing ---- */

static void put(ft__buf *b, const void *data, size_t len)
{
    ft__buf_add(b, data, len);
}

static void put_model(ft__buf *b, const ft_model *m)
{
    static const char zeros[STEP] = {0};
    size_t len;
    const void *image = ft__model_image(m, &len);
    const uint64_t n = len;

    put(b, &n, sizeof(n));
    put(b, image, len);
    put(b, zeros, (STEP - len % STEP) % STEP);
}

static void put_all(ft__buf *b, const ft_kernels *k)
{
    struct header h = {.version = VERSION,
                       .n_constants = FT__N_KERNEL_CONSTANTS,
                       .n_columns = ft__kernel_columns(k->of_gpu),
                       .of_gpu = k->of_gpu != 0,
                       .usual = k->hosts.usual,
                       .host_low = k->hosts.low,
                       .host_high = k->hosts.high};
    struct image i = {.centre = k->fit.centre,
                      .typical = k->fit.typical,
                      .low = k->fit.low,
                      .high = k->fit.high,
                      .n_models = k->fit.n_models,
                      .has_spread = k->fit.spread != NULL,
                      .n_rows = k->fit.n_rows};

    memcpy(h.magic, magic, sizeof(magic));
    memcpy(i.weight, k->fit.weight, sizeof(i.weight));
    memcpy(i.choice, k->fit.choice, sizeof(i.choice));
    put(b, &h, sizeof(h));
    for (int c = 0; c < FT__N_KERNEL_CONSTANTS; c++) {
        struct constant v = {.value = k->theta.v[c]};

        snprintf(v.name, sizeof(v.name), "%s", ft__kernel_name(c));
        put(b, &v, sizeof(v));
    }
    put(b, &i, sizeof(i));
    for (uint32_t m = 0; m < k->fit.n_models; m++)
        put_model(b, k->fit.model[m]);
    if (k->fit.spread)
        put_model(b, k->fit.spread);
}

ft_status ft__kernels_save(const ft_kernels *k, const char *path, ft_error *err)
{
    ft__buf b = {0};
    ft_status st = FT_OK;
    FILE *fp = NULL;
    bool good;

    put_all(&b, k);
    if (b.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "what is learned of kernels");
    if (!st && !(fp = fopen(path, "wb")))
        st = ft_fail(err, FT_EIO, 0, "cannot write %s: %s", path, strerror(errno));
    if (!st) {
        good = fwrite(b.s, 1, b.len, fp) == b.len;
        if (fclose(fp) != 0 || !good)
            st = ft_fail(err, FT_EIO, 0, "cannot write %s: %s", path, strerror(errno));
    }
    ft__buf_free(&b);
    return st;
}

/* ---- reading ---- */

struct reader {
    const unsigned char *at;
    size_t left, len;
    ft_error *err;
    ft_status st;
};

static void bad(struct reader *r, const char *what)
{
    if (!r->st)
        r->st =
            ft_fail(r->err, FT_EFORMAT, r->len - r->left,
                    "not what was learned of kernels: %s at byte %zu; make the file "
                    "anew",
                    what, r->len - r->left);
}

static void get(struct reader *r, void *to, size_t n)
{
    if (r->st || r->left < n) {
        bad(r, "it ends");
        memset(to, 0, n);
        return;
    }
    memcpy(to, r->at, n);
    r->at += n;
    r->left -= n;
}

static void get_model(struct reader *r, ft_model **out, uint32_t n_columns)
{
    uint64_t n;
    size_t room;

    get(r, &n, sizeof(n));
    if (r->st)
        return;
    room = n > r->left ? 0 : (size_t)(n + (STEP - n % STEP) % STEP);
    if (n > r->left || room > r->left) {
        bad(r, "a model's length is beyond the end");
        return;
    }
    r->st = ft__model_load(out, r->at, (size_t)n, r->err);
    if (!r->st && ft__model_width(*out) != n_columns)
        bad(r, "a model of other columns");
    r->at += room;
    r->left -= room;
}

static void get_constants(struct reader *r, ft_kernels *k, uint32_t n)
{
    if (n != FT__N_KERNEL_CONSTANTS)
        bad(r, "another number of constants");
    for (uint32_t c = 0; c < n && !r->st; c++) {
        struct constant v;

        get(r, &v, sizeof(v));
        v.name[NAME - 1] = '\0';
        if (!r->st && (strcmp(v.name, ft__kernel_name((int)c)) != 0 || !(v.value > 0) ||
                       !isfinite(v.value)))
            bad(r, "a constant that is none");
        k->theta.v[c] = v.value;
    }
}

static void get_fit(struct reader *r, ft__fit *f, uint32_t n_columns)
{
    struct image i;

    get(r, &i, sizeof(i));
    if (!r->st && (i.n_models > FT__MAX_MIXED || !isfinite(i.centre) ||
                   !isfinite(i.typical) || !isfinite(i.low) || !isfinite(i.high)))
        bad(r, "a regressor that is none");
    if (r->st)
        return;
    i.choice[sizeof(i.choice) - 1] = '\0';
    *f = (ft__fit){.n_rows = (size_t)i.n_rows,
                   .centre = i.centre,
                   .typical = i.typical,
                   .least = ft__fit_least(i.typical),
                   .low = i.low,
                   .high = i.high};
    memcpy(f->choice, i.choice, sizeof(f->choice));
    for (uint32_t m = 0; m < i.n_models && !r->st; m++) {
        f->weight[m] = i.weight[m];
        get_model(r, &f->model[m], n_columns);
        f->n_models += f->model[m] != NULL;
    }
    if (i.has_spread && !r->st)
        get_model(r, &f->spread, n_columns);
}

static void get_all(struct reader *r, ft_kernels *k)
{
    struct header h;

    get(r, &h, sizeof(h));
    if (!r->st && memcmp(h.magic, magic, sizeof(magic)) != 0)
        bad(r, "no such file");
    if (!r->st && h.version != VERSION)
        bad(r, "another version");
    if (!r->st && (h.of_gpu > 1 || h.n_columns != ft__kernel_columns((int)h.of_gpu)))
        bad(r, "other columns");
    if (r->st)
        return;
    k->of_gpu = (int)h.of_gpu;
    k->hosts.usual = h.usual;
    k->hosts.low = h.host_low;
    k->hosts.high = h.host_high;
    get_constants(r, k, h.n_constants);
    get_fit(r, &k->fit, h.n_columns);
    if (!r->st && r->left)
        bad(r, "there is more");
}

ft_status ft__kernels_load_image(ft_kernels **out, const void *image, size_t len,
                                 ft_error *err)
{
    struct reader r = {.left = len, .len = len, .err = err};
    ft_kernels *k = calloc(1, sizeof(*k));

    *out = NULL;
    /* Models lie where they are used, at multiples of 8 bytes. */
    if (k)
        k->bytes = malloc(len + STEP);
    if (!k || !k->bytes) {
        free(k);
        return ft_fail(err, FT_ENOMEM, 0, "%zu bytes", len);
    }
    memcpy(k->bytes, image, len);
    r.at = k->bytes;
    get_all(&r, k);
    if (r.st) {
        ft__kernels_free(k);
        return r.st;
    }
    *out = k;
    return FT_OK;
}

ft_status ft__kernels_load(ft_kernels **out, const char *path, ft_error *err)
{
    FILE *fp = fopen(path, "rb");
    ft__buf b = {0};
    char piece[1 << 14];
    size_t n;
    ft_status st;

    *out = NULL;
    if (!fp)
        return ft_fail(err, FT_EIO, 0, "cannot read %s: %s", path, strerror(errno));
    while (b.len < MOST_BYTES && (n = fread(piece, 1, sizeof(piece), fp)) > 0)
        ft__buf_add(&b, piece, n);
    if (ferror(fp))
        st = ft_fail(err, FT_EIO, 0, "cannot read %s: %s", path, strerror(errno));
    else if (b.bad)
        st = ft_fail(err, FT_ENOMEM, 0, "%s", path);
    else
        st = ft__kernels_load_image(out, b.s ? b.s : "", b.len, err);
    fclose(fp);
    ft__buf_free(&b);
    return st;
}
