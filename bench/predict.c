/* How long does a question take once model and predictors are loaded?
 *
 *   predict MODEL DEVICE DATA [PREDICTOR.ftp [ROUNDS [DIM]]]    "": the best there is
 *
 * The same network each time; DIM: another one each time, of which one size differs
 * ("batch", or a language model's "context", a language model's with layers that are
 * alike once), or "step": one of a server's from tables of steps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stats.h"
#include "cpu_time.h"
#include "foretell/query.h"
#include "foretell/serve.h"

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

static void print(const char *what, double *t, int n)
{
    ft__sort(t, (size_t)n);
    printf("%s\tmedian %.4g us, 10 %% %.4g us, 90 %% %.4g us\n", what,
           1e6 * ft__quantile(t, (size_t)n, 0.5), 1e6 * ft__quantile(t, (size_t)n, 0.1),
           1e6 * ft__quantile(t, (size_t)n, 0.9));
}

static ft_status import(ft_graph **g, double *wall_s, const ft_query *q, ft_error *err)
{
    double begin = ft__now_s();
    ft_status st = ft_query_import(g, q, err);

    *wall_s = ft__now_s() - begin;
    return st;
}

static ft_status run(ft_data *data, ft_query *q, int rounds, const char *dim,
                     ft_error *err)
{
    static double t[ROUNDS], imported[ROUNDS];
    ft_dim_value dims[] = {{"once", 1}, {dim, 1000}};
    double wall_s, work_s;
    ft_graph *g;
    uint32_t n_ops = 0;
    ft_status st = import(&g, &wall_s, q, err);

    printf("import\t%.1f us\n", 1e6 * wall_s);
    q->graph = g;
    if (!st)
        st = ask(&wall_s, &work_s, &n_ops, data, q, err);
    if (!st)
        printf("first question, opens device and predictors\t%.1f us, of the processor "
               "%.1f us\n",
               1e6 * wall_s, 1e6 * work_s);
    for (int i = 0; i < rounds && !st; i++) {
        if (dim) {
            q->n_dims = g->language_model;
            q->batch = strcmp(dim, "batch") == 0 ? 1 + i : 0;
            q->dims = dims + !q->n_dims;
            q->n_dims += q->batch ? 0 : 1;
            dims[1].value++;
            ft_graph_free(g);
            q->graph = NULL;
            st = import(&g, &imported[i], q, err);
            q->graph = g;
        }
        if (!st)
            st = ask(&t[i], &work_s, &n_ops, data, q, err);
    }
    if (!st && dim)
        print("import", imported, rounds);
    printf("%u unique operations\n", n_ops);
    if (!st)
        print("question", t, rounds);
    ft_graph_free(g);
    return st;
}

/* Steps of up to 256 sequences and 8,192 tokens, of prompts of as many. */
static ft_status run_steps(ft_data *data, const ft_query *q, int rounds, ft_error *err)
{
    static double t[ROUNDS];
    ft_serve_load load = FT_SERVE_LOAD_INIT;
    ft_serve_plan *plan;
    ft_serve_steps *steps = NULL;
    ft_estimate time, energy;
    double begin = ft__now_s();
    ft_status st;

    load.prompt = load.max_batched_tokens = 8192;
    load.generate = 2048;
    load.concurrency = load.max_seqs = 256;
    st = ft_serve_plan_open(&plan, q, &load, 1, err);
    if (!st)
        st = ft_serve_steps_open(&steps, data, plan, q, err);
    printf("tables\t%.1f us\n", 1e6 * (ft__now_s() - begin));
    for (int i = 0; i < rounds && !st; i++) {
        begin = ft__now_s();
        for (int k = 0; k < 1000; k++) {
            const ft_serve_step step = {.decode_seqs = 1 + i % 256,
                                        .decode_context = (1 + i % 256) * (1000. + k)};

            ft_serve_step_ask(&time, &energy, steps, &step);
        }
        t[i] = (ft__now_s() - begin) / 1000;
    }
    if (!st)
        print("step", t, rounds);
    ft_serve_steps_close(steps);
    ft_serve_plan_close(plan);
    return st;
}

int main(int argc, char **argv)
{
    int rounds = argc > 5 ? atoi(argv[5]) : ROUNDS;
    ft_query q = FT_QUERY_INIT;
    ft_data *data = NULL;
    ft_error err = {0};
    ft_status st;

    if (argc < 4 || argc > 7 || rounds < 1 || rounds > ROUNDS) {
        fprintf(stderr, "usage: %s MODEL DEVICE DATA [PREDICTOR.ftp [ROUNDS [DIM]]]\n",
                argv[0]);
        return 2;
    }
    q.model = argv[1];
    q.device = argv[2];
    q.predictor = argc > 4 && *argv[4] ? argv[4] : NULL;
    st = ft_data_open(&data, argv[3], NULL, &err);
    if (!st)
        st = argc > 6 && strcmp(argv[6], "step") == 0
                 ? run_steps(data, &q, rounds, &err)
                 : run(data, &q, rounds, argc > 6 ? argv[6] : NULL, &err);
    if (st)
        fprintf(stderr, "predict: %s\n", err.msg);
    ft_data_close(data);
    return st != FT_OK;
}
