/* TVM's runtime library, values of its interface, and what it says went wrong. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "tvm.h"

/* The one thing kept between calls: ft_engine.version() does not get the context, and
 * the library is never unloaded. */
static char loaded_version[64];

const char *ft__tvm_version(void)
{
    return loaded_version;
}

/* `path` with its last `levels` parts replaced; false: it is too long or too short. */
static bool beside(char *out, const char *path, int levels, const char *rest)
{
    size_t len = strlen(path);

    for (int i = 0; i < levels; i++) {
        while (len > 0 && path[len - 1] != '/')
            len--;
        if (len == 0)
            return false;
        len--;
    }
    return (size_t)snprintf(out, FT__TVM_PATH, "%.*s/%s", (int)len, path, rest) <
           FT__TVM_PATH;
}

/* libtvm_ffi.so: beside the runtime, in the package next to it, or the system's. */
static void *open_ffi(const char *runtime)
{
    static const struct place {
        int levels;
        const char *rest;
    } places[] = {{1, "libtvm_ffi.so"}, {3, "tvm_ffi/lib/libtvm_ffi.so"}};
    char path[FT__TVM_PATH];
    void *dl = NULL;

    for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !dl; i++)
        if (beside(path, runtime, places[i].levels, places[i].rest))
            dl = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    return dl ? dl : dlopen("libtvm_ffi.so", RTLD_NOW | RTLD_GLOBAL);
}

/* `version = '0.27.0'` in the package's _version.py, or a copy of it beside the
 * library. */
static void read_version(const char *runtime)
{
    char path[FT__TVM_PATH], line[256];
    FILE *f = NULL;

    for (int levels = 2; levels > 0 && !f; levels--)
        if (beside(path, runtime, levels, "_version.py"))
            f = fopen(path, "rb");
    snprintf(loaded_version, sizeof(loaded_version), "unknown");
    while (f && fgets(line, sizeof(line), f)) {
        char *at = strstr(line, "version = '"), *end;

        if (!at || strchr(line, '('))
            continue;
        at += strlen("version = '");
        end = strchr(at, '\'');
        if (end)
            snprintf(loaded_version, sizeof(loaded_version), "%.*s", (int)(end - at),
                     at);
    }
    if (f)
        fclose(f);
}

ft_status ft__tvm_load(ft__tvm *t, const char *path, ft_error *err)
{
    static const char *const names[2] = {"libtvm_runtime.so", "libtvm_runtime.so.0"};
    void *ffi = open_ffi(path); /* which the runtime needs */
    void *dl = ft__library_load(
        ft__engine_name, path, names, RTLD_NOW | RTLD_GLOBAL,
        "Apache TVM is not installed: pip install apache-tvm, or set FORETELL_TVM to "
        "the folder of the package tvm",
        err);
    ft_status st;

    if (!dl)
        return FT_ENOTFOUND;
    dl = ffi ? ffi : dl;
    *(void **)&t->call = dlsym(dl, "TVMFFIFunctionCall");
    *(void **)&t->get_global = dlsym(dl, "TVMFFIFunctionGetGlobal");
    *(void **)&t->take_error = dlsym(dl, "TVMFFIErrorMoveFromRaised");
    *(void **)&t->release = dlsym(dl, "TVMFFIObjectDecRef");
    *(void **)&t->from_dlpack = dlsym(dl, "TVMFFITensorFromDLPack");
    if (!t->call || !t->get_global || !t->take_error || !t->release || !t->from_dlpack)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "tvm: %s is too old, version 0.27 is needed: pip install "
                       "--upgrade apache-tvm",
                       path);
    read_version(path);
    st = ft__tvm_global(t, &t->load_module, "ffi.ModuleLoadFromFile", err);
    return st ? st : ft__tvm_global(t, &t->get_function, "ffi.ModuleGetFunction", err);
}

