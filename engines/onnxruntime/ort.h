#ifndef ORT_ORT_H
#define ORT_ORT_H

#include <onnxruntime_c_api.h>

#include "block.h"

/* What the files of this plug-in share. */

struct ft_engine_context {
    const OrtApi *api;
    OrtEnv *env;
    OrtMemoryInfo *cpu;
    uint32_t threads;
    uint64_t seed;
    bool cuda;
};

/* Load the library: at `path`, or, where that is "", from where the system keeps
 * libraries. Fills in *api; the library stays until the process ends. */
ft_status ft__ort_load(const OrtApi **api, const char *path, ft_error *err);
/* "1.31.1", of the library loaded last; "" before. */
const char *ft__ort_version(void);

/* FT_OK, or what the runtime said; releases the status. */
ft_status ft__ort_check(const OrtApi *api, OrtStatus *s, ft_error *err);
/* The same for what was prepared without complaint: it broke, it was not refused. */
ft_status ft__ort_ran(const OrtApi *api, OrtStatus *s, ft_error *err);

/* Options of a session as deployed: all graph optimisations, the context's threads,
 * waiting threads asleep. The caller releases. */
ft_status ft__ort_options(const ft_engine_context *c, OrtSessionOptions **out,
                          ft_error *err);

/* ONNX's number of a dtype. */
int64_t ft__ort_number(ft_dtype t);

#endif
