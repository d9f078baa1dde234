/* libtorch, found and looked into. Nothing of it is linked. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "torch.h"

#define HOW_TO_GET_IT                                                                  \
    "install PyTorch 2.10 or newer (pip install torch), or say where it is: "          \
    "FORETELL_TORCH=FOLDER, or engine option lib=FOLDER"

bool ft__api_lacks(const ft__api *api, const char *name)
{
    char key[256];

    snprintf(key, sizeof(key), "+%s+", name);
    return strstr(api->without, key) != NULL;
}

void *ft__api_symbol(const ft__api *api, const char *name)
{
    void *p;

    if (ft__api_lacks(api, name))
        return NULL;
    p = dlsym(api->lib, name);
    return p || !api->cuda ? p : dlsym(api->cuda, name);
}

/* A folder, or the file itself: the first there is. */
static void find_file(char file[4200], const char *path)
{
    static const char *const inside[] = {
        "/libtorch_cpu.so",
        "/lib/libtorch_cpu.so",
        "/torch/lib/libtorch_cpu.so",
    };

    for (size_t i = 0; i < sizeof(inside) / sizeof(*inside); i++) {
        snprintf(file, 4200, "%s%s", path, inside[i]);
        if (access(file, F_OK) == 0)
            return;
    }
    snprintf(file, 4200, "%s", *path ? path : "libtorch_cpu.so");
}

static ft_status open_lib(ft__api *api, const char *path, ft_error *err)
{
    const char *why;

    find_file(api->file, path);
    api->lib = dlopen(api->file, RTLD_NOW | RTLD_LOCAL);
    if (api->lib)
        return FT_OK;
    why = dlerror();
    if (!*path)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "torch: the loader finds no libtorch_cpu.so: " HOW_TO_GET_IT);
    return ft_fail(
        err, FT_ENOTFOUND, 0,
        "torch: no libtorch_cpu.so that loads at %.300s (%.300s): " HOW_TO_GET_IT, path,
        why ? why : "no reason given");
}

static ft_status find_symbols(ft__api *api, ft_error *err)
{
    const char *missing = NULL;

#define FT_SYMBOL(needed, result, symbol, parameters)                                  \
    *(void **)&api->symbol = ft__api_symbol(api, #symbol);                             \
    if (!api->symbol && (needed) <= 210)                                               \
        missing = #symbol;
#include "api.def"
#undef FT_SYMBOL
    if (missing)
        return ft_fail(
            err, FT_EUNSUPPORTED, 0,
            "torch: this libtorch has no %s, it is older than 2.10: " HOW_TO_GET_IT,
            missing);
    *(void **)&api->operator_new = ft__api_symbol(api, "_Znwm");
    *(void **)&api->set_num_threads = ft__api_symbol(api, "_ZN2at15set_num_threadsEi");
    if (!api->operator_new && !api->torch_new_stable_ivalue)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "torch: this libtorch has no torch_new_stable_ivalue, and "
                       "operator new is not found: " HOW_TO_GET_IT);
    api->version = api->aoti_torch_abi_version();
    return FT_OK;
}

static void find_dtypes(ft__api *api)
{
    for (int i = 0; i < FT_DTYPE_COUNT; i++)
        api->dtype[i] = -1;
    api->dtype[FT_DTYPE_fp32] = api->aoti_torch_dtype_float32();
    api->dtype[FT_DTYPE_fp64] = api->aoti_torch_dtype_float64();
    api->dtype[FT_DTYPE_fp16] = api->aoti_torch_dtype_float16();
    api->dtype[FT_DTYPE_bf16] = api->aoti_torch_dtype_bfloat16();
    api->dtype[FT_DTYPE_int8] = api->aoti_torch_dtype_int8();
    api->dtype[FT_DTYPE_int16] = api->aoti_torch_dtype_int16();
    api->dtype[FT_DTYPE_int32] = api->aoti_torch_dtype_int32();
    api->dtype[FT_DTYPE_int64] = api->aoti_torch_dtype_int64();
    api->dtype[FT_DTYPE_uint8] = api->aoti_torch_dtype_uint8();
    api->dtype[FT_DTYPE_uint16] = api->aoti_torch_dtype_uint16();
    api->dtype[FT_DTYPE_uint32] = api->aoti_torch_dtype_uint32();
    api->dtype[FT_DTYPE_uint64] = api->aoti_torch_dtype_uint64();
    api->dtype[FT_DTYPE_bool] = api->aoti_torch_dtype_bool();
    api->dtype[FT_DTYPE_complex64] = api->aoti_torch_dtype_complex64();
    api->dtype[FT_DTYPE_complex128] = api->aoti_torch_dtype_complex128();
}

/* An operation of our own, in a namespace of this context's own. */
static bool define_guard(ft__api *api)
{
    char name[32];

    snprintf(name, sizeof(name), "foretell_%lx", (unsigned long)(uintptr_t)api);
    snprintf(api->guard_name, sizeof(api->guard_name), "%s::guard", name);
    return !api->aoti_torch_library_init_fragment(name, "", 0, &api->guard[0]) &&
           !api->aoti_torch_library_def(api->guard[0], "guard(int work) -> int") &&
           !api->aoti_torch_library_init_impl(name, "CompositeExplicitAutograd", "", 0,
                                              &api->guard[1]) &&
           !api->torch_library_impl(api->guard[1], "guard", ft__run_guarded,
                                    FT__SCHEMA_VERSION);
}

ft_status ft__api_load(ft__api *api, const char *path, const char *without,
                       ft_error *err)
{
    ft_status st;

    *api = (ft__api){0};
    snprintf(api->without, sizeof(api->without), "+%s+", without);
    st = open_lib(api, path, err);
    if (!st)
        st = find_symbols(api, err);
    if (st)
        return st;
    find_dtypes(api);
    api->scalars_work = api->operator_new && define_guard(api);
    return FT_OK;
}

/* libtorch has threads and stays loaded. */
void ft__api_close(ft__api *api)
{
    for (int i = 1; i >= 0; i--)
        if (api->guard[i])
            api->aoti_torch_delete_library_object(api->guard[i]);
}

const char *ft__api_reason(const ft__api *api)
{
    return api->torch_exception_get_what_without_backtrace
               ? api->torch_exception_get_what_without_backtrace()
               : "libtorch tells why on standard error";
}
