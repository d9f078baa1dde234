/* One operation: a session for each instance, since a session keeps the weights,
 * packed as its kernel likes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node.h"
#include "ort.h"

/* Memory of callers as the runtime knows it, by address: results go to a few places
 * in turn. */
enum { KNOWN_PLACES = 16 };
typedef struct operand {
    char name[8];
    ft_shape shape;
    ft_dtype dtype;
    uint64_t bytes;
    struct {
        const void *memory;
        OrtValue *value;
    } known[KNOWN_PLACES];
    uint32_t next; /* to be replaced */
} operand;

typedef struct op_block {
    ft_block base;
    ft_op op;
    OrtSession **sessions;
    uint32_t n_in, n_out;
    operand *operands; /* inputs, then results */
    const char **names;
    OrtValue **values; /* of the run that is being issued */
    ft__repair repair;
    uint32_t repair_operand;
    int64_t repair_extent;
} op_block;

static OrtStatus *value_of(const op_block *b, operand *o, const void *memory,
                           OrtValue **out)
{
    const OrtApi *a = b->base.ctx->api;
    OrtStatus *s;
    uint32_t i = 0;

    while (i < KNOWN_PLACES && o->known[i].memory != memory)
        i++;
    if (i == KNOWN_PLACES) {
        i = o->next++ % KNOWN_PLACES;
        if (o->known[i].value)
            a->ReleaseValue(o->known[i].value);
        o->known[i].value = NULL;
        o->known[i].memory = NULL;
        s = a->CreateTensorWithDataAsOrtValue(
            b->base.ctx->cpu, (void *)memory, o->bytes, o->shape.dim, o->shape.rank,
            (ONNXTensorElementDataType)ft__ort_number(o->dtype), &o->known[i].value);
        if (s)
            return s;
        o->known[i].memory = memory;
    }
    *out = o->known[i].value;
    return NULL;
}

static int64_t element(const void *p, uint32_t bits, uint64_t i)
{
    return bits == 64   ? ((const int64_t *)p)[i]
           : bits == 32 ? ((const int32_t *)p)[i]
           : bits == 16 ? ((const int16_t *)p)[i]
                        : ((const int8_t *)p)[i];
}

static void set_element(void *p, uint32_t bits, uint64_t i, int64_t v)
{
    switch (bits) {
    case 64: ((int64_t *)p)[i] = v; break;
    case 32: ((int32_t *)p)[i] = (int32_t)v; break;
    case 16: ((int16_t *)p)[i] = (int16_t)v; break;
    default: ((int8_t *)p)[i] = (int8_t)v; break;
    }
}

static bool is_good(const op_block *b, int64_t v)
{
    return b->repair == FT__REPAIR_INDEX
               ? v >= -b->repair_extent && v < b->repair_extent
               : v != 0;
}

static int64_t repaired(const op_block *b, int64_t v, uint32_t bits)
{
    if (is_good(b, v))
        return v;
    if (b->repair == FT__REPAIR_INDEX)
        return v % b->repair_extent;
    return b->repair == FT__REPAIR_MODULUS ? 1 : INT64_MAX >> (64 - bits);
}

/* The operand as it is where all its values are good, else a copy of it. */
static const void *repair(const op_block *b, const void *memory, void *workspace)
{
    const operand *o = &b->operands[b->repair_operand];
    uint32_t bits = ft_dtype_bits(o->dtype);
    uint64_t n = o->bytes / (bits / 8), i = 0;

    while (i < n && is_good(b, element(memory, bits, i)))
        i++;
    if (i == n)
        return memory;
    for (i = 0; i < n; i++)
        set_element(workspace, bits, i, repaired(b, element(memory, bits, i), bits));
    return workspace;
}

static ft_status run(ft_block *base, uint32_t instance, const void *const *in,
                     void *const *out, void *workspace, ft_error *err)
{
    op_block *b = (op_block *)base;
    const OrtApi *a = base->ctx->api;
    OrtStatus *s = NULL;

    for (uint32_t i = 0; i < b->n_in && !s; i++) {
        const void *memory = in[i];

        if (b->repair && i == b->repair_operand)
            memory = repair(b, memory, workspace);
        s = value_of(b, &b->operands[i], memory, &b->values[i]);
    }
    for (uint32_t i = b->n_in; i < b->n_in + b->n_out && !s; i++)
        s = value_of(b, &b->operands[i], out[i - b->n_in], &b->values[i]);
    if (!s)
        s = a->Run(b->sessions[instance], NULL, b->names,
                   (const OrtValue *const *)b->values, b->n_in, b->names + b->n_in,
                   b->n_out, b->values + b->n_in);
    return ft__ort_ran(a, s, err);
}

static void free_op_block(ft_block *base)
{
    op_block *b = (op_block *)base;
    const OrtApi *a = base->ctx->api;

    for (uint32_t i = 0; b->operands && i < b->n_in + b->n_out; i++)
        for (uint32_t k = 0; k < KNOWN_PLACES; k++)
            if (b->operands[i].known[k].value)
                a->ReleaseValue(b->operands[i].known[k].value);
    for (uint32_t i = 0; b->sessions && i < base->instances; i++)
        if (b->sessions[i])
            a->ReleaseSession(b->sessions[i]);
    free(b->operands);
    free(b->names);
    free(b->values);
    free(b->sessions);
    free(b);
}

