/* A model's file run whole, as it is deployed: its operators fused and scheduled, run
 * by relax's virtual machine; inputs and weights are ours, results the machine's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "random.h"
#include "tvm.h"

enum { MAX_ARGUMENTS = 65536, POOLED = 2 };

/* Memory that a tensor of TVM's uses; it is the block's. */
typedef struct holder {
    ft__tensor tensor;
    void *memory;
} holder;

typedef struct net_block {
    ft_block base;
    tvm_any module, machine, function;
    holder **holders;
    tvm_any *values;
    uint32_t n;
} net_block;

static ft_status run(ft_block *base, uint32_t instance, const void *const *in,
                     void *const *out, void *workspace, ft_error *err)
{
    net_block *b = (net_block *)base;
    const ft__tvm *t = &base->ctx->tvm;
    tvm_any result = {.type = TVM_NONE};
    int rc = t->call(b->function.v.ptr, b->values, (int32_t)b->n, &result);

    (void)instance, (void)in, (void)out, (void)workspace;
    ft__tvm_release(t, &result);
    return rc ? ft__tvm_check(t, rc, err) : FT_OK;
}

static void free_net_block(ft_block *base)
{
    net_block *b = (net_block *)base;
    const ft__tvm *t = &base->ctx->tvm;

    for (uint32_t i = 0; i < b->n; i++)
        ft__tvm_release(t, &b->values[i]);
    ft__tvm_release(t, &b->function);
    ft__tvm_release(t, &b->machine);
    ft__tvm_release(t, &b->module);
    for (uint32_t i = 0; i < b->n; i++) {
        ft__host_release(base->ctx, b->holders[i]->memory);
        free(b->holders[i]);
    }
    free(b->holders);
    free(b->values);
    free(b);
}

/* One line of what the compiler wrote: "in fp32 1x3x224x224 NAME". */
typedef struct line {
    bool weight;
    ft_dtype dtype;
    ft_shape shape;
    char name[512];
} line;

static bool read_shape(ft_shape *s, const char *text)
{
    s->rank = 0;
    if (strcmp(text, "-") == 0)
        return true;
    while (s->rank < FT_MAX_RANK) {
        char *end;

        s->dim[s->rank++] = strtoll(text, &end, 10);
        if (end == text || s->dim[s->rank - 1] < 0)
            return false;
        if (!*end)
            return true;
        text = end + 1;
    }
    return false;
}

static bool read_line(line *l, FILE *f)
{
    char role[16], dtype[16], shape[256];

    if (fscanf(f, "%15s %15s %255s %511[^\n]", role, dtype, shape, l->name) != 4)
        return false;
    l->weight = strcmp(role, "weight") == 0;
    for (int64_t n = 1; n < 32; n++) {
        l->dtype = ft_dtype_from_onnx(n);
        if (strcmp(ft_dtype_name(l->dtype), dtype) == 0)
            return read_shape(&l->shape, shape);
    }
    return false;
}

static ft_status fill(net_block *b, void *memory, const line *l,
                      const ft_model_input *inputs, uint32_t n_inputs, ft_error *err)
{
    const uint64_t seed = b->base.ctx->seed + b->n;
    bool good = false;

    if (l->weight)
        good = ft__random_weight(memory, l->dtype, &l->shape, seed);
    for (uint32_t i = 0; i < n_inputs && !l->weight && !good; i++)
        if (strcmp(inputs[i].name, l->name) == 0)
            good = ft__random_fill(memory, l->dtype,
                                   (uint64_t)ft_shape_elements(&l->shape),
                                   inputs[i].limit, seed);
    return good ? FT_OK
                : ft_fail(err, FT_EUNSUPPORTED, 0, "tvm: no values of type %s for %s",
                          ft_dtype_name(l->dtype), l->name);
}

static void keep(dl_managed_tensor *self)
{
    (void)self; /* the block frees it */
}

/* A tensor of TVM's over memory of ours, the next argument. */
static ft_status add_argument(net_block *b, const line *l, const ft_model_input *inputs,
                              uint32_t n_inputs, uint64_t *bytes, ft_error *err)
{
    const ft__tvm *t = &b->base.ctx->tvm;
    holder *h = calloc(1, sizeof(*h));
    dl_tensor *d;
    ft_status st;

    if (!h)
        return ft__no_memory(err);
    (void)ft__tensor_make(&h->tensor, &l->shape, l->dtype);
    d = &h->tensor.managed.tensor;
    h->tensor.managed.deleter = keep;
    *bytes = (uint64_t)ft_tensor_bytes(&l->shape, l->dtype);
    h->memory = d->data = ft__host_alloc(b->base.ctx, *bytes);
    b->holders[b->n] = h;
    b->values[b->n] = (tvm_any){.type = TVM_NONE};
    st = h->memory ? fill(b, h->memory, l, inputs, n_inputs, err)
                   : ft_fail(err, FT_ENOMEM, 0, "tvm: no memory for %s", l->name);
    if (l->dtype == FT_DTYPE_bool)
        d->dtype.code = DL_BOOL;
    if (!st)
        st = ft__tvm_check(
            t, t->from_dlpack(&h->tensor.managed, 64, 1, &b->values[b->n].v.ptr), err);
    if (!st)
        b->values[b->n].type = TVM_TENSOR;
    b->n++;
    return st;
}

