#include "import/pt2/zip.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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

/* Fixed parts of records, PKWARE's APPNOTE.TXT 4.3. */
enum {
    END_BYTES = 22, /* ends an archive, but for its comment */
    END64_BYTES = 56,
    LOCATOR_BYTES = 20, /* of END64, before END */
    ENTRY_BYTES = 46,
    HEADER_BYTES = 30,
    MAX_COMMENT = 65535,
    ENCRYPTED = 1,
    STORED = 0,
    DEFLATED = 8,
};

struct archive {
    const uint8_t *data;
    size_t len;
    const uint8_t *next; /* entry of its directory, */
    uint64_t left;       /* so many */
};

struct zip_entry {
    const char *path;
    size_t path_len;
    uint64_t size, packed, at; /* at: of its header */
    uint32_t crc;
    unsigned flags, method;
};

static uint64_t number(const uint8_t *p, unsigned bytes)
{
    uint64_t x = 0;

    for (unsigned i = bytes; i-- > 0;)
        x = x << 8 | p[i];
    return x;
}

/* Of an archive with numbers of 64 bits: how many entries, and where. */
static bool read_end64(struct archive *a, const uint8_t *end, uint64_t *at)
{
    const uint8_t *p = end - LOCATOR_BYTES;
    uint64_t from;

    if (end - a->data < LOCATOR_BYTES || memcmp(p, "PK\6\7", 4) != 0)
        return false;
    from = number(p + 8, 8);
    if (a->len < END64_BYTES || from > a->len - END64_BYTES)
        return false;
    p = a->data + from;
    a->left = number(p + 32, 8);
    *at = number(p + 48, 8);
    return memcmp(p, "PK\6\6", 4) == 0;
}

static bool open_directory(struct archive *a)
{
    for (size_t i = END_BYTES; i <= a->len && i <= END_BYTES + MAX_COMMENT; i++) {
        const uint8_t *end = a->data + a->len - i;
        uint64_t at;

        if (memcmp(end, "PK\5\6", 4) != 0)
            continue;
        a->left = number(end + 10, 2);
        at = number(end + 16, 4);
        if ((a->left == UINT16_MAX || at == UINT32_MAX) && !read_end64(a, end, &at))
            return false;
        if (at > a->len - i)
            return false;
        a->next = a->data + at;
        return true;
    }
    return false;
}

/* What does not fit 32 bits stands in an extension. */
static bool widen(struct zip_entry *e, const uint8_t *p, size_t n)
{
    uint64_t *const field[] = {&e->size, &e->packed, &e->at};

    for (size_t len; n >= 4; p += len, n -= len) {
        const uint64_t id = number(p, 2);

        len = number(p + 2, 2) + 4;
        if (len > n)
            return false;
        for (size_t i = 0, at = 4; id == 1 && i < 3; i++) {
            if (*field[i] != UINT32_MAX)
                continue;
            if (len - at < 8)
                return false;
            *field[i] = number(p + at, 8);
            at += 8;
        }
    }
    return true;
}

/* false: the directory is damaged. */
static bool next_entry(struct zip_entry *e, struct archive *a)
{
    const uint8_t *p = a->next;
    const size_t left = (size_t)(a->data + a->len - p);
    size_t name, more;

    if (left < ENTRY_BYTES || memcmp(p, "PK\1\2", 4) != 0)
        return false;
    name = number(p + 28, 2);
    more = number(p + 30, 2);
    if (left - ENTRY_BYTES < name + more + number(p + 32, 2))
        return false;
    *e = (struct zip_entry){.path = (const char *)p + ENTRY_BYTES,
                            .path_len = name,
                            .size = number(p + 24, 4),
                            .packed = number(p + 20, 4),
                            .at = number(p + 42, 4),
                            .crc = (uint32_t)number(p + 16, 4),
                            .flags = (unsigned)number(p + 8, 2),
                            .method = (unsigned)number(p + 10, 2)};
    a->next += ENTRY_BYTES + name + more + number(p + 32, 2);
    a->left--;
    return widen(e, p + ENTRY_BYTES + name, more);
}

struct zip_found {
    struct zip_entry graph; /* the first */
    uint64_t n_graphs;
    bool pickle, script, keras, compiled;
};

