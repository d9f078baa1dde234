/* Operations that were answered before. */
#include "predict/query/op_answers.h"

#include <stdlib.h>

#include "graph/op_inside.h"

enum { SLOTS = 256, TRIES = 4 };

struct ft_op_answers {
    ft__op_answer_slot slot[SLOTS];
};

ft_op_answers *ft_op_answers_new(void)
{
    return calloc(1, sizeof(ft_op_answers));
}

void ft_op_answers_free(ft_op_answers *a)
{
    free(a);
}

ft__op_answer_slot *ft__op_answers_at(ft_op_answers *a, const ft_op *op, ft_phase phase)
{
    const uint64_t hash = ft__op_quick_hash(op);

    for (uint64_t i = 0; i < TRIES; i++) {
        ft__op_answer_slot *s = &a->slot[(hash + i) % SLOTS];

        if (!s->taken)
            return s;
        if (s->phase == phase && ft_op_equal(&s->op, op))
            return s;
    }
    a->slot[hash % SLOTS].taken = false;
    return &a->slot[hash % SLOTS];
}
