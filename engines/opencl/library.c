/* libOpenCL, its devices, and the queue of the one that is used. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"
#include "options.h"

#define HOW_TO_GET_IT                                                                  \
    "install the driver of the GPU with its OpenCL part, or PoCL for the CPU "         \
    "(Debian: pocl-opencl-icd)"

static const char *name_of(int code)
{
    switch (code) {
    case -1: return "no such device";
    case CL_OUT_OF_MEMORY:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE: return "out of memory";
    case -11: return "the program does not build";
    case -54: return "a work-group is too large";
    default: return "failed";
    }
}

ft_status ft__cl_failed(int code, const char *what, ft_error *err)
{
    bool memory = code == CL_OUT_OF_MEMORY || code == CL_OUT_OF_RESOURCES ||
                  code == CL_OUT_OF_HOST_MEMORY || code == CL_INVALID_BUFFER_SIZE;

    return ft_fail(err, memory ? FT_ENOMEM : FT_EBACKEND, 0,
                   "opencl: %.200s: %s (error %d)", what, name_of(code), code);
}

static ft_status find_functions(ft_engine_context *c, ft_error *err)
{
    const char *missing = NULL;

#define CL_FUNCTION(result, name, parameters)                                          \
    *(void **)&c->cl.name = dlsym(c->lib, #name);                                      \
    if (!c->cl.name)                                                                   \
        missing = #name;
    CL_FUNCTIONS
#undef CL_FUNCTION
    if (missing)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "opencl: this libOpenCL has no %s, OpenCL 1.2 is needed",
                       missing);
    return FT_OK;
}

static ft_status load(ft_engine_context *c, ft_error *err)
{
    static const char *const names[2] = {"libOpenCL.so.1", "libOpenCL.so"};

    c->lib = ft__library_load("opencl", c->opt.lib, names, RTLD_NOW | RTLD_LOCAL,
                              "the loader finds no libOpenCL.so.1: " HOW_TO_GET_IT
                              ", or say where it is: engine option lib=FILE",
                              err);
    return c->lib ? find_functions(c, err) : FT_ENOTFOUND;
}

static uint64_t number(const ft_engine_context *c, cl_device d, uint32_t what)
{
    uint64_t v = 0; /* wide enough for all that is asked for; little-endian */

    return c->cl.clGetDeviceInfo(d, what, sizeof(v), &v, NULL) ? 0 : v;
}

/* Blanks in names run together, as some drivers pad them. */
static void text(const ft_engine_context *c, cl_device d, uint32_t what, char *out,
                 size_t size)
{
    char all[4096] = "";
    size_t n = 0;

    (void)c->cl.clGetDeviceInfo(d, what, sizeof(all) - 1, all, NULL);
    for (const char *p = all; *p && n + 1 < size; p++)
        if (*p != ' ' || (n && out[n - 1] != ' '))
            out[n++] = *p;
    while (n && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
}

static void describe(ft_engine_context *c, cl_device d)
{
    ft_engine_device *out = &c->device[c->n_devices];
    uint64_t mhz = number(c, d, CL_DEVICE_MAX_CLOCK_FREQUENCY);

    text(c, d, CL_DEVICE_NAME, out->name, sizeof(out->name));
    out->is_host = (number(c, d, CL_DEVICE_TYPE) & CL_TYPE_CPU) != 0;
    out->units = (uint32_t)number(c, d, CL_DEVICE_MAX_COMPUTE_UNITS);
    out->clock_hz = mhz ? 1e6 * (double)mhz : (double)NAN;
    out->memory_bytes = (double)number(c, d, CL_DEVICE_GLOBAL_MEM_SIZE);
    c->id[c->n_devices++] = d;
}

ft_status ft__library_open(ft_engine_context *c, ft_error *err)
{
    cl_platform platform[16];
    cl_device d[FT__MAX_DEVICES];
    uint32_t n_platforms = 0, n;
    ft_status st = load(c, err);

    if (st)
        return st;
    if (c->cl.clGetPlatformIDs(16, platform, &n_platforms))
        n_platforms = 0;
    for (uint32_t i = 0; i < n_platforms && i < 16; i++) {
        if (c->cl.clGetDeviceIDs(platform[i], CL_TYPE_ALL, FT__MAX_DEVICES, d, &n))
            continue;
        for (uint32_t k = 0; k < n && c->n_devices < FT__MAX_DEVICES; k++)
            describe(c, d[k]);
    }
    if (!c->n_devices)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "opencl: libOpenCL is there, but no device: " HOW_TO_GET_IT);
    return FT_OK;
}

static ft_status choose(ft_engine_context *c, uint32_t *chosen, ft_error *err)
{
    *chosen = c->opt.device < 0 ? 0 : (uint32_t)c->opt.device;
    if (*chosen >= c->n_devices)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "opencl: no device %u, there are %u: foretell doctor lists them",
                       *chosen, c->n_devices);
    for (uint32_t i = 0; i < c->n_devices && c->opt.device < 0; i++)
        if (number(c, c->id[i], CL_DEVICE_TYPE) & CL_TYPE_GPU) {
            *chosen = i;
            break;
        }
    c->device[*chosen].is_used = 1;
    if (c->opt.clock == FT__CLOCK_CPU && !c->device[*chosen].is_host)
        return ft_fail(err, FT_EINVAL, 0,
                       "opencl: clock=cpu is for CPUs, device %u is none", *chosen);
    return FT_OK;
}

