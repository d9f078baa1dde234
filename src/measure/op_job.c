/* An operation -> a job: its block and operands on an engine, ready to be run over and
 * over. */
#include "measure/op_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op_inside.h"
#include "measure/values.h"

/* Weights of all instances together pass any cache, as a network's do, as long
 * as that takes neither many instances nor much memory. */
enum { MAX_INSTANCES = 64 };
static const double block_bytes = 64.0 * 1024 * 1024;

/* Results go to several places in turn, more than the second-level cache holds
 * together: in a network each goes where no result has just been. The input
 * stays: it is what the operation before has just written. */
enum { MAX_PLACES = 16 };
static const uint64_t places_bytes = 4u << 20;

struct ft__op_job {
    ft_session *session;
    ft_op op;
    ft_block *block;
    ft_block_info info;
    uint32_t instances;

    /* On an engine that takes memory. */
    uint32_t places;
    const void *in[FT_OP_MAX_OPERANDS];
    void *out[MAX_PLACES][FT_OP_MAX_OPERANDS];
    void *memory[2 * FT_OP_MAX_OPERANDS + 1]; /* everything to release */
    uint32_t n_memory;
    void *workspace;

    /* On one that holds values. */
    uint32_t n_operands; /* activations, or what an optimizer takes */
    uint32_t n_in;       /* per instance: operands, what was kept, weights */
    uint32_t n_out;
    void **value; /* instances x n_in */
    void **other; /* of the forward operation alone */
    uint32_t n_other;
    void *host; /* operands are read into it; what is written over comes from it */
};

/* As many as have so many bytes of their own pass any cache with. */
static uint32_t instances_for(double bytes)
{
    double n = bytes > 0 ? ceil(block_bytes / bytes) : 1;

    return n > MAX_INSTANCES ? MAX_INSTANCES : (uint32_t)n;
}

static ft_status run_op(void *self, uint64_t iteration, ft_error *err)
{
    ft__op_job *j = self;

    return j->session->engine->run(j->block, (uint32_t)(iteration % j->instances),
                                   j->in, j->out[iteration % j->places], j->workspace,
                                   err);
}

static void *take(ft__op_job *j, uint64_t bytes, const ft_op *op, ft_error *err)
{
    ft_session *s = j->session;
    void *p = s->engine->alloc(s->context, bytes ? bytes : 1);

    if (p)
        j->memory[j->n_memory++] = p;
    else
        ft_fail(err, FT_ENOMEM, 0, "no memory for %s (%.1f MiB)",
                ft_kind_name(op->kind), (double)bytes / 1048576.0);
    return p;
}

static ft_status make_input(ft__op_job *j, const ft_op *op, uint32_t i, ft_error *err)
{
    ft_session *s = j->session;
    ft_shape shape;
    ft_dtype t;
    void *p;

    ft_op_input(op, i, &shape, &t);
    p = take(j, (uint64_t)ft_tensor_bytes(&shape, t), op, err);
    if (!p)
        return FT_ENOMEM;
    j->in[i] = p;
    return s->engine->fill(s->context, p, t, (uint64_t)ft_shape_elements(&shape),
                           ft__operand_limit(op, i), s->seed + i, err);
}

static ft_status make_output(ft__op_job *j, const ft_op *op, uint32_t i, ft_error *err)
{
    ft_shape shape;
    ft_dtype t;
    uint64_t bytes;
    char *p;

    ft_op_output(op, i, &shape, &t);
    bytes = ((uint64_t)ft_tensor_bytes(&shape, t) + 63) / 64 * 64;
    p = take(j, bytes * j->places, op, err);
    for (uint32_t place = 0; p && place < j->places; place++)
        j->out[place][i] = p + place * bytes;
    return p ? FT_OK : FT_ENOMEM;
}

static uint32_t places_for(const ft_op *op)
{
    ft_cost c;
    double n;

    ft_op_cost(op, &c);
    n = c.bytes_written > 0 ? ceil((double)places_bytes / c.bytes_written) : 1;
    return n > MAX_PLACES ? MAX_PLACES : (uint32_t)n;
}

static ft_status make_operands(ft__op_job *j, ft_error *err)
{
    const ft_op *op = &j->op;
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < ft_op_n_inputs(op) && !st; i++)
        st = make_input(j, op, i, err);
    for (uint32_t i = 0; i < ft_op_n_outputs(op) && !st; i++)
        st = make_output(j, op, i, err);
    if (!st && j->info.workspace_bytes) {
        j->workspace = take(j, j->info.workspace_bytes, op, err);
        st = j->workspace ? FT_OK : FT_ENOMEM;
    }
    return st;
}

