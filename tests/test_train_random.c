/* Training steps of random networks, by properties: order, memory, and how many
 * ways lead from the result to each weight. */
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "graph/graph_inside.h"
#include "nets.h"

enum { MAX_LAYERS = 60, MAX_WEIGHTS = 8, MAX_VALUES = 200 };

/* All values are 4x8. */
struct net {
    ft__build *b;
    ft__prng rng;
    uint32_t value[MAX_VALUES];
    uint32_t n_values;
    uint32_t matrix[MAX_WEIGHTS];
    uint32_t constant[MAX_WEIGHTS];
};

static uint32_t any(struct net *n)
{
    return n->value[ft__prng_below(&n->rng, n->n_values)];
}

static uint32_t random_layer(struct net *n)
{
    static const char *const unary[] = {"relu x=4x8",
                                        "tanh x=4x8",
                                        "exp x=4x8",
                                        "neg x=4x8",
                                        "sin x=4x8",
                                        "softmax x=4x8 axis=1",
                                        "hardmax x=4x8 axis=1",
                                        "sqrt x=4x8",
                                        "abs x=4x8",
                                        "cumsum x=4x8 axis=1"};
    static const char *const binary[] = {"add x=4x8 y=4x8",     "sub x=4x8 y=4x8",
                                         "mul x=4x8 y=4x8",     "div x=4x8 y=4x8",
                                         "maximum x=4x8 y=4x8", "pow x=4x8 y=4x8"};
    uint32_t x = any(n), y = any(n), pick = ft__prng_below(&n->rng, 7);

    switch (pick) {
    case 0: return one(n->b, unary[ft__prng_below(&n->rng, 10)], x);
    case 1: return two(n->b, binary[ft__prng_below(&n->rng, 6)], x, y);
    case 2:
        y = n->constant[ft__prng_below(&n->rng, MAX_WEIGHTS)];
        return two(n->b, binary[ft__prng_below(&n->rng, 3)], x, y);
    case 3:
        x = one(n->b, "view x=4x8 out=8x4", x);
        return one(n->b, "transpose x=8x4 perm=1x0", x);
    case 4:
        y = one(n->b, "reduce_mean x=4x8 axes=1", y);
        return two(n->b, "mul x=4x8 y=4x1", x, y);
    case 5:
        y = two(n->b, "less x=4x8 y=4x8", x, y);
        return layer(n->b, "where x=4x8 y=4x8 z=4x8", (uint32_t[]){y, x, any(n)}, 3,
                     NULL, 0);
    default:
        return with(n->b, "linear x=4x8 out=8", x,
                    n->matrix[ft__prng_below(&n->rng, MAX_WEIGHTS)]);
    }
}

static ft_graph *random_net(uint64_t seed)
{
    struct net n = {.b = ft__build_new("random")};
    uint32_t x = input(n.b, (ft_shape){2, {4, 8}});

    n.rng = ft__prng_stream(seed, 0);
    for (uint32_t i = 0; i < MAX_WEIGHTS; i++) {
        n.matrix[i] = weight(n.b, "w", (ft_shape){2, {8, 8}});
        n.constant[i] = weight(n.b, "c", (ft_shape){2, {4, 8}});
    }
    n.value[n.n_values++] = x;
    n.value[n.n_values++] = with(n.b, "linear x=4x8 out=8", x, n.matrix[0]);
    for (uint32_t i = 0; i < MAX_LAYERS; i++)
        n.value[n.n_values++] = random_layer(&n);
    x = two(n.b, "add x=4x8 y=4x8", n.value[1], n.value[n.n_values - 1]);
    return finish(n.b, x);
}

static bool stops(const ft_graph *g, const ft_node *n)
{
    return ft_kind_saves(g->op[n->op].kind) == FT_SAVE_NONE;
}

static bool is_float(const ft_graph *g, uint32_t t)
{
    return g->tensor[t].dtype == FT_DTYPE_fp32;
}

/* Ways from each tensor to the result, modulo 2^64: what the gradient would be
 * if every operation had derivative 1. */
static void count_ways(const ft_graph *g, uint64_t *ways)
{
    ways[g->output[0]] = 1;
    for (uint32_t i = g->n_nodes; i-- > 0;) {
        const ft_node *n = &g->node[i];

        for (uint32_t j = 0; j < n->n_in && !stops(g, n); j++)
            if (is_float(g, n->in[j]))
                ways[n->in[j]] += ways[n->out[0]];
        for (uint32_t j = 0; j < n->n_params; j++)
            ways[n->params[j]] += ways[n->out[0]];
    }
}

/* The same from the step: values of gradients, which begin with the tensor that
 * is given; saved operands have none. */
