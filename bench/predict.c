/* How long does a question take once model and predictors are loaded?
 *
 *   predict MODEL DEVICE DATA [PREDICTOR.ftp [ROUNDS]]    "": the best there is */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/stats.h"
#include "cpu_time.h"
#include "foretell/query.h"

enum { ROUNDS = 2000 };

/* *wall_s, *work_s: by the clock, of the processor. */
static ft_status ask(double *wall_s, double *work_s, uint32_t *n_ops, ft_data *data,
                     const ft_query *q, ft_error *err)
{
    double begin = ft__now_s(), work = cpu_s();
    ft_answer *a;
    ft_status st = ft_query_ask(&a, data, q, err);

    *work_s = cpu_s() - work;
    *wall_s = ft__now_s() - begin;
    *n_ops = st ? 0 : a->n_ops;
    ft_answer_free(a);
    return st;
}

static ft_status run(ft_data *data, ft_query *q, int rounds, ft_error *err)
{
    static double t[ROUNDS];
    double begin = ft__now_s(), wall_s, work_s;
    ft_graph *g;
    uint32_t n_ops;
    ft_status st = ft_query_import(&g, q, err);

    printf("import\t%.1f us\n", 1e6 * (ft__now_s() - begin));
    q->graph = g;
    if (!st)
        st = ask(&wall_s, &work_s, &n_ops, data, q, err);
    if (!st)
        printf("first question, opens device and predictors\t%.1f us, of the processor "
               "%.1f us\n",
               1e6 * wall_s, 1e6 * work_s);
    for (int i = 0; i < rounds && !st; i++)
        st = ask(&t[i], &work_s, &n_ops, data, q, err);
    ft__sort(t, (size_t)rounds);
    if (!st)
        printf("question, %u unique operations\tmedian %.1f us, 10 %% %.1f us, 90 %% "
               "%.1f us\n",
               n_ops, 1e6 * ft__quantile(t, (size_t)rounds, 0.5),
               1e6 * ft__quantile(t, (size_t)rounds, 0.1),
               1e6 * ft__quantile(t, (size_t)rounds, 0.9));
    ft_graph_free(g);
    return st;
}

int main(int argc, char **argv)
{
    int rounds = argc > 5 ? atoi(argv[5]) : ROUNDS;
    ft_query q = FT_QUERY_INIT;
    ft_data *data = NULL;
    ft_error err = {0};
    ft_status st;

    if (argc < 4 || argc > 6 || rounds < 1 || rounds > ROUNDS) {
        fprintf(stderr, "usage: %s MODEL DEVICE DATA [PREDICTOR.ftp [ROUNDS]]\n",
                argv[0]);
        return 2;
    }
    q.model = argv[1];
    q.device = argv[2];
    q.predictor = argc > 4 && *argv[4] ? argv[4] : NULL;
    st = ft_data_open(&data, argv[3], NULL, &err);
    if (!st)
        st = run(data, &q, rounds, &err);
    if (st)
        fprintf(stderr, "predict: %s\n", err.msg);
    ft_data_close(data);
    return st != FT_OK;
}
