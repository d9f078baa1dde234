/* Let the 1st, 2nd, 3rd ... allocation fail until a training step is made: every
 * failure must come back as FT_ENOMEM and leak nothing (run under ASan). */
#include <stdio.h>

#include "check.h"
#include "foretell/graph.h"
#include "graph/graph_inside.h"
#include "import/graph_inside.h"
#include "refuse.h"

static ft_status train(const ft_graph *g)
{
    const ft_step_options opt = {.optimizer = FT_OPTIMIZER_ADAM, .loss = FT_LOSS_AUTO};
    ft_graph *step;
    ft_status st = ft__graph_train(&step, g, &opt, NULL);

    CHECK_EQ((st == FT_OK), (step != NULL));
    ft_graph_free(step);
    return st;
}

int main(int argc, char **argv)
{
    static const char *const models[] = {"resnet18", "vit_b_16"};
    char path[512];
    ft_graph *g;

    for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
        snprintf(path, sizeof(path), "%s/data/models/%s.onnx", argc > 1 ? argv[1] : ".",
                 models[i]);
        CHECK_EQ(ft__import_file(&g, path, NULL, NULL), FT_OK);
        CHECK_REFUSALS(train(g), 20);
        ft_graph_free(g);
    }
    CHECK_DONE();
}
