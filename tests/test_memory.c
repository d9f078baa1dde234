/* Memory by part, against a simulation of the pass and by hand. */
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "check.h"
#include "foretell/graph.h"
#include "graph/build.h"
#include "graph/graph_inside.h"
#include "graph/op_inside.h"
#include "graph/plan.h"
#include "import/pt2/pt2.h"

static const ft_memory_policy EXACT = {0};
static const ft_memory_policy EAGER = {FT_POLICY_EAGER};

static uint32_t tensor(ft__build *b, ft_role role, int64_t elements)
{
    ft_shape s = {2, {1, elements}};

    return ft__build_tensor(b, "t", 1, role, FT_DTYPE_fp32, &s);
}

/* A node of one operand and one result of the given sizes. */
static uint32_t node(ft__build *b, ft_phase phase, uint32_t from, uint32_t weight,
                     int64_t elements)
{
    uint32_t out = tensor(b, FT_ROLE_ACTIVATION, elements);
    ft_op op;
    int64_t x[2] = {1, ft__build_get(b, from)->shape.dim[1]};

    ft__op_init(&op, FT_KIND_linear, FT_DTYPE_fp32);
    ft__op_set(&op, FT_K_x, x, 2);
    ft__op_set1(&op, FT_K_out, elements);
    ft__build_phase(b, phase);
    ft__build_node(b, "n", 1, &op, &from, 1, &weight, weight != FT_NONE, &out, 1);
    return out;
}

static ft_graph *finish(ft__build *b)
{
    ft_graph *g;

    CHECK_EQ(ft__build_finish_take(&g, b, NULL), FT_OK);
    return g;
}

static void scope(ft__build *b, const char *s)
{
    ft__build_scope(b, s, strlen(s));
}

/* in (10) -> a (100) -> b (20) -> c (5), and a is read again by d (7). */
TEST(the_peak_is_what_lives_at_its_moment)
{
    ft__build *b = ft__build_new("chain");
    uint32_t in = tensor(b, FT_ROLE_INPUT, 10), w = tensor(b, FT_ROLE_WEIGHT, 1000);
    uint32_t a = node(b, FT_PHASE_FORWARD, in, w, 100), c;
    ft_graph *g;
    ft_memory m;

    c = node(b, FT_PHASE_FORWARD, node(b, FT_PHASE_FORWARD, a, FT_NONE, 20), FT_NONE,
             5);
    ft__build_output(b, c);
    node(b, FT_PHASE_FORWARD, a, FT_NONE, 7);
    g = finish(b);
    CHECK_EQ(ft_memory_make(&m, g, &EXACT, NULL), FT_OK);
    CHECK(EQ(m.peak_bytes, 4 * (1000 + 10 + 100 + 20 + 5)) && EQ(m.peak_node, 2));
    CHECK(EQ(m.part[FT_PART_WEIGHTS], 4000) && EQ(m.part[FT_PART_INPUTS], 40));
    CHECK(EQ(m.part[FT_PART_ACTIVATIONS], 500) && EQ(m.part[FT_PART_SAVED], 0));
    /* Layers are 1110, 120, 25 and 107 elements. */
    CHECK_EQ(m.two_largest_bytes, 4.0 * (1110 + 120));
    CHECK_EQ(m.twice_mean_bytes, 2.0 * (1110 + 120 + 25 + 107));
    /* Eagerly, the caller holds the last result meanwhile. */
    CHECK_EQ(ft_memory_make(&m, g, &EAGER, NULL), FT_OK);
    CHECK_EQ(m.peak_bytes, 4 * (1000 + 10 + 100 + 20 + 5 + 5));
    ft_graph_free(g);
}

