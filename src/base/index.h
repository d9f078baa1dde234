#ifndef BASE_INDEX_H
#define BASE_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* An open hash table from text, or from a hash alone, to a number. Zero-initialise to
 * start. Texts are borrowed. */
typedef struct ft__index_slot {
    uint64_t hash; /* 0: free */
    const char *text;
    int64_t number;
} ft__index_slot;

typedef struct ft__index {
    ft__index_slot *slot;
    size_t n, size; /* size is a power of two */
} ft__index;

/* Begin with FT__HASH_BEGIN, one piece after the other. */
#define FT__HASH_BEGIN 0xcbf29ce484222325u
/* FNV-1a as it is published: for numbers that are stored. */
uint64_t ft__fnv1a(uint64_t h, const void *bytes, size_t len);
/* For tables: mixed once more, never 0. */
uint64_t ft__hash_bytes(uint64_t h, const void *bytes, size_t len);
uint64_t ft__hash_text(uint64_t h, const char *text); /* with its end */

/* The slot of text (NULL: of the hash alone), free or taken: to take a free one, fill
 * it at once and count it in n. NULL: out of memory. */
ft__index_slot *ft__index_at(ft__index *t, uint64_t hash, const char *text);
/* The slot that is taken; NULL: there is none. */
const ft__index_slot *ft__index_find(const ft__index *t, uint64_t hash,
                                     const char *text);
void ft__index_free(ft__index *t);

#endif
