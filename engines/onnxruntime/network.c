/* A model's file run whole, as it is deployed: all optimisations of the graph, inputs
 * bound before, results left where the runtime puts them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ort.h"
#include "random.h"
#include "strip.h"

typedef struct net_block {
    ft_block base;
    OrtSession *session;
    OrtIoBinding *binding;
    OrtMemoryInfo *results; /* where results are left */
    OrtValue **inputs;
    size_t n_inputs;
} net_block;

static ft_status run(ft_block *base, uint32_t instance, const void *const *in,
                     void *const *out, void *workspace, ft_error *err)
{
    net_block *b = (net_block *)base;
    const OrtApi *a = base->ctx->api;
    OrtStatus *s = a->RunWithBinding(b->session, NULL, b->binding);

    (void)instance;
    (void)in;
    (void)out;
    (void)workspace;
    if (!s && base->ctx->cuda)
        s = a->SynchronizeBoundOutputs(b->binding);
    return ft__ort_ran(a, s, err);
}

static void free_net_block(ft_block *base)
{
    net_block *b = (net_block *)base;
    const OrtApi *a = base->ctx->api;

    if (b->binding)
        a->ReleaseIoBinding(b->binding);
    for (size_t i = 0; i < b->n_inputs; i++)
        if (b->inputs[i])
            a->ReleaseValue(b->inputs[i]);
    if (b->session)
        a->ReleaseSession(b->session);
    if (b->results)
        a->ReleaseMemoryInfo(b->results);
    free(b->inputs);
    free(b);
}

static ft_status make_weights(char *file, const ft__weights_list *l, uint64_t seed,
                              ft_error *err)
{
    for (size_t i = 0; i < l->n; i++)
        if (!ft__random_weight(file + l->w[i].offset, l->w[i].dtype, &l->w[i].shape,
                               seed + i))
            return ft_fail(err, FT_EUNSUPPORTED, 0,
                           "onnxruntime: no random weights of type %s for %s",
                           ft_dtype_name(l->w[i].dtype), l->w[i].name);
    return FT_OK;
}

/* The model with random weights in place of those that lie elsewhere. */
static ft_status open_filled(net_block *b, OrtSessionOptions *o, const ft__pb *model,
                             const ft__weights_list *l, ft_error *err)
{
    const OrtApi *a = b->base.ctx->api;
    const char *name = FT__WEIGHTS_FILE;
    size_t bytes = l->file_bytes;
    char *file = NULL;
    OrtStatus *s;
    ft_status st;

    if (posix_memalign((void **)&file, 64, bytes))
        return ft_fail(err, FT_ENOMEM, 0, "onnxruntime: %zu bytes of weights", bytes);
    st = make_weights(file, l, b->base.ctx->seed, err);
    if (!st) {
        s = a->AddExternalInitializersFromFilesInMemory(o, &name, &file, &bytes, 1);
        if (!s)
            s = a->CreateSessionFromArray(b->base.ctx->env, model->s, model->len, o,
                                          &b->session);
        st = ft__ort_check(a, s, err);
    }
    /* The session has copies of its own by now. */
    free(file);
    return st;
}

static bool is_there(const char *model, const ft__missing *w)
{
    const char *slash = strrchr(model, '/');
    char path[4096];
    struct stat st;

    if (!w->location || (size_t)snprintf(path, sizeof(path), "%.*s%s",
                                         slash ? (int)(slash - model + 1) : 0, model,
                                         w->location) >= sizeof(path))
        return false;
    return stat(path, &st) == 0 && (uint64_t)st.st_size >= w->need;
}

static bool all_there(const char *model, const ft__weights_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (!is_there(model, &l->w[i]))
            return false;
    return true;
}

static ft_status open_bytes(net_block *b, const char *path, const unsigned char *bytes,
                            size_t len, ft_block_info *info, ft_error *err)
{
    ft_engine_context *c = b->base.ctx;
    OrtSessionOptions *o = NULL;
    ft__weights_list weights;
    ft__pb rewritten = {0};
    ft_status st = ft__weights_find(&weights, &rewritten, bytes, len, err);

    if (!st)
        st = ft__ort_options(c, &o, err);
    if (!st && all_there(path, &weights))
        st = ft__ort_check(c->api, c->api->CreateSession(c->env, path, o, &b->session),
                           err);
    else if (!st)
        st = open_filled(b, o, &rewritten, &weights, err);
    info->weight_bytes = weights.bytes;
    if (o)
        c->api->ReleaseSessionOptions(o);
    ft__weights_free(&weights);
    ft__pb_free(&rewritten);
    return st;
}

