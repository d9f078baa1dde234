/* Graphs of torch.export: weights, symbolic sizes, phases, and what
 * is refused with which sentence. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "import/pt2/pt2.h"
#include "pt2_read.h"

/* One graph and what is asked of it. */

static pt2_text text;

static ft_graph *good(const char *tensors, const char *nodes, const char *outputs,
                      const ft_import_options *opt)
{
    ft_graph *g;
    ft_error err = {0};

    make_pt2_text(&text, tensors, nodes, outputs, NULL);
    if (import(&g, &text, opt, &err) != FT_OK)
        fprintf(stderr, "%s\n", err.msg);
    CHECK(g != NULL);
    return g;
}

static bool gives(const ft_graph *g, const char *specs)
{
    char have[SPECS] = "";

    if (g)
        specs_of(g, have, 1);
    if (strcmp(have, specs) != 0)
        fprintf(stderr, "gives\n%s\n", have);
    return strcmp(have, specs) == 0;
}

static const ft_tensor *tensor(const ft_graph *g, const char *name)
{
    for (uint32_t i = 0; g && i < g->n_tensors; i++)
        if (strcmp(g->tensor[i].name, name) == 0)
            return &g->tensor[i];
    return NULL;
}

TEST(weights_are_what_the_signature_says)
{
    ft_graph *g = good("x=2x8x4 w+=8 b-=8 y*=2x8x4 z*=2x8x4",
                       "aten.batch_norm.default input=x weight=w bias=none "
                       "running_mean=b running_var=b training=false -> y\n"
                       "aten.relu_.default self=y -> z",
                       "z", NULL);
    const ft_tensor *x = tensor(g, "x"), *w = tensor(g, "w"), *b = tensor(g, "b"),
                    *y = tensor(g, "y"), *z = tensor(g, "z");

    CHECK(x && EQ(x->role, FT_ROLE_INPUT));
    CHECK(w && EQ(w->role, FT_ROLE_WEIGHT) && w->trainable);
    CHECK(b && EQ(b->role, FT_ROLE_WEIGHT) && !b->trainable);
    CHECK(z && z->is_output && y && !y->is_output);
    CHECK(y && z && EQ(z->storage, y->storage)); /* in place */
    CHECK(g && EQ(g->mode, FT_MODE_INFERENCE));
    ft_graph_free(g);
}

TEST(an_operator_without_a_rule_is_bounded_and_named)
{
    ft_graph *g =
        good("x=2x8 y=3 z*=5x7", "aten.no_such_thing.default a=x b=y -> z", "z", NULL);

    CHECK(gives(g, "generic read=19 out=5x7 dtype=fp32"));
    CHECK(g && EQ(g->n_bounded, 1) &&
          SAME(g->bounded[0], "aten.no_such_thing.default (node z)"));
    ft_graph_free(g);
    /* And one whose stated result is not what the operation gives. */
    g = good("x=2x8 z*=2x9", "aten.relu.default self=x -> z", "z", NULL);
    CHECK(gives(g, "generic read=16 out=2x9 dtype=fp32"));
    CHECK(g && EQ(g->n_bounded, 1));
    ft_graph_free(g);
}

