/* Answers in time and by module: sums are the answer's, memory has its peak, paths are
 * those of the model's file. */
#include "foretell/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "data_dir.h"
#include "graph/build.h"
#include "graph/op_inside.h"

static char model[4200];
static ft_data *data;

static ft_query about(const char *file, const char *device, const char *mode)
{
    ft_query q = FT_QUERY_INIT;

    snprintf(model, sizeof(model), "%s/models/%s", data_dir, file);
    q.model = model;
    q.device = device;
    q.mode = mode;
    return q;
}

static ft_answer *ask(const ft_query *q)
{
    ft_answer *a = NULL;

    CHECK(!ft_query_ask(&a, data, q, NULL));
    return a;
}

static ft_timeline *timeline(const ft_answer *a)
{
    ft_timeline *t = NULL;

    CHECK(!ft_timeline_make(&t, a->graph, a, NULL));
    return t;
}

static const ft_module *module(const ft_timeline *t, const char *path)
{
    for (uint32_t i = 0; i < t->n_modules; i++)
        if (strcmp(t->module[i].path, path) == 0)
            return &t->module[i];
    CHECK(SAME(path, "a module's"));
    return &t->module[0];
}

/* Operations and gaps are the answer's time and energy, whoever sets the pace. */
TEST(sums_are_the_answers)
{
    const struct {
        const char *file, *device, *mode, *run_mode;
    } asked[] = {{"resnet50.pt2", "a30", "training", NULL},
                 {"resnet18.onnx", "h100", "inference", NULL},
                 {"mobilenet_v2.onnx", "h100", "inference", "graph"},
                 {"bert-6.onnx", "t4", "training", NULL}};

    for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
        ft_query q = about(asked[i].file, asked[i].device, asked[i].mode);
        double end = 0, busy = 0, joules = 0, most = 0;
        ft_timeline *t;
        ft_answer *a;

        q.run_mode = asked[i].run_mode;
        a = ask(&q);
        t = timeline(a);
        for (uint32_t k = 0; k < t->n_runs; k++) {
            double alive = 0;

            CHECK(CMP(t->run[k].begin_s, >=, end * (1 - 1e-12)));
            CHECK(isnan(t->run[k].issued_s) ||
                  CMP(t->run[k].issued_s, <=, t->run[k].begin_s));
            end = t->run[k].begin_s + t->run[k].time_s;
            busy += t->run[k].time_s;
            if (t->run[k].time_s > 0)
                joules += t->run[k].power_w * t->run[k].time_s;
            for (int p = 0; p < FT_PART_COUNT; p++)
                alive += t->run[k].bytes[p];
            most = fmax(most, alive);
        }
        CHECK_NEAR(end / a->time.value, 1, 1e-6);
        if (a->time.value > busy * (1 + 1e-6))
            joules += t->idle_w * (a->time.value - busy);
        CHECK_NEAR(joules / a->energy.value, 1, 1e-6);
        CHECK_NEAR((most + a->context_bytes) / a->memory.value, 1, 1e-9);
        if (a->busy_s > 0)
            CHECK_NEAR(busy / a->busy_s, 1, 1e-6);
        CHECK_NEAR(module(t, "")->peak_bytes / most, 1, 1e-12);
        ft_timeline_free(t);
        ft_answer_free(a);
    }
}

/* ResNet-50 has 25,557,032 parameters, its first block 75,008 in convolutions and
 * norms (64x64 + 64x64x9 + 64x256 + 64x256, and 2 each of 64 + 64 + 256 + 256), 53,120
 * statistics of norms beside them all. */
TEST(modules_are_those_of_the_file)
{
    static const char *const file[] = {"resnet50.pt2", "resnet18.onnx"};

    for (int i = 0; i < 2; i++) {
        ft_query q = about(file[i], "a30", "training");
        ft_answer *a = ask(&q);
        ft_timeline *t = timeline(a);
        const ft_module *all = module(t, ""), *block = module(t, "layer1.0");
        double inside = 0;
        uint64_t ops = 0;

        CHECK_EQ(all->depth, 0);
        CHECK_EQ(all->parent, FT_NONE);
        CHECK_EQ(block->depth, 2);
        CHECK(SAME(block->name, "0"));
        CHECK(SAME(t->module[block->parent].path, "layer1"));
        CHECK(SAME(module(t, "layer1.0.conv1")->name, "conv1"));
        for (uint32_t k = 0; k < t->n_modules; k++) {
            if (t->module[k].parent == 0)
                inside += t->module[k].time.value;
            /* Behind its parent, and so are those between. */
            for (uint32_t p = k; k && p > t->module[k].parent; p--)
                CHECK(CMP(t->module[p].depth, >=, t->module[k].depth));
        }
        for (uint32_t k = 0; k < t->n_runs; k++)
            ops += a->graph->node[k].repeat;
        CHECK_EQ(all->n_ops, ops);
        /* Nearly all of a training step is of some module: its backward pass and the
         * updates of its weights too. */
        CHECK(CMP(inside, >, 0.97 * all->time.value));
        CHECK(CMP(all->time.low, <, all->time.value) &&
              CMP(all->time.value, <, all->time.high));
        CHECK(CMP(all->energy.value, <=, a->energy.value * 1.001));
        if (i == 0)
            CHECK_NEAR(all->parameters, 25557032 + 53120, 0);
        if (i == 0)
            CHECK_NEAR(block->parameters, 73728 + 2 * 640 + 2 * 640, 0);
        ft_timeline_free(t);
        ft_answer_free(a);
    }
}