static ft_status make_arguments(net_block *b, const char *module,
                                const ft_model_input *inputs, uint32_t n_inputs,
                                ft_block_info *info, ft_error *err)
{
    char path[FT__TVM_PATH + 8];
    ft_status st = FT_OK;
    uint64_t bytes = 0;
    FILE *f;
    line l;

    snprintf(path, sizeof(path), "%s.args", module);
    f = fopen(path, "rb");
    if (!f)
        return ft_fail(err, FT_EIO, 0, "tvm: cannot read %s", path);
    while (!st && b->n < MAX_ARGUMENTS && read_line(&l, f)) {
        st = add_argument(b, &l, inputs, n_inputs, &bytes, err);
        info->weight_bytes += l.weight ? bytes : 0;
    }
    if (!st && !feof(f))
        st = ft_fail(err, FT_EFORMAT, 0, "tvm: %s is broken", path);
    fclose(f);
    return st;
}

/* The module's code as a virtual machine on this CPU, with a pool of memory. */
static ft_status start_machine(net_block *b, const char *path, ft_error *err)
{
    const ft__tvm *t = &b->base.ctx->tvm;
    tvm_any device[] = {ft__tvm_number(DL_CPU), ft__tvm_number(0),
                        ft__tvm_number(POOLED)},
            load = {0}, begin = {0}, nothing = {0};
    ft_status st = ft__tvm_module(t, &b->module, path, err);

    if (!st)
        st = ft__tvm_function(t, &load, &b->module, "vm_load_executable", err);
    if (!st)
        st = ft__tvm_check(t, t->call(load.v.ptr, NULL, 0, &b->machine), err);
    if (!st)
        st = ft__tvm_function(t, &begin, &b->machine, "vm_initialization", err);
    if (!st)
        st = ft__tvm_check(t, t->call(begin.v.ptr, device, 3, &nothing), err);
    if (!st)
        st = ft__tvm_function(t, &b->function, &b->machine, "main", err);
    ft__tvm_release(t, &load);
    ft__tvm_release(t, &begin);
    return st;
}

/* "\tin fp32 1x3x224x224 NAME..." of all inputs; NULL: out of memory. */
static char *describe(const ft_model_input *inputs, uint32_t n)
{
    size_t size = 1;
    char *text;

    for (uint32_t i = 0; i < n; i++)
        size += strlen(inputs[i].name) + 32 + 21 * FT_MAX_RANK;
    text = calloc(size, 1);
    for (uint32_t i = 0; text && i < n; i++) {
        size_t used;

        ft__put_operand(text, size, "in", &inputs[i].shape, inputs[i].dtype);
        used = strlen(text);
        snprintf(text + used, size - used, " %s", inputs[i].name);
    }
    return text;
}

/* A name for a file's contents; false: it cannot be read. */
static bool contents(char id[17], const char *path)
{
    uint64_t h = FT__HASH_BEGIN;
    char block[65536];
    FILE *f = fopen(path, "rb");
    size_t n;
    bool good;

    while (f && (n = fread(block, 1, sizeof(block), f)) > 0)
        h = ft__hash(h, block, n);
    good = f && !ferror(f);
    if (f)
        fclose(f);
    snprintf(id, 17, "%016llx", (unsigned long long)h);
    return good;
}

static ft_status build(net_block *b, const char *model, const ft_model_input *inputs,
                       uint32_t n_inputs, ft_block_info *info, ft_error *err)
{
    char path[FT__TVM_PATH], id[17], *text = describe(inputs, n_inputs);
    ft__request r = {"network", model, id, text, "the network"};
    ft_status st = text ? FT_OK : ft__no_memory(err);

    if (!st && (!contents(id, model) || strpbrk(model, "\t\n")))
        st = ft_fail(err, FT_EIO, 0, "tvm: cannot read %s", model);
    if (!st)
        st = ft__tvm_compile(b->base.ctx, path, &r, err);
    free(text);
    if (st || b->base.ctx->export)
        return st;
    st = start_machine(b, path, err);
    return st ? st : make_arguments(b, path, inputs, n_inputs, info, err);
}

ft_status ft__network_block(ft_engine_context *c, ft_block **out, ft_block_info *info,
                            const char *path, const ft_model_input *inputs,
                            uint32_t n_inputs, ft_error *err)
{
    net_block *b = calloc(1, sizeof(*b));
    ft_status st;

    *out = NULL;
    if (!b)
        return ft__no_memory(err);
    b->base = (ft_block){.ctx = c,
                         .instances = 1,
                         .run = c->export ? ft__run_elsewhere : run,
                         .free = free_net_block};
    b->holders = calloc(MAX_ARGUMENTS, sizeof(*b->holders));
    b->values = calloc(MAX_ARGUMENTS, sizeof(*b->values));
    *info = (ft_block_info){.implementation = "TVM, the whole graph"};
    st = b->holders && b->values ? build(b, path, inputs, n_inputs, info, err)
                                 : ft__no_memory(err);
    if (st) {
        free_net_block(&b->base);
        return st;
    }
    *out = &b->base;
    return FT_OK;
}
