#ifndef TRIAL_H
#define TRIAL_H

/* One operation on one engine: operands, guards, the reference's results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "foretell/engine.h"
#include "reference.h"

enum { GUARD = 64, GUARD_BYTE = 0xa5, MAX_PARAMS = 4 };

/* An engine as opened for one test. */
typedef struct rig {
    const ft_engine *e;
    ft_engine_context *c;
} rig;

/* Memory of the engine, or ours where it holds tensors itself, with a guard on both
 * sides. */
typedef struct buffer {
    unsigned char *all;
    void *data;
    size_t bytes;
} buffer;

/* One operation with all it needs: plain operands for the reference, the same
 * in the operation's layout for the engine. */
typedef struct trial {
    ft_op op;
    const char *spec;
    uint32_t n_in, n_out, n_params;
    void *in[FT_OP_MAX_OPERANDS];
    void *want[FT_OP_MAX_OPERANDS];
    float *params[MAX_PARAMS];
    buffer engine_in[FT_OP_MAX_OPERANDS];
    buffer engine_out[FT_OP_MAX_OPERANDS];
} trial;

#define CHECK_OP(t, cond)                                                              \
    do {                                                                               \
        if (!(cond)) {                                                                 \
            check_failed++;                                                            \
            fprintf(stderr, "%s:%d: %s%s: %s\n", __FILE__, __LINE__, (t)->spec,        \
                    (t)->op.layout ? " layout=channels_last" : "", #cond);             \
        }                                                                              \
    } while (0)

static buffer new_buffer(const rig *r, size_t bytes)
{
    buffer b = {.bytes = bytes};

    if (r->e->values)
        b.all = aligned_alloc(64, (bytes + 2 * GUARD + 63) / 64 * 64);
    else
        b.all = r->e->alloc(r->c, bytes + 2 * GUARD);
    if (!b.all) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    CHECK_EQ((uintptr_t)b.all % 64, 0);
    memset(b.all, GUARD_BYTE, bytes + 2 * GUARD);
    b.data = b.all + GUARD;
    return b;
}

static void free_buffer(const rig *r, buffer *b)
{
    if (r->e->values)
        free(b->all);
    else
        r->e->release(r->c, b->all);
}

static int guards_hold(const buffer *b)
{
    for (size_t i = 0; i < GUARD; i++)
        if (b->all[i] != GUARD_BYTE || b->all[GUARD + b->bytes + i] != GUARD_BYTE)
            return 0;
    return 1;
}

static void *plain_array(size_t bytes)
{
    void *p = calloc(1, bytes + 1);

    if (!p)
        exit(1);
    return p;
}

static size_t bytes_of(const ft_shape *s, ft_dtype t)
{
    return (size_t)ft_tensor_bytes(s, t);
}

/* Where row-major element i lies when axis 1 is moved to the end. */
static int64_t last_position(const ft_shape *s, int64_t i)
{
    int64_t inner = 1, n, c, rest;

    for (uint32_t d = 2; d < s->rank; d++)
        inner *= s->dim[d];
    rest = i % inner;
    c = i / inner % s->dim[1];
    n = i / inner / s->dim[1];
    return (n * inner + rest) * s->dim[1] + c;
}

/* Plain memory to the layout's (to_engine), or back. */
static void move_layout(const ft_op *op, const ft_shape *s, ft_dtype t,
                        const void *from, void *to, int to_engine)
{
    size_t size = ft_dtype_bits(t) / 8;
    int64_t n = ft_shape_elements(s);

    for (int64_t i = 0; i < n; i++) {
        size_t at = (size_t)i, other = at;

        if (op->layout == FT_LAYOUT_CHANNELS_LAST && s->rank >= 3)
            other = (size_t)last_position(s, i);
        memcpy((char *)to + size * (to_engine ? other : at),
               (const char *)from + size * (to_engine ? at : other), size);
    }
}

static uint32_t scramble(uint32_t x)
{
    x = (x ^ x >> 16) * 0x45d9f3bu;
    x = (x ^ x >> 16) * 0x45d9f3bu;
    return x ^ x >> 16;
}

static int64_t index_extent(const ft_op *op)
{
    return op->kind == FT_KIND_embedding
               ? ft_op_at(op, FT_K_rows, 0)
               : ft_op_at(op, FT_K_x, (uint32_t)ft_op_at(op, FT_K_axis, 0));
}

/* Values that make the kind show its character: both signs for activations,
 * ties for rounding and comparing, no poles for division and logarithm. Strict:
 * indices stay within what they count, and no whole number is divided by 0, where an
 * engine refuses both (PyTorch). */
static double input_value(const ft_op *op, ft_dtype t, uint32_t operand, uint32_t i,
                          int values_are_strict)
{
    uint32_t h = scramble(i * 7919u + operand * 104729u + 1u);
    double u = (double)(h >> 8) / (1 << 24); /* [0, 1) */

    if (t == FT_DTYPE_bool)
        return u < 0.5;
    if (t != FT_DTYPE_fp32 && t != FT_DTYPE_fp64 && values_are_strict &&
        t != FT_DTYPE_bool)
        return op->kind == FT_KIND_gather || op->kind == FT_KIND_embedding
                   ? floor(u * (double)index_extent(op))
               : op->kind == FT_KIND_div || op->kind == FT_KIND_mod ? floor(u * 9) + 1
               : t == FT_DTYPE_int32 || t == FT_DTYPE_int64         ? floor(u * 9) - 4
                                                                    : floor(u * 100);
    if (t != FT_DTYPE_fp32 && t != FT_DTYPE_fp64)
        return op->kind == FT_KIND_gather || op->kind == FT_KIND_embedding
                   ? floor(u * 200) - 100
               : t == FT_DTYPE_int32 || t == FT_DTYPE_int64 ? floor(u * 9) - 4
                                                            : floor(u * 100);
    switch (op->kind) {
    case FT_KIND_log:
    case FT_KIND_log1p:
    case FT_KIND_sqrt:
    case FT_KIND_rsqrt:
    case FT_KIND_reciprocal:
    case FT_KIND_pow: return u + 0.25;
    case FT_KIND_acosh: return u + 1.25;
    case FT_KIND_asin:
    case FT_KIND_acos:
    case FT_KIND_atanh: return 1.8 * u - 0.9;
    case FT_KIND_reduce_prod: return 0.5 + u;
    case FT_KIND_div:
    case FT_KIND_mod: return operand == 1 ? u + 0.25 : 8 * u - 4;
    case FT_KIND_equal:
    case FT_KIND_less:
    case FT_KIND_less_equal:
    case FT_KIND_greater:
    case FT_KIND_greater_equal: return floor(4 * u);
    case FT_KIND_floor:
    case FT_KIND_ceil:
    case FT_KIND_round:
    case FT_KIND_sign: return floor(16 * u - 8) / 2;
    case FT_KIND_cast: return floor(8 * u);
    case FT_KIND_isnan: return i % 3 == 0 ? (double)NAN : 2 * u - 1;
    case FT_KIND_isinf: return i % 3 == 0 ? (double)(i % 2 ? INFINITY : -INFINITY) : u;
    default: break;
    }
    return ft_kind_class(op->kind) == FT_CLASS_UNARY ? 16 * u - 8 : 2 * u - 1;
}

static float param_value(const ft_op *op, uint32_t param, uint32_t i)
{
    float u = (float)(scramble(i * 31u + param * 977u + 5u) >> 8) / (1 << 24);

    /* Scales and variances stay away from zero. */
    return ft_kind_class(op->kind) == FT_CLASS_NORM && param % 3 == 0 ? u + 0.5f
                                                                      : u - 0.5f;
}

/* PyTorch, which differs from engine.h in indices, divisors and hardsigmoid. */
static int is_torch(const rig *r)
{
    return strcmp(r->e->name, "torch") == 0;
}

/* Its slope is 1/6 (engine.h: 1/5). */
static void own_hardsigmoid(trial *t)
{
    ft_shape s = ft_op_shape(&t->op, FT_K_x);

    for (int64_t i = 0; i < ft_shape_elements(&s); i++)
        ((float *)t->want[0])[i] =
            fminf(fmaxf(((const float *)t->in[0])[i] / 6 + 0.5f, 0), 1);
}

static void new_trial(trial *t, const rig *r, const char *spec, ft_layout layout)
{
    int64_t elements[MAX_PARAMS];
    ft_error err = {0};
    ft_shape s;
    ft_dtype type;

    memset(t, 0, sizeof(*t));
    t->spec = spec;
    if (ft_op_parse(&t->op, spec, strlen(spec), &err)) {
        fprintf(stderr, "%s: %s\n", spec, err.msg);
        exit(1);
    }
    t->op.layout = layout;
    t->n_in = ft_op_n_inputs(&t->op);
    t->n_out = ft_op_n_outputs(&t->op);
    for (uint32_t i = 0; i < t->n_in; i++) {
        ft_op_input(&t->op, i, &s, &type);
        t->in[i] = plain_array(bytes_of(&s, type));
        for (int64_t k = 0; k < ft_shape_elements(&s); k++)
            reference_set(type, t->in[i], k,
                          input_value(&t->op, type, i, (uint32_t)k, is_torch(r)));
        t->engine_in[i] = new_buffer(r, bytes_of(&s, type));
        move_layout(&t->op, &s, type, t->in[i], t->engine_in[i].data, 1);
    }
    for (uint32_t i = 0; i < t->n_out; i++) {
        ft_op_output(&t->op, i, &s, &type);
        t->want[i] = plain_array(bytes_of(&s, type));
        t->engine_out[i] = new_buffer(r, bytes_of(&s, type));
    }
    t->n_params = reference_params(&t->op, elements);
    for (uint32_t i = 0; i < t->n_params; i++) {
        t->params[i] = plain_array((size_t)elements[i] * sizeof(float));
        for (int64_t k = 0; k < elements[i]; k++)
            t->params[i][k] = param_value(&t->op, i, (uint32_t)k);
    }
    CHECK_OP(t, reference_run(&t->op, (const void *const *)t->in,
                              (const float *const *)t->params, t->want));
    if (is_torch(r) && t->op.kind == FT_KIND_hardsigmoid)
        own_hardsigmoid(t);
}

static void free_trial(trial *t, const rig *r)
{
    for (uint32_t i = 0; i < t->n_in; i++) {
        free(t->in[i]);
        free_buffer(r, &t->engine_in[i]);
    }
    for (uint32_t i = 0; i < t->n_out; i++) {
        free(t->want[i]);
        free_buffer(r, &t->engine_out[i]);
    }
    for (uint32_t i = 0; i < t->n_params; i++)
        free(t->params[i]);
}

/* Movement is exact, arithmetic of fp32 is not. */
static int agree(const trial *t, ft_dtype type, double got, double want, double sums)
{
    ft_kind k = t->op.kind;
    double slack = 3e-5 * (1 + sums + fabs(want));

    if (type != FT_DTYPE_fp32 ||
        (ft_kind_class(k) == FT_CLASS_MOVE && k != FT_KIND_resize))
        return got == want;
    return fabs(got - want) <= slack;
}

/* Root mean square of what was computed of a large operation's result, 0 of others: a
 * sum of thousands of terms errs by what the terms are, whatever is left of them. */
static double size_of_sums(const trial *t, uint32_t i, ft_dtype type, int64_t n)
{
    double squares = 0;

    for (int64_t k = 0; k < n; k += reference_step)
        squares += pow(reference_get(type, t->want[i], k), 2);
    return reference_step > 1 ? sqrt(squares / (double)(n / reference_step + 1)) : 0;
}

static void check_result(const trial *t, uint32_t i)
{
    ft_shape s;
    ft_dtype type;
    void *got;
    int64_t n, wrong = 0;
    double sums;

    ft_op_output(&t->op, i, &s, &type);
    n = ft_shape_elements(&s);
    sums = size_of_sums(t, i, type, n);
    got = plain_array(bytes_of(&s, type));
    move_layout(&t->op, &s, type, t->engine_out[i].data, got, 0);
    for (int64_t k = 0; k < n; k += reference_step) {
        double g = reference_get(type, got, k), w = reference_get(type, t->want[i], k);

        if (!agree(t, type, g, w, sums) && wrong++ == 0)
            fprintf(stderr, "%s: result %u, element %lld is %.9g, want %.9g\n", t->spec,
                    i, (long long)k, g, w);
    }
    CHECK_OP(t, wrong == 0);
    free(got);
}

static void check_guards(const trial *t)
{
    for (uint32_t i = 0; i < t->n_out; i++)
        CHECK_OP(t, guards_hold(&t->engine_out[i]));
    for (uint32_t i = 0; i < t->n_in; i++) {
        ft_shape s;
        ft_dtype type;
        void *now;

        ft_op_input(&t->op, i, &s, &type);
        now = plain_array(bytes_of(&s, type));
        move_layout(&t->op, &s, type, t->engine_in[i].data, now, 0);
        CHECK_OP(t, guards_hold(&t->engine_in[i]));
        CHECK_OP(t, memcmp(now, t->in[i], bytes_of(&s, type)) == 0);
        free(now);
    }
}

enum { MAX_INSTANCES = 3 };

/* A prepared trial. */
typedef struct prepared {
    ft_block *b;
    ft_block_info info;
    buffer workspace;
    uint32_t instances;
    void *weight[MAX_INSTANCES][MAX_PARAMS]; /* of engines that hold tensors */
} prepared;

/* A tensor of the engine's with these contents; NULL: random ones. */
static void *new_value(const rig *r, const ft_shape *s, ft_dtype type, ft_layout layout,
                       const void *contents, uint64_t seed)
{
    ft_error err = {0};
    void *v = NULL;
    ft_status st = r->e->values->make(r->c, &v, s, type, layout, &err);

    if (!st && contents)
        st = r->e->values->write(r->c, v, contents, &err);
    else if (!st)
        st = r->e->fill(r->c, v, type, (uint64_t)ft_shape_elements(s), 2, seed, &err);
    if (st)
        fprintf(stderr, "%s\n", err.msg);
    CHECK_EQ(st, FT_OK);
    return v;
}

static void make_weights(prepared *p, const rig *r, const trial *t, int own)
{
    for (uint32_t k = 0; k < p->instances; k++)
        for (uint32_t i = 0; i < ft_op_n_params(&t->op); i++) {
            ft_param param;

            ft_op_param(&t->op, i, &param);
            p->weight[k][i] = new_value(r, &param.shape, param.dtype, FT_LAYOUT_PLAIN,
                                        own ? NULL : t->params[i], 100 * k + i + 1);
        }
}

static ft_status prepare(prepared *p, const rig *r, const trial *t, uint32_t instances,
                         int own_weights)
{
    ft_error err = {0};
    ft_status st;

    memset(p, 0, sizeof(*p));
    if (r->e->values)
        st = r->e->values->prepare(r->c, &p->b, &p->info, &t->op, 0, &err);
    else
        st = r->e->prepare(r->c, &p->b, &p->info, &t->op, instances,
                           own_weights ? NULL : (const float *const *)t->params,
                           own_weights ? 0 : t->n_params, &err);
    if (st)
        fprintf(stderr, "%s\n", err.msg);
    CHECK_OP(t, (st == FT_OK) == (p->b != NULL));
    if (st)
        return st;
    p->workspace = new_buffer(r, p->info.workspace_bytes);
    p->instances = instances;
    if (r->e->values)
        make_weights(p, r, t, own_weights);
    return st;
}

/* The same with tensors of the engine's: results come back in the layout, so that
 * they are checked as others are. */
static ft_status run_values(const prepared *p, const rig *r, const trial *t,
                            uint32_t instance, ft_error *err)
{
    void *in[2 * FT_OP_MAX_OPERANDS] = {NULL}, *out[FT_OP_MAX_OPERANDS] = {NULL};
    uint32_t n_weights = ft_op_n_params(&t->op);
    ft_status st;
    ft_shape s;
    ft_dtype type;

    for (uint32_t i = 0; i < t->n_in; i++) {
        ft_op_input(&t->op, i, &s, &type);
        in[i] = new_value(r, &s, type, t->op.layout, t->in[i], 0);
    }
    memcpy(in + t->n_in, p->weight[instance], n_weights * sizeof(*in));
    st = r->e->run(p->b, 0, (const void *const *)in, out, NULL, err);
    for (uint32_t i = 0; i < t->n_out && !st; i++) {
        void *plain;

        ft_op_output(&t->op, i, &s, &type);
        plain = plain_array(bytes_of(&s, type));
        CHECK_OP(t, r->e->values->read(r->c, plain, out[i], NULL) == FT_OK);
        move_layout(&t->op, &s, type, plain, t->engine_out[i].data, 1);
        r->e->values->drop(r->c, out[i]);
        free(plain);
    }
    for (uint32_t i = 0; i < t->n_in; i++) {
        void *plain;

        ft_op_input(&t->op, i, &s, &type);
        plain = plain_array(bytes_of(&s, type));
        CHECK_OP(t, r->e->values->read(r->c, plain, in[i], NULL) == FT_OK);
        move_layout(&t->op, &s, type, plain, t->engine_in[i].data, 1);
        r->e->values->drop(r->c, in[i]);
        free(plain);
    }
    return st;
}

static void run(const prepared *p, const rig *r, const trial *t, uint32_t instance)
{
    const void *in[FT_OP_MAX_OPERANDS];
    void *out[FT_OP_MAX_OPERANDS];
    ft_error err = {0};

    for (uint32_t i = 0; i < t->n_in; i++)
        in[i] = t->engine_in[i].data;
    for (uint32_t i = 0; i < t->n_out; i++) {
        out[i] = t->engine_out[i].data;
        memset(out[i], GUARD_BYTE, t->engine_out[i].bytes);
    }
    if (p->workspace.bytes)
        memset(p->workspace.data, 0xff, p->workspace.bytes); /* NaN */
    if (r->e->values)
        CHECK_OP(t, run_values(p, r, t, instance, &err) == FT_OK);
    else
        CHECK_OP(t, r->e->run(p->b, instance, in, out,
                              p->info.workspace_bytes ? p->workspace.data : NULL,
                              &err) == FT_OK);
    if (err.msg[0])
        fprintf(stderr, "%s\n", err.msg);
    CHECK_OP(t, r->e->sync(r->c, NULL) == FT_OK);
    CHECK_OP(t, guards_hold(&p->workspace));
    check_guards(t);
}

static void drop(prepared *p, const rig *r)
{
    for (uint32_t k = 0; r->e->values && k < p->instances; k++)
        for (uint32_t i = 0; i < MAX_PARAMS; i++)
            r->e->values->drop(r->c, p->weight[k][i]);
    r->e->free_block(p->b);
    if (p->workspace.all)
        free_buffer(r, &p->workspace);
}

static int computes(const prepared *p)
{
    return strcmp(p->info.implementation, "none") != 0;
}

#endif
