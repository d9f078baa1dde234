#include <string.h>

#include "import/graph_inside.h"
#include "import/pt2/pt2.h"
#include "sound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An archive where the bytes begin like one, else the text of a graph. */
static ft_status import(ft_graph **g, const uint8_t *data, size_t size,
                        const ft_import_options *opt, ft_error *err)
{
    if (size >= 4 && memcmp(data, "PK\3\4", 4) == 0)
        return ft__import_pt2(g, data, size, "fuzz.pt2", opt, err);
    return ft__import_pt2_text(g, (const char *)data, size, "fuzz.pt2", opt, err);
}

/* Whatever the bytes, importing must fail with a message or give a graph whose
 * operations are sound. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ft_dim_value dims[] = {{"inputs_0.1", 6}};
    const ft_input_shape inputs[] = {{"inputs_0", {.rank = 2, .dim = {3, 6}}}};
    const ft_import_options opt[] = {{0},
                                     {.dims = dims, .n_dims = 1},
                                     {.batch = 4, .inputs = inputs, .n_inputs = 1}};

    for (size_t i = 0; i < 3; i++) {
        ft_error err = {0};
        ft_graph *g;

        if (is_sound(import(&g, data, size, &opt[i], &err), &g, &err))
            ft_graph_free(g);
    }
    return 0;
}
