/* madvise() gives pages of a file mapping back; posix_madvise() does not. */
#define _DEFAULT_SOURCE

#include "import/onnx/pb.h"

#include <sys/mman.h>
#include <unistd.h>

enum { LARGE_BYTES = 256 * 1024 };

/* The kernel maps far more of a file than the page that is touched. Whatever
 * lies before `end` can be read in again; a model's weights never are. */
static void forget_up_to(const ft__pb_doc *doc, const uint8_t *end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (size_t)(end - doc->base);

    if (n > page)
        (void)madvise((void *)(uintptr_t)doc->base, n / page * page, MADV_DONTNEED);
}

static bool fail(ft__onnx_pb *r, const uint8_t *at, const char *why)
{
    if (!r->doc->bad) {
        r->doc->bad = true;
        r->doc->pos = (size_t)(at - r->doc->base);
        r->doc->why = why;
    }
    r->p = r->end;
    return false;
}

/* A message that ends with the file was cut off; one inside it is malformed. */
static bool ends_early(ft__onnx_pb *r, const uint8_t *at)
{
    return fail(r, at,
                r->end == r->doc->base + r->doc->len ? "the file ends early"
                                                     : "a field leaves its message");
}

bool ft__pb_varint(ft__onnx_pb *r, uint64_t *v)
{
    const uint8_t *at = r->p;
    uint64_t x = 0;

    if (r->doc->bad || r->p == r->end)
        return false;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte;

        if (r->p == r->end)
            return ends_early(r, at);
        byte = *r->p++;
        x |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *v = x;
            return true;
        }
    }
    return fail(r, at, "a number has more than ten bytes");
}

static uint64_t little_endian(const uint8_t *p, unsigned n)
{
    uint64_t x = 0;

    for (unsigned i = 0; i < n; i++)
        x |= (uint64_t)p[i] << (8 * i);
    return x;
}

static bool fixed(ft__onnx_pb *r, unsigned n)
{
    if ((size_t)(r->end - r->p) < n)
        return ends_early(r, r->start);
    r->num = little_endian(r->p, n);
    r->p += n;
    return true;
}

bool ft__pb_long(ft__onnx_pb *r)
{
    uint64_t tag, len;

    r->start = r->p;
    if (!ft__pb_varint(r, &tag))
        return false;
    r->field = (uint32_t)(tag >> 3);
    r->wire = (uint32_t)(tag & 7);
    r->num = 0;
    r->bytes = (ft__bytes){r->p, 0};
    if (r->field == 0 || tag >> 32)
        return fail(r, r->start, "a field has no valid number");
    switch (r->wire) {
    case FT__PB_VARINT:
        return ft__pb_varint(r, &r->num) || (!r->doc->bad && ends_early(r, r->start));
    case FT__PB_FIXED64: return fixed(r, 8);
    case FT__PB_FIXED32: return fixed(r, 4);
    case FT__PB_BYTES: break;
    default: return fail(r, r->start, "a field has no valid type");
    }
    if (!ft__pb_varint(r, &len))
        return !r->doc->bad && ends_early(r, r->start);
    if (len > (uint64_t)(r->end - r->p))
        return ends_early(r, r->start);
    r->bytes = (ft__bytes){r->p, (size_t)len};
    r->p += len;
    if (len > LARGE_BYTES && r->doc->mapped)
        forget_up_to(r->doc, r->p);
    return true;
}

ft__bytes ft__pb_child(ft__pb_doc *doc, ft__bytes message, uint32_t field)
{
    ft__bytes found = {message.p, 0};

    for (ft__onnx_pb f = ft__pb_open(doc, message); ft__pb_next(&f);)
        if (f.field == field)
            found = f.bytes;
    return found;
}
