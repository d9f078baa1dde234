/* Writing launches down, and running them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "opencl.h"

ft_status ft__unsupported(ft_block *b, const char *why)
{
    char spec[1024];

    if (b->status)
        return b->status;
    ft_op_print(&b->op, spec, sizeof(spec));
    b->status =
        ft_fail(b->err, FT_EUNSUPPORTED, 0, "opencl: cannot run %.400s: %s", spec, why);
    return b->status;
}

static void failed(ft_block *b, int code, const char *what)
{
    if (!b->status)
        b->status = ft__cl_failed(code, what, b->err);
}

const char *ft__type_name(const ft_block *b, ft_dtype t)
{
    switch (t) {
    case FT_DTYPE_fp32: return "float";
    case FT_DTYPE_fp64: return b->ctx->has_doubles ? "double" : NULL;
    case FT_DTYPE_int8: return "char";
    case FT_DTYPE_bool:
    case FT_DTYPE_uint8: return "uchar";
    case FT_DTYPE_int16: return "short";
    case FT_DTYPE_uint16: return "ushort";
    case FT_DTYPE_int32: return "int";
    case FT_DTYPE_uint32: return "uint";
    case FT_DTYPE_int64: return "long";
    case FT_DTYPE_uint64: return "ulong";
    default: return NULL;
    }
}

/* The first line of what the compiler says. */
static void build_failed(ft_block *b, cl_program p, int code)
{
    char log[4096] = "";

    (void)b->ctx->cl.clGetProgramBuildInfo(p, b->ctx->used, CL_PROGRAM_BUILD_LOG,
                                           sizeof(log) - 1, log, NULL);
    log[strcspn(log, "\n")] = '\0';
    failed(b, code, *log ? log : "building a program");
}

static cl_program build(ft_block *b, const char *file, const char *options)
{
    const ft__cl *cl = &b->ctx->cl;
    size_t len[2];
    const char *text[2] = {ft__kernel_text("common", &len[0]),
                           ft__kernel_text(file, &len[1])};
    int code;
    cl_program p = cl->clCreateProgramWithSource(b->ctx->context, 2, text, len, &code);

    if (!p) {
        failed(b, code, "making a program");
        return NULL;
    }
    code = cl->clBuildProgram(p, 1, &b->ctx->used, options, NULL, NULL);
    if (!code)
        return p;
    build_failed(b, p, code);
    cl->clReleaseProgram(p);
    return NULL;
}

static cl_program program(ft_block *b, const char *file, const char *options)
{
    ft_engine_context *c = b->ctx;
    ft__program *p;
    char key[sizeof(p->key)];

    snprintf(key, sizeof(key), "%s %s", file, options);
    for (p = c->programs; p; p = p->next)
        if (strcmp(p->key, key) == 0)
            return p->program;
    p = calloc(1, sizeof(*p));
    if (!p) {
        failed(b, CL_OUT_OF_HOST_MEMORY, "building a program");
        return NULL;
    }
    p->program = build(b, file, options);
    if (!p->program) {
        free(p);
        return NULL;
    }
    memcpy(p->key, key, sizeof(key));
    p->next = c->programs;
    c->programs = p;
    return p->program;
}

ft__launch *ft__launch_new(ft_block *b)
{
    if (!b->status && b->n_launches == b->cap_launches) {
        uint32_t cap = b->cap_launches ? 2 * b->cap_launches : 4;
        ft__launch *more = realloc(b->launch, cap * sizeof(*more));

        if (!more) {
            failed(b, CL_OUT_OF_HOST_MEMORY, "preparing");
            return NULL;
        }
        b->launch = more;
        b->cap_launches = cap;
    }
    return b->status ? NULL
                     : memset(&b->launch[b->n_launches++], 0, sizeof(ft__launch));
}

/* Every kernel once, for whoever reads the measurements. */
static void add_name(ft_block *b, const char *kernel)
{
    size_t len = strlen(b->implementation);

    if (!strstr(b->implementation, kernel))
        snprintf(b->implementation + len, sizeof(b->implementation) - len, "%s%s",
                 len ? "+" : "", kernel);
}

void ft__kernel(ft_block *b, const char *file, const char *kernel, const char *t,
                const char *r, const char *more)
{
    ft__launch *l = ft__launch_new(b);
    bool real = t && (strcmp(t, "float") == 0 || strcmp(t, "double") == 0);
    char options[128];
    cl_program p;
    int code;

    if (!l)
        return;
    snprintf(options, sizeof(options), "-DT=%s -DR=%s%s%s", t, r, real ? " -DREAL" : "",
             more);
    p = program(b, file, options);
    if (!p)
        return;
    l->kernel = b->ctx->cl.clCreateKernel(p, kernel, &code);
    if (!l->kernel)
        failed(b, code, kernel);
    add_name(b, kernel + 2);
}

static ft__launch *last(ft_block *b)
{
    return b->status || !b->n_launches ? NULL : &b->launch[b->n_launches - 1];
}