/* A model in one piece of memory ends here. */
#define MAX_MODEL_BYTES 0x1p31

static ft_status check_request(const ft_engine_context *c, const ft_op *op,
                               ft_error *err)
{
    ft_cost cost;

    ft_op_cost(op, &cost);
    if (cost.weight_bytes > MAX_MODEL_BYTES - 0x1p20)
        return ft__unsupported(op, "its weights pass 2 GiB, the most a model may hold",
                               err);
    if (c->cuda)
        return ft__unsupported(op, "with device=cuda only models are run, whole", err);
    return FT_OK;
}

static ft_status make_operands(op_block *b, const ft__model *m, ft_error *err)
{
    uint32_t n = m->n_in + m->n_out;

    b->n_in = m->n_in;
    b->n_out = m->n_out;
    b->operands = calloc(n, sizeof(*b->operands));
    b->names = calloc(n, sizeof(*b->names));
    b->values = calloc(n, sizeof(*b->values));
    if (!b->operands || !b->names || !b->values)
        return ft__no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        operand *o = &b->operands[i];
        bool in = i < m->n_in;
        uint32_t k = in ? i : i - m->n_in;

        snprintf(o->name, sizeof(o->name), "%c%u", in ? 'i' : 'o', k % 1000);
        b->names[i] = o->name;
        o->shape = in ? m->in[k] : m->out[k];
        o->dtype = in ? m->in_type[k] : m->out_type[k];
        o->bytes = (uint64_t)ft_tensor_bytes(&o->shape, o->dtype);
    }
    b->repair = m->repair;
    b->repair_operand = m->repair_operand;
    b->repair_extent = m->repair_extent;
    return FT_OK;
}

static void begin_model(ft__model *m, const ft_op *op, uint64_t seed,
                        const float *const *params)
{
    memset(m, 0, sizeof(*m));
    m->op = op;
    m->seed = seed;
    m->params = params;
    m->opset = 21;
    m->n_in = ft_op_n_inputs(op);
    m->n_out = ft_op_n_outputs(op);
    for (uint32_t i = 0; i < m->n_in; i++)
        ft_op_input(op, i, &m->in[i], &m->in_type[i]);
    for (uint32_t i = 0; i < m->n_out; i++)
        ft_op_output(op, i, &m->out[i], &m->out_type[i]);
}

static ft_status start_session(op_block *b, const OrtSessionOptions *o, uint32_t i,
                               const ft__pb *file, ft_error *err)
{
    ft_engine_context *c = b->base.ctx;

    if (file->bad)
        return ft__no_memory(err);
    return ft__ort_check(
        c->api,
        c->api->CreateSessionFromArray(c->env, file->s, file->len, o, &b->sessions[i]),
        err);
}

/* Instance i: its model, its session. */
static ft_status make_instance(op_block *b, const OrtSessionOptions *o, uint32_t i,
                               const float *const *params, ft_block_info *info,
                               ft_error *err)
{
    uint64_t seed = b->base.ctx->seed + 0x9e3779b97f4a7c15u * i;
    ft__pb file = {0};
    ft__model m;
    ft_status st = FT_OK;

    begin_model(&m, &b->op, seed, params);
    ft__write_nodes(&m);
    if (m.why)
        st = ft__unsupported(&b->op, m.why, err);
    if (!st && i == 0)
        st = make_operands(b, &m, err);
    if (!st) {
        ft__model_finish(&m, &file);
        st = start_session(b, o, i, &file, err);
    }
    info->weight_bytes = m.weight_bytes;
    ft__model_free(&m);
    ft__pb_free(&file);
    return st;
}

static ft_status make_sessions(op_block *b, const float *const *params,
                               ft_block_info *info, ft_error *err)
{
    const OrtApi *a = b->base.ctx->api;
    OrtSessionOptions *o;
    ft_status st = ft__ort_options(b->base.ctx, &o, err);

    if (st)
        return st;
    st = ft__ort_check(
        a, a->AddSessionConfigEntry(o, "session.use_env_allocators", "1"), err);
    if (!st && b->base.ctx->threads > 1)
        st = ft__ort_check(a, a->DisablePerSessionThreads(o), err);
    for (uint32_t i = 0; i < b->base.instances && !st; i++)
        st = make_instance(b, o, i, params, info, err);
    a->ReleaseSessionOptions(o);
    return st;
}

ft_status ft__op_block(ft_engine_context *c, ft_block **out, ft_block_info *info,
                       const ft_op *op, uint32_t instances, const float *const *params,
                       uint32_t n_params, ft_error *err)
{
    op_block *b;
    ft_status st = ft__request_check(op, instances, params, n_params, err);

    *out = NULL;
    if (!st)
        st = check_request(c, op, err);
    if (st)
        return st;
    b = calloc(1, sizeof(*b));
    if (!b)
        return ft__no_memory(err);
    b->base = (ft_block){.ctx = c, .instances = instances, .run = run};
    b->base.free = free_op_block;
    b->op = *op;
    b->sessions = calloc(instances, sizeof(*b->sessions));
    st = b->sessions ? make_sessions(b, params, info, err) : ft__no_memory(err);
    if (st) {
        free_op_block(&b->base);
        return st;
    }
    info->workspace_bytes = b->repair ? b->operands[b->repair_operand].bytes : 0;
    info->implementation = "ONNX Runtime";
    *out = &b->base;
    return FT_OK;
}
