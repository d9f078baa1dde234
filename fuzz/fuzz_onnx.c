#include "import/graph_inside.h"
#include "sound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was imported has a training step, or says why not. */
static void train(const ft_graph *g)
{
    const ft_step_options opt = {.optimizer = FT_OPTIMIZER_ADAM, .loss = FT_LOSS_AUTO};
    ft_error err = {0};
    ft_graph *step;

    (void)is_sound(ft__graph_train(&step, g, &opt, &err), &step, &err);
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

        if (!is_sound(ft__onnx_import(&g, data, size, "fuzz.onnx", &opt[i], &err), &g,
                      &err))
            continue;
        train(g);
        ft_graph_free(g);
    }
    return 0;
}
