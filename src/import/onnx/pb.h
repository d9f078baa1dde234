#ifndef IMPORT_ONNX_PB_H
#define IMPORT_ONNX_PB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Protobuf wire format over untrusted bytes, without a schema. A document is
 * the whole file; failure is sticky in it, so decoders walk a message and the
 * import tests `bad` once. Nothing is copied: payloads are slices of the file. */
typedef struct ft__bytes {
    const uint8_t *p;
    size_t n;
} ft__bytes;

typedef struct ft__pb_doc {
    const uint8_t *base;
    size_t len;
    bool mapped; /* a file mapping: pages of payloads jumped over are given back */
    bool bad;
    size_t pos;      /* of the failure */
    const char *why; /* static text */
} ft__pb_doc;

/* A walk over the fields of one message; after ft__pb_next() the members
 * describe the field. `num` is 0 unless it is a number, `bytes` empty unless it
 * has a length: a field of the wrong type reads as an empty one. */
typedef struct ft__onnx_pb {
    ft__pb_doc *doc;
    const uint8_t *p, *end;
    const uint8_t *start; /* of the field, its tag included */
    uint32_t field, wire;
    uint64_t num;
    ft__bytes bytes;
} ft__onnx_pb;

enum { FT__PB_VARINT = 0, FT__PB_FIXED64 = 1, FT__PB_BYTES = 2, FT__PB_FIXED32 = 5 };

static inline ft__onnx_pb ft__pb_open(ft__pb_doc *doc, ft__bytes message)
{
    const uint8_t *end = message.n ? message.p + message.n : message.p;

    return (ft__onnx_pb){.doc = doc, .p = message.p, .end = end};
}

/* Nearly all fields: a low number, and a short payload or a small value. */
static inline bool ft__pb_short(ft__onnx_pb *r)
{
    const uint8_t *p = r->p;
    size_t left = (size_t)(r->end - p);

    if (left < 2 || p[0] >= 0x80 || p[0] < 8 || p[1] >= 0x80)
        return false;
    r->wire = p[0] & 7;
    if (r->wire == FT__PB_BYTES && p[1] <= left - 2) {
        r->num = 0;
        r->bytes = (ft__bytes){p + 2, p[1]};
    } else if (r->wire == FT__PB_VARINT) {
        r->num = p[1];
        r->bytes = (ft__bytes){p + 1, 0};
    } else {
        return false;
    }
    r->start = p;
    r->field = p[0] >> 3;
    r->p = p + 2 + r->bytes.n;
    return true;
}

bool ft__pb_long(ft__onnx_pb *r);
/* False at the end of the message or of all trust in the document. */
static inline bool ft__pb_next(ft__onnx_pb *r)
{
    if (r->p == r->end)
        return false;
    return (!r->doc->bad && ft__pb_short(r)) || ft__pb_long(r);
}
/* A field that holds one message: the last one counts. */
ft__bytes ft__pb_child(ft__pb_doc *doc, ft__bytes message, uint32_t field);
/* The next number of a packed list; r was opened over its payload. */
bool ft__pb_varint(ft__onnx_pb *r, uint64_t *v);

static inline float ft__pb_float(uint64_t num)
{
    union {
        uint32_t u;
        float f;
    } bits = {.u = (uint32_t)num};

    return bits.f;
}

#endif