TEST(a_joint_graph_has_two_phases_and_gradients)
{
    static const char outputs[] =
        "[{\"loss_output\": {\"arg\": {\"name\": \"l\"}}}, {\"gradient_to_parameter\": "
        "{\"arg\": {\"name\": \"gw\"}, \"parameter_name\": \"w\"}}]";
    ft_graph *g = good("x=4x8 w+=2x8 t*=8x2 y*=4x2 l*=. o*=. e*=4x2 f*=2x4 gw*=2x8",
                       "aten.t.default self=w -> t\n"
                       "aten.mm.default self=x mat2=t -> y\n"
                       "aten.sum.default self=y -> l\n"
                       "aten.ones_like.default self=l -> o\n"
                       "aten.expand.default self=o size=(4,2) -> e\n"
                       "aten.t.default self=e -> f\n"
                       "aten.mm.default self=f mat2=x -> gw",
                       outputs, NULL);

    CHECK(gives(g, "linear x=4x8 out=2 dtype=fp32\n"
                   "reduce_sum x=4x2 axes=0x1 keep=0 dtype=fp32\n"
                   "fill out=1 dtype=fp32\nexpand x=1 out=4x2 dtype=fp32\n"
                   "transpose x=4x2 perm=1x0 dtype=fp32\n"
                   "matmul x=2x4 y=4x8 dtype=fp32"));
    CHECK(g && EQ(g->mode, FT_MODE_TRAINING));
    for (uint32_t i = 0; g && i < g->n_nodes; i++)
        CHECK_EQ(g->node[i].phase, (i < 2 ? FT_PHASE_FORWARD : FT_PHASE_BACKWARD));
    CHECK(tensor(g, "w gradient") &&
          EQ(tensor(g, "w gradient")->role, FT_ROLE_GRADIENT));
    ft_graph_free(g);
}

TEST(symbols_are_bound_by_flags)
{
    static const char tensors[] = "x=s0xs1 y*=s1xs0",
                      node[] = "aten.t.default self=x -> y";
    const ft_dim_value by_place[] = {{"x.1", 6}}, by_name[] = {{"s1", 6}};
    const ft_input_shape shape[] = {{"x", {.rank = 2, .dim = {4, 6}}}};
    const ft_import_options opt[] = {
        {.batch = 4, .dims = by_place, .n_dims = 1},
        {.batch = 4, .dims = by_name, .n_dims = 1},
        {.inputs = shape, .n_inputs = 1},
    };

    for (size_t i = 0; i < sizeof(opt) / sizeof(*opt); i++) {
        ft_graph *g = good(tensors, node, "y", &opt[i]);

        CHECK(gives(g, "transpose x=4x6 perm=1x0 dtype=fp32"));
        CHECK(g && EQ(g->n_assumptions, 0));
        ft_graph_free(g);
    }
}

TEST(an_open_batch_is_one_and_says_so)
{
    ft_graph *g = good("x=s0x3 y*=s0x3", "aten.relu.default self=x -> y", "y", NULL);

    CHECK(gives(g, "relu x=1x3 dtype=fp32"));
    CHECK(g && EQ(g->n_assumptions, 1) &&
          HAS(g->assumption[0], "batch 1 (the model leaves it open"));
    ft_graph_free(g);
}

TEST(expressions_are_worked_out)
{
    static const struct {
        const char *expr;
        long long value; /* with a = 7, b = 3 */
    } cases[] = {
        {"Symbol('a', positive=True, integer=True)", 7},
        {"Integer(12)", 12},
        {"Add(Symbol('a'), Integer(-2), Symbol('b'))", 8},
        {"Mul(Integer(2), Symbol('a'), Symbol('b'))", 42},
        {"Pow(Symbol('a'), Integer(2))", 49},
        {"FloorDiv(Symbol('a'), Integer(2))", 3},
        {"CleanDiv(Mul(Integer(4), Symbol('a')), Integer(2))", 14},
        {"CeilToInt(IntTrueDiv(Symbol('a'), Integer(2)))", 4},
        {"TruncToInt(IntTrueDiv(Symbol('a'), Integer(2)))", 3},
        {"Mod(Symbol('a'), Symbol('b'))", 1},
        {"PythonMod(Mul(Integer(-1), Symbol('a')), Symbol('b'))", 2},
        {"Max(Symbol('a'), Symbol('b'), Integer(5))", 7},
        {"Min(Symbol('a'), Symbol('b'))", 3},
        {"Mul(Rational(1, 2), Add(Symbol('a'), Symbol('b')))", 5},
        {"ToFloat(Symbol('a'))", 7},
        {"a", 7},
        {"a*b + 1", 22},
        {"2*(a - b)", 8},
        {"a//2", 3},
        {"a % b", 1},
        {"b**2", 9},
        {"FloorDiv(a + 1, 2)", 4},
    };
    const ft_dim_value dims[] = {{"a", 7}, {"b", 3}};
    const ft_import_options opt = {.dims = dims, .n_dims = 2};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char tensors[256], want[64];
        ft_graph *g;

        snprintf(tensors, sizeof(tensors), "x=axb y*={%s}", cases[i].expr);
        snprintf(want, sizeof(want), "generic read=21 out=%lld dtype=fp32",
                 cases[i].value);
        g = good(tensors, "aten.strange.default self=x -> y", "y", &opt);
        CHECK(gives(g, want));
        ft_graph_free(g);
    }
}