/* Parts of CPUs, one of each size. They are never released: PoCL's threads look at the
 * device of a queue behind its last command, when the queue and a part of a device with
 * it may have gone. */
struct part {
    cl_device of, part;
    uint32_t units;
    struct part *next;
};

/* A CPU with as many compute units as there are to be threads. */
static void take_part(ft_engine_context *c, uint32_t units)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct part *parts;
    const intptr_t by_counts[] = {CL_DEVICE_PARTITION_BY_COUNTS, (intptr_t)units, 0, 0};
    struct part *p;

    pthread_mutex_lock(&lock);
    for (p = parts; p && (p->of != c->used || p->units != units); p = p->next)
        ;
    if (!p && (p = malloc(sizeof(*p)))) {
        *p = (struct part){c->used, NULL, units, parts};
        if (c->cl.clCreateSubDevices(c->used, by_counts, 1, &p->part, NULL))
            p->part = c->used;
        parts = p;
    }
    pthread_mutex_unlock(&lock);
    if (p)
        c->used = p->part;
}

static void ask_limits(ft_engine_context *c)
{
    char extensions[4096];
    uint64_t wide = number(c, c->used, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);

    text(c, c->used, CL_DEVICE_EXTENSIONS, extensions, sizeof(extensions));
    c->has_doubles = strstr(extensions, "cl_khr_fp64") != NULL;
    c->most_bytes = number(c, c->used, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    c->most_items = (uint32_t)number(c, c->used, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    c->wide = wide >= 16 ? 16 : wide >= 8 ? 8 : 4;
    if (c->opt.products == FT__PRODUCTS_CHOOSE)
        c->opt.products = number(c, c->used, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL &&
                                  c->most_items >= 64
                              ? FT__PRODUCTS_TILES
                              : FT__PRODUCTS_DIRECT;
}

static ft_status load_clblast(ft_engine_context *c, ft_error *err)
{
    void *lib = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);

    if (lib)
        *(void **)&c->sgemm = dlsym(lib, "CLBlastSgemm");
    if (!c->sgemm)
        return ft_fail(err, FT_ENOTFOUND, 0,
                       "opencl: products=clblast needs libclblast.so.1 (Debian: "
                       "libclblast1)");
    return FT_OK;
}

ft_status ft__device_open(ft_engine_context *c, uint32_t threads, ft_error *err)
{
    uint32_t chosen;
    int code;
    ft_status st = choose(c, &chosen, err);

    if (!st && c->opt.products == FT__PRODUCTS_CLBLAST)
        st = load_clblast(c, err);
    if (st)
        return st;
    c->used = c->id[chosen];
    c->shares = c->opt.as < 0 ? !c->device[chosen].is_host : c->opt.as == 1;
    if (c->device[chosen].is_host && threads < c->device[chosen].units)
        take_part(c, threads);
    ask_limits(c);
    c->context = c->cl.clCreateContext(NULL, 1, &c->used, NULL, NULL, &code);
    if (!c->context)
        return ft__cl_failed(code, "making a context", err);
    c->queue = c->cl.clCreateCommandQueue(
        c->context, c->used,
        c->opt.clock == FT__CLOCK_DEVICE ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
    return c->queue ? FT_OK : ft__cl_failed(code, "making a queue", err);
}

void ft__device_close(ft_engine_context *c)
{
    if (c->queue)
        (void)ft__finish(c, NULL);
    ft__pool_empty(c);
    while (c->programs) {
        ft__program *p = c->programs;

        c->programs = p->next;
        c->cl.clReleaseProgram(p->program);
        free(p);
    }
    if (c->queue)
        c->cl.clReleaseCommandQueue(c->queue);
    if (c->context)
        c->cl.clReleaseContext(c->context);
    free(c->event);
}

/* Time between the begin and the end of every launch, added up: what the device was
 * busy for. */
static void add_events(ft_engine_context *c)
{
    for (uint32_t i = 0; i < c->n_events; i++) {
        uint64_t begin = 0, end = 0;

        if (!c->cl.clGetEventProfilingInfo(c->event[i], CL_PROFILING_COMMAND_START,
                                           sizeof(begin), &begin, NULL) &&
            !c->cl.clGetEventProfilingInfo(c->event[i], CL_PROFILING_COMMAND_END,
                                           sizeof(end), &end, NULL) &&
            end > begin)
            c->device_s += 1e-9 * (double)(end - begin);
        c->cl.clReleaseEvent(c->event[i]);
    }
    c->n_events = 0;
}

ft_status ft__finish(ft_engine_context *c, ft_error *err)
{
    int code = c->cl.clFinish(c->queue);

    add_events(c);
    return code ? ft__cl_failed(code, "waiting for the device", err) : FT_OK;
}
