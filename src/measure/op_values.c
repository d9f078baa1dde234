/* One operation on an engine that holds values: results are made by every run and
 * dropped at once, as eager code does.
 *
 * What a network reads from memory comes from there: weights, and what a backward
 * operation was left by its forward one, are of another instance in every run.
 * Operands that the operation before has just written stay the same. */
#include <math.h>
#include <stdlib.h>

#include "measure/values.h"

enum { MAX_INSTANCES = 64, MAX_IN = 2 * FT_OP_MAX_OPERANDS };
static const double block_bytes = 64.0 * 1024 * 1024;

struct ft__values_job {
    ft_session *session;
    ft_op op;
    ft_block *block;
    ft_block_info info;
    uint32_t instances;
    uint32_t n_operands; /* activations, or what an optimizer takes */
    uint32_t n_in;       /* per instance: operands, what was kept, weights */
    uint32_t n_out;
    void **in;    /* instances x n_in */
    void **other; /* values that belong to nobody's operands */
    uint32_t n_other;
    void *host; /* operands are read into it; what is written over comes from it */
};

static void **operand(const ft__values_job *j, uint32_t instance, uint32_t i)
{
    return &j->in[(size_t)instance * j->n_in + i];
}

/* The i-th operand stays from run to run: it has just been written. */
static bool is_shared(const ft__values_job *j, uint32_t i)
{
    ft_op forward = ft__forward_of(&j->op);

    switch (j->op.phase) {
    case FT_PHASE_BACKWARD: return i < ft_op_n_outputs(&forward);
    case FT_PHASE_OPTIMIZER: return false;
    default: return i < j->n_operands;
    }
}

/* ---- making operands ---- */

static ft_status make(ft__values_job *j, uint32_t instance, uint32_t i,
                      const ft_shape *shape, ft_dtype dtype, ft_layout layout,
                      const ft__filling *with, ft_error *err)
{
    return ft__value_make(j->session, operand(j, instance, i), shape, dtype, layout,
                          with, err);
}

static uint64_t seed_of(const ft__values_job *j, uint32_t instance, uint32_t i)
{
    return j->session->seed + (uint64_t)instance * MAX_IN + i;
}

static ft_status make_activation(ft__values_job *j, uint32_t instance, uint32_t i,
                                 ft_error *err)
{
    ft_op forward = ft__forward_of(&j->op);
    ft__filling with = {.scale = 1, .seed = seed_of(j, instance, i)};
    ft_shape shape;
    ft_dtype t;

    if (instance && is_shared(j, i)) {
        *operand(j, instance, i) = *operand(j, 0, i);
        return FT_OK;
    }
    with.limit = ft__operand_limit(&forward, i);
    ft_op_input(&j->op, i, &shape, &t);
    return make(j, instance, i, &shape, t, j->op.layout, &with, err);
}

static ft_status make_weights(ft__values_job *j, uint32_t instance, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < ft_op_n_params(&j->op) && !st; i++) {
        uint32_t at = j->n_in - ft_op_n_params(&j->op) + i;
        ft__filling with = ft__weight_filling(&j->op, i, seed_of(j, instance, at));
        ft_param p;

        ft_op_param(&j->op, i, &p);
        st = make(j, instance, at, &p.shape, p.dtype, FT_LAYOUT_PLAIN, &with, err);
    }
    return st;
}

/* Parameter, a small gradient, states that begin at zero. */
static ft_status make_optimized(ft__values_job *j, uint32_t instance, ft_error *err)
{
    static const double scale[] = {0.1, 0.01, 0, 0};
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < j->n_operands && !st; i++) {
        ft__filling with = {
            .scale = scale[i], .limit = 2, .seed = seed_of(j, instance, i)};
        ft_shape shape = ft_op_shape(&j->op, FT_K_x);

        st = make(j, instance, i, &shape, j->op.dtype, FT_LAYOUT_PLAIN, &with, err);
    }
    return st;
}

/* ---- what a forward operation leaves its backward one ---- */

/* Operands of the forward operation: those that are saved, by their place among
 * the backward one's, others of no further use. */
