#include "foretell/graph.h"
#include "graph/graph_inside.h"
#include "import/graph_inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const ft_graph *g)
{
    ft_error err;

    for (uint32_t k = 0; k < g->n_ops; k++)
        if (ft_op_check(&g->op[k], &err))
            __builtin_trap();
}

/* What was imported has a training step, or says why not. */
static void train(const ft_graph *g)
{
    const ft_step_options opt = {.optimizer = FT_OPTIMIZER_ADAM, .loss = FT_LOSS_AUTO};
    ft_error err = {0};
    ft_graph *step;

    if (ft__graph_train(&step, g, &opt, &err) == FT_OK)
        check(step);
    else if (step || !err.msg[0])
        __builtin_trap();
    ft_graph_free(step);
}

/* Whatever the bytes, importing must fail with a message or give a graph whose
 * operations are sound and can be planned. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ft_dim_value dims[] = {{"seq", 5}};
    const ft_import_options opt[] = {{0}, {.dims = dims, .n_dims = 1}};

    for (size_t i = 0; i < 2; i++) {
        ft_error err = {0};
        ft_graph *g;

        if (ft__onnx_import(&g, data, size, "fuzz.onnx", &opt[i], &err) != FT_OK) {
            if (g || !err.msg[0])
                __builtin_trap();
            continue;
        }
        check(g);
        train(g);
        ft_graph_free(g);
    }
    return 0;
}
