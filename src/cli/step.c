/* --mode, --optimizer, --loss, --loss-on: what is asked for of a model. */
#include <string.h>

#include "cli/cli.h"

static const char *const modes[] = {"inference", "training"};
static const char *const optimizers[] = {
    [FT_OPTIMIZER_NONE] = "none",         [FT_OPTIMIZER_SGD] = "sgd",
    [FT_OPTIMIZER_MOMENTUM] = "momentum", [FT_OPTIMIZER_ADAM] = "adam",
    [FT_OPTIMIZER_ADAMW] = "adamw",
};
static const char *const losses[] = {
    [FT_LOSS_AUTO] = "auto",
    [FT_LOSS_NONE] = "none",
    [FT_LOSS_CROSS_ENTROPY] = "cross_entropy",
    [FT_LOSS_MSE] = "mse",
};

static const char *const results[] = {"first", "all"};

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* The index of text among the names. */
static int choose(ft__cli *c, size_t *out, const char *option, const char *text,
                  const char *const *names, size_t n)
{
    char list[128] = "";

    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(list);

        if (strcmp(text, names[i]) == 0) {
            *out = i;
            return FT__EXIT_GOOD;
        }
        snprintf(list + len, sizeof(list) - len, "%s%s",
                 i == 0       ? ""
                 : i + 1 == n ? " or "
                              : ", ",
                 names[i]);
    }
    return ft__cli_exit(c, FT__EXIT_USAGE, "--%s is %s, not \"%s\"", option, list,
                        text);
}

int ft__step_parse(ft__cli *c, ft__step *out, const ft__step_options *opt)
{
    size_t mode = FT_MODE_INFERENCE, optimizer = FT_OPTIMIZER_SGD, loss = FT_LOSS_AUTO,
           loss_on = 0;
    int code = FT__EXIT_GOOD;

    *out = (ft__step){.given = opt->mode != NULL};
    if (opt->mode)
        code = choose(c, &mode, "mode", opt->mode, modes, N_OF(modes));
    if (!code && opt->optimizer)
        code = choose(c, &optimizer, "optimizer", opt->optimizer, optimizers,
                      N_OF(optimizers));
    if (!code && opt->loss)
        code = choose(c, &loss, "loss", opt->loss, losses, N_OF(losses));
    if (!code && opt->loss_on)
        code = choose(c, &loss_on, "loss-on", opt->loss_on, results, N_OF(results));
    if (!code && mode != FT_MODE_TRAINING &&
        (opt->optimizer || opt->loss || opt->loss_on))
        code = ft__cli_exit(c, FT__EXIT_USAGE, "--%s goes with --mode training",
                            opt->optimizer ? "optimizer"
                            : opt->loss    ? "loss"
                                           : "loss-on");
    out->mode = (ft_mode)mode;
    out->how.optimizer = (ft_optimizer)optimizer;
    out->how.loss = (ft_loss)loss;
    out->how.loss_on_all = (uint32_t)loss_on;
    return code;
}

/* A list of operations: nothing is said to be the result. */
static bool is_list(const ft_graph *g)
{
    for (uint32_t i = 0; i < ft_graph_n_tensors(g); i++)
        if (ft_graph_tensor(g, i)->is_output)
            return false;
    return true;
}

ft_status ft__step_make(ft_graph **out, const ft_graph *g, const ft__step *s,
                        ft_error *err)
{
    *out = NULL;
    if (!s->given ||
        (s->mode == FT_MODE_INFERENCE && ft_graph_mode(g) == FT_MODE_INFERENCE))
        return FT_OK;
    if (s->mode == FT_MODE_INFERENCE)
        return ft_fail(err, FT_EINVAL, 0,
                       "%s holds forward and backward pass in one: export the model in "
                       "evaluation mode for --mode inference",
                       ft_graph_name(g));
    if (is_list(g))
        return ft_fail(
            err, FT_EINVAL, 0,
            "%s: a list does not say how its operations are connected: write "
            "the backward ones as lines with phase=backward",
            ft_graph_name(g));
    return ft_graph_train(out, g, &s->how, err);
}

ft_status ft__step_take(ft_graph **g, const ft__step *s, ft_error *err)
{
    ft_graph *step;
    ft_status st = ft__step_make(&step, *g, s, err);

    if (step) {
        ft_graph_free(*g);
        *g = step;
    }
    return st;
}

/* PyTorch's views are those of the whole step; layouts are chosen for the forward
 * pass, and the backward one follows. A file's own backward pass stays as it is. */
ft_status ft__step_lower(ft_graph **out, const ft_graph *g, uint32_t policy,
                         const ft__step *s, ft_error *err)
{
    bool forward = ft_graph_mode(g) == FT_MODE_INFERENCE;
    ft_graph *step;
    ft_status st;

    *out = NULL;
    if (policy & FT_POLICY_STRIDED_VIEWS) {
        st = ft__step_make(&step, g, s, err);
        if (!st)
            st = ft_graph_lower(out, step ? step : g, policy, err);
        ft_graph_free(step);
        return st;
    }
    if (!forward)
        return ft__step_make(out, g, s, err);
    st = ft_graph_lower(out, g, policy, err);
    return st ? st : ft__step_take(out, s, err);
}

const char *ft__step_name(const ft__step *s, const ft_graph *g)
{
    static const char *const with[] = {
        [FT_OPTIMIZER_NONE] = "one step of forward and backward, no optimizer",
        [FT_OPTIMIZER_SGD] = "one step of forward, backward and SGD",
        [FT_OPTIMIZER_MOMENTUM] = "one step of forward, backward and SGD with momentum",
        [FT_OPTIMIZER_ADAM] = "one step of forward, backward and Adam",
        [FT_OPTIMIZER_ADAMW] = "one step of forward, backward and AdamW",
    };

    if (ft_graph_mode(g) == FT_MODE_INFERENCE)
        return "one forward pass";
    return s->given ? with[s->how.optimizer] : "one step as the file has it";
}

const char *ft__mode_name(const ft_graph *g)
{
    return modes[ft_graph_mode(g)];
}
