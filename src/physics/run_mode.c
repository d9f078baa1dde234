/* Which datasets were measured as CUDA graphs. */
#include "physics/run_mode.h"

#include <string.h>

#include "base/pairs.h"

/* Engines whose published measurements replay CUDA graphs (docs/data.md). */
static const char *const graph_engines[] = {"trtllm", "vllm", "sglang", "aiter"};

bool ft__is_graph_mode(const char *setting)
{
    size_t len = 0;
    const char *mode = ft__pair(setting, "run_mode", &len);

    return mode && len == 5 && memcmp(mode, "graph", len) == 0;
}

void ft__add_run_mode(ft__buf *out, const char *setting, const char *engine)
{
    size_t len;

    ft__buf_str(out, setting);
    if (ft__pair(setting, "run_mode", &len))
        return;
    for (size_t i = 0; i < sizeof(graph_engines) / sizeof(*graph_engines); i++)
        if (strcmp(engine, graph_engines[i]) == 0)
            ft__buf_fmt(out, "%srun_mode=graph", *setting ? " " : "");
}
