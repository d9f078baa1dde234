/* Let the 1st, 2nd, 3rd ... allocation fail until the call succeeds: every failure must
 * come back as FT_ENOMEM and leak nothing (run under ASan). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "explore/exploration.h"
#include "foretell/exploration.h"
#include "graph/graph_inside.h"
#include "predict/query/op_costs.h"
#include "query/place.h"
#include "refuse.h"

static ft_device *v100, *l4;
static ft_predictor *family;
static ft_graph *net;

static ft_status many_of(const ft_predictor *p)
{
    const char *const setting[] = {"clock=900MHz", "clock=500MHz power=100W", ""};
    const ft__device_use on = {.device = v100};
    ft_brief out[3];

    return ft__predict_network_many(out, p, &on, setting, 3, net, NULL);
}

static ft_status lists(void)
{
    static const char one[] =
        "relu x=8x8 dtype=fp32\nlinear x=4x8 out=4 dtype=fp32 *2\n",
                      two[] = "relu x=8x8 dtype=fp32 *3\nrelo\n";
    const ft__device_use on = {.device = l4};
    ft__listed list[] = {{.text = one, .len = sizeof(one) - 1},
                         {.text = two, .len = sizeof(two) - 1}};
    ft__op_costs *x = NULL;
    ft_status st = ft__op_costs_new(&x, family, &on, NULL);

    if (!st)
        st = ft__op_costs_of_lists(x, list, 2, NULL);
    ft__op_costs_free(x);
    return st;
}

static ft_status split(void)
{
    const ft__place_device device[] = {
        {.predictor = family,
         .use = {.device = v100},
         .limit_bytes = NAN,
         .link_bytes_per_s = 1e10},
        {.use = {.device = l4}, .limit_bytes = NAN, .link_bytes_per_s = 1e10}};
    ft_split s;

    return ft__place_split(&s, NULL, device, 2, net, FT_PLACE_BY_TIME, NULL);
}

static ft_status assign(void)
{
    static const double time_s[] = {1, 2, 2, 1, 3, 1};
    const ft_assign_case c = {
        .networks = 3, .devices = 2, .time_s = time_s, .limit_s = INFINITY};
    ft_assignment a;
    ft_status st = ft_place_assign(&a, &c, FT_PLACE_BY_TIME, NULL);

    ft_assignment_free(&a);
    return st;
}

static ft_status cast(void)
{
    ft_graph *g = NULL;
    ft_status st = ft__graph_cast(&g, net, FT_DTYPE_fp16, NULL);

    CHECK_EQ((st == FT_OK), (g != NULL));
    ft_graph_free(g);
    return st;
}

static ft_status mixed(void)
{
    ft_graph *g = NULL;
    ft_status st = ft__graph_amp(&g, net, FT_DTYPE_bf16, NULL);

    CHECK_EQ((st == FT_OK), (g != NULL));
    ft_graph_free(g);
    return st;
}

static ft_status copied(void)
{
    ft_graph *g = NULL;
    ft_status st = ft__graph_copy_inputs(&g, net, true, NULL);

    CHECK_EQ((st == FT_OK), (g != NULL));
    ft_graph_free(g);
    return st;
}

static ft_exploration *space;

static ft_status words(void)
{
    const double point[] = {1};
    char **out;
    size_t n;
    ft_status st = ft_exploration_words(&out, &n, space, 0, point, NULL);

    CHECK_EQ((st == FT_OK), (out != NULL));
    free(out);
    return st;
}

static void open_all(const char *root)
{
    static const char text[] =
        "name: t\npredict: [m.onnx, --batch, '{b}']\nparameters: "
        "[{name: b, values: [1, 2]}]\nobjectives: [time]\n";
    static const char list[] = "conv2d x=1x8x14x14 out=8 kernel=3x3 stride=1x1 pad=1x1 "
                               "dtype=fp32\nrelu x=1x8x14x14 dtype=fp32 *2\nlinear "
                               "x=1x64 out=10 dtype=fp32\n";
    char data[1024], path[1024];
    ft_graph *g = NULL;

    snprintf(data, sizeof(data), "%s/data", root);
    snprintf(path, sizeof(path), "%s/data/predictors/nvidia-fp32.ftp", root);
    CHECK_EQ(ft_device_load(&v100, data, "v100-pcie-32gb", NULL), FT_OK);
    CHECK_EQ(ft_device_load(&l4, data, "l4", NULL), FT_OK);
    CHECK_EQ(ft_predictor_load(&family, path, NULL), FT_OK);
    CHECK_EQ(ft_import_ops(&g, list, sizeof(list) - 1, "list", NULL), FT_OK);
    CHECK_EQ(ft__graph_lower(&net, g, FT_POLICY_STRIDED_VIEWS, NULL), FT_OK);
    CHECK_EQ(ft__exploration_read(&space, text, sizeof(text) - 1, "t", NULL), FT_OK);
    ft_graph_free(g);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    open_all(argv[1]);
    CHECK_REFUSALS(many_of(NULL), 10);
    CHECK_REFUSALS(many_of(family), 20);
    CHECK_REFUSALS(lists(), 20);
    CHECK_REFUSALS(split(), 10);
    CHECK_REFUSALS(assign(), 6);
    CHECK_REFUSALS(cast(), 4);
    CHECK_REFUSALS(mixed(), 4);
    CHECK_REFUSALS(copied(), 4);
    CHECK_REFUSALS(words(), 2);
    ft_exploration_free(space);
    ft_graph_free(net);
    ft_predictor_free(family);
    ft_device_free(v100);
    ft_device_free(l4);
    CHECK_DONE();
}
