/* How long does a prediction take once graph and predictor are loaded?
 *
 *   predict MODEL.onnx PREDICTOR.ftp                      median and spread of many
 * calls predict MODEL.onnx FAMILY.ftp DEVICE DATA [ROUNDS]    of a family, for this
 * device */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/stats.h"
#include "foretell/predictor.h"
#include "predict/network.h"

enum { ROUNDS = 2000 };

static void die(const char *what, const ft_error *err)
{
    fprintf(stderr, "predict: %s: %s\n", what, err->msg);
}

/* Of this process: what others do on the machine does not count. */
static double processor_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ft_status predict(ft_network_estimate *e, const ft_predictor *p,
                         const ft_device_use *on, const ft_graph *g, ft_error *err)
{
    return on->device ? ft_predict_network_on(e, p, on, g, err)
                      : ft_predict_network(e, p, g, err);
}

int main(int argc, char **argv)
{
    static double t[ROUNDS];
    int rounds = argc > 5 ? atoi(argv[5]) : ROUNDS;
    ft_device *device = NULL;
    ft_device_use on = {0};
    ft_predictor_info info;
    ft_graph *source, *g;
    ft_network_estimate e;
    ft_predictor *p;
    ft_error err;
    double begin, work;

    if ((argc != 3 && argc != 5 && argc != 6) || rounds < 1 || rounds > ROUNDS) {
        fprintf(stderr, "usage: %s MODEL PREDICTOR.ftp [DEVICE DATA [ROUNDS]]\n",
                argv[0]);
        return 2;
    }
    if (argc > 3 && ft_device_load(&device, argv[4], argv[3], &err)) {
        die(argv[3], &err);
        return 1;
    }
    on.device = device;
    begin = ft__now_s();
    if (ft_import_file(&source, argv[1], NULL, &err)) {
        die(argv[1], &err);
        return 1;
    }
    printf("import\t%.1f us\n", 1e6 * (ft__now_s() - begin));
    begin = ft__now_s();
    work = processor_s();
    if (ft_predictor_load(&p, argv[2], &err)) {
        die(argv[2], &err);
        return 1;
    }
    printf("load predictor\t%.1f us, of the processor %.1f us\n",
           1e6 * (ft__now_s() - begin), 1e6 * (processor_s() - work));
    ft_predictor_get_info(p, &info);
    begin = ft__now_s();
    if (ft_graph_lower(&g, source, device ? FT_POLICY_STRIDED_VIEWS : info.policy,
                       &err)) {
        die(argv[1], &err);
        return 1;
    }
    printf("lower\t%.1f us\n", 1e6 * (ft__now_s() - begin));
    for (int i = 0; i < rounds; i++) {
        begin = ft__now_s();
        work = processor_s();
        if (predict(&e, p, &on, g, &err)) {
            die("predicting", &err);
            return 1;
        }
        t[i] = ft__now_s() - begin;
        if (i == 0)
            printf("first prediction (opens and checks its forests)\t%.1f us, of the "
                   "processor %.1f us\n",
                   1e6 * t[0], 1e6 * (processor_s() - work));
        ft_network_estimate_free(&e);
    }
    ft__sort(t, (size_t)rounds);
    printf(
        "predict time and memory, %u unique operations\tmedian %.1f us, 10 %% %.1f us, "
        "90 %% %.1f us\n",
        ft_graph_n_ops(g), 1e6 * ft__quantile(t, (size_t)rounds, 0.5),
        1e6 * ft__quantile(t, (size_t)rounds, 0.1),
        1e6 * ft__quantile(t, (size_t)rounds, 0.9));
    ft_graph_free(g);
    ft_graph_free(source);
    ft_predictor_free(p);
    ft_device_free(device);
    return 0;
}