static bool look(struct zip_found *f, struct archive *a)
{
    *f = (struct zip_found){0};
    while (a->left) {
        struct zip_entry e;
        size_t file;

        if (!next_entry(&e, a))
            return false;
        if (is_graph(e.path, e.path_len)) {
            f->graph = f->n_graphs++ ? f->graph : e;
            continue;
        }
        f->pickle |= ends_with(e.path, e.path_len, "data.pkl");
        f->script |= ends_with(e.path, e.path_len, "constants.pkl");
        f->keras |= ends_with(e.path, e.path_len, ".weights.h5") ||
                    ends_with(e.path, e.path_len, "keras_metadata.pb");
        f->compiled |= ends_with(e.path, e.path_len, ".so") &&
                       !in_folder(e.path, e.path_len, "lib", &file);
    }
    return true;
}

static ft_status refuse(const struct zip_found *f, const char *name, ft_error *err)
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
static ft_status check(const struct zip_entry *e, size_t len, const char *name,
                       ft_error *err)
{
    if (e->packed > len || e->packed > FT__MAX_JSON ||
        (e->method == STORED && e->size != e->packed))
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s: a damaged archive: its graph has no size", name);
    if (e->flags & ENCRYPTED)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "%s: the archive is encrypted: unpack it and save it without a "
                       "password",
                       name);
    if (e->method != STORED && e->method != DEFLATED)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "%s: its graph is packed in a way torch.export never uses "
                       "(method %u)",
                       name, e->method);
    if (e->size > FT__MAX_JSON || e->size / FT__MAX_ZIP_RATIO > e->packed)
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s: its graph of %llu bytes unpacks to %llu: no model is like "
                       "that",
                       name, (unsigned long long)e->packed,
                       (unsigned long long)e->size);
    return FT_OK;
}

/* Where its bytes are, packed or not; NULL: outside of the archive. */
static const uint8_t *bytes_of(const struct archive *a, const struct zip_entry *e)
{
    const uint8_t *p = a->data + e->at;
    size_t left, skip;

    if (e->at > a->len || a->len - e->at < HEADER_BYTES || memcmp(p, "PK\3\4", 4) != 0)
        return NULL;
    left = a->len - e->at;
    skip = HEADER_BYTES + number(p + 26, 2) + number(p + 28, 2);
    return left >= skip && left - skip >= e->packed ? p + skip : NULL;
}

static bool inflate_all(char *out, const uint8_t *in, const struct zip_entry *e)
{
    z_stream z = {.next_in = (Bytef *)in, /* is only read */
                  .avail_in = (uInt)e->packed,
                  .next_out = (Bytef *)out,
                  .avail_out = (uInt)e->size + 1};
    bool good;

    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return false;
    good = inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == e->size;
    inflateEnd(&z);
    return good &&
           crc32(crc32(0, NULL, 0), (const Bytef *)out, (uInt)e->size) == e->crc;
}

static ft_status unpack(char **own, const uint8_t *in, const struct zip_entry *e,
                        const char *name, ft_error *err)
{
    *own = malloc(e->size + 1);
    if (!*own)
        return ft_fail(err, FT_ENOMEM, 0, "%s: out of memory", name);
    if (inflate_all(*own, in, e))
        return FT_OK;
    free(*own);
    *own = NULL;
    return ft_fail(
        err, FT_EFORMAT, 0,
        "%s: a damaged archive: its graph does not unpack to what was packed", name);
}

ft_status ft__zip_graph(const char **text, size_t *n, char **own, const void *data,
                        size_t len, const char *name, ft_error *err)
{
    struct archive a = {.data = data, .len = len};
    const uint8_t *bytes;
    struct zip_found f;
    ft_status st;

    *text = *own = NULL;
    *n = 0;
    if (!open_directory(&a) || !look(&f, &a))
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s: a damaged zip archive: its directory is not whole", name);
    if (f.n_graphs == 0)
        return refuse(&f, name, err);
    if (f.n_graphs > 1)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "%s: holds %llu models: save each in a file of its own", name,
                       (unsigned long long)f.n_graphs);
    st = check(&f.graph, len, name, err);
    if (st)
        return st;
    bytes = bytes_of(&a, &f.graph);
    if (!bytes)
        return ft_fail(err, FT_EFORMAT, 0,
                       "%s: a damaged archive: its graph lies outside of it", name);
    if (f.graph.method == DEFLATED)
        st = unpack(own, bytes, &f.graph, name, err);
    *text = st ? NULL : *own ? *own : (const char *)bytes;
    *n = st ? 0 : f.graph.size;
    return st;
}
