#include "import/llm/llm.h"
#include "sound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the bytes, importing must fail with a message or give a graph whose
 * operations are sound; with many layers it takes too long for a fuzzer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ft_dim_value dims[] = {{"tokens", 5}, {"context", 9}, {"tp", 2}};
    const ft_import_options opt[] = {{0}, {.batch = 3, .dims = dims, .n_dims = 3}};
    ft__llm m;
    ft_error err = {0};
    ft_graph *g = NULL;
    ft_status st = ft__llm_read_gguf(&m, data, size, "fuzz", &err);

    if (st)
        (void)is_sound(st, &g, &err);
    for (size_t i = 0; !st && m.layers <= 20 && i < 2; i++) {
        err = (ft_error){0};
        if (is_sound(ft__llm_step_of(&g, &m, "fuzz", &opt[i], &err), &g, &err))
            ft_graph_free(g);
    }
    return 0;
}