TEST(what_depends_on_data_is_a_bound_and_open)
{
    const ft_dim_value known[] = {{"u0", 5}};
    const ft_import_options opt = {.dims = known, .n_dims = 1};
    static const char tensors[] = "x=4x6 n*=u0x2:5",
                      node[] = "aten.nonzero.default self=x -> n";
    ft_graph *g = good(tensors, node, "n", NULL);

    CHECK(gives(g, "nonzero x=4x6 out=24x2 dtype=fp32"));
    CHECK(tensor(g, "n") && EQ(tensor(g, "n")->open, 1));
    CHECK(g && EQ(g->n_assumptions, 1) && HAS(g->assumption[0], "u0 = 24"));
    ft_graph_free(g);
    g = good(tensors, node, "n", &opt);
    CHECK(gives(g, "nonzero x=4x6 out=5x2 dtype=fp32"));
    CHECK(g && EQ(g->n_assumptions, 0));
    ft_graph_free(g);
}

TEST(a_range_bounds_what_depends_on_data)
{
    ft_graph *g;
    ft_error err;

    make_pt2_text(&text, "x=4x6 n*=u0x2:5", "aten.nonzero.default self=x -> n", "n",
                  "{\"u0\": {\"min_val\": 0, \"max_val\": 9}}");
    CHECK_EQ(import(&g, &text, NULL, &err), FT_OK);
    CHECK(gives(g, "nonzero x=4x6 out=9x2 dtype=fp32"));
    ft_graph_free(g);
}

