/* Let the 1st, 2nd, 3rd ... allocation fail until a training step is made: every
 * failure must come back as FT_ENOMEM and leak nothing (run under ASan). */
#include <stdio.h>

#include "check.h"
#include "foretell/graph.h"
#include "graph/graph_inside.h"
#include "import/graph_inside.h"
#include "refuse.h"

static void every_refused_allocation_of_training_is_reported(const char *root,
                                                             const char *model)
{
    const ft_step_options opt = {.optimizer = FT_OPTIMIZER_ADAM, .loss = FT_LOSS_AUTO};
    char path[512];
    ft_graph *g = NULL, *step;
    ft_status st = FT_ENOMEM;
    int n = 0;

    snprintf(path, sizeof(path), "%s/data/models/%s.onnx", root, model);
    CHECK_EQ(ft__import_file(&g, path, NULL, NULL), FT_OK);
    while (g && st == FT_ENOMEM && n < 10000) {
        allocs_left = ++n;
        st = ft__graph_train(&step, g, &opt, NULL);
        allocs_left = -1;
        CHECK_EQ((st == FT_OK), (step != NULL));
        ft_graph_free(step);
    }
    CHECK(EQ(st, FT_OK) && CMP(n, >, 20));
    ft_graph_free(g);
}

int main(int argc, char **argv)
{
    const char *root = argc > 1 ? argv[1] : ".";

    every_refused_allocation_of_training_is_reported(root, "resnet18");
    every_refused_allocation_of_training_is_reported(root, "vit_b_16");
    CHECK_DONE();
}