/* What was found out of a graph is of it and of the policy that was asked of. */
TEST(a_copy_with_fewer_nodes_is_counted_anew)
{
    ft__build *b = ft__build_new("two");
    uint32_t t = tensor(b, FT_ROLE_INPUT, 1);
    ft_totals all, less;
    ft_memory m;
    ft_graph *g, copy;

    t = node(b, FT_PHASE_FORWARD, t, FT_NONE, 100);
    ft__build_output(b, node(b, FT_PHASE_FORWARD, t, FT_NONE, 50));
    g = finish(b);
    ft_graph_totals(g, &all);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(ft_memory_make(&m, g, &EXACT, NULL), FT_OK);
        CHECK_EQ(m.peak_bytes, 4 * (1 + 100 + 50));
        CHECK_EQ(ft_memory_make(&m, g, &EAGER, NULL), FT_OK);
        CHECK_EQ(m.peak_bytes, 4 * (1 + 100 + 50 + 50));
    }
    copy = *g;
    copy.n_nodes = 1;
    copy.n_ops = 1;
    copy.n_outputs = 0;
    ft_graph_totals(&copy, &less);
    CHECK(CMP(less.flops, <, all.flops));
    CHECK_EQ(ft_memory_make(&m, &copy, &EXACT, NULL), FT_OK);
    CHECK_EQ(m.peak_bytes, 4 * (1 + 100));
    ft_graph_free(g);
}

/* The same chain in and out of a module: block(x) reads x first, and its caller
 * holds x until the call returns. */
TEST(an_argument_lives_until_the_call_returns)
{
    static const char *const scopes[2][3] = {{"", "", ""},
                                             {"block/a", "block/b", "block"}};

    for (int i = 0; i < 2; i++) {
        ft__build *b = ft__build_new("call");
        uint32_t t = tensor(b, FT_ROLE_INPUT, 1);
        ft_graph *g;
        ft_memory m;

        t = node(b, FT_PHASE_FORWARD, t, FT_NONE, 100);
        for (int j = 0; j < 3; j++) {
            scope(b, scopes[i][j]);
            t = node(b, FT_PHASE_FORWARD, t, FT_NONE, 50);
        }
        scope(b, "");
        node(b, FT_PHASE_FORWARD, t, FT_NONE, 1);
        g = finish(b);
        CHECK_EQ(ft_memory_make(&m, g, &EAGER, NULL), FT_OK);
        CHECK_EQ(m.peak_bytes, (i ? 4u * (1 + 100 + 50 + 50) : 4u * (1 + 100 + 50)));
        CHECK_EQ(ft_memory_make(&m, g, &EXACT, NULL), FT_OK);
        CHECK_EQ(m.peak_bytes, 4u * (1 + 100 + 50));
        ft_graph_free(g);
    }
}

/* join() = concat; a(join); b(a): the name of the concatenation lives on. */
TEST(a_concatenation_lives_until_its_maker_returns)
{
    ft__build *b = ft__build_new("concat");
    uint32_t in[2] = {tensor(b, FT_ROLE_INPUT, 1), 0}, t;
    ft_graph *g;
    ft_memory m;
    ft_op op;

    scope(b, "block");
    in[0] = in[1] = node(b, FT_PHASE_FORWARD, in[0], FT_NONE, 50);
    t = tensor(b, FT_ROLE_ACTIVATION, 100);
    ft__op_init(&op, FT_KIND_concat, FT_DTYPE_fp32);
    ft__op_set(&op, FT_K_x, (int64_t[]){1, 50}, 2);
    ft__op_set1(&op, FT_K_axis, 1);
    ft__op_set(&op, FT_K_sizes, (int64_t[]){50, 50}, 2);
    ft__build_node(b, "cat", 3, &op, in, 2, NULL, 0, &t, 1);
    scope(b, "block/a");
    t = node(b, FT_PHASE_FORWARD, t, FT_NONE, 60);
    scope(b, "block/b");
    t = node(b, FT_PHASE_FORWARD, t, FT_NONE, 70);
    g = finish(b);
    CHECK_EQ(ft_memory_make(&m, g, &EAGER, NULL), FT_OK);
    CHECK_EQ(m.peak_bytes, 4 * (1 + 100 + 60 + 70));
    CHECK_EQ(ft_memory_make(&m, g, &EXACT, NULL), FT_OK);
    CHECK_EQ(m.peak_bytes, 4 * (1 + 100 + 60));
    ft_graph_free(g);
}

