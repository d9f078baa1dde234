/* A network run as a whole and timed: a graph node by node, activations in one planned
 * arena, random weights; or a model's file by an engine that runs such files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/graph_inside.h"
#include "measure/eager.h"
#include "measure/graph_file.h"
#include "measure/measure_inside.h"
#include "measure/network.h"
#include "measure/values.h"

struct step {
    ft_block *block;
    const void **in;
    void **out;
};

struct ft__network {
    ft_session *session;
    ft_graph *graph; /* lowered */
    ft_plan plan;
    struct step *step; /* per node; block NULL: a view */
    void **pointers;   /* what the steps' in and out point into */
    void **constant;   /* per tensor: memory of a constant operand, or NULL */
    void *arena, *workspace;
    uint64_t weight_bytes, workspace_bytes;
};

void ft__network_free(ft__network *n)
{
    const ft_engine *e;
    ft_engine_context *c;

    if (!n)
        return;
    e = n->session->engine;
    c = n->session->context;
    for (uint32_t i = 0; n->step && i < n->graph->n_nodes; i++)
        if (n->step[i].block)
            e->free_block(n->step[i].block);
    for (uint32_t i = 0; n->constant && i < n->graph->n_tensors; i++)
        if (n->constant[i])
            e->release(c, n->constant[i]);
    if (n->arena)
        e->release(c, n->arena);
    if (n->workspace)
        e->release(c, n->workspace);
    free(n->step);
    free(n->pointers);
    free(n->constant);
    ft_plan_free(&n->plan);
    ft_graph_free(n->graph);
    free(n);
}

static ft_status no_memory(uint64_t bytes, const char *what, ft_error *err)
{
    return ft_fail(err, FT_ENOMEM, 0, "no memory for %s (%.1f MiB)", what,
                   (double)bytes / 1048576.0);
}

/* Memory of tensor i: a constant of its own, or a place in the arena. */
static ft_status place(ft__network *n, uint32_t i, int64_t limit, void **out,
                       ft_error *err)
{
    uint32_t at = n->graph->tensor[i].storage;
    const ft_tensor *t = &n->graph->tensor[at];
    uint64_t bytes = (uint64_t)ft_tensor_bytes(&t->shape, t->dtype);
    ft_session *s = n->session;

    if (t->role != FT_ROLE_WEIGHT) {
        *out = (char *)n->arena + n->plan.offset[at];
        return FT_OK;
    }
    *out = n->constant[at];
    if (*out)
        return FT_OK;
    *out = n->constant[at] = s->engine->alloc(s->context, bytes ? bytes : 1);
    if (!*out)
        return no_memory(bytes, "a constant", err);
    n->weight_bytes += bytes;
    return s->engine->fill(s->context, *out, t->dtype,
                           (uint64_t)ft_shape_elements(&t->shape), limit,
                           ft__tensor_seed(s, t), err);
}

static ft_status prepare_node(ft__network *n, uint32_t i, void ***at, ft_error *err)
{
    const ft_node *node = &n->graph->node[i];
    const ft_op *op = &n->graph->op[node->op];
    struct step *step = &n->step[i];
    ft_session *s = n->session;
    ft_block_info info = {0};
    ft_status st;

    if (op->kind == FT_KIND_view)
        return FT_OK;
    st = s->engine->prepare(s->context, &step->block, &info, op, 1, NULL, 0, err);
    if (st)
        return st;
    n->weight_bytes += info.weight_bytes;
    if (info.workspace_bytes > n->workspace_bytes)
        n->workspace_bytes = info.workspace_bytes;
    step->in = (const void **)*at;
    step->out = *at + node->n_in;
    *at += node->n_in + node->n_out;
    for (uint32_t j = 0; j < node->n_in && !st; j++)
        st =
            place(n, node->in[j], ft__operand_limit(op, j), (void **)&step->in[j], err);
    for (uint32_t j = 0; j < node->n_out && !st; j++)
        st = place(n, node->out[j], 2, &step->out[j], err);
    return st;
}

/* Give the network's inputs values; those that are indices stay in range. */
static ft_status fill_inputs(ft__network *n, ft_error *err)
{
    ft_session *s = n->session;
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < n->graph->n_nodes && !st; i++) {
        const ft_node *node = &n->graph->node[i];
        const ft_op *op = &n->graph->op[node->op];

        for (uint32_t j = 0; j < node->n_in && !st; j++) {
            uint32_t at = n->graph->tensor[node->in[j]].storage;
            const ft_tensor *t = &n->graph->tensor[at];

            if (t->role == FT_ROLE_INPUT)
                st = s->engine->fill(s->context, (char *)n->arena + n->plan.offset[at],
                                     t->dtype, (uint64_t)ft_shape_elements(&t->shape),
                                     ft__operand_limit(op, j), ft__tensor_seed(s, t),
                                     err);
        }
    }
    return st;
}

