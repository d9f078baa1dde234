#ifndef OPENCL_CL_H
#define OPENCL_CL_H

#include <stddef.h>
#include <stdint.h>

/* What this engine uses of OpenCL 1.2, declared here so that building it needs no
 * headers and one plug-in serves every implementation. */

typedef struct cl_platform *cl_platform;
typedef struct cl_device *cl_device;
typedef struct cl_context *cl_context;
typedef struct cl_queue *cl_queue;
typedef struct cl_memory *cl_memory;
typedef struct cl_program *cl_program;
typedef struct cl_kernel *cl_kernel;
typedef struct cl_event *cl_event;

enum {
    CL_OUT_OF_MEMORY = -4, /* CL_MEM_OBJECT_ALLOCATION_FAILURE */
    CL_OUT_OF_RESOURCES = -5,
    CL_OUT_OF_HOST_MEMORY = -6,
    CL_INVALID_BUFFER_SIZE = -61,
    CL_TYPE_CPU = 1 << 1,
    CL_TYPE_GPU = 1 << 2,
    CL_LOCAL = 1,
    CL_DEVICE_TYPE = 0x1000,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    CL_DEVICE_MAX_CLOCK_FREQUENCY = 0x100C, /* MHz */
    CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    CL_DEVICE_LOCAL_MEM_TYPE = 0x1022,
    CL_DEVICE_NAME = 0x102B,
    CL_DRIVER_VERSION = 0x102D,
    CL_DEVICE_EXTENSIONS = 0x1030,
    CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT = 0x103A,
    CL_DEVICE_PARTITION_BY_COUNTS = 0x1087,
    CL_QUEUE_PROFILING_ENABLE = 1 << 1,
    CL_MEM_READ_WRITE = 1 << 0,
    CL_MEM_READ_ONLY_COPY = 1 << 2 | 1 << 5,
    CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
    CL_PROFILING_COMMAND_START = 0x1282,
    CL_PROFILING_COMMAND_END = 0x1283,
};

#define CL_TYPE_ALL UINT64_C(0xFFFFFFFF)

/* CL_FUNCTION(result, name, parameters) */
#define CL_FUNCTIONS                                                                   \
    CL_FUNCTION(int, clGetPlatformIDs, (uint32_t, cl_platform *, uint32_t *))          \
    CL_FUNCTION(int, clGetDeviceIDs,                                                   \
                (cl_platform, uint64_t, uint32_t, cl_device *, uint32_t *))            \
    CL_FUNCTION(int, clGetDeviceInfo, (cl_device, uint32_t, size_t, void *, size_t *)) \
    CL_FUNCTION(int, clCreateSubDevices,                                               \
                (cl_device, const intptr_t *, uint32_t, cl_device *, uint32_t *))      \
    CL_FUNCTION(                                                                       \
        cl_context, clCreateContext,                                                   \
        (const intptr_t *, uint32_t, const cl_device *, void *, void *, int *))        \
    CL_FUNCTION(int, clReleaseContext, (cl_context))                                   \
    CL_FUNCTION(cl_queue, clCreateCommandQueue,                                        \
                (cl_context, cl_device, uint64_t, int *))                              \
    CL_FUNCTION(int, clReleaseCommandQueue, (cl_queue))                                \
    CL_FUNCTION(int, clFinish, (cl_queue))                                             \
    CL_FUNCTION(cl_memory, clCreateBuffer,                                             \
                (cl_context, uint64_t, size_t, void *, int *))                         \
    CL_FUNCTION(int, clReleaseMemObject, (cl_memory))                                  \
    CL_FUNCTION(int, clEnqueueReadBuffer,                                              \
                (cl_queue, cl_memory, uint32_t, size_t, size_t, void *, uint32_t,      \
                 const cl_event *, cl_event *))                                        \
    CL_FUNCTION(int, clEnqueueWriteBuffer,                                             \
                (cl_queue, cl_memory, uint32_t, size_t, size_t, const void *,          \
                 uint32_t, const cl_event *, cl_event *))                              \
    CL_FUNCTION(cl_program, clCreateProgramWithSource,                                 \
                (cl_context, uint32_t, const char **, const size_t *, int *))          \
    CL_FUNCTION(                                                                       \
        int, clBuildProgram,                                                           \
        (cl_program, uint32_t, const cl_device *, const char *, void *, void *))       \
    CL_FUNCTION(int, clGetProgramBuildInfo,                                            \
                (cl_program, cl_device, uint32_t, size_t, void *, size_t *))           \
    CL_FUNCTION(int, clReleaseProgram, (cl_program))                                   \
    CL_FUNCTION(cl_kernel, clCreateKernel, (cl_program, const char *, int *))          \
    CL_FUNCTION(int, clReleaseKernel, (cl_kernel))                                     \
    CL_FUNCTION(int, clSetKernelArg, (cl_kernel, uint32_t, size_t, const void *))      \
    CL_FUNCTION(int, clGetKernelWorkGroupInfo,                                         \
                (cl_kernel, cl_device, uint32_t, size_t, void *, size_t *))            \
    CL_FUNCTION(int, clEnqueueNDRangeKernel,                                           \
                (cl_queue, cl_kernel, uint32_t, const size_t *, const size_t *,        \
                 const size_t *, uint32_t, const cl_event *, cl_event *))              \
    CL_FUNCTION(int, clGetEventProfilingInfo,                                          \
                (cl_event, uint32_t, size_t, void *, size_t *))                        \
    CL_FUNCTION(int, clReleaseEvent, (cl_event))

typedef struct ft__cl {
#define CL_FUNCTION(result, name, parameters) result(*name) parameters;
    CL_FUNCTIONS
#undef CL_FUNCTION
} ft__cl;

#endif
