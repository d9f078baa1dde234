#include "base/index.h"

#include <stdlib.h>
#include <string.h>

uint64_t ft__fnv1a(uint64_t h, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

uint64_t ft__hash_bytes(uint64_t h, const void *bytes, size_t len)
{
    h = ft__fnv1a(h, bytes, len);
    /* High bits know of all bytes, low ones only of low bits. */
    h ^= h >> 29;
    return h ? h : 1;
}

uint64_t ft__hash_text(uint64_t h, const char *text)
{
    return ft__hash_bytes(h, text, strlen(text) + 1);
}

static int grow(ft__index *t)
{
    size_t size = t->size ? 2 * t->size : 256;
    ft__index_slot *slot = calloc(size, sizeof(*slot));

    if (!slot)
        return 0;
    for (size_t i = 0; i < t->size; i++) {
        size_t at = t->slot[i].hash & (size - 1);

        while (t->slot[i].hash && slot[at].hash)
            at = (at + 1) & (size - 1);
        if (t->slot[i].hash)
            slot[at] = t->slot[i];
    }
    free(t->slot);
    t->slot = slot;
    t->size = size;
    return 1;
}

ft__index_slot *ft__index_at(ft__index *t, uint64_t hash, const char *text)
{
    size_t at;

    if (2 * (t->n + 1) > t->size && !grow(t))
        return NULL;
    for (at = hash & (t->size - 1); t->slot[at].hash; at = (at + 1) & (t->size - 1))
        if (t->slot[at].hash == hash && (!text || strcmp(t->slot[at].text, text) == 0))
            break;
    return &t->slot[at];
}

const ft__index_slot *ft__index_find(const ft__index *t, uint64_t hash,
                                     const char *text)
{
    for (size_t at = hash & (t->size - 1); t->size && t->slot[at].hash;
         at = (at + 1) & (t->size - 1))
        if (t->slot[at].hash == hash && (!text || strcmp(t->slot[at].text, text) == 0))
            return &t->slot[at];
    return NULL;
}

void ft__index_free(ft__index *t)
{
    free(t->slot);
    *t = (ft__index){0};
}