ft_status ft__tvm_check(const ft__tvm *t, int rc, ft_error *err)
{
    void *object = NULL;
    const tvm_error_object *e;
    ft_status st;

    if (rc == 0)
        return FT_OK;
    t->take_error(&object);
    if (!object)
        return ft_fail(err, FT_EBACKEND, 0, "tvm: TVM failed without saying why");
    e = object;
    st = e->message.size && strstr(e->message.data, "alloc") ? FT_ENOMEM : FT_EBACKEND;
    ft_fail(err, st, 0, "tvm: TVM %s says: %.*s", loaded_version,
            (int)(e->message.size < 400 ? e->message.size : 400), e->message.data);
    t->release(object);
    return st;
}

static tvm_any text_of(const char *text)
{
    return (tvm_any){.type = TVM_RAW_STR, .v.text = text};
}

tvm_any ft__tvm_number(int64_t number)
{
    return (tvm_any){.type = TVM_INT, .v.number = number};
}

void ft__tvm_release(const ft__tvm *t, tvm_any *value)
{
    if (value->type >= TVM_OBJECT && value->v.ptr)
        t->release(value->v.ptr);
    *value = (tvm_any){.type = TVM_NONE};
}

/* False: it has none. */
static bool find_dtype(dl_dtype *out, ft_dtype t)
{
    const uint32_t bits = ft_dtype_bits(t);

    *out = (dl_dtype){.bits = (uint8_t)bits, .lanes = 1};
    switch (t) {
    case FT_DTYPE_fp32:
    case FT_DTYPE_fp64:
    case FT_DTYPE_fp16: out->code = DL_FLOAT; return true;
    case FT_DTYPE_bf16: out->code = DL_BFLOAT; return true;
    case FT_DTYPE_bool: /* bytes */
    case FT_DTYPE_uint8:
    case FT_DTYPE_uint16:
    case FT_DTYPE_uint32:
    case FT_DTYPE_uint64: out->code = DL_UINT; return true;
    case FT_DTYPE_int8:
    case FT_DTYPE_int16:
    case FT_DTYPE_int32:
    case FT_DTYPE_int64: out->code = DL_INT; return true;
    default: return false;
    }
}

bool ft__tensor_make(ft__tensor *out, const ft_shape *s, ft_dtype t)
{
    dl_tensor *d = &out->managed.tensor;
    int64_t step = 1;

    *d = (dl_tensor){.device = {.type = DL_CPU},
                     .rank = (int32_t)s->rank,
                     .shape = out->shape,
                     .strides = out->strides};
    for (uint32_t i = s->rank; i-- > 0; step *= s->dim[i]) {
        out->shape[i] = s->dim[i];
        out->strides[i] = step;
    }
    return find_dtype(&d->dtype, t);
}

ft_status ft__tvm_global(const ft__tvm *t, void **out, const char *name, ft_error *err)
{
    tvm_bytes text = {name, strlen(name)};
    ft_status st = ft__tvm_check(t, t->get_global(&text, out), err);

    if (!st && !*out)
        st = ft_fail(err, FT_EUNSUPPORTED, 0, "tvm: this TVM has no function %s", name);
    return st;
}

ft_status ft__tvm_module(const ft__tvm *t, tvm_any *module, const char *path,
                         ft_error *err)
{
    tvm_any file = text_of(path);

    *module = (tvm_any){.type = TVM_NONE};
    return ft__tvm_check(t, t->call(t->load_module, &file, 1, module), err);
}

ft_status ft__tvm_function(const ft__tvm *t, tvm_any *f, tvm_any *module,
                           const char *name, ft_error *err)
{
    tvm_any args[] = {*module, text_of(name), {.type = TVM_BOOL, .v.number = 1}};
    ft_status st;

    *f = (tvm_any){.type = TVM_NONE};
    st = ft__tvm_check(t, t->call(t->get_function, args, 3, f), err);
    if (!st && f->type < TVM_OBJECT)
        st = ft_fail(err, FT_EBACKEND, 0, "tvm: the module has no function %s", name);
    return st;
}
