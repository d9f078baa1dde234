#include "import/table.h"

#include <stdbool.h>
#include <string.h>

uint64_t ft__table_hash(const char *name, size_t len)
{
    const uint64_t prime = 0x9fb21c651e98df25u;
    uint64_t h = len * prime, word;
    size_t i = 0;

    for (; i + 8 <= len; i += 8) {
        memcpy(&word, name + i, 8);
        h = (h ^ word) * prime;
        h ^= h >> 29;
    }
    for (word = 0; i < len; i++)
        word = word << 8 | (uint8_t)name[i];
    h = (h ^ word) * prime;
    return h ^ h >> 32;
}

static ft__table_slot *find(const ft__name_table *t, const char *name, size_t len,
                            uint64_t hash)
{
    uint32_t at = (uint32_t)hash & (t->n_slots - 1);

    while (t->slot[at].value && (t->slot[at].hash != hash || t->slot[at].len != len ||
                                 memcmp(t->slot[at].name, name, len) != 0))
        at = (at + 1) & (t->n_slots - 1);
    return &t->slot[at];
}

/* Room for one more name; the old table stays behind in the arena. */
static bool grow(ft__name_table *t, ft__arena *arena)
{
    ft__name_table old = *t;

    if (2 * (t->n + 1) <= t->n_slots)
        return true;
    t->n_slots = old.n_slots ? old.n_slots * 4 : 32;
    t->slot = ft__arena_array(arena, t->n_slots, sizeof(*t->slot));
    if (!t->slot) {
        *t = old;
        return false;
    }
    for (uint32_t i = 0; i < old.n_slots; i++)
        if (old.slot[i].value)
            *find(t, old.slot[i].name, old.slot[i].len, old.slot[i].hash) = old.slot[i];
    return true;
}

ft__table_slot *ft__table_at(ft__name_table *t, ft__arena *arena, const char *name,
                             size_t len)
{
    uint64_t hash = ft__table_hash(name, len);
    ft__table_slot *s;

    if (!grow(t, arena))
        return NULL;
    s = find(t, name, len, hash);
    if (!s->value)
        *s = (ft__table_slot){name, len, hash, NULL};
    return s;
}
