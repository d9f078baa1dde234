/* The same operations on a GPU: another library, a stream, a wait. */
#include "cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "torch.h"

/* cudaMemPoolAttr of the CUDA runtime. */
enum { POOL_USED_NOW = 7, POOL_USED_MOST = 8 };

/* The folder of libtorch_cpu.so as it was opened; "" where the loader chose it. */
static ft_status load(ft_engine_context *c, ft_error *err)
{
    const char *slash = strrchr(c->api.file, '/');
    int folder = slash ? (int)(slash + 1 - c->api.file) : 0;
    char file[sizeof(c->api.file) + 32];
    const char *why;

    snprintf(file, sizeof(file), "%.*slibtorch_cuda.so", folder, c->api.file);
    c->api.cuda = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (c->api.cuda)
        return FT_OK;
    why = dlerror();
    return ft_fail(err, FT_ENOTFOUND, 0,
                   "torch: this PyTorch has no CUDA (%.500s): install a build with it, "
                   "or leave out device=cuda",
                   why ? why : file);
}

static void find_pool(ft_engine_context *c)
{
    int (*pool_of)(void **pool, int device);
    ft__cuda *q = &c->cuda;

    *(void **)&pool_of = ft__api_symbol(&c->api, "cudaDeviceGetDefaultMemPool");
    *(void **)&q->pool_get = ft__api_symbol(&c->api, "cudaMemPoolGetAttribute");
    *(void **)&q->pool_set = ft__api_symbol(&c->api, "cudaMemPoolSetAttribute");
    if (!pool_of || !q->pool_get || !q->pool_set || pool_of(&q->pool, c->device))
        q->pool = NULL;
}

static ft_status find_symbols(ft_engine_context *c, ft_error *err)
{
    ft__cuda *q = &c->cuda;

    *(void **)&q->create_guard =
        ft__api_symbol(&c->api, "aoti_torch_create_cuda_guard");
    *(void **)&q->delete_guard =
        ft__api_symbol(&c->api, "aoti_torch_delete_cuda_guard");
    *(void **)&q->current_stream =
        ft__api_symbol(&c->api, "aoti_torch_get_current_cuda_stream");
    *(void **)&q->synchronize =
        ft__api_symbol(&c->api, "torch_cuda_stream_synchronize");
    if (!q->create_guard || !q->delete_guard || !q->current_stream || !q->synchronize)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "torch: libtorch_cuda.so lacks functions of PyTorch 2.10 for "
                       "devices and streams: install PyTorch 2.10 or newer");
    return FT_OK;
}

/* at::globalContext().setAllowTF32...(on): C++, by their mangled names. */
static ft_status set_tf32(ft_engine_context *c, ft_error *err)
{
    void *(*context)(void);
    void (*products)(void *context, bool on);
    void (*convolutions)(void *context, bool on);

    if (c->opt.tf32 < 0)
        return FT_OK;
    *(void **)&context = ft__api_symbol(&c->api, "_ZN2at13globalContextEv");
    *(void **)&products =
        ft__api_symbol(&c->api, "_ZN2at7Context18setAllowTF32CuBLASEb");
    *(void **)&convolutions =
        ft__api_symbol(&c->api, "_ZN2at7Context17setAllowTF32CuDNNEb");
    if (!context || !products || !convolutions)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "torch: this libtorch has no setAllowTF32 that is known here: "
                       "leave out tf32=");
    products(context(), c->opt.tf32);
    convolutions(context(), c->opt.tf32);
    return FT_OK;
}

/* The first tensor starts CUDA: a driver that is not there shows here. */
static ft_status first_tensor(ft_engine_context *c, ft_error *err)
{
    ft_shape one = {.rank = 1, .dim = {1}};
    void *value = ft__tensor_zeros(c, &one, FT_DTYPE_fp32);

    if (!value)
        return ft_fail(err, FT_EBACKEND, 0, "torch: CUDA device %d does not start: %s",
                       c->opt.device, ft__api_reason(&c->api));
    c->api.aoti_torch_delete_tensor_object(value);
    return FT_OK;
}

ft_status ft__cuda_open(ft_engine_context *c, ft_error *err)
{
    ft_status st;

    if (c->opt.device < 0)
        return c->opt.tf32 < 0
                   ? FT_OK
                   : ft_fail(err, FT_EINVAL, 0,
                             "torch: tf32= is for device=cuda: the CPU has no TF32");
    st = load(c, err);
    if (!st)
        st = find_symbols(c, err);
    if (st)
        return st;
    c->device_type = c->api.aoti_torch_device_type_cuda();
    c->device = c->opt.device;
    st = first_tensor(c, err);
    if (!st && (c->cuda.create_guard(c->device, &c->cuda.guard) ||
                c->cuda.current_stream(c->device, &c->cuda.stream)))
        st = ft_fail(err, FT_EBACKEND, 0, "torch: no stream on CUDA device %d: %s",
                     c->opt.device, ft__api_reason(&c->api));
    if (st)
        return st;
    find_pool(c);
    return set_tf32(c, err);
}

void ft__cuda_close(ft_engine_context *c)
{
    if (c->cuda.guard)
        c->cuda.delete_guard(c->cuda.guard);
}

ft_status ft__cuda_sync(ft_engine_context *c, ft_error *err)
{
    if (c->opt.device < 0 || !c->cuda.synchronize(c->cuda.stream, c->device))
        return FT_OK;
    return ft_fail(err, FT_EBACKEND, 0, "torch: waiting for the GPU fails: %.500s",
                   ft__api_reason(&c->api));
}

void ft__cuda_memory(ft_engine_context *c, uint64_t *now, uint64_t *peak, int reset)
{
    uint64_t zero = 0;

    *now = *peak = 0;
    if (!c->cuda.pool)
        return;
    (void)ft__cuda_sync(c, NULL);
    if (c->cuda.pool_get(c->cuda.pool, POOL_USED_NOW, now) ||
        c->cuda.pool_get(c->cuda.pool, POOL_USED_MOST, peak))
        *now = *peak = 0;
    if (reset)
        (void)c->cuda.pool_set(c->cuda.pool, POOL_USED_MOST, &zero);
}
