/* How long does a prediction take once graph and predictor are loaded?
 *
 *   predict MODEL.onnx PREDICTOR.ftp      median and spread of many calls */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/stats.h"
#include "foretell/predictor.h"

enum { ROUNDS = 2000 };

static void die(const char *what, const ft_error *err)
{
    fprintf(stderr, "predict: %s: %s\n", what, err->msg);
}

int main(int argc, char **argv)
{
    static double t[ROUNDS];
    ft_predictor_info info;
    ft_graph *source, *g;
    ft_network_estimate e;
    ft_predictor *p;
    ft_error err;
    double begin;

    if (argc != 3) {
        fprintf(stderr, "usage: %s MODEL PREDICTOR.ftp\n", argv[0]);
        return 2;
    }
    begin = ft__now_s();
    if (ft_import_file(&source, argv[1], NULL, &err)) {
        die(argv[1], &err);
        return 1;
    }
    printf("import\t%.1f us\n", 1e6 * (ft__now_s() - begin));
    begin = ft__now_s();
    if (ft_predictor_load(&p, argv[2], &err)) {
        die(argv[2], &err);
        return 1;
    }
    printf("load predictor\t%.1f us\n", 1e6 * (ft__now_s() - begin));
    ft_predictor_get_info(p, &info);
    begin = ft__now_s();
    if (ft_graph_lower(&g, source, info.policy, &err)) {
        die(argv[1], &err);
        return 1;
    }
    printf("lower\t%.1f us\n", 1e6 * (ft__now_s() - begin));
    for (int i = 0; i < ROUNDS; i++) {
        begin = ft__now_s();
        if (ft_predict_network(&e, p, g, &err)) {
            die("predicting", &err);
            return 1;
        }
        t[i] = ft__now_s() - begin;
        if (i == 0)
            printf("first prediction (opens and checks its forests)\t%.1f us\n",
                   1e6 * t[0]);
        ft_network_estimate_free(&e);
    }
    ft__sort(t, ROUNDS);
    printf(
        "predict time and memory, %u unique operations\tmedian %.1f us, 10 %% %.1f us, "
        "90 %% %.1f us\n",
        ft_graph_n_ops(g), 1e6 * ft__quantile(t, ROUNDS, 0.5),
        1e6 * ft__quantile(t, ROUNDS, 0.1), 1e6 * ft__quantile(t, ROUNDS, 0.9));
    ft_graph_free(g);
    ft_graph_free(source);
    ft_predictor_free(p);
    return 0;
}
