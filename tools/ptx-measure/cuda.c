#include "cuda.h"

#include <dlfcn.h>
#include <string.h>

ft_status cuda_check(const cuda *c, int code, const char *what, ft_error *err)
{
    const char *text = NULL;

    if (!code)
        return FT_OK;
    if (c->error_text(code, &text) || !text)
        text = "an error without a name";
    return ft_fail(err, FT_EBACKEND, 0, "%s: %s (%d)", what, text, code);
}

static ft_status load(cuda *c, const char *path, ft_error *err)
{
    c->dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!c->dl)
        return ft_fail(
            err, FT_ENOTFOUND, 0,
            "%s is missing: this needs a machine with an NVIDIA GPU and its driver",
            path);
#define CUDA(member, symbol, parameters)                                               \
    *(void **)&c->member = dlsym(c->dl, symbol);                                       \
    if (!c->member)                                                                    \
        return ft_fail(err, FT_ENOTFOUND, 0,                                           \
                       "%s has no %s: the driver is too old, update it", path,         \
                       symbol);
#include "cuda.def"
#undef CUDA
    return FT_OK;
}

static ft_status begin(cuda *c, int device, ft_error *err)
{
    ft_error why;
    int n = 0;

    if (cuda_check(c, c->init(0), "the driver does not start", &why) ||
        cuda_check(c, c->device_count(&n), "no GPU is seen", &why))
        return ft_fail(err, FT_ENOTFOUND, 0, "%s", why.msg);
    if (device < 0 || device >= n)
        return ft_fail(err, FT_ENOTFOUND, 0, "there is no GPU %d: this machine has %d",
                       device, n);
    if (cuda_check(c, c->device_get(&c->device, device), "cuDeviceGet", err) ||
        cuda_check(c, c->context_retain(&c->context, c->device), "no context is made",
                   err))
        return FT_EBACKEND;
    return cuda_check(c, c->context_set(c->context), "cuCtxSetCurrent", err);
}

ft_status cuda_open(cuda *c, const char *path, int device, ft_error *err)
{
    ft_status st;

    memset(c, 0, sizeof(*c));
    st = load(c, path ? path : "libcuda.so.1", err);
    st = st ? st : begin(c, device, err);
    if (st)
        cuda_close(c);
    return st;
}

void cuda_close(cuda *c)
{
    if (c->context)
        c->context_release(c->device);
    if (c->dl)
        dlclose(c->dl);
    memset(c, 0, sizeof(*c));
}