TEST(wrong_graphs_are_refused_with_a_sentence)
{
    static const struct {
        const char *tensors, *nodes, *out, *sentence;
        ft_status status;
    } cases[] = {
        {"x=s0xs1 y*=s0xs1", "aten.relu.default self=x -> y", "y",
         "net.pt2: dimension 1 of input \"x\" is open: add --dim x.1=N", FT_ENEEDED},
        {"x=2x3 y*=2x3", "aten.relu.default self=z -> y", "y",
         "node y (aten.relu.default): it reads \"z\", which nothing has made",
         FT_EFORMAT},
        {"x=2x3 y*=2x3", "aten.relu.default self=y -> y", "y",
         "node y (aten.relu.default): it reads \"y\", which nothing has made",
         FT_EFORMAT},
        {"x=2x3 y*=2x3", "aten.relu.default self=x -> y\naten.abs.default self=x -> y",
         "y", "\"y\" is made twice", FT_EFORMAT},
        {"x=2x3 y*=2x3", "", "y", "nothing makes the output \"y\"", FT_EFORMAT},
        {"x=1000000000x1000000000 y*=2", "aten.relu.default self=x -> y", "y",
         "tensor \"x\" has too many elements", FT_EFORMAT},
        {"x=2 y*=4000000000x4000000000x1", "aten.relu.default self=x -> y", "y",
         "tensor \"y\" has too many elements", FT_EFORMAT},
        {"x=2 y*=99999999999999999999", "aten.relu.default self=x -> y", "y",
         "an integer has more than 64 bits", FT_EFORMAT},
        {"x=1x1x1x1x1x1x1x1x1 y*=1", "aten.relu.default self=x -> y", "y",
         "tensor \"x\" has more than 8 dimensions", FT_EUNSUPPORTED},
        {"x=s0x3 y*={Pow(Symbol('s0'), Integer(100))}", "aten.relu.default self=x -> y",
         "y", "is 1.", FT_OK},
        {"x=2x3 y*={Secret(Integer(3))}", "aten.relu.default self=x -> y", "y",
         "a size is written as \"Secret(Integer(3))\", which is not understood",
         FT_EUNSUPPORTED},
        {"x=2x3 y*={Mul(Integer(3}", "aten.relu.default self=x -> y", "y",
         "which is not understood", FT_EUNSUPPORTED},
        {"x=2x3 y*={Pow(Integer(10), Integer(18))}", "aten.relu.default self=x -> y",
         "y", "is 1e+18 with these dimensions", FT_EFORMAT},
        {"x=2x3 y*={Integer(-3)}", "aten.relu.default self=x -> y", "y",
         "is -3 with these dimensions", FT_EFORMAT},
        {"x=2x3 y*=s7", "aten.relu.default self=x -> y", "y",
         "the size \"s7\" is open: add --dim s7=N", FT_ENEEDED},
        {"x=2x3 y*=2x3", "aten.softmax.int self=x dim=5 -> y", "y",
         "an axis lies outside its 2 dimensions", FT_EFORMAT},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_error err = {0};
        ft_graph *g;
        ft_status st;

        if (cases[i].status == FT_OK)
            continue;
        make_pt2_text(&text, cases[i].tensors, cases[i].nodes, cases[i].out, NULL);
        st = import(&g, &text, NULL, &err);
        CHECK(EQ(st, cases[i].status) && !g && HAS(err.msg, cases[i].sentence));
        if (st != cases[i].status || !strstr(err.msg, cases[i].sentence))
            fprintf(stderr, "%s: %s\n", cases[i].tensors, err.msg);
        ft_graph_free(g);
    }
}

