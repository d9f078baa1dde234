/* Networks on an engine that holds values: a training step changes every weight by
 * its gradient.
 *
 * usage: test_eager SOURCE_ROOT PLUGIN_DIR ENGINE, with the engine's options in
 * FT_TEST_OPTIONS */
#include <stdlib.h>

#include "check.h"
#include "graph/graph_inside.h"
#include "import/graph_inside.h"
#include "measure/eager_inside.h"
#include "measure/session.h"

static const double rate = 1e-3; /* of SGD */

static float *contents(ft__eager *e, const ft_graph *g, uint32_t tensor)
{
    const ft_tensor *t = &g->tensor[tensor];
    float *v = malloc((size_t)ft_tensor_bytes(&t->shape, t->dtype) + 1);
    ft_error err = {0};

    if (!v || !e->cell[tensor] ||
        e->session->engine->values->read(e->session->context, v, e->cell[tensor],
                                         &err)) {
        fprintf(stderr, "%s: %s\n", t->name, err.msg);
        CHECK(0);
        free(v);
        return NULL;
    }
    return v;
}

/* Of an optimizer's node: |new - (old - rate gradient)| against the largest change. */
static void check_weight(ft__eager *e, const ft_graph *g, const ft_node *n,
                         const float *old)
{
    int64_t count = ft_shape_elements(&g->tensor[n->in[0]].shape);
    float *new = contents(e, g, n->in[0]), *gradient = contents(e, g, n->in[1]);
    double worst = 0, most = 0;

    for (int64_t i = 0; new &&gradient &&i < count; i++) {
        double change = rate * (double)gradient[i];

        worst = fmax(worst, fabs((double)new[i] - ((double)old[i] - change)));
        most = fmax(most, fabs(change));
        CHECK(isfinite(new[i]));
    }
    if (!(most > 0 && worst <= 1e-6))
        fprintf(stderr, "%s: changed by %g, off by %g\n", n->name, most, worst);
    CHECK(CMP(most, >, 0) && CMP(worst, <=, 1e-6));
    free(new);
    free(gradient);
}

static uint64_t check_step(ft__eager *e, const ft_graph *g)
{
    uint32_t n = g->n_nodes;
    float **old = calloc(n + 1u, sizeof(*old));
    uint64_t bytes = 0;
    ft_error err = {0};

    for (uint32_t i = 0; i < n; i++)
        if (g->node[i].phase == FT_PHASE_OPTIMIZER)
            old[i] = contents(e, g, g->node[i].in[0]);
    CHECK_EQ(ft__eager_run(e, &err), FT_OK);
    for (uint32_t i = 0; i < n; i++) {
        const ft_node *node = &g->node[i];

        if (!old[i])
            continue;
        check_weight(e, g, node, old[i]);
        bytes +=
            (uint64_t)ft_tensor_bytes(&g->tensor[node->in[0]].shape, FT_DTYPE_fp32);
        free(old[i]);
    }
    free(old);
    return bytes;
}

/* name: a file below root. */
static void a_step_changes_every_weight_by_its_gradient(ft_session *s, const char *root,
                                                        const char *name)
{
    const ft_step_options how = {.optimizer = FT_OPTIMIZER_SGD};
    ft_graph *g = NULL, *step = NULL;
    ft__eager *e = NULL;
    char path[4096];
    ft_error err = {0};
    ft_status st;

    snprintf(path, sizeof(path), "%s/%s", root, name);
    st = ft__import_file(&g, path, NULL, &err);
    if (!st)
        st = ft__graph_train(&step, g, &how, &err);
    if (!st)
        st = ft__eager_make(&e, s, step, &err);
    if (st)
        fprintf(stderr, "%s: %s\n", name, err.msg);
    CHECK_EQ(st, FT_OK);
    for (int i = 0; e && i < 2; i++)
        CHECK(CMP(check_step(e, step), <=, e->bytes.gradients));
    CHECK(!e || CMP(e->bytes.activations, >, 0));
    ft__eager_free(e);
    ft_graph_free(step);
    ft_graph_free(g);
}

int main(int argc, char **argv)
{
    /* A joint graph reads weights of linear layers the other way round. */
    static const char *const models[] = {
        "data/models/squeezenet1_1.onnx", "data/models/mobilenet_v2.onnx",
        "tests/data/pt2/convnet.joint.pt2", "tests/data/pt2/resnet18.joint.pt2"};
    ft_session_options how = {.seed = 7, .engine_options = getenv("FT_TEST_OPTIONS")};
    ft_session *s;
    ft_error err = {0};

    if (argc < 4)
        return 77;
    how.plugin_dir = argv[2];
    how.engine = argv[3];
    if (ft_session_open(&s, &how, &err)) {
        fprintf(stderr, "skipped: %s\n", err.msg);
        return 77;
    }
    for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++)
        a_step_changes_every_weight_by_its_gradient(s, argv[1], models[i]);
    ft_session_close(s);
    CHECK_DONE();
}
