/* Training steps that we derive against those that PyTorch exports: the same
 * convolutions and matrix products in the same shapes, equally often; and FLOPs
 * of layers against torch's own counter (tools/make-joint wrote both). */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "data_dir.h"
#include "onnx_cases.h"
#include "parse_spec.h"
#include "spec_counts.h"

/* Products of PyTorch's that the ONNX file does not hold. */
static const struct {
    const char *model, *spec;
    double flops;
} explained[] = {
    /* The first layer of the position MLPs reads constants only: the exporter
     * computed it, and what is computed has no gradient. */
    {"swin_v2_t", "matmul x=1x512x2 y=1x2x225 dtype=fp32", 2. * 512 * 2 * 225},
    {"swin_v2_t", "matmul x=1x512x225 y=1x225x2 dtype=fp32", 2. * 512 * 2 * 225},
};

static void explain(const char *name, struct list *theirs)
{
    for (size_t i = 0; i < sizeof(explained) / sizeof(*explained); i++)
        for (size_t k = 0; k < theirs->n; k++) {
            if (strcmp(explained[i].model, name) ||
                strcmp(explained[i].spec, theirs->line[k].spec))
                continue;
            theirs->flops -= explained[i].flops * (double)theirs->line[k].count;
            theirs->line[k].count = 0;
        }
}

static ft_graph *training_step(const char *name)
{
    static const char *const folders[] = {"data/models", "tests/data/models"};
    const ft_import_options batch = {.batch = 2};
    const ft_step_options step = {.optimizer = FT_OPTIMIZER_SGD, .loss = FT_LOSS_AUTO};
    ft_graph *g = NULL, *out = NULL;
    ft_error err = {0};
    char path[512];

    for (size_t i = 0; i < 2 && !g; i++) {
        snprintf(path, sizeof(path), "%s/%s/%s.onnx", source_root, folders[i], name);
        ft__import_file(&g, path, &batch, &err);
    }
    if (!g || ft__graph_train(&out, g, &step, &err))
        fprintf(stderr, "%s: %s\n", name, err.msg);
    ft_graph_free(g);
    return out;
}

TEST(products_are_those_of_the_joint_graph)
{
    static struct list ours, theirs;
    char path[512];
    struct dirent *e;
    DIR *dir;
    int n = 0;

    snprintf(path, sizeof(path), "%s/tests/data/joint", source_root);
    dir = opendir(path);
    CHECK(dir != NULL);
    while (dir && (e = readdir(dir)) != NULL) {
        char name[128];
        ft_graph *g;

        if (sscanf(e->d_name, "%127[^.].txt", name) != 1)
            continue;
        snprintf(path, sizeof(path), "%s/tests/data/joint/%.127s.txt", source_root,
                 name);
        g = training_step(name);
        CHECK(g != NULL);
        if (g) {
            read_golden(&theirs, path);
            products_of(&ours, g);
            explain(name, &theirs);
            compare(name, &ours, &theirs);
            CHECK_EQ(g->n_bounded, 0);
            n++;
        }
        ft_graph_free(g);
    }
    CHECK_EQ(n, 22);
    if (dir)
        closedir(dir);
}

/* Norms are folded into convolutions in these files. */
TEST(what_is_trained_are_the_parameters)
{
    char path[512], line[256], name[64];
    double want, trained;
    int n = 0;
    FILE *fp;

    snprintf(path, sizeof(path), "%s/tests/data/costs.txt", source_root);
    fp = fopen(path, "r");
    CHECK(fp != NULL);
    while (fp && fgets(line, sizeof(line), fp)) {
        ft_graph *g;

        if (line[0] == '#' || sscanf(line, "%63s %*f %*f %lf", name, &want) != 2)
            continue;
        g = training_step(name);
        trained = 0;
        for (uint32_t i = 0; g && i < g->n_tensors; i++)
            if (g->tensor[i].trainable)
                trained += (double)ft_shape_elements(&g->tensor[i].shape);
        CHECK_NEAR(trained, want, 0);
        ft_graph_free(g);
        n++;
    }
    CHECK_EQ(n, 8);
    if (fp)
        fclose(fp);
}

static double product_flops(const ft_op *op)
{
    ft_product p[FT_MAX_PRODUCTS];
    double sum = 0;

    for (uint32_t i = 0, n = ft_op_products(op, p); i < n; i++)
        sum += as_torch_counts(&p[i]);
    return sum;
}

TEST(layers_cost_what_torch_counts)
{
    char path[512], text[512], spec[SPEC];
    double forward, backward;
    FILE *fp;
    int n = 0;

    snprintf(path, sizeof(path), "%s/tests/data/flops.txt", source_root);
    fp = fopen(path, "r");
    CHECK(fp != NULL);
    while (fp && fgets(text, sizeof(text), fp)) {
        ft_op op;

        if (sscanf(text, "%lf %lf %255[^\n]", &forward, &backward, spec) != 3)
            continue;
        snprintf(text, sizeof(text), "%s phase=backward", spec);
        op = parse(text);
        CHECK_NEAR(product_flops(&op), backward, 0);
        op.phase = FT_PHASE_FORWARD;
        op.wrt = 0;
        CHECK_NEAR(product_flops(&op), forward, 0);
        n++;
    }
    CHECK_EQ(n, 22);
    if (fp)
        fclose(fp);
}

/* The importer takes it apart into transposes and one matrix product. */
TEST(einsum_costs_what_torch_counts)
{
    char path[512], line[256], equation[64], x[64], y[64], text[512];
    static struct list products;
    double want;
    int n = 0;
    FILE *fp;

    snprintf(path, sizeof(path), "%s/tests/data/einsum.txt", source_root);
    fp = fopen(path, "r");
    CHECK(fp != NULL);
    while (fp && fgets(line, sizeof(line), fp)) {
        ft_error err = {0};
        ft_graph *g;

        if (sscanf(line, "%lf %63s %63s %63s", &want, equation, x, y) != 4)
            continue;
        snprintf(text, sizeof(text),
                 "in x fp32 %s\nin y fp32 %s\nout z\nnode Einsum x,y z equation:%s\n",
                 x, y, equation);
        g = import(text, NULL, &err);
        if (!g)
            fprintf(stderr, "%s: %s\n", equation, err.msg);
        CHECK(g != NULL);
        if (g)
            products_of(&products, g);
        CHECK_NEAR(products.flops, want, 0);
        CHECK_EQ(products.n, 1);
        ft_graph_free(g);
        n++;
    }
    CHECK_EQ(n, 6);
    if (fp)
        fclose(fp);
}
