/* What bench/torch-ops calls from Python: one operation of the torch engine with
 * operands of its own, in the same process and libtorch as PyTorch's. */
#include <stdio.h>
#include <string.h>

#include "measure/op_job.h"

/* All of them: NULL or negative, and a reason of at most 1000 bytes, on failure. */
FT_API void *torch_ops_open(const char *plugin_dir, const char *options,
                            uint32_t threads, char *why);
FT_API void torch_ops_close(void *session);
FT_API void *torch_ops_make(void *session, const char *spec, uint32_t instances,
                            char *name, char *why);
FT_API double torch_ops_run(void *job, uint64_t times, char *why);
FT_API void torch_ops_free(void *job);

void *torch_ops_open(const char *plugin_dir, const char *options, uint32_t threads,
                     char *why)
{
    ft_session_options opt = {.engine = "torch",
                              .plugin_dir = plugin_dir,
                              .engine_options = options,
                              .threads = threads,
                              .seed = 1};
    ft_session *s = NULL;
    ft_error err = {0};

    if (ft_session_open(&s, &opt, &err))
        snprintf(why, 1000, "%.999s", err.msg);
    return s;
}

void torch_ops_close(void *session)
{
    ft_session_close(session);
}

void *torch_ops_make(void *session, const char *spec, uint32_t instances, char *name,
                     char *why)
{
    ft__op_job *j = NULL;
    const char *found;
    ft_error err = {0};
    ft_op op;

    if (ft_op_parse(&op, spec, strlen(spec), &err) ||
        ft__op_job_make(&j, session, &op, instances, &err)) {
        snprintf(why, 1000, "%.999s", err.msg);
        return NULL;
    }
    found = ft__op_job_get(j).info->implementation;
    snprintf(name, 1000, "%s", found ? found : "");
    return j;
}

double torch_ops_run(void *job, uint64_t times, char *why)
{
    ft__job j = ft__op_job_get(job);
    ft_error err = {0};
    double seconds;

    if (!ft__run_batch(&seconds, &j, 0, times, &err))
        return seconds;
    snprintf(why, 1000, "%.999s", err.msg);
    return -1;
}

void torch_ops_free(void *job)
{
    ft__op_job_free(job);
}