static ft_status set_up(ft__network *n, const ft_graph *g, uint32_t policy,
                        ft_error *err)
{
    ft_session *s = n->session;
    size_t pointers = 1;
    void **at;
    /* Here operations run one by one. */
    ft_status st =
        ft__graph_lower(&n->graph, g, policy & ~(uint32_t)FT_POLICY_FUSED, err);

    if (!st)
        st = ft_plan_make(&n->plan, n->graph, err);
    if (st)
        return st;
    for (uint32_t i = 0; i < n->graph->n_nodes; i++)
        pointers += n->graph->node[i].n_in + n->graph->node[i].n_out;
    n->step = calloc(n->graph->n_nodes + 1, sizeof(*n->step));
    n->constant = calloc(n->graph->n_tensors + 1, sizeof(*n->constant));
    n->pointers = at = calloc(pointers, sizeof(*n->pointers));
    if (!n->step || !n->constant || !n->pointers)
        return ft_fail(err, FT_ENOMEM, 0, "network");
    n->arena = s->engine->alloc(s->context, n->plan.arena_bytes + 1);
    if (!n->arena)
        return no_memory(n->plan.arena_bytes, "activations", err);
    for (uint32_t i = 0; i < n->graph->n_nodes && !st; i++)
        st = prepare_node(n, i, &at, err);
    if (!st && n->workspace_bytes) {
        n->workspace = s->engine->alloc(s->context, n->workspace_bytes);
        if (!n->workspace)
            st = no_memory(n->workspace_bytes, "the workspace", err);
    }
    return st ? st : fill_inputs(n, err);
}

ft_status ft__network_make(ft__network **out, ft_session *s, const ft_graph *g,
                           uint32_t policy, ft_error *err)
{
    ft__network *n = calloc(1, sizeof(*n));
    ft_status st;

    *out = NULL;
    if (!n)
        return ft_fail(err, FT_ENOMEM, 0, "network");
    n->session = s;
    st = set_up(n, g, policy, err);
    if (st) {
        ft__network_free(n);
        return st;
    }
    *out = n;
    return FT_OK;
}

ft_status ft__network_run(ft__network *n, ft_error *err)
{
    ft_status st = FT_OK;

    for (uint32_t i = 0; i < n->graph->n_nodes && !st; i++) {
        const struct step *step = &n->step[i];

        for (uint64_t r = n->graph->node[i].repeat; step->block && r && !st; r--)
            st = n->session->engine->run(step->block, 0, step->in, step->out,
                                         n->workspace, err);
    }
    return st;
}

const ft_graph *ft__network_graph(const ft__network *n)
{
    return n->graph;
}

void *ft__network_value(const ft__network *n, uint32_t tensor)
{
    uint32_t at = n->graph->tensor[tensor].storage;

    if (n->constant[at])
        return n->constant[at];
    return n->plan.offset[at] == UINT64_MAX ? NULL
                                            : (char *)n->arena + n->plan.offset[at];
}

static ft_status run_pass(void *self, uint64_t iteration, ft_error *err)
{
    (void)iteration;
    return ft__network_run(self, err);
}

/* The calibration operation, measured after a network: beside it, it would count in
 * the peak of the process. NaN when the engine does not run it. */
static double measure_calibration(ft_session *s, const ft_measure_options *opt)
{
    ft_measure_options brief = *opt;
    double value = NAN;
    ft_network_timing t = {0};
    ft__job job;

    brief.min_time_s = 0.1;
    brief.meter = NULL;
    if (ft__calibration_job(&job, s, FT__CALIBRATE_PRODUCTS) &&
        !ft__measure_job(&t, &job, &brief, NULL))
        value = t.time.value;
    ft_network_timing_free(&t);
    return value;
}

static ft_status measure_planned(ft_network_timing *out, ft_session *s,
                                 const ft_graph *g, const ft_measure_options *opt,
                                 ft_error *err)
{
    ft__network *n;
    ft__job job = {.session = s, .run = run_pass};
    ft_status st = ft__network_make(&n, s, g, s->engine->policy, err);

    if (st)
        return st;
    job.self = n;
    st = ft__measure_passes(out, NULL, &job, FT__FIRST_PASS_APART, opt, err);
    out->weight_bytes = n->weight_bytes;
    out->activation_bytes = n->plan.arena_bytes;
    out->workspace_bytes = n->workspace_bytes;
    ft__network_free(n);
    return st;
}