static ft_status forward_operands(ft__values_job *j, uint32_t instance,
                                  const ft_op *forward, const void **in, ft_error *err)
{
    uint32_t saves = ft_kind_saves(j->op.kind);
    uint32_t n = ft_op_n_inputs(forward), at = ft_op_n_outputs(forward);
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < n && !st; i++) {
        ft__filling with = {.scale = 1, .seed = seed_of(j, instance, n + i)};
        bool saved = i < 3 && saves >> i & 1;
        void **v = saved ? operand(j, instance, at++) : &j->other[i];
        ft_shape shape;
        ft_dtype t;

        ft_op_input(forward, i, &shape, &t);
        with.limit = ft__operand_limit(forward, i);
        if (!*v)
            st = ft__value_make(j->session, v, &shape, t, j->op.layout, &with, err);
        in[i] = *v;
    }
    for (uint32_t i = 0; i < ft_op_n_params(forward); i++)
        in[n + i] = *operand(j, instance, j->n_in - ft_op_n_params(forward) + i);
    return st;
}

static ft_status run_forward(ft__values_job *j, ft_block *b, const ft_op *forward,
                             uint32_t instance, ft_error *err)
{
    const void *in[MAX_IN];
    void *out[FT_OP_MAX_OPERANDS + 1] = {NULL};
    uint32_t n_out = ft_op_n_outputs(forward);
    ft_status st = forward_operands(j, instance, forward, in, err);

    if (!st)
        st = j->session->engine->run(b, 0, in, out, NULL, err);
    /* The kept is behind the operands, and the result the last of these. */
    *operand(j, instance, j->n_operands) = out[n_out];
    if (ft_kind_saves(j->op.kind) & FT_SAVE_OUT) {
        *operand(j, instance, j->n_operands - 1) = out[0];
        out[0] = NULL;
    }
    for (uint32_t i = 0; i < n_out; i++)
        ft__value_drop(j->session, &out[i]);
    return st;
}

static ft_status make_saved(ft__values_job *j, ft_error *err)
{
    ft_op forward = ft__forward_of(&j->op);
    ft_block_info info = {0};
    ft_block *b = NULL;
    ft_status st;

    j->n_other = ft_op_n_inputs(&forward);
    j->other = calloc(j->n_other + 1, sizeof(*j->other));
    if (!j->other)
        return ft_fail(err, FT_ENOMEM, 0, "operation");
    st = j->session->engine->values->prepare(j->session->context, &b, &info, &forward,
                                             FT_VALUES_KEEP, err);
    for (uint32_t k = 0; k < j->instances && !st; k++)
        st = run_forward(j, b, &forward, k, err);
    if (b)
        j->session->engine->free_block(b);
    return st;
}

static ft_status make_gradients(ft__values_job *j, uint32_t instance, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < j->n_operands && is_shared(j, i) && !st; i++)
        st = make_activation(j, instance, i, err);
    return st;
}

/* ---- the job ---- */

static double bytes_of(const ft_shape *s, ft_dtype t)
{
    return (double)ft_tensor_bytes(s, t);
}

/* What differs from instance to instance. */
static double own_bytes(const ft__values_job *j)
{
    double bytes = 0;
    ft_shape s;
    ft_dtype t;
    ft_param p;

    if (j->op.phase == FT_PHASE_OPTIMIZER) {
        s = ft_op_shape(&j->op, FT_K_x);
        return j->n_operands * bytes_of(&s, j->op.dtype);
    }
    for (uint32_t i = 0; i < ft_op_n_params(&j->op); i++) {
        ft_op_param(&j->op, i, &p);
        bytes += bytes_of(&p.shape, p.dtype);
    }
    for (uint32_t i = 0; i < j->n_operands; i++)
        if (!is_shared(j, i)) {
            ft_op_input(&j->op, i, &s, &t);
            bytes += bytes_of(&s, t);
        }
    return bytes;
}

static uint32_t instances_for(const ft__values_job *j)
{
    double bytes = own_bytes(j), n = bytes > 0 ? ceil(block_bytes / bytes) : 1;

    return n > MAX_INSTANCES ? MAX_INSTANCES : (uint32_t)n;
}

static void count_operands(ft__values_job *j)
{
    const ft_op *op = &j->op;

    if (op->phase == FT_PHASE_OPTIMIZER) {
        j->n_operands = j->n_in = 2 + ft__optimizer_states(op->kind);
        return;
    }
    j->n_operands = ft_op_n_inputs(op);
    j->n_in = j->n_operands + (op->phase == FT_PHASE_BACKWARD) + ft_op_n_params(op);
    j->n_out = ft_op_n_outputs(op);
    if (op->phase == FT_PHASE_BACKWARD)
        j->n_out += ft_op_n_params(op);
}