/* A graph of one relu a name, or scope and name joined by '|'. */
static ft_graph *named(const char *const *name, size_t n)
{
    const ft_shape shape = {2, {1, 8}};
    ft__build *b = ft__build_new("network");
    uint32_t x = ft__build_tensor(b, "x", 1, FT_ROLE_INPUT, FT_DTYPE_fp32, &shape);
    ft_graph *g = NULL;
    ft_op op;

    ft__op_init(&op, FT_KIND_relu, FT_DTYPE_fp32);
    ft__op_set(&op, FT_K_x, shape.dim, 2);
    for (size_t i = 0; i < n; i++) {
        const char *bar = strchr(name[i], '|');
        const char *last = bar ? bar + 1 : name[i];
        uint32_t y = ft__build_tensor(b, last, (uint32_t)strlen(last),
                                      FT_ROLE_ACTIVATION, FT_DTYPE_fp32, &shape);

        ft__build_scope(b, name[i], bar ? (size_t)(bar - name[i]) : 0);
        ft__build_node(b, last, strlen(last), &op, &x, 1, NULL, 0, &y, 1);
        x = y;
    }
    CHECK(!ft__build_finish_take(&g, b, NULL));
    return g;
}

TEST(paths_come_from_scopes_and_names)
{
    static const char *const name[] = {"layer1/layer1.0/layer1.0.conv1@1|conv2d",
                                       "layer1.0.conv2/Conv",
                                       "/layer1/layer1.0/conv3/Conv",
                                       "Conv_3",
                                       "layer10/Conv",
                                       "//..///odd/",
                                       "|conv2d"};
    static const char *const path[] = {
        "layer1.0.conv1", "layer1.0.conv2", "layer1.0.conv3", "",
        "layer10",        "...odd",         "layer1.0.conv1"};
    ft_graph *g = named(name, 7);
    ft_timeline *t = NULL;

    CHECK(!ft_timeline_make(&t, g, NULL, NULL));
    for (uint32_t i = 0; i < t->n_runs; i++)
        CHECK(SAME(t->module[t->run[i].module].path, path[i]));
    for (uint32_t i = 1; i < t->n_modules; i++)
        CHECK(*t->module[i].path);
    ft_timeline_free(t);
    ft_graph_free(g);
}

/* Deep paths end in one long name; without an answer there is no time. */
TEST(names_may_be_anything)
{
    char deep[4000];
    const char *const name[] = {deep};
    ft_timeline *t = NULL;
    ft_graph *g;

    for (size_t i = 0; i < sizeof(deep); i++)
        deep[i] = i % 2 ? '.' : 'a';
    memcpy(deep + sizeof(deep) - 3, "/b", 3);
    g = named(name, 1);
    CHECK(!ft_timeline_make(&t, g, NULL, NULL));
    CHECK_EQ(t->n_modules, FT_MAX_MODULE_DEPTH + 1);
    CHECK_EQ(t->module[t->run[0].module].depth, FT_MAX_MODULE_DEPTH);
    CHECK_EQ(strlen(t->module[t->run[0].module].path), sizeof(deep) - 3);
    CHECK(isnan(t->time_s) && isnan(t->run[0].begin_s));
    CHECK_EQ(t->module[0].time.basis, FT_BASIS_UNAVAILABLE);
    CHECK_NEAR(t->module[0].peak_bytes, 2 * 8 * 4, 0);
    ft_timeline_free(t);
    ft_timeline_free(NULL);
    ft_graph_free(g);
}

TEST(what_has_no_operations_is_refused)
{
    ft_query q = about("resnet18.onnx", "a30", "inference");
    ft_timeline *t = NULL;
    ft_error err = {0};
    ft_answer *a;

    q.totals = 1;
    a = ask(&q);
    CHECK_EQ(ft_timeline_make(&t, a->graph, a, &err), FT_EINVAL);
    CHECK(!t && *err.msg);
    CHECK_EQ(ft_answer_trace(a, "/dev/null", &err), FT_EINVAL);
    ft_answer_free(a);
    q.totals = 0;
    a = ask(&q);
    CHECK_EQ(ft_answer_trace(a, "no such folder/t.json", &err), FT_EIO);
    ft_answer_free(a);
}

int main(int argc, char **argv)
{
    take_folder(argc, argv);
    CHECK(!ft_data_open(&data, data_dir, NULL, NULL));
    check_all();
    ft_data_close(data);
    CHECK_DONE();
}