ft_status ft_measure_network(ft_network_timing *out, ft_session *s, const ft_graph *g,
                             const ft_measure_options *opt, ft_error *err)
{
    ft_status st;

    memset(out, 0, sizeof(*out));
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (g->tensor[i].copies > 1)
            return ft_fail(err, FT_EINVAL, 0,
                           "%s: with --dim once its layers are counted and not all "
                           "there: it is for predictions",
                           g->name);
    if (g->mode == FT_MODE_TRAINING && !s->engine->values)
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "%s holds a backward pass, and %s runs forward passes only; "
                       "--engine torch runs both",
                       g->name, s->engine->name);
    out->context_bytes = ft__memory_now().resident;
    st = s->engine->values ? ft__eager_measure(out, s, g, opt, err)
                           : measure_planned(out, s, g, opt, err);
    out->calibration_s = st ? NAN : measure_calibration(s, opt);
    out->time.calibration_s = out->calibration_s;
    return st;
}

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

enum { TEXT, ARCHIVE, ONNX };

/* What an importer takes a file for: an archive of torch.export's, or, where it is no
 * text either, ONNX. */
static int looks_like(const char *path)
{
    unsigned char head[512];
    FILE *fp = fopen(path, "rb");
    size_t n = fp ? fread(head, 1, sizeof(head), fp) : 0;

    if (fp)
        fclose(fp);
    if (n >= 4 && memcmp(head, "PK\3\4", 4) == 0)
        return ARCHIVE;
    for (size_t i = 0; i < n; i++)
        if (head[i] < ' ' && !memchr("\t\n\r", head[i], 3))
            return ONNX;
    return TEXT;
}

int ft_session_runs_whole(const ft_session *s, const char *path)
{
    return s->engine->load_model &&
           looks_like(path) >= (s->engine->loads_graphs ? ARCHIVE : ONNX);
}

/* The engine's block of a model's file, or of the graph that is in it. */
static ft_status load_whole(ft_session *s, ft_block **out, ft_block_info *info,
                            const char *path, const ft_graph *g, ft_error *err)
{
    char file[FT__GRAPH_FILE] = "";
    ft_model_input *inputs = NULL;
    uint32_t n = 0;
    ft_status st = FT_OK;

    *out = NULL;
    if (!s->engine->load_model)
        return ft_fail(err, FT_EUNSUPPORTED, 0, "engine %s does not run models whole",
                       s->engine->name);
    if (s->engine->loads_graphs && looks_like(path) == ARCHIVE)
        st = ft__graph_file_write(file, g, err);
    if (!st)
        st = list_inputs(&inputs, &n, g, err);
    if (!st)
        st = s->engine->load_model(s->context, out, info, *file ? file : path, inputs,
                                   n, err);
    free(inputs);
    if (*file)
        unlink(file);
    return st;
}

ft_status ft_session_prepare_model(ft_session *s, const char *path, const ft_graph *g,
                                   ft_error *err)
{
    ft_block *block;
    ft_block_info info;
    ft_status st = load_whole(s, &block, &info, path, g, err);

    if (!st)
        s->engine->free_block(block);
    return st;
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

ft_status ft_measure_model(ft_network_timing *out, ft_session *s, const char *path,
                           const ft_graph *g, const ft_measure_options *opt,
                           ft_error *err)
{
    struct whole w = {.engine = s->engine};
    ft__job job = {.session = s, .run = run_whole, .self = &w};
    ft_block_info info = {0};
    uint64_t known;
    ft_status st;

    memset(out, 0, sizeof(*out));
    out->context_bytes = ft__memory_now().resident;
    st = load_whole(s, &w.block, &info, path, g, err);
    if (st)
        return st;
    st = ft__measure_passes(out, NULL, &job, FT__FIRST_PASS_COUNTS, opt, err);
    out->weight_bytes = info.weight_bytes;
    /* What the engine holds besides is not known: what the process grew by. */
    known = out->context_bytes + out->weight_bytes;
    if (out->peak_process_bytes > known)
        out->activation_bytes = out->peak_process_bytes - known;
    s->engine->free_block(w.block);
    out->calibration_s = st ? NAN : measure_calibration(s, opt);
    out->time.calibration_s = out->calibration_s;
    return st;
}