static ft_status fill_instances(ft__values_job *j, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t k = 0; k < j->instances && !st; k++) {
        if (j->op.phase == FT_PHASE_OPTIMIZER) {
            st = make_optimized(j, k, err);
            continue;
        }
        if (j->op.phase == FT_PHASE_BACKWARD)
            st = make_gradients(j, k, err);
        else
            for (uint32_t i = 0; i < j->n_operands && !st; i++)
                st = make_activation(j, k, i, err);
        if (!st)
            st = make_weights(j, k, err);
    }
    return !st && j->op.phase == FT_PHASE_BACKWARD ? make_saved(j, err) : st;
}

/* Bytes of the largest operand that touching reads; 0: none. */
static size_t most_touched(const ft__values_job *j)
{
    size_t most = 0;
    ft_shape s;
    ft_dtype t;

    for (uint32_t i = 0; i < j->n_operands && is_shared(j, i); i++) {
        ft_op_input(&j->op, i, &s, &t);
        if ((size_t)ft_tensor_bytes(&s, t) > most)
            most = (size_t)ft_tensor_bytes(&s, t);
    }
    return most;
}

/* In place as in the network, where the engine has such a form. */
static ft_status prepare(ft__values_job *j, ft_error *err)
{
    const ft_engine_values *v = j->session->engine->values;
    ft_engine_context *c = j->session->context;
    ft_error why;

    if (j->op.in_place &&
        v->prepare(c, &j->block, &j->info, &j->op, FT_VALUES_IN_PLACE, &why) == FT_OK)
        return FT_OK;
    j->op.in_place = 0;
    return v->prepare(c, &j->block, &j->info, &j->op, 0, err);
}

/* x as it is before it is written over. */
static ft_status remember(ft__values_job *j, ft_error *err)
{
    j->host = malloc(most_touched(j) + 1);
    if (!j->host)
        return ft_fail(err, FT_ENOMEM, 0, "operation");
    return j->session->engine->values->read(j->session->context, j->host,
                                            *operand(j, 0, 0), err);
}

ft_status ft__values_job_make(ft__values_job **out, ft_session *s, const ft_op *op,
                              uint32_t instances, ft_error *err)
{
    ft__values_job *j = calloc(1, sizeof(*j));
    ft_status st = FT_OK;

    *out = NULL;
    if (!j)
        return ft_fail(err, FT_ENOMEM, 0, "operation");
    j->session = s;
    j->op = *op;
    count_operands(j);
    j->instances = instances ? instances : instances_for(j);
    j->in = calloc((size_t)j->instances * j->n_in + 1, sizeof(*j->in));
    if (!j->in)
        st = ft_fail(err, FT_ENOMEM, 0, "operation");
    if (!st)
        st = prepare(j, err);
    if (!st)
        st = fill_instances(j, err);
    if (!st && j->op.in_place)
        st = remember(j, err);
    if (st) {
        ft__values_job_free(j);
        return st;
    }
    *out = j;
    return FT_OK;
}

void ft__values_job_free(ft__values_job *j)
{
    if (!j)
        return;
    for (uint32_t k = 0; j->in && k < j->instances; k++)
        for (uint32_t i = 0; i < j->n_in; i++)
            if (k == 0 || !is_shared(j, i))
                ft__value_drop(j->session, operand(j, k, i));
    for (uint32_t i = 0; j->other && i < j->n_other; i++)
        ft__value_drop(j->session, &j->other[i]);
    if (j->block)
        j->session->engine->free_block(j->block);
    free(j->in);
    free(j->other);
    free(j->host);
    free(j);
}

ft_status ft__values_job_run(ft__values_job *j, uint64_t iteration, ft_error *err)
{
    void *out[MAX_IN] = {NULL};
    void **in = operand(j, (uint32_t)(iteration % j->instances), 0);
    ft_status st =
        j->session->engine->run(j->block, 0, (const void *const *)in, out, NULL, err);

    for (uint32_t i = 0; i < j->n_out; i++)
        ft__value_drop(j->session, &out[i]);
    return st;
}

void ft__values_job_touch(ft__values_job *j)
{
    const ft_engine *e = j->session->engine;

    if (j->op.in_place) {
        (void)e->values->write(j->session->context, *operand(j, 0, 0), j->host, NULL);
        return;
    }
    if (!j->host)
        j->host = malloc(most_touched(j) + 1);
    for (uint32_t i = 0; j->host && i < j->n_operands && is_shared(j, i); i++)
        (void)e->values->read(j->session->context, j->host, *operand(j, 0, i), NULL);
}

const ft_block_info *ft__values_job_info(const ft__values_job *j)
{
    return &j->info;
}

uint32_t ft__values_job_instances(const ft__values_job *j)
{
    return j->instances;
}