static void follow_gradients(const ft_graph *g, uint64_t *value, bool *known)
{
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (strcmp(g->tensor[i].name, "gradient") == 0)
            value[i] = known[i] = 1;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *n = &g->node[i];
        uint64_t sum = 0;
        bool any_known = false, add = g->op[n->op].kind == FT_KIND_add;

        if (n->phase != FT_PHASE_BACKWARD)
            continue;
        for (uint32_t j = 0; j < n->n_in; j++)
            if (known[n->in[j]] && (add || !any_known)) {
                sum += value[n->in[j]];
                any_known = true;
            }
        for (uint32_t j = 0; j < n->n_out; j++) {
            value[n->out[j]] = sum;
            known[n->out[j]] = any_known;
        }
    }
}

/* Operands exist before they are read, results are made once, phases follow one
 * another, and nothing is differentiated twice. */
static void check_order(const ft_graph *g)
{
    uint32_t n_tensors = g->n_tensors;
    bool *made = calloc(n_tensors, sizeof(*made));
    ft_phase last = FT_PHASE_FORWARD;

    for (uint32_t i = 0; i < n_tensors; i++)
        made[i] = g->tensor[i].producer == FT_NONE;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *n = &g->node[i];
        const ft_op *op = &g->op[n->op];

        CHECK(CMP(n->phase, >=, last));
        last = n->phase;
        CHECK(CMP(op->phase, !=, FT_PHASE_BACKWARD) || EQ(n->phase, FT_PHASE_BACKWARD));
        for (uint32_t j = 0; j < n->n_in; j++)
            CHECK(made[n->in[j]]);
        for (uint32_t j = 0; j < n->n_out; j++) {
            CHECK(!made[n->out[j]] && EQ(g->tensor[n->out[j]].producer, i));
            made[n->out[j]] = true;
        }
    }
    free(made);
}

/* Nobody reads a tensor whose memory holds something newer by then. How many
 * results took the place of something. */
static uint32_t check_memory(const ft_graph *g)
{
    uint32_t n_tensors = g->n_tensors, in_place = 0;
    uint32_t *newest = calloc(n_tensors, sizeof(*newest)); /* per storage */
    uint32_t *made = calloc(n_tensors, sizeof(*made));

    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *n = &g->node[i];

        for (uint32_t j = 0; j < n->n_in; j++)
            CHECK_EQ(made[n->in[j]], newest[g->tensor[n->in[j]].storage]);
        for (uint32_t j = 0; j < n->n_out; j++) {
            uint32_t s = g->tensor[n->out[j]].storage;

            if (g->op[n->op].kind != FT_KIND_view)
                newest[s]++;
            made[n->out[j]] = newest[s];
            in_place += newest[s] > 1;
        }
    }
    free(newest);
    free(made);
    return in_place;
}

/* Every weight that the result depends on has one optimizer node with a gradient
 * of its shape and the value that the ways give; others have none. */
static void check_gradients(const ft_graph *g, const ft_graph *step)
{
    uint32_t n = step->n_tensors;
    uint64_t *ways = calloc(g->n_tensors, sizeof(*ways));
    uint64_t *value = calloc(n, sizeof(*value));
    bool *known = calloc(n, sizeof(*known));

    count_ways(g, ways);
    follow_gradients(step, value, known);
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        uint32_t found = 0;

        if (g->tensor[i].role != FT_ROLE_WEIGHT)
            continue;
        for (uint32_t k = 0; k < step->n_nodes; k++) {
            const ft_node *node = &step->node[k];
            const ft_tensor *w, *d;

            if (node->phase != FT_PHASE_OPTIMIZER || node->in[0] != i)
                continue;
            w = &step->tensor[i];
            d = &step->tensor[node->in[1]];
            CHECK(EQ(d->role, FT_ROLE_GRADIENT) &&
                  ft_shape_equal(&w->shape, &d->shape));
            CHECK(known[node->in[1]] && EQ(value[node->in[1]], ways[i]));
            found++;
        }
        CHECK_EQ(found, (ways[i] != 0));
    }
    free(ways);
    free(value);
    free(known);
}

TEST(random_networks_give_every_weight_its_gradient)
{
    const ft_step_options opt = {.optimizer = FT_OPTIMIZER_SGD, .loss = FT_LOSS_NONE};
    uint32_t in_place = 0;

    for (uint64_t seed = 1; seed <= 300; seed++) {
        ft_graph *g = random_net(seed), *step = NULL;
        ft_error err = {0};

        if (!g || ft__graph_train(&step, g, &opt, &err))
            fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, err.msg);
        CHECK(step != NULL);
        if (step) {
            check_order(step);
            in_place += check_memory(step);
            check_gradients(g, step);
        }
        ft_graph_free(step);
        ft_graph_free(g);
    }
    CHECK(CMP(in_place, >, 0));
}
