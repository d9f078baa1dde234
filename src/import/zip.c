#include "import/zip.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "base/limits.h"

static bool ends_with(const char *s, size_t n, const char *end)
{
    size_t m = strlen(end);

    return n >= m && memcmp(s + n - m, end, m) == 0;
}

/* Whether a path is FOLDER/FILE below any other folder, and where FILE begins. */
static bool in_folder(const char *path, size_t n, const char *folder, size_t *file)
{
    size_t at = n, m = strlen(folder);

    while (at > 0 && path[at - 1] != '/')
        at--;
    *file = at;
    return at > m && memcmp(path + at - 1 - m, folder, m) == 0 &&
           (at == m + 1 || path[at - m - 2] == '/');
}

/* archive/models/NAME.json; before torch 2.7 a file at the top. */
static bool is_graph(const char *path, size_t n)
{
    static const char old[] = "serialized_exported_program.json";
    size_t file;

    if (!ends_with(path, n, ".json"))
        return false;
    return in_folder(path, n, "models", &file) ||
           (n - file == sizeof(old) - 1 && ends_with(path, n, old));
}

/* ---- records that are not packed: torch.export packs none ---- */

enum {
    END_BYTES = 22, /* of the record that ends an archive, without its comment */
    ENTRY_BYTES = 46,
    HEADER_BYTES = 30,
    MAX_COMMENT = 65535,
    ENCRYPTED = 1,
};

/* The size stands in an extension, as in very large archives. */
static const size_t no_size = UINT32_MAX;

static uint32_t number(const uint8_t *p, unsigned bytes)
{
    uint32_t x = 0;

    for (unsigned i = bytes; i-- > 0;)
        x = x << 8 | p[i];
    return x;
}

/* The directory of an archive: its entries one after the other. */
static bool directory(const uint8_t *data, size_t len, const uint8_t **begin,
                      uint32_t *n)
{
    uint32_t at;

    for (size_t i = END_BYTES; i <= len && i <= END_BYTES + MAX_COMMENT; i++) {
        const uint8_t *p = data + len - i;

        if (memcmp(p, "PK\5\6", 4) != 0)
            continue;
        at = number(p + 16, 4);
        *n = number(p + 10, 2);
        *begin = data + at;
        return at < len - i && *n != 0xffff;
    }
    return false;
}

/* The bytes of an entry, where they lie as they are. */
static bool plain(const uint8_t *data, size_t len, const uint8_t *entry,
                  const char **text, size_t *n)
{
    size_t size = number(entry + 20, 4), at = number(entry + 42, 4), skip;

    if (number(entry + 8, 2) & ENCRYPTED || number(entry + 10, 2) != ZIP_CM_STORE ||
        size == no_size || size != number(entry + 24, 4) || at > len ||
        len - at < HEADER_BYTES || memcmp(data + at, "PK\3\4", 4) != 0)
        return false;
    skip = HEADER_BYTES + number(data + at + 26, 2) + number(data + at + 28, 2);
    if (len - at < skip || len - at - skip < size)
        return false;
    *text = (const char *)data + at + skip;
    *n = size;
    return true;
}

bool ft__zip_plain_graph(const char **text, size_t *n, const void *data, size_t len)
{
    const uint8_t *base = data, *p, *found = NULL;
    uint32_t entries;

    if (!directory(base, len, &p, &entries))
        return false;
    for (uint32_t i = 0; i < entries; i++) {
        size_t left = (size_t)(base + len - p), name;

        if (left < ENTRY_BYTES || memcmp(p, "PK\1\2", 4) != 0)
            return false;
        name = number(p + 28, 2);
        if (left - ENTRY_BYTES < name)
            return false;
        if (is_graph((const char *)p + ENTRY_BYTES, name)) {
            if (found)
                return false;
            found = p;
        }
        name += ENTRY_BYTES + number(p + 30, 2) + number(p + 32, 2);
        if (left < name)
            return false;
        p += name;
    }
    return found && plain(base, len, found, text, n);
}

/* ---- all others ---- */

struct found {
    zip_int64_t graph; /* entry, -1: none */
    zip_int64_t n_graphs;
    bool pickle;
    bool script;
    bool keras;
    bool compiled;
};

static struct found look(zip_t *z)
{
    zip_int64_t n = zip_get_num_entries(z, 0);
    struct found f = {.graph = -1};

