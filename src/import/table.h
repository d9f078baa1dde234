#ifndef IMPORT_TABLE_H
#define IMPORT_TABLE_H

#include <stdint.h>

#include "base/arena.h"

/* Names -> values: open addressing in an arena. Zero-initialise to start. */
typedef struct ft__table_slot {
    const char *name;
    size_t len;
    uint64_t hash;
    void *value; /* NULL: the slot is free */
} ft__table_slot;

typedef struct ft__name_table {
    ft__table_slot *slot;
    uint32_t n;
    uint32_t n_slots; /* a power of two */
} ft__name_table;

/* How many characters of a name a message shows. */
static inline int ft__shown(size_t n, size_t most)
{
    return (int)(n < most ? n : most);
}

uint64_t ft__table_hash(const char *name, size_t len);
/* The slot of a name, which is borrowed; its value is NULL when the name is new,
 * and is set by the caller before the next call, who then counts it in n. NULL:
 * out of memory. */
ft__table_slot *ft__table_at(ft__name_table *t, ft__arena *arena, const char *name,
                             size_t len);

#endif
