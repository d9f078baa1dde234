/* The runtime's shared library, and what all sessions have in common. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "ort.h"

/* Every function used here is at least as old as this version of the interface,
 * and it is only ever appended to. */
enum { OLDEST_API = 18 };

/* The one thing kept between calls: ft_engine.version() does not get the context, and a
 * library cannot be unloaded once it has threads. */
static char loaded_version[32];

const char *ft__ort_version(void)
{
    return loaded_version;
}

ft_status ft__ort_load(const OrtApi **api, const char *path, ft_error *err)
{
    static const char *const names[2] = {"libonnxruntime.so.1", "libonnxruntime.so"};
    void *dl = ft__library_load(
        ft__engine_name, path, names, RTLD_NOW | RTLD_LOCAL,
        "ONNX Runtime is not installed: pip install onnxruntime, or install the "
        "system's libonnxruntime, or set FORETELL_ONNXRUNTIME to the path of "
        "libonnxruntime.so",
        err);
    const OrtApiBase *(*get)(void);
    const OrtApiBase *base;
    unsigned long newest = 0;

    *api = NULL;
    if (!dl)
        return FT_ENOTFOUND;
    *(void **)&get = dlsym(dl, "OrtGetApiBase");
    if (!get)
        return ft_fail(err, FT_ENOTFOUND, 0, "onnxruntime: %s is not ONNX Runtime",
                       path);
    base = get();
    snprintf(loaded_version, sizeof(loaded_version), "%s", base->GetVersionString());
    /* Version 1.N has interface N; asked for a newer one it prints a complaint. */
    if (strncmp(loaded_version, "1.", 2) == 0)
        newest = strtoul(loaded_version + 2, NULL, 10);
    if (newest >= OLDEST_API)
        *api =
            base->GetApi(newest < ORT_API_VERSION ? (uint32_t)newest : ORT_API_VERSION);
    if (!*api)
        return ft_fail(
            err, FT_EUNSUPPORTED, 0,
            "onnxruntime: version %s is too old, 1.%d is needed: pip install "
            "--upgrade onnxruntime",
            loaded_version, OLDEST_API);
    return FT_OK;
}

ft_status ft__ort_check(const OrtApi *api, OrtStatus *s, ft_error *err)
{
    OrtErrorCode code;
    ft_status st = FT_EBACKEND;

    if (!s)
        return FT_OK;
    code = api->GetErrorCode(s);
    /* A model that is well-formed is refused for its types or attributes. */
    if (code == ORT_NOT_IMPLEMENTED || code == ORT_INVALID_GRAPH || code == ORT_FAIL)
        st = FT_EUNSUPPORTED;
    if (code == ORT_INVALID_PROTOBUF)
        st = FT_EFORMAT;
    if (strstr(api->GetErrorMessage(s), "bad_alloc"))
        st = FT_ENOMEM;
    ft_fail(err, st, 0, "onnxruntime: ONNX Runtime %s says: %s", loaded_version,
            api->GetErrorMessage(s));
    api->ReleaseStatus(s);
    return st;
}

ft_status ft__ort_ran(const OrtApi *api, OrtStatus *s, ft_error *err)
{
    ft_status st = ft__ort_check(api, s, err);

    if (st != FT_EUNSUPPORTED)
        return st;
    if (err)
        err->status = FT_EBACKEND;
    return FT_EBACKEND;
}

static ft_status add_cuda(const ft_engine_context *c, OrtSessionOptions *o,
                          ft_error *err)
{
    OrtCUDAProviderOptionsV2 *cuda = NULL;
    OrtStatus *s = c->api->CreateCUDAProviderOptions(&cuda);

    if (!s)
        s = c->api->SessionOptionsAppendExecutionProvider_CUDA_V2(o, cuda);
    if (cuda)
        c->api->ReleaseCUDAProviderOptions(cuda);
    return ft__ort_check(c->api, s, err);
}

ft_status ft__ort_options(const ft_engine_context *c, OrtSessionOptions **out,
                          ft_error *err)
{
    const OrtApi *a = c->api;
    ft_status st = ft__ort_check(a, a->CreateSessionOptions(out), err);
    OrtStatus *s;

    if (st)
        return st;
    s = a->SetSessionGraphOptimizationLevel(*out, ORT_ENABLE_ALL);
    if (!s)
        s = a->SetSessionExecutionMode(*out, ORT_SEQUENTIAL);
    if (!s)
        s = a->SetIntraOpNumThreads(*out, (int)c->threads);
    if (!s)
        s = a->SetInterOpNumThreads(*out, 1);
    if (!s)
        s = a->SetSessionLogSeverityLevel(*out, ORT_LOGGING_LEVEL_FATAL);
    if (!s)
        s = a->AddSessionConfigEntry(*out, "session.intra_op.allow_spinning", "0");
    st = ft__ort_check(a, s, err);
    if (!st && c->cuda)
        st = add_cuda(c, *out, err);
    if (st) {
        a->ReleaseSessionOptions(*out);
        *out = NULL;
    }
    return st;
}

int64_t ft__ort_number(ft_dtype t)
{
    static const int64_t number[] = {
        0,
#define FT_DTYPE(name, bits, onnx) onnx,
#include "foretell/dtypes.def"
#undef FT_DTYPE
    };

    return number[t];
}