    for (zip_int64_t i = 0; i < n; i++) {
        const char *path = zip_get_name(z, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        size_t len = path ? strlen(path) : 0, file;

        if (!path)
            continue;
        if (is_graph(path, len)) {
            f.graph = f.n_graphs++ ? f.graph : i;
            continue;
        }
        f.pickle |= ends_with(path, len, "data.pkl");
        f.script |= ends_with(path, len, "constants.pkl");
        f.keras |= ends_with(path, len, ".weights.h5") ||
                   ends_with(path, len, "keras_metadata.pb");
        f.compiled |=
            ends_with(path, len, ".so") && !in_folder(path, len, "lib", &file);
    }
    return f;
}

static ft_status refuse(const struct found *f, const char *name, ft_error *err)
{
    const char *what = "a zip archive without a model graph (models/*.json)",
               *todo = "save the model with torch.export.save, or export it to ONNX";

    if (f->keras) {
        what = "a Keras file";
        todo = "export the model to ONNX (tf2onnx)";
    } else if (f->script) {
        what = "a TorchScript file";
        todo = "export the model with torch.export instead of torch.jit, or to ONNX";
    } else if (f->pickle) {
        what = "what torch.save writes: weights or pickled objects without a graph";
        todo = "load it and save it with torch.export.save, or export it to ONNX";
    } else if (f->compiled) {
        what = "a compiled package (AOTInductor) without a graph";
    }
    return ft_fail(err, FT_EUNSUPPORTED, 0, "%s: %s: %s", name, what, todo);
}

/* What the archive says of the entry, believed or not. */
static ft_status check(const zip_stat_t *s, size_t len, const char *name, ft_error *err)
{
    const zip_uint64_t need = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;

    if ((s->valid & need) != need || s->comp_size > len ||
        (s->comp_method == ZIP_CM_STORE && s->size != s->comp_size))
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s: a damaged archive: its graph has no size", name);
    if (s->valid & ZIP_STAT_ENCRYPTION_METHOD && s->encryption_method != ZIP_EM_NONE)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "%s: the archive is encrypted: unpack it and save it without a "
                       "password",
                       name);
    if (s->comp_method != ZIP_CM_STORE && s->comp_method != ZIP_CM_DEFLATE)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "%s: its graph is packed in a way torch.export never uses "
                       "(method %u)",
                       name, (unsigned)s->comp_method);
    if (s->size > FT__MAX_JSON || s->size / FT__MAX_ZIP_RATIO > s->comp_size)
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s: its graph of %llu bytes unpacks to %llu: no model is like "
                       "that",
                       name, (unsigned long long)s->comp_size,
                       (unsigned long long)s->size);
    return FT_OK;
}

static ft_status read_entry(char **text, size_t *n, zip_t *z, const zip_stat_t *s,
                            const char *name, ft_error *err)
{
    zip_file_t *f = zip_fopen_index(z, s->index, 0);
    char *p = malloc(s->size + 1);
    zip_int64_t got = -1;
    ft_status st = FT_OK;

    if (!p)
        st = ft_fail(err, FT_ENOMEM, 0, "%s: out of memory", name);
    else if (f)
        got = zip_fread(f, p, s->size + 1);
    /* Only when there is nothing more to read, the checksum is compared. */
    if (got == (zip_int64_t)s->size && zip_fread(f, p + got, 1) != 0)
        got = -1;
    if (!st && got != (zip_int64_t)s->size)
        st = ft_fail(err, FT_EFORMAT, 0, "%s: a damaged archive: %s", name,
                     zip_error_strerror(f ? zip_file_get_error(f) : zip_get_error(z)));
    if (f)
        zip_fclose(f);
    if (st) {
        free(p);
        return st;
    }
    *text = p;
    *n = s->size;
    return FT_OK;
}

ft_status ft__zip_graph(char **text, size_t *n, const void *data, size_t len,
                        const char *name, ft_error *err)
{
    zip_error_t why;
    zip_source_t *source;
    zip_t *z;
    struct found f;
    zip_stat_t s;
    ft_status st;

    *text = NULL;
    *n = 0;
    zip_error_init(&why);
    source = zip_source_buffer_create(data, len, 0, &why);
    z = source ? zip_open_from_source(source, ZIP_RDONLY, &why) : NULL;
    if (!z) {
        zip_source_free(source);
        st = ft_fail(err, FT_EFORMAT, 0, "%s: a damaged zip archive: %s", name,
                     zip_error_strerror(&why));
        zip_error_fini(&why);
        return st;
    }
    f = look(z);
    if (f.n_graphs == 0)
        st = refuse(&f, name, err);
    else if (f.n_graphs > 1)
        st = ft_fail(err, FT_EUNSUPPORTED, 0,
                     "%s: holds %lld models: save each in a file of its own", name,
                     (long long)f.n_graphs);
    else if (zip_stat_index(z, (zip_uint64_t)f.graph, 0, &s))
        st = ft_fail(err, FT_EFORMAT, 0, "%s: a damaged archive: %s", name,
                     zip_strerror(z));
    else
        st = check(&s, len, name, err);
    if (st == FT_OK)
        st = read_entry(text, n, z, &s, name, err);
    zip_discard(z);
    zip_error_fini(&why);
    return st;
}