static ft_status prepare_memory(ft__op_job *j, ft_error *err)
{
    ft_session *s = j->session;
    ft_cost c;
    ft_status st;

    ft_op_cost(&j->op, &c);
    j->instances = j->instances ? j->instances : instances_for(c.weight_bytes);
    j->places = places_for(&j->op);
    st = s->engine->prepare(s->context, &j->block, &j->info, &j->op, j->instances, NULL,
                            0, err);

    return st ? st : make_operands(j, err);
}

/* Above this, caches see addresses as random anyway. */
static const double move_bytes = 16.0 * 1024 * 1024;

/* New memory for all operands before the old is given back: in other places. What
 * passes all caches comes from memory wherever it lies. */
static ft_status move(void *self, ft_error *err)
{
    ft__op_job *j = self;
    void *old[sizeof(j->memory) / sizeof(*j->memory)];
    uint32_t n_old = j->n_memory;
    ft_cost c;
    ft_status st;

    ft_op_cost(&j->op, &c);
    if (c.bytes_read + c.bytes_written - c.weight_bytes > move_bytes)
        return FT_OK;
    memcpy(old, j->memory, sizeof(old));
    j->n_memory = 0;
    st = make_operands(j, err);
    while (n_old)
        j->session->engine->release(j->session->context, old[--n_old]);
    return st;
}

/* On an engine that holds values.
 * Results are made by every run and dropped at once, as eager code does.
 *
 * What a network reads from memory comes from there: weights, and what a backward
 * operation was left by its forward one, are of another instance in every run.
 * Operands that the operation before has just written stay the same. */
enum { MAX_IN = 2 * FT_OP_MAX_OPERANDS };

static void **operand(const ft__op_job *j, uint32_t instance, uint32_t i)
{
    return &j->value[(size_t)instance * j->n_in + i];
}

/* The i-th operand stays from run to run: it has just been written. */
static bool is_shared(const ft__op_job *j, uint32_t i)
{
    ft_op forward = ft__forward_of(&j->op);

    switch (j->op.phase) {
    case FT_PHASE_BACKWARD: return i < ft_op_n_outputs(&forward);
    case FT_PHASE_OPTIMIZER: return false;
    default: return i < j->n_operands;
    }
}

static ft_status make_value(ft__op_job *j, uint32_t instance, uint32_t i,
                            const ft_shape *shape, ft_dtype dtype, ft_layout layout,
                            const ft__filling *with, ft_error *err)
{
    return ft__value_make(j->session, operand(j, instance, i), shape, dtype, layout,
                          with, err);
}

static uint64_t value_seed(const ft__op_job *j, uint32_t instance, uint32_t i)
{
    return j->session->seed + (uint64_t)instance * MAX_IN + i;
}

static ft_status make_activation(ft__op_job *j, uint32_t instance, uint32_t i,
                                 ft_error *err)
{
    ft_op forward = ft__forward_of(&j->op);
    ft__filling with = {.scale = 1, .seed = value_seed(j, instance, i)};
    ft_shape shape;
    ft_dtype t;

    if (instance && is_shared(j, i)) {
        *operand(j, instance, i) = *operand(j, 0, i);
        return FT_OK;
    }
    with.limit = ft__operand_limit(&forward, i);
    ft_op_input(&j->op, i, &shape, &t);
    return make_value(j, instance, i, &shape, t, j->op.layout, &with, err);
}

static ft_status make_weights(ft__op_job *j, uint32_t instance, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < ft_op_n_params(&j->op) && !st; i++) {
        uint32_t at = j->n_in - ft_op_n_params(&j->op) + i;
        ft__filling with = ft__weight_filling(&j->op, i, value_seed(j, instance, at));
        ft_param p;

        ft_op_param(&j->op, i, &p);
        st =
            make_value(j, instance, at, &p.shape, p.dtype, FT_LAYOUT_PLAIN, &with, err);
    }
    return st;
}

/* Parameter, a small gradient, states that begin at zero. */
static ft_status make_optimized(ft__op_job *j, uint32_t instance, ft_error *err)
{
    static const double scale[] = {0.1, 0.01, 0, 0};
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < j->n_operands && !st; i++) {
        ft__filling with = {
            .scale = scale[i], .limit = 2, .seed = value_seed(j, instance, i)};
        ft_shape shape = ft_op_shape(&j->op, FT_K_x);

        st = make_value(j, instance, i, &shape, j->op.dtype, FT_LAYOUT_PLAIN, &with,
                        err);
    }
    return st;
}

