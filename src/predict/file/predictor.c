#include "predict/file/predictor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "predict/model/family.h"

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

/* Header, table and sections in one piece of memory. */
ft_status ft__predictor_of_writer(ft_predictor **out, ft__writer *w, ft_error *err)
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
    return load(out, image, begin + w->body.len, NULL, image, err);
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
