/* What is asked of a network: a pass or a training step, by names of options; the graph
 * of it, as imported and as an engine runs it. */
#include <stdio.h>
#include <string.h>

#include "graph/graph_inside.h"
#include "graph/op.h"

static const char *const modes[] = {"inference", "training"};
static const char *const optimizers[] = {
    [FT_OPTIMIZER_NONE] = "none",         [FT_OPTIMIZER_SGD] = "sgd",
    [FT_OPTIMIZER_MOMENTUM] = "momentum", [FT_OPTIMIZER_ADAM] = "adam",
    [FT_OPTIMIZER_ADAMW] = "adamw",       [FT_OPTIMIZER_ADAMW8BIT] = "adamw8bit",
};
static const char *const losses[] = {
    [FT_LOSS_AUTO] = "auto",
    [FT_LOSS_NONE] = "none",
    [FT_LOSS_CROSS_ENTROPY] = "cross_entropy",
    [FT_LOSS_MSE] = "mse",
};

static const char *const results[] = {"first", "all"};

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* The index of text among the names; NULL leaves *out as it is. */
static ft_status choose(uint32_t *out, const char *option, const char *text,
                        const char *const *names, size_t n, ft_error *err)
{
    char list[128] = "";

    if (!text)
        return FT_OK;
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(list);

        if (strcmp(text, names[i]) == 0) {
            *out = (uint32_t)i;
            return FT_OK;
        }
        snprintf(list + len, sizeof(list) - len, "%s%s",
                 i == 0       ? ""
                 : i + 1 == n ? " or "
                              : ", ",
                 names[i]);
    }
    return ft_fail(err, FT_EINVAL, 0, "--%s is %s, not \"%s\"", option, list, text);
}

ft_status ft_step_read(ft_step *out, const ft_step_names *names, ft_error *err)
{
    uint32_t mode = FT_MODE_INFERENCE, optimizer = FT_OPTIMIZER_SGD,
             loss = FT_LOSS_AUTO, loss_on = 0;
    ft_status st = choose(&mode, "mode", names->mode, modes, N_OF(modes), err);

    if (!st)
        st = choose(&optimizer, "optimizer", names->optimizer, optimizers,
                    N_OF(optimizers), err);
    if (!st)
        st = choose(&loss, "loss", names->loss, losses, N_OF(losses), err);
    if (!st)
        st = choose(&loss_on, "loss-on", names->loss_on, results, N_OF(results), err);
    if (!st && mode != FT_MODE_TRAINING &&
        (names->optimizer || names->loss || names->loss_on))
        st = ft_fail(err, FT_EINVAL, 0, "--%s goes with --mode training",
                     names->optimizer ? "optimizer"
                     : names->loss    ? "loss"
                                      : "loss-on");
    *out = (ft_step){.given = names->mode != NULL,
                     .mode = (ft_mode)mode,
                     .how = {(ft_optimizer)optimizer, (ft_loss)loss, loss_on}};
    return st;
}

bool ft__graph_is_list(const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (g->tensor[i].is_output)
            return false;
    return true;
}

bool ft__graph_writes_inputs(const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const ft_node *n = &g->node[i];

        if (g->op[n->op].kind == FT_KIND_copy &&
            g->tensor[g->tensor[n->out[0]].storage].role == FT_ROLE_INPUT)
            return true;
    }
    return false;
}

/* What it makes of each sequence is a vector, of which no loss is known. */
static bool is_encoder(const ft_graph *g)
{
    return g->language_model && g->n_outputs &&
           strcmp(g->tensor[g->output[0]].name, "pooler_output") == 0;
}

bool ft__graph_keeps_statistics(const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->op[i].kind == FT_KIND_batchnorm && ft_op_at(&g->op[i], FT_K_train, 0))
            return !ft__graph_is_list(g);
    return false;
}

bool ft__graph_is_recurrent(const ft_graph *g)
{
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (ft__rnn_gates(g->op[i].kind))
            return !ft__graph_is_list(g);
    return false;
}

ft_status ft_step_make(ft_graph **out, const ft_graph *g, const ft_step *s,
                       ft_error *err)
{
    *out = NULL;
    if (!s->given || (s->mode == FT_MODE_INFERENCE && g->mode == FT_MODE_INFERENCE))
        return FT_OK;
    if (s->mode == FT_MODE_INFERENCE)
        return ft_fail(err, FT_EINVAL, 0,
                       "%s holds forward and backward pass in one: export the model in "
                       "evaluation mode for --mode inference",
                       g->name);
    if (ft__graph_is_list(g))
        return ft_fail(
            err, FT_EINVAL, 0,
            "%s: a list does not say how its operations are connected: write "
            "the backward ones as lines with phase=backward",
            g->name);
    if (ft__graph_writes_inputs(g))
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "%s: a step with a cache of keys and values is not trained; "
                       "export the module itself for --mode training; a config.json "
                       "is trained by --gpus N, or as one step by --dim train=1",
                       g->name);
    if (is_encoder(g))
        return ft_fail(err, FT_EUNSUPPORTED, 0,
                       "%s: an encoder's configuration does not say what it is trained "
                       "for; export the module itself for --mode training",
                       g->name);
    return ft__graph_train(out, g, &s->how, err);
}

/* In place of *g, which stays on failure. */
static ft_status take_step(ft_graph **g, const ft_step *s, ft_error *err)
{
    ft_graph *step;
    ft_status st = ft_step_make(&step, *g, s, err);

    if (step) {
        ft_graph_free(*g);
        *g = step;
    }
    return st;
}

/* PyTorch's views are those of the whole step; layouts are chosen for the forward
 * pass, and the backward one follows. A file's own backward pass stays as it is. */
ft_status ft_step_lower(ft_graph **out, const ft_graph *g, uint32_t policy,
                        const ft_step *s, ft_error *err)
{
    bool forward = g->mode == FT_MODE_INFERENCE;
    ft_graph *step;
    ft_status st;

    *out = NULL;
    if (policy & FT_POLICY_STRIDED_VIEWS) {
        st = ft_step_make(&step, g, s, err);
        if (!st && !(policy & FT_POLICY_CHANNELS_LAST) &&
            ft__graph_is_plain(step ? step : g)) {
            *out = step;
            return FT_OK;
        }
        if (!st)
            st = ft__graph_lower(out, step ? step : g, policy, err);
        ft_graph_free(step);
        return st;
    }
    if (!forward)
        return ft_step_make(out, g, s, err);
    st = ft__graph_lower(out, g, policy, err);
    if (!st)
        st = take_step(out, s, err);
    if (st) {
        ft_graph_free(*out);
        *out = NULL;
    }
    return st;
}

const char *ft_step_name(const ft_step *s, const ft_graph *g)
{
    static const char *const with[] = {
        [FT_OPTIMIZER_NONE] = "one step of forward and backward, no optimizer",
        [FT_OPTIMIZER_SGD] = "one step of forward, backward and SGD",
        [FT_OPTIMIZER_MOMENTUM] = "one step of forward, backward and SGD with momentum",
        [FT_OPTIMIZER_ADAM] = "one step of forward, backward and Adam",
        [FT_OPTIMIZER_ADAMW] = "one step of forward, backward and AdamW",
        [FT_OPTIMIZER_ADAMW8BIT] = "one step of forward, backward and AdamW in 8 bits",
    };

    if (g->mode == FT_MODE_INFERENCE)
        return "one forward pass";
    return s->given ? with[s->how.optimizer] : "one step as the file has it";
}
