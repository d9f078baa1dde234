/* A model's file, run whole by an engine that can. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/network.h"

/* Values an input may hold: as many as the smallest table its readers look them
 * up in. */
static int64_t limit_of(const ft_graph *g, uint32_t input)
{
    int64_t least = INT64_MAX;

    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *node = &g->node[i];

        for (uint32_t k = 0; k < node->n_in; k++) {
            int64_t limit;

            if (g->tensor[node->in[k]].storage != input)
                continue;
            limit = ft__operand_limit(&g->op[node->op], k);
            least = limit < least ? limit : least;
        }
    }
    return least == INT64_MAX ? 2 : least;
}

static ft_status list_inputs(ft_model_input **out, uint32_t *n, const ft_graph *g,
                             ft_error *err)
{
    ft_model_input *in = calloc((size_t)g->n_tensors + 1, sizeof(*in));

    *out = in;
    *n = 0;
    if (!in)
        return ft_fail(err, FT_ENOMEM, 0, "the model's inputs");
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const ft_tensor *t = &g->tensor[i];

        if (t->role == FT_ROLE_INPUT && !t->container)
            in[(*n)++] = (ft_model_input){.name = t->name,
                                          .dtype = t->dtype,
                                          .shape = t->shape,
                                          .limit = limit_of(g, i)};
    }
    return FT_OK;
}

/* Neither an archive nor text: the files that an importer takes for ONNX. */
static int looks_like_onnx(const char *path)
{
    unsigned char head[512];
    FILE *fp = fopen(path, "rb");
    size_t n = fp ? fread(head, 1, sizeof(head), fp) : 0;

    if (fp)
        fclose(fp);
    if (n >= 4 && memcmp(head, "PK\3\4", 4) == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (head[i] < ' ' && !memchr("\t\n\r", head[i], 3))
            return 1;
    return 0;
}

int ft_session_runs_whole(const ft_session *s, const char *path)
{
    return s->engine->load_model && looks_like_onnx(path);
}

struct whole {
    const ft_engine *engine;
    ft_block *block;
};

static ft_status run_whole(void *self, uint64_t iteration, ft_error *err)
{
    const struct whole *w = self;

    (void)iteration;
    return w->engine->run(w->block, 0, NULL, NULL, NULL, err);
}

static ft_status measure(ft_network_timing *out, const ft__job *job,
                         const ft_measure_options *opt, ft_error *err)
{
    ft_timing t = {0};
    double first;
    ft_status st;

    /* Loading holds weights several times: that is not the peak of running. */
    ft__return_free_memory();
    (void)ft__reset_peak();
    st = ft__run_batch(&first, job, 0, 1, err);
    if (!st)
        st = ft__measure_job(&t, job, opt, err);
    if (!st)
        ft__network_timing_take(out, &t);
    return st;
}

ft_status ft_measure_model(ft_network_timing *out, ft_session *s, const char *path,
                           const ft_graph *g, const ft_measure_options *opt,
                           ft_error *err)
{
    struct whole w = {.engine = s->engine};
    ft__job job = {.session = s, .run = run_whole, .self = &w};
    ft_block_info info = {0};
    ft_model_input *inputs = NULL;
    uint32_t n = 0;
    uint64_t known;
    ft_status st = FT_OK;

    memset(out, 0, sizeof(*out));
    if (!s->engine->load_model)
        return ft_fail(err, FT_EUNSUPPORTED, 0, "engine %s does not run models whole",
                       s->engine->name);
    out->context_bytes = ft__resident_bytes();
    st = list_inputs(&inputs, &n, g, err);
    if (!st)
        st = s->engine->load_model(s->context, &w.block, &info, path, inputs, n, err);
    free(inputs);
    if (st)
        return st;
    st = measure(out, &job, opt, err);
    out->weight_bytes = info.weight_bytes;
    out->peak_process_bytes = ft__peak_resident_bytes();
    /* Where the engine keeps the rest is not told: what the process grew by. */
    known = out->context_bytes + out->weight_bytes;
    if (out->peak_process_bytes > known)
        out->activation_bytes = out->peak_process_bytes - known;
    s->engine->free_block(w.block);
    out->calibration_s = st ? NAN : ft__network_calibration(s, opt);
    out->time.calibration_s = out->calibration_s;
    return st;
}
