#include "import/llm/llm.h"
#include "sound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the text, importing must fail with a message or give a graph whose
 * operations are sound; with many layers it takes too long for a fuzzer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ft_dim_value dims[] = {{"tokens", 5}, {"context", 9}, {"tp", 2}};
    const ft_import_options opt[] = {{0}, {.batch = 3, .dims = dims, .n_dims = 3}};
    const char *text = (const char *)data;
    ft__llm m;

    if (ft__llm_read(&m, text, size, NULL, "fuzz", NULL) == FT_OK && m.layers > 20)
        return 0;
    for (size_t i = 0; i < 2; i++) {
        ft_error err = {0};
        ft_graph *g;

        if (is_sound(ft__import_llm(&g, text, size, NULL, "fuzz", &opt[i], &err), &g,
                     &err))
            ft_graph_free(g);
    }
    return 0;
}