#define TENSOR(name)                                                                   \
    "\"" name "\":{\"dtype\":7,\"sizes\":[{\"as_int\":2},{\"as_int\":3}],"             \
    "\"strides\":[{\"as_int\":3},{\"as_int\":1}]}"
#define RELU(from, to, stack)                                                          \
    "{\"target\":\"torch.ops.aten.relu.default\",\"inputs\":[{\"name\":\"self\","      \
    "\"arg\":"                                                                         \
    "{\"as_tensor\":{\"name\":\"" from                                                 \
    "\"}}}],\"outputs\":[{\"as_tensor\":{\"name\":\"" to                               \
    "\"}}],\"metadata\":{\"stack_trace\":\"\",\"nn_module_stack\":\"" stack "\"}}"

TEST(an_archive_tells_the_calls_of_modules)
{
    static const char text[] =
        "{\"graph_module\":{\"graph\":{\"inputs\":[{\"as_tensor\":{\"name\":"
        "\"x\"}}],"
        "\"outputs\":[{\"as_tensor\":{\"name\":\"c\"}}],\"tensor_values\":"
        "{" TENSOR("x") "," TENSOR("a") "," TENSOR("b") "," TENSOR(
            "c") "},\"nodes\":[" RELU("x", "a",
                                      "L__self__,,Net") "," RELU("a", "b",
                                                                 "L__self__,,"
                                                                 "Net;L__self__"
                                                                 "s,s,Seq;L__"
                                                                 "self__s.0@1,"
                                                                 "s.0,ReLU") "," RELU("b",
                                                                                      "c",
                                                                                      "") "]},\"signature\":{\"input_specs\":[{\"user_input\":{\"arg\":"
                                                                                          "{\"as_tensor\":{\"name\":\"x\"}}}}],\"output_specs\":[{\"user_output\":{\"arg\":"
                                                                                          "{\"as_tensor\":{\"name\":\"c\"}}}}]}}}";
    static const char *const scopes[] = {"", "s/s.0@1", ""};
    ft_error err = {0};
    ft_graph *g;

    if (ft__import_pt2_text(&g, text, sizeof(text) - 1, "calls", NULL, &err))
        fprintf(stderr, "%s\n", err.msg);
    CHECK(g && EQ(g->n_nodes, 3));
    for (uint32_t i = 0; g && i < g->n_nodes && i < 3; i++)
        CHECK(SAME(g->node[i].scope, scopes[i]));
    ft_graph_free(g);
}