static ft_status open_file(net_block *b, const char *path, ft_block_info *info,
                           ft_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *bytes;
    ft_status result;

    if (fd < 0 || fstat(fd, &st) || st.st_size <= 0) {
        if (fd >= 0)
            close(fd);
        return ft_fail(err, FT_EIO, 0, "onnxruntime: cannot read %s", path);
    }
    bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return ft_fail(err, FT_EIO, 0, "onnxruntime: cannot map %s", path);
    result = open_bytes(b, path, bytes, (size_t)st.st_size, info, err);
    munmap(bytes, (size_t)st.st_size);
    return result;
}

static const ft_model_input *find_input(const char *name, const ft_model_input *inputs,
                                        uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(inputs[i].name, name) == 0)
            return &inputs[i];
    return NULL;
}

static ft_status bind_input(net_block *b, size_t i, const ft_model_input *in,
                            ft_error *err)
{
    const OrtApi *a = b->base.ctx->api;
    OrtAllocator *heap;
    void *data = NULL;
    OrtStatus *s = a->GetAllocatorWithDefaultOptions(&heap);

    if (!s)
        s = a->CreateTensorAsOrtValue(
            heap, in->shape.dim, in->shape.rank,
            (ONNXTensorElementDataType)ft__ort_number(in->dtype), &b->inputs[i]);
    if (!s)
        s = a->GetTensorMutableData(b->inputs[i], &data);
    if (s)
        return ft__ort_check(a, s, err);
    if (!ft__random_fill(data, in->dtype, (uint64_t)ft_shape_elements(&in->shape),
                         in->limit, b->base.ctx->seed + i))
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "onnxruntime: no values of type %s for "
                       "input %s",
                       ft_dtype_name(in->dtype), in->name);
    return ft__ort_check(a, a->BindInput(b->binding, in->name, b->inputs[i]), err);
}

static ft_status bind_inputs(net_block *b, const ft_model_input *inputs, uint32_t n,
                             ft_error *err)
{
    const OrtApi *a = b->base.ctx->api;
    OrtAllocator *heap;
    OrtStatus *s = a->GetAllocatorWithDefaultOptions(&heap);
    ft_status st;

    if (!s)
        s = a->SessionGetInputCount(b->session, &b->n_inputs);
    b->inputs = calloc(b->n_inputs + 1, sizeof(OrtValue *));
    if (!b->inputs) {
        b->n_inputs = 0;
        return ft_fail(err, FT_ENOMEM, 0, "onnxruntime: the model's inputs");
    }
    st = ft__ort_check(a, s, err);
    for (size_t i = 0; i < b->n_inputs && !st; i++) {
        const ft_model_input *in;
        char *name = NULL;

        st = ft__ort_check(a, a->SessionGetInputName(b->session, i, heap, &name), err);
        if (st)
            break;
        in = find_input(name, inputs, n);
        st = in ? bind_input(b, i, in, err)
                : ft_fail(err, FT_EUNSUPPORTED, 0,
                          "onnxruntime: input %s of the model is no tensor of a known "
                          "shape",
                          name);
        a->ReleaseStatus(a->AllocatorFree(heap, name));
    }
    return st;
}

static ft_status bind_results(net_block *b, ft_error *err)
{
    const OrtApi *a = b->base.ctx->api;
    size_t n = 0;
    OrtAllocator *heap;
    OrtStatus *s = a->GetAllocatorWithDefaultOptions(&heap);

    if (!s)
        s = a->SessionGetOutputCount(b->session, &n);
    if (!s)
        s = a->CreateMemoryInfo(b->base.ctx->cuda ? "Cuda" : "Cpu", OrtDeviceAllocator,
                                0, OrtMemTypeDefault, &b->results);
    for (size_t i = 0; i < n && !s; i++) {
        char *name = NULL;

        s = a->SessionGetOutputName(b->session, i, heap, &name);
        if (s)
            break;
        s = a->BindOutputToDevice(b->binding, name, b->results);
        a->ReleaseStatus(a->AllocatorFree(heap, name));
    }
    return ft__ort_check(a, s, err);
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
    b->base = (ft_block){.ctx = c, .instances = 1, .run = run, .free = free_net_block};
    *info = (ft_block_info){.implementation = "ONNX Runtime, the whole graph"};
    st = open_file(b, path, info, err);
    if (!st)
        st = ft__ort_check(c->api, c->api->CreateIoBinding(b->session, &b->binding),
                           err);
    if (!st)
        st = bind_inputs(b, inputs, n_inputs, err);
    if (!st)
        st = bind_results(b, err);
    if (st) {
        free_net_block(&b->base);
        return st;
    }
    *out = &b->base;
    return FT_OK;
}
