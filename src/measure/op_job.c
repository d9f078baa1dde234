/* One operation with its operands, run over and over. */
#include "measure/op_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/values.h"

/* ---- operands ---- */

int64_t ft__operand_limit(const ft_op *op, uint32_t operand)
{
    if (op->kind == FT_KIND_embedding)
        return ft_op_at(op, FT_K_rows, 0);
    if (op->kind == FT_KIND_gather && operand == 1)
        return ft_op_at(op, FT_K_x, (uint32_t)ft_op_at(op, FT_K_axis, 0));
    return 2;
}

/* ---- one operation ---- */

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
    ft__values_job *values; /* of an engine that holds them; then nothing else here */
    ft_op op;
    ft_block *block;
    ft_block_info info;
    uint32_t instances;
    uint32_t places;
    const void *in[FT_OP_MAX_OPERANDS];
    void *out[MAX_PLACES][FT_OP_MAX_OPERANDS];
    void *memory[2 * FT_OP_MAX_OPERANDS + 1]; /* everything to release */
    uint32_t n_memory;
    void *workspace;
};

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

static ft_status run_values(void *self, uint64_t iteration, ft_error *err)
{
    return ft__values_job_run(((ft__op_job *)self)->values, iteration, err);
}

void ft__op_job_free(ft__op_job *j)
{
    if (!j)
        return;
    ft__values_job_free(j->values);
    while (j->n_memory)
        j->session->engine->release(j->session->context, j->memory[--j->n_memory]);
    if (j->block)
        j->session->engine->free_block(j->block);
    free(j);
}

static uint32_t instances_for(const ft_op *op)
{
    ft_cost c;
    double n;

    ft_op_cost(op, &c);
    n = c.weight_bytes > 0 ? ceil(block_bytes / c.weight_bytes) : 1;
    return n > MAX_INSTANCES ? MAX_INSTANCES : (uint32_t)n;
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

static ft_status prepare(ft__op_job *j, ft_error *err)
{
    ft_session *s = j->session;
    ft_status st = s->engine->prepare(s->context, &j->block, &j->info, &j->op,
                                      j->instances, NULL, 0, err);

    return st ? st : make_operands(j, err);
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
    j->instances = instances ? instances : instances_for(op);
    j->places = places_for(op);
    st = s->engine->values ? ft__values_job_make(&j->values, s, op, instances, err)
                           : prepare(j, err);
    if (st) {
        ft__op_job_free(j);
        return st;
    }
    *out = j;
    return FT_OK;
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

static void touch(void *self)
{
    ft__values_job_touch(((ft__op_job *)self)->values);
}

ft__job ft__op_job_get(ft__op_job *j)
{
    if (j->values)
        return (ft__job){
            .session = j->session, .run = run_values, .touch = touch, .self = j};
    return (ft__job){.session = j->session, .run = run_op, .move = move, .self = j};
}

const ft_block_info *ft__op_job_info(const ft__op_job *j)
{
    return j->values ? ft__values_job_info(j->values) : &j->info;
}

uint32_t ft__op_job_instances(const ft__op_job *j)
{
    return j->values ? ft__values_job_instances(j->values) : j->instances;
}
