#include "predict/file/predictor.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "learn/learn_inside.h"
#include "learn/model.h"
#include "predict/file/predictor_inside.h"
#include "predict/model/family.h"

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

/* The text of a fixed field ends inside it. */
static bool terminated(const char *s, size_t size)
{
    return memchr(s, 0, size) != NULL;
}

bool ft__roof_sound(const ft__roof *r)
{
    bool good = r->peak_flops > 0 && r->launch_s >= 0 && r->transcendental_s >= 0 &&
                r->n_points > 0 && r->n_points <= FT__MAX_ROOF_POINTS;

    for (uint32_t i = 0; good && i < r->n_points; i++)
        good = r->bandwidth[i] > 0 && r->working_set[i] > 0 &&
               (i == 0 || r->working_set[i] > r->working_set[i - 1]);
    return good;
}

bool ft__mixture_sound(const ft__mixture_image *m, uint64_t left)
{
    if (m->n_models > FT__MAX_MIXED || !terminated(m->choice, sizeof(m->choice)) ||
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

static ft_status open_section(ft_predictor *p, const ft__section_image *s,
                              uint64_t table_end, ft_error *err)
{
    if (s->offset % 8 || s->offset < table_end || s->offset > p->len ||
        s->bytes > p->len - s->offset)
        return ft__predictor_damaged(s->offset, "a section lies outside the file", err);
    return ft__family_open(p, s, err);
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
        st = open_section(p, &table[i], sizeof(*h) + table_bytes, err);
    if (!st && !p->family)
        st = ft__predictor_damaged(sizeof(*h), "it has no description", err);
    return st ? st : ft__family_check(p, err);
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

ft_status ft__predictor_load_take(ft_predictor **out, void *memory, size_t len,
                                  ft_error *err)
{
    return load(out, memory, len, NULL, memory, err);
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

ft_status ft_predictor_save(const ft_predictor *p, const char *path, ft_error *err)
{
    char temporary[4096];
    FILE *fp;
    bool good;

    /* Beside the target, so that a reader sees the old file or the whole new one. */
    if ((size_t)snprintf(temporary, sizeof(temporary), "%s.part", path) >=
        sizeof(temporary))
        return ft_fail(err, FT_EINVAL, 0, "the file name is too long");
    fp = fopen(temporary, "wb");
    if (!fp)
        return ft_fail(err, FT_EIO, 0, "cannot write %s: %s", temporary,
                       strerror(errno));
    good = fwrite(p->image, 1, p->len, fp) == p->len;
    good = fclose(fp) == 0 && good;
    if (!good || rename(temporary, path)) {
        ft_status st =
            ft_fail(err, FT_EIO, 0, "cannot write %s: %s", path, strerror(errno));

        remove(temporary);
        return st;
    }
    return FT_OK;
}

void ft_predictor_free(ft_predictor *p)
{
    if (!p)
        return;
    ft__family_close(p->family);
    if (p->mapping)
        munmap(p->mapping, p->len);
    free(p->memory);
    free(p);
}

static ft_status wrong_width(uint64_t pos, ft_error *err)
{
    return ft__predictor_damaged(pos, "a model of another width", err);
}

static ft_status open_model(ft_model **out, const void *image, uint64_t bytes,
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
    return !st && ft__model_width(*out) != width ? wrong_width(pos, err) : st;
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
        st = open_model(&f->spread, at, m->bytes[FT__MAX_MIXED], width, pos, err);
    return st;
}
