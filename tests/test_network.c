/* Whole networks on a real engine: lowering must not change what they compute. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "import/graph_inside.h"
#include "measure/network.h"

/* Value of logical element i of an fp32 tensor, wherever its layout puts it. */
static float *element(float *data, const ft_tensor *t, int64_t i)
{
    int64_t channels = t->shape.rank > 1 ? t->shape.dim[1] : 1, spatial = 1;

    if (t->layout == FT_LAYOUT_PLAIN || t->shape.rank < 3)
        return data + i;
    for (uint32_t d = 2; d < t->shape.rank; d++)
        spatial *= t->shape.dim[d];
    return data + i / (channels * spatial) * channels * spatial +
           i % spatial * channels + i / spatial % channels;
}

/* Inputs and constant operands: the same values at the same logical places. */
static void fill(ft__network *n)
{
    const ft_graph *g = ft__network_graph(n);

    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const ft_tensor *t = &g->tensor[i];
        float *data = ft__network_value(n, i);
        ft__prng rng = ft__prng_stream(strlen(t->name), 0);

        if (!data || t->role == FT_ROLE_ACTIVATION || t->storage != i ||
            t->dtype != FT_DTYPE_fp32)
            continue;
        for (int64_t k = 0; k < ft_shape_elements(&t->shape); k++)
            *element(data, t, k) = (float)(ft__prng_unit(&rng) - 0.5);
    }
}

/* The first output in logical order; NULL and a failed check when there is none. */
static float *run(ft_session *s, const ft_graph *g, uint32_t policy, int64_t *n_values)
{
    ft__network *n;
    ft_error err = {0};
    float *out = NULL;

    if (ft__network_make(&n, s, g, policy, &err)) {
        fprintf(stderr, "%s: %s\n", g->name, err.msg);
        return NULL;
    }
    fill(n);
    CHECK_EQ(ft__network_run(n, &err), FT_OK);
    CHECK_EQ(s->engine->sync(s->context, &err), FT_OK);
    for (uint32_t i = 0; i < ft__network_graph(n)->n_tensors && !out; i++) {
        const ft_tensor *t = &ft__network_graph(n)->tensor[i];

        if (!t->is_output)
            continue;
        *n_values = ft_shape_elements(&t->shape);
        out = malloc((size_t)*n_values * sizeof(*out));
        for (int64_t k = 0; out && k < *n_values; k++)
            out[k] = *element(ft__network_value(n, i), t, k);
    }
    ft__network_free(n);
    return out;
}

static void both_lowerings_compute_the_same(ft_session *s, const char *root,
                                            const char *name)
{
    char path[4096];
    int64_t n = 0, m = 0;
    double most = 0, worst = 0;
    float *a, *b;
    ft_graph *g;
    ft_error err = {0};

    snprintf(path, sizeof(path), "%s/data/models/%s.onnx", root, name);
    if (ft__import_file(&g, path, NULL, &err)) {
        fprintf(stderr, "%s: %s\n", path, err.msg);
        CHECK(0);
        return;
    }
    a = run(s, g, 0, &n);
    b = run(s, g, FT_POLICY_CHANNELS_LAST, &m);
    CHECK(a && b && EQ(n, m) && CMP(n, >, 0));
    for (int64_t i = 0; a && b && i < n; i++) {
        most = fmax(most, fabs((double)a[i]));
        worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
        CHECK(isfinite(a[i]) && isfinite(b[i]));
    }
    if (!(worst <= 1e-3 * most) || !(most > 0))
        fprintf(stderr, "%s: largest value %g, largest difference %g\n", name, most,
                worst);
    CHECK(CMP(most, >, 0) && CMP(worst, <=, 1e-3 * most));
    free(a);
    free(b);
    ft_graph_free(g);
}

/* usage: test_network SOURCE_ROOT PLUGIN_DIR */
int main(int argc, char **argv)
{
    static const char *const models[] = {"resnet18",        "mobilenet_v2",
                                         "efficientnet_b0", "squeezenet1_1",
                                         "vit_b_16",        "bert-6"};
    ft_session_options how = {.engine = "onednn", .seed = 7};
    ft_session *s;
    ft_error err = {0};

    if (argc < 3)
        return 77;
    how.plugin_dir = argv[2];
    if (ft_session_open(&s, &how, &err)) {
        fprintf(stderr, "skipped: %s\n", err.msg);
        return 77;
    }
    for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++)
        both_lowerings_compute_the_same(s, argv[1], models[i]);
    ft_session_close(s);
    CHECK_DONE();
}