static void set(ft_block *b, size_t size, const void *value)
{
    ft__launch *l = last(b);
    int code = l ? b->ctx->cl.clSetKernelArg(l->kernel, l->n_args++, size, value) : 0;

    if (code)
        failed(b, code, "giving an argument");
}

void ft__arg_slot(ft_block *b, ft__slot s)
{
    ft__launch *l = last(b);

    if (!l)
        return;
    s.arg = l->n_args++;
    l->slot[l->n_slots++] = s;
}

void ft__arg_in(ft_block *b, uint32_t i)
{
    ft__arg_slot(b, (ft__slot){.kind = FT__SLOT_IN, .index = (uint16_t)i});
}

void ft__arg_out(ft_block *b, uint32_t i)
{
    ft__arg_slot(b, (ft__slot){.kind = FT__SLOT_OUT, .index = (uint16_t)i});
}

void ft__arg_int_list(ft_block *b, const int64_t *v, size_t n)
{
    for (; n--; v++)
        set(b, sizeof(int32_t), &(int32_t){(int32_t)*v});
}

void ft__arg_map(ft_block *b, int64_t n)
{
    ft__arg_in(b, 0);
    ft__arg_out(b, 0);
    ft__arg_ints(b, n);
}

void ft__arg_sizes(ft_block *b, const int32_t *v, uint32_t n)
{
    ft__launch *l = last(b);
    int code;

    if (!l)
        return;
    l->sizes = b->ctx->cl.clCreateBuffer(b->ctx->context, CL_MEM_READ_ONLY_COPY,
                                         n * sizeof(*v), (void *)(uintptr_t)v, &code);
    if (l->sizes)
        set(b, sizeof(l->sizes), &l->sizes);
    else
        failed(b, code, "making a buffer");
}

/* How many work-items of this kernel a group may have at most. */
static size_t most_items(ft_block *b, const ft__launch *l)
{
    size_t most = 0;

    if (b->ctx->cl.clGetKernelWorkGroupInfo(l->kernel, b->ctx->used,
                                            CL_KERNEL_WORK_GROUP_SIZE, sizeof(most),
                                            &most, NULL) ||
        !most)
        return 1;
    return most < b->ctx->most_items ? most : b->ctx->most_items;
}

static void fit(ft_block *b, ft__launch *l)
{
    size_t most = most_items(b, l);

    while (l->local[0] * l->local[1] > most) {
        size_t *wider = l->local[0] > l->local[1] ? &l->local[0] : &l->local[1];

        *wider /= 2;
    }
}

void ft__range(ft_block *b, int64_t n)
{
    ft__range3(b, n, 1, 1, 64, 1);
}

void ft__range3(ft_block *b, int64_t x, int64_t y, int64_t z, size_t local_x,
                size_t local_y)
{
    ft__launch *l = last(b);

    if (!l)
        return;
    l->dims = z > 1 ? 3 : y > 1 || local_y > 1 ? 2 : 1;
    l->items[0] = (size_t)x;
    l->items[1] = (size_t)y;
    l->items[2] = (size_t)z;
    l->local[0] = local_x;
    l->local[1] = local_y;
    l->local[2] = 1;
    l->tunable = 1;
    fit(b, l);
}

void ft__range_rows(ft_block *b, int64_t rows, int64_t n, bool near, size_t element)
{
    ft__launch *l = last(b);
    bool shared = b->ctx->shares && n >= 32 && (near || rows < 512);

    if (!l)
        return;
    l->dims = 2;
    l->local[0] = shared ? 64 : 1;
    l->local[1] = shared ? 1 : b->ctx->shares ? 64 : 8;
    l->local[2] = 1;
    fit(b, l);
    l->items[0] = l->local[0];
    l->items[1] = (size_t)rows;
    l->items[2] = 1;
    set(b, l->local[0] * l->local[1] * element, NULL);
}

void ft__fixed(ft_block *b)
{
    ft__launch *l = last(b);

    if (l)
        l->tunable = 0;
}

/* What a run works on. */
typedef struct run {
    const void *const *in;
    void *const *out;
    ft__storage *scratch;
} run;

static cl_memory memory_of(const run *r, const ft__slot *s)
{
    const ft__value *v;

    if (s->kind == FT__SLOT_SCRATCH)
        return r->scratch->memory;
    v = s->kind == FT__SLOT_IN ? r->in[s->index] : r->out[s->index];
    return v->storage->memory;
}

static bool room_for_event(ft_engine_context *c)
{
    cl_event *more;

    if (c->n_events < c->cap_events)
        return true;
    more = realloc(c->event, (c->cap_events + 1024) * sizeof(*more));
    if (!more)
        return false;
    c->event = more;
    c->cap_events += 1024;
    return true;
}

