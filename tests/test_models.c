/* The models in the tree against what others say about them: the shapes that
 * onnx infers, the multiply-accumulates and parameters that torch counts. */
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "data_dir.h"
#include "files.h"
#include "foretell/graph.h"
#include "import/graph_inside.h"
#include "import/onnx/pb.h"

enum { MAX_NAMES = 8192 };

/* Names of values that need not be in our graph: what is constant, and what lies
 * inside a chain that is one operation here. Found without the importer. */
struct names {
    ft__bytes name[MAX_NAMES];
    size_t n;
};

static bool has(const struct names *l, const char *s, size_t n)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->name[i].n == n && memcmp(l->name[i].p, s, n) == 0)
            return true;
    return false;
}

static void add(struct names *l, ft__bytes b)
{
    CHECK(CMP(l->n, <, MAX_NAMES));
    if (l->n < MAX_NAMES)
        l->name[l->n++] = b;
}

static bool same(ft__bytes b, const char *s)
{
    return b.n == strlen(s) && memcmp(b.p, s, b.n) == 0;
}

static void look_at_node(ft__pb_doc *doc, ft__bytes node, struct names *constant,
                         struct names *inside)
{
    bool all = true, shape = false, chain = false;

    for (ft__onnx_pb f = ft__pb_open(doc, node); ft__pb_next(&f);) {
        if (f.field == 1 && !has(constant, (const char *)f.bytes.p, f.bytes.n))
            all = false;
        if (f.field == 4) {
            shape = same(f.bytes, "Shape");
            chain = same(f.bytes, "MatMul") || same(f.bytes, "Sigmoid");
        }
    }
    for (ft__onnx_pb f = ft__pb_open(doc, node); ft__pb_next(&f);)
        if (f.field == 2 && (all || shape || chain))
            add(all || shape ? constant : inside, f.bytes);
}

static void look_at_file(ft__pb_doc *doc, struct names *constant, struct names *inside)
{
    ft__bytes graph = {0};

    for (ft__onnx_pb f = ft__pb_open(doc, (ft__bytes){doc->base, doc->len});
         ft__pb_next(&f);)
        if (f.field == 7)
            graph = f.bytes;
    add(constant, (ft__bytes){doc->base, 0});
    for (ft__onnx_pb f = ft__pb_open(doc, graph); ft__pb_next(&f);)
        if (f.field == 5)
            for (ft__onnx_pb t = ft__pb_open(doc, f.bytes); ft__pb_next(&t);)
                if (t.field == 8)
                    add(constant, t.bytes);
    for (ft__onnx_pb f = ft__pb_open(doc, graph); ft__pb_next(&f);)
        if (f.field == 1)
            look_at_node(doc, f.bytes, constant, inside);
}

/* A model lies with the examples or with the tests. */
static uint8_t *read_model(const char *name, size_t *len)
{
    static const char *const folders[] = {"data/models", "tests/data/models"};
    char path[512];
    uint8_t *p = NULL;

    for (size_t i = 0; i < 2 && !p; i++) {
        snprintf(path, sizeof(path), "%s/%s/%s.onnx", source_root, folders[i], name);
        p = read_bytes(path, len);
    }
    return p;
}

static const ft_tensor *find_tensor(const ft_graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (strcmp(g->tensor[i].name, name) == 0)
            return &g->tensor[i];
    return NULL;
}

static bool fits(const ft_tensor *t, const char *dtype, const char *dims)
{
    char text[160] = "scalar";
    size_t at = 0;

    for (uint32_t i = 0; i < t->shape.rank; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%lld", i ? "x" : "",
                               (long long)t->shape.dim[i]);
    return strcmp(text, dims) == 0 && strcmp(ft_dtype_name(t->dtype), dtype) == 0;
}

static void compare_shapes(const ft_graph *g, FILE *golden, const char *model,
                           const struct names *constant, const struct names *inside)
{
    char line[1024], name[512], dtype[32], dims[160];
    size_t wanted = 0, found = 0;

    while (fgets(line, sizeof(line), golden)) {
        const ft_tensor *t;

        if (sscanf(line, "%511s %31s %159s", name, dtype, dims) != 3)
            continue;
        t = find_tensor(g, name);
        if (t && !fits(t, dtype, dims))
            fprintf(stderr, "%s: %s is not %s %s\n", model, name, dtype, dims);
        CHECK(!t || fits(t, dtype, dims));
        if (has(constant, name, strlen(name)) || has(inside, name, strlen(name)))
            continue;
        wanted++;
        found += t != NULL;
    }
    if (found * 100 < wanted * 95 || wanted < 10)
        fprintf(stderr, "%s: %zu of %zu values found\n", model, found, wanted);
    CHECK(CMP(wanted, >=, 10) && CMP(found * 100, >=, wanted * 95));
}