/* in -> a -> b; b's and a's backward; the gradient of w stays for the optimizer. */
TEST(a_training_step_is_told_by_part)
{
    ft__build *b = ft__build_new("step");
    uint32_t in = tensor(b, FT_ROLE_INPUT, 8), w = tensor(b, FT_ROLE_WEIGHT, 64);
    uint32_t state = tensor(b, FT_ROLE_STATE, 64), grad, a, c, g1, pair[2];
    ft_graph *g;
    ft_memory m;
    ft_op op;

    a = node(b, FT_PHASE_FORWARD, in, w, 30);
    c = node(b, FT_PHASE_FORWARD, a, FT_NONE, 4);
    g1 = node(b, FT_PHASE_BACKWARD, a, FT_NONE, 30); /* reads the saved a */
    grad = tensor(b, FT_ROLE_GRADIENT, 64);
    ft__op_init(&op, FT_KIND_linear, FT_DTYPE_fp32);
    ft__op_set(&op, FT_K_x, (int64_t[]){1, 30}, 2);
    ft__op_set1(&op, FT_K_out, 64);
    ft__build_node(b, "w", 1, &op, &g1, 1, NULL, 0, &grad, 1);
    pair[0] = grad;
    ft__build_phase(b, FT_PHASE_OPTIMIZER);
    ft__op_init(&op, FT_KIND_relu, FT_DTYPE_fp32);
    ft__op_set(&op, FT_K_x, (int64_t[]){1, 64}, 2);
    ft__build_node(b, "o", 1, &op, pair, 1, &state, 1, NULL, 0);
    node(b, FT_PHASE_OPTIMIZER, in, FT_NONE, 100);
    (void)c;
    g = finish(b);
    CHECK_EQ(ft_memory_make(&m, g, &EXACT, NULL), FT_OK);
    CHECK(EQ(m.part[FT_PART_STATE], 256) && EQ(m.part[FT_PART_WEIGHTS], 256));
    CHECK(EQ(m.peak_node, 5) && EQ(m.part[FT_PART_GRADIENTS], 0));
    CHECK_EQ(m.part[FT_PART_ACTIVATIONS], 400);
    /* Eagerly, gradients are there until the next step begins. */
    CHECK_EQ(ft_memory_make(&m, g, &EAGER, NULL), FT_OK);
    CHECK(EQ(m.part[FT_PART_GRADIENTS], 256) &&
          EQ(m.peak_bytes, 4 * (8 + 64 * 3 + 100)));
    ft_graph_free(g);

    b = ft__build_new("saved");
    in = tensor(b, FT_ROLE_INPUT, 1);
    a = node(b, FT_PHASE_FORWARD, in, FT_NONE, 10);
    node(b, FT_PHASE_FORWARD, a, FT_NONE, 50);
    node(b, FT_PHASE_BACKWARD, a, FT_NONE, 2);
    g = finish(b);
    CHECK_EQ(ft_memory_make(&m, g, &EXACT, NULL), FT_OK);
    CHECK(EQ(m.peak_node, 1) && EQ(m.part[FT_PART_SAVED], 40));
    CHECK_EQ(m.part[FT_PART_ACTIVATIONS], 200);
    ft_graph_free(g);
}

/* Parameters of 64 and 36 numbers: the denominators of both are there at once. */
TEST(foreach_needs_the_denominators_of_all)
{
    static const int64_t size[] = {64, 36};
    const ft_memory_policy foreach = {FT_POLICY_EAGER | FT_POLICY_FOREACH};
    ft__build *b = ft__build_new("update");
    ft_graph *g;
    ft_memory m, without;

    ft__build_phase(b, FT_PHASE_OPTIMIZER);
    for (int i = 0; i < 2; i++) {
        const uint32_t w = tensor(b, FT_ROLE_WEIGHT, size[i]),
                       grad = tensor(b, FT_ROLE_INPUT, size[i]);
        ft_op op;

        ft__op_init(&op, FT_KIND_adam, FT_DTYPE_fp32);
        ft__op_set(&op, FT_K_x, (int64_t[]){1, size[i]}, 2);
        ft__build_node(b, "o", 1, &op, &grad, 1, &w, 1, NULL, 0);
    }
    g = finish(b);
    CHECK(EQ(ft_memory_make(&without, g, &EAGER, NULL), FT_OK));
    CHECK(EQ(ft_memory_make(&m, g, &foreach, NULL), FT_OK));
    CHECK(EQ(without.part[FT_PART_WORKSPACE], 0));
    CHECK(EQ(m.part[FT_PART_WORKSPACE], 4 * (64 + 36)));
    CHECK(EQ(m.peak_bytes, without.peak_bytes + 4 * (64 + 36)));
    ft_graph_free(g);
}

static int64_t elements(const ft_graph *g, uint32_t t)
{
    return ft_shape_elements(&g->tensor[t].shape);
}

/* Is t's memory read at node i or later, or was it made before and is it kept? */
static int needed(const ft_graph *g, uint32_t t, uint32_t i)
{
    const ft_tensor *of = &g->tensor[t];

    if (of->role == FT_ROLE_WEIGHT || of->role == FT_ROLE_INPUT)
        return 1;
    if (of->producer == FT_NONE || of->producer > i)
        return 0;
    if (of->producer == i || of->is_output)
        return 1;
    for (uint32_t j = i; j < g->n_nodes; j++)
        for (uint32_t k = 0; k < g->node[j].n_in; k++)
            if (g->node[j].in[k] == t)
                return 1;
    return 0;
}

