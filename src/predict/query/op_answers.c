/* Operations that were answered before. */
#include "predict/query/op_query.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op_inside.h"

enum { SLOTS = 256, TRIES = 4 };

struct ft__op_answers {
    uint64_t hash[SLOTS]; /* 0: nothing is there */
    uint64_t used[SLOTS]; /* how many were looked for before, the last time */
    uint64_t now;
    struct {
        ft_op op;
        ft_phase phase;
        ft__op_answered answered;
    } slot[SLOTS];
};

ft__op_answers *ft__op_answers_new(void)
{
    return calloc(1, sizeof(ft__op_answers));
}

void ft__op_answers_free(ft__op_answers *a)
{
    free(a);
}

static uint64_t hash_of(const ft_op *op, ft_phase phase)
{
    const uint64_t hash = ft__op_quick_hash(op) + phase;

    return hash ? hash : 1;
}

const ft__op_answered *ft__op_answers_find(ft__op_answers *a, const ft_op *op,
                                           ft_phase phase)
{
    const uint64_t hash = hash_of(op, phase);

    for (uint64_t i = 0; i < TRIES; i++) {
        const uint64_t at = (hash + i) % SLOTS;

        if (a->hash[at] == hash && a->slot[at].phase == phase &&
            ft_op_equal(&a->slot[at].op, op)) {
            a->used[at] = ++a->now;
            return &a->slot[at].answered;
        }
    }
    return NULL;
}

/* What ft_op_equal() looks at: few operations have many values. */
static void copy_used(ft_op *to, const ft_op *op)
{
    size_t n = 0;

    for (uint32_t i = 0; i < FT_OP_MAX_KEYS; i++)
        n += op->count[i];
    memcpy(to, op, offsetof(ft_op, value) + n * sizeof(op->value[0]));
}

ft__op_answered *ft__op_answers_add(ft__op_answers *a, const ft_op *op, ft_phase phase)
{
    const uint64_t hash = hash_of(op, phase);
    uint64_t at = hash % SLOTS;

    for (uint64_t i = 1; i < TRIES; i++)
        if (a->used[(hash + i) % SLOTS] < a->used[at])
            at = (hash + i) % SLOTS;
    a->hash[at] = hash;
    a->used[at] = ++a->now;
    copy_used(&a->slot[at].op, op);
    a->slot[at].phase = phase;
    return &a->slot[at].answered;
}
