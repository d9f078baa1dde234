#include "pb.h"

#include <stdlib.h>
#include <string.h>

void ft__pb_free(ft__pb *b)
{
    free(b->s);
    *b = (ft__pb){0};
}

void *ft__pb_room(ft__pb *b, size_t n)
{
    if (!b->bad && n > b->cap - b->len) {
        size_t cap = b->cap + b->cap / 2 + n + 64;
        unsigned char *s = n < SIZE_MAX / 4 ? realloc(b->s, cap) : NULL;

        b->bad = !s;
        if (s) {
            b->s = s;
            b->cap = cap;
        }
    }
    if (b->bad)
        return NULL;
    b->len += n;
    return b->s + b->len - n;
}

void ft__pb_raw(ft__pb *b, const void *bytes, size_t n)
{
    void *to = ft__pb_room(b, n);

    if (to && n)
        memcpy(to, bytes, n);
}

static void varint(ft__pb *b, uint64_t v)
{
    unsigned char bytes[10];
    size_t n = 0;

    for (; v > 0x7f; v >>= 7)
        bytes[n++] = (unsigned char)(v | 0x80);
    bytes[n++] = (unsigned char)v;
    ft__pb_raw(b, bytes, n);
}

void ft__pb_int(ft__pb *b, uint32_t field, int64_t value)
{
    varint(b, (uint64_t)field << 3);
    varint(b, (uint64_t)value);
}

void ft__pb_float(ft__pb *b, uint32_t field, float value)
{
    varint(b, (uint64_t)field << 3 | 5);
    ft__pb_raw(b, &value, sizeof(value));
}

void ft__pb_head(ft__pb *b, uint32_t field, size_t n)
{
    varint(b, (uint64_t)field << 3 | 2);
    varint(b, n);
}

void ft__pb_bytes(ft__pb *b, uint32_t field, const void *bytes, size_t n)
{
    ft__pb_head(b, field, n);
    ft__pb_raw(b, bytes, n);
}

void ft__pb_text(ft__pb *b, uint32_t field, const char *text)
{
    ft__pb_bytes(b, field, text, strlen(text));
}

void ft__pb_message_take(ft__pb *b, uint32_t field, ft__pb *part)
{
    ft__pb_bytes(b, field, part->s, part->len);
    b->bad = b->bad || part->bad;
    ft__pb_free(part);
}

bool ft__pb_varint(ft__pb_reader *r, uint64_t *out)
{
    *out = 0;
    for (uint32_t shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        unsigned char c = *r->at++;

        *out |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            return true;
    }
    r->bad = true;
    return false;
}

static bool payload(ft__pb_reader *r, ft__pb_field *f)
{
    uint64_t n = f->wire == 1 ? 8 : 4;

    if (f->wire == 0)
        return ft__pb_varint(r, &f->value);
    if (f->wire == 2 && !ft__pb_varint(r, &n))
        return false;
    if ((f->wire != 1 && f->wire != 2 && f->wire != 5) ||
        n > (uint64_t)(r->end - r->at)) {
        r->bad = true;
        return false;
    }
    f->bytes = r->at;
    f->n = (size_t)n;
    r->at += n;
    return true;
}

bool ft__pb_next(ft__pb_reader *r, ft__pb_field *f)
{
    uint64_t tag;

    *f = (ft__pb_field){.from = r->at};
    if (r->bad || r->at == r->end || !ft__pb_varint(r, &tag))
        return false;
    f->number = (uint32_t)(tag >> 3);
    f->wire = tag & 7;
    if (!payload(r, f))
        return false;
    f->to = r->at;
    return true;
}