static int enqueue(ft_engine_context *c, const ft__launch *l, const run *r)
{
    bool watched = c->opt.clock == FT__CLOCK_DEVICE && room_for_event(c);
    cl_event *event = watched ? &c->event[c->n_events] : NULL;
    cl_memory m[FT__MAX_ARGS];
    size_t global[3];
    int code = 0;

    for (uint32_t i = 0; i < l->n_slots; i++)
        m[i] = memory_of(r, &l->slot[i]);
    if (l->is_sgemm) {
        code = c->sgemm(101, 111, l->b_turned ? 112 : 111, l->m, l->n, l->k, 1, m[0],
                        l->from[0], l->k, m[1], l->from[1], l->b_turned ? l->k : l->n,
                        l->adds ? 1 : 0, m[2], l->from[2], l->n, &c->queue, event);
    } else {
        for (uint32_t i = 0; i < l->n_slots && !code; i++)
            code = c->cl.clSetKernelArg(l->kernel, l->slot[i].arg, sizeof(m[i]), &m[i]);
        for (uint32_t d = 0; d < 3; d++)
            global[d] = (l->items[d] + l->local[d] - 1) / l->local[d] * l->local[d];
        if (!code)
            code = c->cl.clEnqueueNDRangeKernel(c->queue, l->kernel, l->dims, NULL,
                                                global, l->local, 0, NULL, event);
    }
    c->n_events += watched && !code;
    return code;
}

/* Local sizes are tried once, where there is enough work for them to matter. */

/* Of two runs behind a first one, which may compile; negative: it does not run. */
static double time_of(ft_engine_context *c, const ft__launch *l, const run *r)
{
    double begin;

    if (enqueue(c, l, r) || ft__finish(c, NULL))
        return -1;
    begin = ft__host_now(NULL);
    if (enqueue(c, l, r) || enqueue(c, l, r) || ft__finish(c, NULL))
        return -1;
    return ft__host_now(NULL) - begin;
}

/* Others are taken where they are clearly faster than what stands there. */
static void tune(ft_block *b, ft__launch *l, const run *r)
{
    static const size_t lines[][2] = {{16, 1}, {256, 1}};
    static const size_t tiles[][2] = {{16, 4}, {4, 16}, {32, 1}};
    bool line = l->local[1] == 1;
    size_t n = line ? 2 : 3, most = most_items(b, l);
    double best = time_of(b->ctx, l, r);

    for (size_t i = 0; i < n; i++) {
        ft__launch other = *l;
        double t;

        other.local[0] = (line ? lines : tiles)[i][0];
        other.local[1] = (line ? lines : tiles)[i][1];
        if (other.local[0] * other.local[1] > most)
            continue;
        t = time_of(b->ctx, &other, r);
        if (t > 0 && t < 0.9 * best) {
            best = t;
            memcpy(l->local, other.local, sizeof(l->local));
        }
    }
}

static void tune_all(ft_block *b, const run *r)
{
    const size_t least_items = 4096;

    b->tuned = true;
    for (uint32_t i = 0; i < b->n_launches && b->ctx->opt.tune; i++) {
        ft__launch *l = &b->launch[i];

        if (l->tunable && l->items[0] * l->items[1] * l->items[2] >= least_items)
            tune(b, l, r);
    }
}

static ft_status make_results(ft_block *b, const run *r, void **out, ft_error *err)
{
    for (uint32_t i = 0; i < b->n_out; i++) {
        ft_shape s;
        ft_dtype t;

        ft_op_output(&b->op, i, &s, &t);
        out[i] = b->view_of < 0 ? ft__value_new(b->ctx, &s, t, err)
                                : ft__value_view(r->in[b->view_of], &s, t);
        if (!out[i])
            return ft_fail(err, FT_ENOMEM, 0, "opencl: out of memory for results");
    }
    return FT_OK;
}

ft_status ft__block_run(ft_block *b, uint32_t instance, const void *const *in,
                        void *const *out, void *workspace, ft_error *err)
{
    void **made = (void **)(uintptr_t)out;
    run r = {in, out, NULL};
    ft_status st;
    int code = 0;

    (void)workspace;
    if (instance)
        return ft_fail(err, FT_EINVAL, 0, "opencl: instance %u of 1", instance);
    for (uint32_t i = 0; i < b->n_out; i++)
        made[i] = NULL;
    st = make_results(b, &r, made, err);
    if (!st && b->scratch_bytes) {
        r.scratch = ft__storage_new(b->ctx, b->scratch_bytes, err);
        st = r.scratch ? FT_OK : FT_ENOMEM;
    }
    if (!st && !b->tuned)
        tune_all(b, &r);
    for (uint32_t i = 0; i < b->n_launches && !st && !code; i++)
        code = enqueue(b->ctx, &b->launch[i], &r);
    if (code)
        st = ft__cl_failed(code, b->implementation, err);
    ft__storage_drop(b->ctx, r.scratch);
    for (uint32_t i = 0; i < b->n_out && st; i++) {
        ft__opencl_values.drop(b->ctx, made[i]);
        made[i] = NULL;
    }
    return st;
}

void ft__block_free(ft_block *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < b->n_launches; i++) {
        if (b->launch[i].sizes)
            b->ctx->cl.clReleaseMemObject(b->launch[i].sizes);
        if (b->launch[i].kernel)
            b->ctx->cl.clReleaseKernel(b->launch[i].kernel);
    }
    free(b->launch);
    free(b);
}