/* Operands of the forward operation: those that are saved, by their place among
 * the backward one's, others of no further use. */
static ft_status forward_operands(ft__op_job *j, uint32_t instance,
                                  const ft_op *forward, const void **in, ft_error *err)
{
    uint32_t saves = ft_kind_saves(j->op.kind);
    uint32_t n = ft_op_n_inputs(forward), at = ft_op_n_outputs(forward);
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < n && !st; i++) {
        ft__filling with = {.scale = 1, .seed = value_seed(j, instance, n + i)};
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

static ft_status run_forward(ft__op_job *j, ft_block *b, const ft_op *forward,
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

static ft_status make_saved(ft__op_job *j, ft_error *err)
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

static ft_status make_gradients(ft__op_job *j, uint32_t instance, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < j->n_operands && is_shared(j, i) && !st; i++)
        st = make_activation(j, instance, i, err);
    return st;
}

static double bytes_of(const ft_shape *s, ft_dtype t)
{
    return (double)ft_tensor_bytes(s, t);
}

/* What differs from instance to instance. */
static double own_bytes(const ft__op_job *j)
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

static void count_operands(ft__op_job *j)
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

static ft_status fill_instances(ft__op_job *j, ft_error *err)
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
static size_t most_touched(const ft__op_job *j)
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
static ft_status prepare_block(ft__op_job *j, ft_error *err)
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
static ft_status remember(ft__op_job *j, ft_error *err)
{
    j->host = malloc(most_touched(j) + 1);
    if (!j->host)
        return ft_fail(err, FT_ENOMEM, 0, "operation");
    return j->session->engine->values->read(j->session->context, j->host,
                                            *operand(j, 0, 0), err);
}

static ft_status prepare_values(ft__op_job *j, ft_error *err)
{
    ft_status st;

    count_operands(j);
    j->instances = j->instances ? j->instances : instances_for(own_bytes(j));
    j->value = calloc((size_t)j->instances * j->n_in + 1, sizeof(*j->value));
    if (!j->value)
        return ft_fail(err, FT_ENOMEM, 0, "operation");
    st = prepare_block(j, err);
    if (!st)
        st = fill_instances(j, err);
    return !st && j->op.in_place ? remember(j, err) : st;
}

static void free_values(ft__op_job *j)
{
    for (uint32_t k = 0; j->value && k < j->instances; k++)
        for (uint32_t i = 0; i < j->n_in; i++)
            if (k == 0 || !is_shared(j, i))
                ft__value_drop(j->session, operand(j, k, i));
    for (uint32_t i = 0; j->other && i < j->n_other; i++)
        ft__value_drop(j->session, &j->other[i]);
    free(j->value);
    free(j->other);
    free(j->host);
}

static ft_status run_values(void *self, uint64_t iteration, ft_error *err)
{
    ft__op_job *j = self;
    void *out[MAX_IN] = {NULL};
    void **in = operand(j, (uint32_t)(iteration % j->instances), 0);
    ft_status st =
        j->session->engine->run(j->block, 0, (const void *const *)in, out, NULL, err);

    for (uint32_t i = 0; i < j->n_out; i++)
        ft__value_drop(j->session, &out[i]);
    return st;
}

/* Read the operands that the operation before has just written. */
static void touch(void *self)
{
    ft__op_job *j = self;
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

ft_status ft__op_job_make(ft__op_job **out, ft_session *s, const ft_op *op,
                          uint32_t instances, ft_error *err)
{
    ft__op_job *j = calloc(1, sizeof(*j));
    ft_status st;

    *out = NULL;
    if (!j)
        return ft_fail(err, FT_ENOMEM, 0, "operation");
    j->session = s;
    j->op = *op;
    j->instances = instances;
    st = s->engine->values ? prepare_values(j, err) : prepare_memory(j, err);
    if (st) {
        ft__op_job_free(j);
        return st;
    }
    *out = j;
    return FT_OK;
}

void ft__op_job_free(ft__op_job *j)
{
    if (!j)
        return;
    if (j->session->engine->values)
        free_values(j);
    while (j->n_memory)
        j->session->engine->release(j->session->context, j->memory[--j->n_memory]);
    if (j->block)
        j->session->engine->free_block(j->block);
    free(j);
}

ft__job ft__op_job_get(ft__op_job *j)
{
    bool values = j->session->engine->values != NULL;

    return (ft__job){.session = j->session,
                     .run = values ? run_values : run_op,
                     .move = values ? NULL : move,
                     .touch = values ? touch : NULL,
                     .self = j,
                     .info = &j->info};
}
