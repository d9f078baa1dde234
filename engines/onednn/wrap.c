/* An operation that knows only plain memory, between transposes: what any user
 * of it has to do when its operands lie channels-last. */
#include <stdio.h>
#include <stdlib.h>

#include "onednn.h"

/* One operand that changes its order; at: of its plain copy, in the workspace. */
typedef struct moved {
    ft__copy copy;
    uint32_t operand;
    uint64_t at;
} moved;

typedef struct wrapped {
    ft_block inner;
    uint32_t n_in; /* moved in, then moved out */
    uint32_t n_out;
    moved *in, *out;
    const void *inputs[FT_OP_MAX_OPERANDS];
    void *outputs[FT_OP_MAX_OPERANDS];
} wrapped;

static void free_wrapped(void *plan)
{
    wrapped *w = plan;

    for (uint32_t i = 0; i < w->n_in; i++)
        ft__copy_clear(&w->in[i].copy);
    for (uint32_t i = 0; i < w->n_out; i++)
        ft__copy_clear(&w->out[i].copy);
    ft__block_clear(&w->inner);
    free(w->in);
    free(w);
}

static dnnl_status_t run_wrapped(ft_block *b, const ft__call *call)
{
    wrapped *w = b->plan;
    ft__call inner = {call->instance, w->inputs, w->outputs, call->workspace};
    dnnl_status_t s = dnnl_success;

    for (uint32_t i = 0; i < ft_op_n_inputs(&b->op); i++)
        w->inputs[i] = call->in[i];
    for (uint32_t i = 0; i < ft_op_n_outputs(&b->op); i++)
        w->outputs[i] = call->out[i];
    for (uint32_t i = 0; i < w->n_in && s == dnnl_success; i++) {
        moved *m = &w->in[i];

        w->inputs[m->operand] = call->workspace + m->at;
        s = ft__copy_run(&m->copy, b, call->in[m->operand], call->workspace + m->at,
                         call->workspace);
    }
    for (uint32_t i = 0; i < w->n_out; i++)
        w->outputs[w->out[i].operand] = call->workspace + w->out[i].at;
    if (s == dnnl_success)
        s = w->inner.run(&w->inner, &inner);
    for (uint32_t i = 0; i < w->n_out && s == dnnl_success; i++) {
        moved *m = &w->out[i];

        s = ft__copy_run(&m->copy, b, call->workspace + m->at, call->out[m->operand],
                         call->workspace);
    }
    return s;
}

/* Plan the move of an operand unless both orders are the same bytes. `scratch`
 * is what runs before or after it in the same place. */
static ft_status plan_move(ft_block *b, moved *list, uint32_t *n, uint32_t operand,
                           bool into, const ft__tensor *t, uint64_t *temporary,
                           uint64_t *scratch, ft_error *err)
{
    ft__tensor plain = ft__tensor_rows(t->rank, t->dim);
    moved *m = &list[*n];

    if (ft__tensor_is_plain(t))
        return FT_OK;
    plain.dtype = t->dtype;
    m->operand = operand;
    m->at = *temporary;
    *temporary += ft__align((uint64_t)ft__tensor_bytes(t));
    ++*n;
    return into ? ft__copy_init(&m->copy, b, t, &plain, scratch, err)
                : ft__copy_init(&m->copy, b, &plain, t, scratch, err);
}

ft_status ft__prepare_wrapped(ft_block *b, ft_error *err)
{
    uint32_t n_in = ft_op_n_inputs(&b->op), n_out = ft_op_n_outputs(&b->op);
    uint64_t scratch, temporary = 0;
    wrapped *w = ft__new_plan(b, sizeof(*w), err);
    ft_status st;

    if (!w)
        return FT_ENOMEM;
    b->free_plan = free_wrapped;
    w->in = calloc(n_in + n_out, sizeof(*w->in));
    if (!w->in)
        return ft__no_memory(b, err);
    w->out = w->in + n_in;
    w->inner = (ft_block){.ctx = b->ctx, .op = b->op, .instances = b->instances};
    w->inner.op.layout = FT_LAYOUT_PLAIN;
    b->inner = &w->inner;
    st = ft__prepare(&w->inner, err);
    if (st)
        return st;
    b->n_params = w->inner.n_params;
    scratch = w->inner.workspace_bytes;
    for (uint32_t i = 0; i < n_in && !st; i++) {
        ft__tensor t = ft__tensor_in(&b->op, i);

        st = plan_move(b, w->in, &w->n_in, i, true, &t, &temporary, &scratch, err);
    }
    for (uint32_t i = 0; i < n_out && !st; i++) {
        ft__tensor t = ft__tensor_out(&b->op, i);

        st = plan_move(b, w->out, &w->n_out, i, false, &t, &temporary, &scratch, err);
    }
    for (uint32_t i = 0; i < w->n_in + w->n_out; i++)
        (i < w->n_in ? &w->in[i] : &w->out[i - w->n_in])->at += ft__align(scratch);
    b->run = run_wrapped;
    b->workspace_bytes = ft__align(scratch) + temporary;
    snprintf(b->implementation, sizeof(b->implementation), "transposed %.50s",
             w->inner.implementation);
    return st;
}
