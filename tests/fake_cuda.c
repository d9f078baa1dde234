/* A small libcuda. It has one GPU, runs nothing, and takes 10 us for every launch; a
 * pointer is one of the host. The environment's FAKE_CUDA, a list of words, changes
 * that:
 *
 *   none       no GPU
 *   load       modules are refused, with a line of ptxas
 *   kernel     the second launch fails, and whatever comes after it
 *   memory     there is none
 *   slow       a launch takes 1 s by its events
 *
 * The file that FAKE_CUDA_LOG names gets a line for each launch: grid, block, shared
 * memory and the bytes of its first argument. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long launches, at_event[2], broken;
static uint64_t counters[4096];
static int context, module_, function_, events;

static int told(const char *word)
{
    const char *words = getenv("FAKE_CUDA");

    return words && strstr(words, word) != NULL;
}

/* Exported functions are declared nowhere else. */
#define EXPORT(name, ...)                                                              \
    int name(__VA_ARGS__);                                                             \
    int name(__VA_ARGS__)

EXPORT(cuInit, unsigned flags)
{
    (void)flags;
    return told("none") ? 100 : 0; /* CUDA_ERROR_NO_DEVICE */
}

EXPORT(cuDriverGetVersion, int *v)
{
    *v = 13000;
    return 0;
}

EXPORT(cuDeviceGetCount, int *n)
{
    *n = 1;
    return 0;
}

EXPORT(cuDeviceGet, int *device, int i)
{
    *device = i;
    return 0;
}

EXPORT(cuDeviceGetName, char *out, int size, int device)
{
    (void)device;
    snprintf(out, (size_t)size, "GPU of nobody");
    return 0;
}

EXPORT(cuDeviceGetAttribute, int *out, int attribute, int device)
{
    (void)device;
    *out = attribute == 75 ? 8 : attribute == 76 ? 0 : 100;
    return 0;
}

EXPORT(cuDeviceTotalMem_v2, size_t *out, int device)
{
    (void)device;
    *out = (size_t)1 << 34;
    return 0;
}

EXPORT(cuDeviceGetPCIBusId, char *out, int size, int device)
{
    (void)device;
    snprintf(out, (size_t)size, "0000:01:00.0");
    return 0;
}

EXPORT(cuDevicePrimaryCtxRetain, void **out, int device)
{
    (void)device;
    *out = &context;
    return 0;
}

EXPORT(cuDevicePrimaryCtxRelease_v2, int device)
{
    (void)device;
    return 0;
}

EXPORT(cuCtxSetCurrent, void *c)
{
    (void)c;
    return 0;
}

EXPORT(cuCtxSynchronize, void)
{
    return broken ? 700 : 0;
}

EXPORT(cuModuleLoadDataEx, void **out, const void *text, unsigned n, int *option,
       void **value)
{
    (void)n, (void)option;
    if (told("load") || !strstr(text, ".version")) {
        strcpy(value[0], "ptxas application ptx input, line 1; fatal : no");
        return 218;
    }
    *out = &module_;
    return 0;
}

EXPORT(cuModuleUnload, void *m)
{
    (void)m;
    return 0;
}

EXPORT(cuModuleGetFunction, void **out, void *m, const char *name)
{
    (void)m, (void)name;
    *out = &function_;
    return 0;
}

EXPORT(cuModuleGetGlobal_v2, uint64_t *at, size_t *size, void *m, const char *name)
{
    (void)m;
    for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
        counters[i] = i + 1;
    *at = (uint64_t)(uintptr_t)counters;
    *size = sizeof(counters);
    return strcmp(name, "foretell_counters") ? 500 : 0;
}

EXPORT(cuFuncGetAttribute, int *out, int attribute, void *f)
{
    (void)f;
    *out = attribute == 4 ? 32 : 0;
    return 0;
}

EXPORT(cuFuncSetAttribute, void *f, int attribute, int v)
{
    (void)f, (void)attribute, (void)v;
    return 0;
}

EXPORT(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *out, void *f, int threads,
       size_t shared)
{
    (void)f, (void)shared;
    *out = 2048 / threads;
    return 0;
}

EXPORT(cuMemAlloc_v2, uint64_t *out, size_t n)
{
    void *at = told("memory") ? NULL : malloc(n);

    *out = (uint64_t)(uintptr_t)at;
    return at ? 0 : 2;
}

EXPORT(cuMemFree_v2, uint64_t at)
{
    free((void *)(uintptr_t)at);
    return 0;
}

EXPORT(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t n)
{
    memcpy((void *)(uintptr_t)to, from, n);
    return 0;
}

EXPORT(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t n)
{
    memcpy(to, (const void *)(uintptr_t)from, n);
    return 0;
}

EXPORT(cuMemsetD8_v2, uint64_t at, unsigned char v, size_t n)
{
    memset((void *)(uintptr_t)at, v, n);
    return 0;
}

EXPORT(cuLaunchKernel, void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
       unsigned by, unsigned bz, unsigned shared, void *stream, void **argument,
       void **extra)
{
    const char *log = getenv("FAKE_CUDA_LOG");
    FILE *fp = log ? fopen(log, "a") : NULL;
    uint64_t first;

    (void)f, (void)stream, (void)extra;
    launches++;
    if (fp) {
        memcpy(&first, argument[0], sizeof(first));
        fprintf(fp, "%u %u %u  %u %u %u  %u  %08x\n", gx, gy, gz, bx, by, bz, shared,
                *(const unsigned *)(uintptr_t)first);
        fclose(fp);
    }
    broken = told("kernel") && launches >= 2;
    return 0;
}

EXPORT(cuEventCreate, void **out, unsigned flags)
{
    (void)flags;
    *out = &at_event[events++ % 2];
    return 0;
}

EXPORT(cuEventDestroy_v2, void *e)
{
    (void)e;
    return 0;
}

EXPORT(cuEventRecord, void *e, void *stream)
{
    (void)stream;
    *(unsigned long *)e = launches;
    return 0;
}

EXPORT(cuEventSynchronize, void *e)
{
    (void)e;
    return broken ? 700 : 0;
}

EXPORT(cuEventElapsedTime, float *ms, void *begin, void *end)
{
    *ms = (float)(*(unsigned long *)end - *(unsigned long *)begin) *
          (told("slow") ? 1000 : 0.01F);
    return 0;
}

EXPORT(cuGetErrorString, int code, const char **out)
{
    *out = code == 700 ? "an illegal memory access was encountered" : "not possible";
    return 0;
}