static uint64_t simulate(const ft_graph *g)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < g->n_nodes; i++) {
        uint64_t now = 0;

        for (uint32_t t = 0; t < g->n_tensors; t++)
            if (needed(g, t, i))
                now += 4 * (uint64_t)elements(g, t);
        most = now > most ? now : most;
    }
    return most;
}

TEST(random_graphs_need_what_a_simulation_finds)
{
    ft__prng rng = ft__prng_stream(5, 0);

    for (int trial = 0; trial < 200; trial++) {
        ft__build *b = ft__build_new("random");
        uint32_t t[40], n = 1;
        ft_graph *g;
        ft_memory m;
        ft_plan p;

        t[0] = tensor(b, FT_ROLE_INPUT, 1 + ft__prng_below(&rng, 100));
        for (; n < 40; n++) {
            uint32_t w =
                ft__prng_below(&rng, 3) ? FT_NONE : tensor(b, FT_ROLE_WEIGHT, n);

            t[n] = node(b, n < 25 ? FT_PHASE_FORWARD : FT_PHASE_BACKWARD,
                        t[ft__prng_below(&rng, n)], w, 1 + ft__prng_below(&rng, 1000));
            if (!ft__prng_below(&rng, 10))
                ft__build_output(b, t[n]);
        }
        g = finish(b);
        CHECK_EQ(ft_memory_make(&m, g, &EXACT, NULL), FT_OK);
        CHECK_EQ(m.peak_bytes, simulate(g));
        CHECK_EQ(ft_plan_make(&p, g, NULL), FT_OK);
        CHECK(CMP(p.arena_bytes, >=, p.lower_bound_bytes));
        ft_plan_free(&p);
        ft_graph_free(g);
    }
}

TEST(pieces_that_live_together_do_not_overlap)
{
    enum { N = 300, NODES = 100 };
    ft__prng rng = ft__prng_stream(6, 0);

    for (int trial = 0; trial < 40; trial++) {
        ft__piece piece[N];
        uint64_t end;

        for (uint32_t i = 0; i < N; i++) {
            piece[i] = (ft__piece){.bytes = 64 + 64 * ft__prng_below(&rng, 50)};
            piece[i].tensor = i;
            piece[i].first = ft__prng_below(&rng, NODES);
            piece[i].last =
                piece[i].first + ft__prng_below(&rng, NODES - piece[i].first);
        }
        CHECK(trial % 2 ? ft__place_by_size(piece, N, 128, &end)
                        : ft__place_in_time(piece, N, NODES, 128, &end));
        for (uint32_t i = 0; i < N; i++) {
            CHECK(CMP(piece[i].offset, >=, 128) &&
                  CMP(piece[i].offset + piece[i].bytes, <=, end));
            for (uint32_t j = 0; j < i; j++)
                if (piece[i].first <= piece[j].last && piece[j].first <= piece[i].last)
                    CHECK(CMP(piece[i].offset + piece[i].bytes, <=, piece[j].offset) ||
                          CMP(piece[j].offset + piece[j].bytes, <=, piece[i].offset));
        }
    }
}

TEST(sizes_that_cannot_be_counted_are_refused)
{
    ft__build *b = ft__build_new("huge");
    ft_memory m;
    ft_error err;
    ft_graph *g;

    for (int i = 0; i < 1200; i++)
        tensor(b, FT_ROLE_WEIGHT, (int64_t)1 << 50);
    g = finish(b);
    CHECK_EQ(ft_memory_make(&m, g, &EXACT, &err), FT_EINVAL);
    CHECK(HAS(err.msg, "4 EiB"));
    ft_graph_free(g);
}

TEST(a_graph_without_operations_is_its_weights)
{
    ft__build *b = ft__build_new("empty");
    ft_memory m;
    ft_graph *g;

    tensor(b, FT_ROLE_WEIGHT, 10);
    tensor(b, FT_ROLE_INPUT, 5);
    g = finish(b);
    CHECK_EQ(ft_memory_make(&m, g, &EAGER, NULL), FT_OK);
    CHECK(EQ(m.peak_bytes, 60) && EQ(m.peak_node, FT_NONE));
    ft_graph_free(g);
}