static void specs_read_back(const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const ft_op *op = &g->op[i];
        char spec[2048];
        size_t n = ft_op_print(op, spec, sizeof(spec));
        ft_error err = {0};
        ft_op back;

        CHECK(CMP(n, <, sizeof(spec)) && EQ(ft_op_parse(&back, spec, n, &err), FT_OK) &&
              ft_op_equal(op, &back));
    }
}

static void check_model(const char *name, FILE *golden)
{
    static struct names constant, inside;
    const ft_import_options opt = {.batch = 2};
    size_t len = 0;
    uint8_t *data = read_model(name, &len);
    ft__pb_doc doc = {.base = data, .len = len};
    ft_graph *g = NULL;
    ft_error err = {0};

    constant.n = inside.n = 0;
    CHECK(data != NULL);
    if (!data)
        return;
    if (ft__onnx_import(&g, data, len, name, &opt, &err))
        fprintf(stderr, "%s\n", err.msg);
    CHECK(g != NULL);
    if (g) {
        look_at_file(&doc, &constant, &inside);
        CHECK(!doc.bad && EQ(g->n_bounded, 0));
        compare_shapes(g, golden, name, &constant, &inside);
        specs_read_back(g);
    }
    ft_graph_free(g);
    free(data);
}

TEST(every_value_has_the_shape_that_onnx_infers)
{
    char path[512];
    struct dirent *e;
    DIR *dir;
    int n = 0;

    snprintf(path, sizeof(path), "%s/tests/data/shapes", source_root);
    dir = opendir(path);
    CHECK(dir != NULL);
    while (dir && (e = readdir(dir)) != NULL) {
        char name[256];
        FILE *fp;

        if (sscanf(e->d_name, "%200[^.].txt", name) != 1)
            continue;
        snprintf(path, sizeof(path), "%s/tests/data/shapes/%.200s.txt", source_root,
                 name);
        fp = fopen(path, "r");
        CHECK(fp != NULL);
        if (!fp)
            continue;
        check_model(name, fp);
        fclose(fp);
        n++;
    }
    CHECK_EQ(n, 22);
    if (dir)
        closedir(dir);
}

/* Multiply-accumulates of convolutions and matrix products, biases left out. */
static double macs(const ft_graph *g)
{
    double sum = 0;

    for (uint32_t i = 0; i < g->n_ops; i++) {
        const ft_op *op = &g->op[i];
        ft_class cls = ft_kind_class(op->kind);
        ft_cost cost;
        ft_shape out;
        ft_dtype t;

        if (cls != FT_CLASS_CONV && cls != FT_CLASS_MATMUL)
            continue;
        ft_op_cost(op, &cost);
        ft_op_output(op, 0, &out, &t);
        sum += (double)g->op_count[i] *
               (cost.flops -
                (double)(ft_op_at(op, FT_K_bias, 0) * ft_shape_elements(&out))) /
               2;
    }
    return sum;
}

/* Floating weights but for single numbers: torch has those in the code. */
static double parameters(const ft_graph *g)
{
    double sum = 0;

    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const ft_tensor *t = &g->tensor[i];

        if (t->role == FT_ROLE_WEIGHT && t->storage == i && t->dtype == FT_DTYPE_fp32 &&
            ft_shape_elements(&t->shape) > 1)
            sum += (double)ft_shape_elements(&t->shape);
    }
    return sum;
}

TEST(costs_are_what_torch_counts)
{
    char path[512], line[256], name[64];
    double want_macs, want_params, folded;
    FILE *fp;
    int n = 0;

    snprintf(path, sizeof(path), "%s/tests/data/costs.txt", source_root);
    fp = fopen(path, "r");
    CHECK(fp != NULL);
    while (fp && fgets(line, sizeof(line), fp)) {
        size_t len = 0;
        uint8_t *data;
        ft_graph *g = NULL;

        if (line[0] == '#' || sscanf(line, "%63s %lf %lf %lf", name, &want_macs,
                                     &want_params, &folded) != 4)
            continue;
        data = read_model(name, &len);
        CHECK(data && EQ(ft__onnx_import(&g, data, len, name, NULL, NULL), FT_OK));
        if (g) {
            CHECK_NEAR(macs(g), want_macs, 0);
            CHECK_NEAR(parameters(g), folded, 0);
        }
        ft_graph_free(g);
        free(data);
        n++;
    }
    CHECK_EQ(n, 8);
    if (fp)
        fclose(fp);
}
