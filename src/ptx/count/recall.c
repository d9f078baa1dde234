/* Launches that were counted before. In: all that counts depend on, as bytes; out: the
 * counts, or nothing. */
#include "ptx/count/recall.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"

const ft__recalled *ft__recall_find(const ft__recall *w, const void *key, size_t size)
{
    const uint64_t hash = ft__hash_bytes(FT__HASH_BEGIN, key, size);
    const ft__recalled *at = w->bucket[hash % FT__RECALL_BUCKETS];

    while (at && (at->hash != hash || at->key_size != size ||
                  memcmp(at->key, key, size) != 0))
        at = at->next;
    return at;
}

void ft__recall_free(ft__recall *w)
{
    for (size_t k = 0; k < FT__RECALL_BUCKETS; k++)
        while (w->bucket[k]) {
            ft__recalled *first = w->bucket[k];

            w->bucket[k] = first->next;
            free(first);
        }
    w->bytes = 0;
}

void ft__recall_keep(ft__recall *w, const void *key, size_t size,
                     const ft_ptx_counts *counts, const ft_ptx_tally *item,
                     uint32_t n_items)
{
    const size_t why = counts->because ? strlen(counts->because) + 1 : 0;
    const size_t items = (size_t)n_items * sizeof(*item);
    const size_t bytes = sizeof(ft__recalled) + items + size + why;
    ft__recalled *r, **bucket;

    if (bytes > FT__RECALL_BYTES)
        return;
    if (w->bytes + bytes > FT__RECALL_BYTES)
        ft__recall_free(w);
    r = malloc(bytes); /* itself, items, key, why */
    if (!r)
        return;
    r->hash = ft__hash_bytes(FT__HASH_BEGIN, key, size);
    r->item = (ft_ptx_tally *)(void *)(r + 1);
    memcpy(r->item, item, items);
    r->key = r->item + n_items;
    r->key_size = size;
    memcpy(r->key, key, size);
    r->why = (char *)r->key + size;
    if (why)
        memcpy(r->why, counts->because, why);
    r->counts = *counts;
    r->counts.because = why ? r->why : NULL;
    bucket = &w->bucket[r->hash % FT__RECALL_BUCKETS];
    r->next = *bucket;
    *bucket = r;
    w->bytes += bytes;
}