TEST(flags_that_do_not_fit_are_refused)
{
    const ft_dim_value unknown[] = {{"seq", 4}}, none[] = {{"x.0", 0}},
                       twice[] = {{"x.1", 4}, {"s1", 5}}, large[] = {{"x.1", 99}};
    const ft_input_shape rank[] = {{"x", {.rank = 1, .dim = {4}}}},
                         fixed[] = {{"x", {.rank = 2, .dim = {4, 4}}}},
                         as_filed[] = {{"x", {.rank = 2, .dim = {2, 3}}}};
    const struct {
        const char *tensors;
        ft_import_options opt;
        const char *sentence;
    } cases[] = {
        {"x=2x3 y*=2x3",
         {.batch = 4, .inputs = as_filed, .n_inputs = 1},
         "--batch 4: the file fixes the first dimension of "
         "input \"x\" at 2; export it with an open batch"},
        {"x=2x3 y*=2x3",
         {.dims = unknown, .n_dims = 1},
         "--dim seq=4: no input has an open dimension of that name; the model leaves "
         "none "
         "open"},
        {"x=s0x3 y*=s0x3",
         {.dims = unknown, .n_dims = 1},
         "--dim seq=4: no input has an open dimension of that name; there is x.0"},
        {"x=s0x3 y*=s0x3", {.dims = none, .n_dims = 1}, "--dim x.0=0 is no size"},
        {"x=s0xs1 y*=s0xs1", {.dims = twice, .n_dims = 2}, "=4"},
        {"x=s0xs1 y*=s0xs1",
         {.dims = large, .n_dims = 1},
         "--dim x.1=99: the file allows 64 at most"},
        {"x=s0x3 y*=s0x3",
         {.inputs = rank, .n_inputs = 1},
         "--input x: it has 2 dimensions"},
        {"x=s0x3 y*=s0x3",
         {.inputs = fixed, .n_inputs = 1},
         "--input x, dimension 1: the file fixes it at 3"},
        {"x=s0x3 y*=s0x3", {.batch = -1}, "--batch -1 is no batch size"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_error err = {0};
        ft_graph *g;

        make_pt2_text(&text, cases[i].tensors, "aten.relu.default self=x -> y", "y",
                      "{\"s1\": {\"min_val\": 2, \"max_val\": 64}}");
        CHECK_EQ(import(&g, &text, &cases[i].opt, &err), FT_EINVAL);
        CHECK(HAS(err.msg, cases[i].sentence));
        if (!strstr(err.msg, cases[i].sentence))
            fprintf(stderr, "%s\n", err.msg);
        ft_graph_free(g);
    }
}

TEST(a_text_that_is_cut_is_refused_at_every_byte)
{
    ft_graph *g;
    ft_error err;
    size_t n;

    make_pt2_text(&text, "x=s0x8 w+=16x8 y*=s0x16",
                  "aten.linear.default input=x weight=w bias=none -> y", "y", NULL);
    n = text.n;
    CHECK_EQ(import(&g, &text, NULL, &err), FT_OK);
    ft_graph_free(g);
    for (text.n = 0; text.n < n; text.n++) {
        err.msg[0] = '\0';
        CHECK(EQ(import(&g, &text, NULL, &err), FT_EFORMAT) && !g && err.msg[0]);
        ft_graph_free(g);
    }
}

/* Of two the last one counts, however long it is. */
TEST(a_second_signature_replaces_the_first)
{
    static const char more[] = "\"signature\": {\"input_specs\": [{}]}, "
                               "\"signature\": {\"input_specs\": [";
    static pt2_text twice;
    ft_error err = {0};
    ft_graph *g;
    char *at;

    make_pt2_text(&text, "x=2x8 y*=2x8", "aten.relu.default self=x -> y", "y", NULL);
    at = strstr(text.s, "\"signature\"");
    CHECK(at);
    twice.n = 0;
    put(&twice, "%.*s%s", (int)(at - text.s), text.s, more);
    for (int i = 0; i < 5000; i++)
        put(&twice, "{}, ");
    at = strstr(at, "[");
    put(&twice, "%s", at + 1);
    CHECK_EQ(import(&g, &twice, NULL, &err), FT_OK);
    CHECK(gives(g, "relu x=2x8 dtype=fp32"));
    ft_graph_free(g);
}

TEST(other_json_is_refused)
{
    static const char *const cases[] = {"[]",
                                        "3",
                                        "{}",
                                        "{\"graph_module\": 3}",
                                        "{\"graph_module\": {\"graph\": []}}",
                                        "{\"graph_module\": {}}",
                                        "null"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ft_error err = {0};
        ft_graph *g;

        text.n = (size_t)snprintf(text.s, sizeof(text.s), "%s", cases[i]);
        CHECK(EQ(import(&g, &text, NULL, &err), FT_EFORMAT) && HAS(err.msg, "graph"));
        ft_graph_free(g);
    }
}

TEST(graphs_inside_graphs_are_bounded)
{
    static const char open[] =
        "{\"inputs\": [], \"outputs\": [{\"as_tensor\": {\"name\": "
        "\"y\"}}], \"nodes\": [{\"target\": "
        "\"torch.ops.higher_order.wrap\", \"inputs\": [{\"name\": "
        "\"\", \"arg\": {\"as_graph\": {\"name\": \"g\", "
        "\"graph\": ";
    ft_error err = {0};
    ft_graph *g;

    text.n = 0;
    put(&text, "{\"graph_module\": {\"graph\": ");
    for (int i = 0; i < 100; i++)
        put(&text, "%s", open);
    CHECK_EQ(import(&g, &text, NULL, &err), FT_EFORMAT);
    CHECK(HAS(err.msg, "brackets are nested too deep"));
    ft_graph_free(g);
}
