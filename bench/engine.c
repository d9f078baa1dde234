/* Median time of operations on an engine, and the kernel that ran them:
 *   bench_engine PLUGIN THREADS SPEC...                                      */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foretell/engine.h"

enum { MAX_TIMES = 20000 };

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void *operand(const ft_engine *e, ft_engine_context *c, const ft_shape *s,
                     ft_dtype t)
{
    void *p = e->alloc(c, (uint64_t)ft_tensor_bytes(s, t));

    if (p)
        e->fill(c, p, t, (uint64_t)ft_shape_elements(s), 100, 1, NULL);
    return p;
}

static double median_time(const ft_engine *e, ft_engine_context *c, ft_block *b,
                          const void *const *in, void *const *out, void *workspace)
{
    static double times[MAX_TIMES];
    double begin = e->now(c), last = begin;
    size_t n = 0;

    while (n < 5 || (last - begin < 0.3 && n < MAX_TIMES)) {
        double from = e->now(c);

        e->run(b, 0, in, out, workspace, NULL);
        e->sync(c, NULL);
        last = e->now(c);
        times[n++] = last - from;
    }
    qsort(times, n, sizeof(*times), ascending);
    return times[n / 2];
}

static int measure(const ft_engine *e, ft_engine_context *c, const char *spec)
{
    void *in[FT_OP_MAX_OPERANDS] = {0}, *out[FT_OP_MAX_OPERANDS] = {0}, *workspace;
    ft_block *b = NULL;
    ft_block_info info;
    ft_error err = {0};
    ft_op op;
    ft_shape s;
    ft_dtype t;

    if (ft_op_parse(&op, spec, strlen(spec), &err) ||
        e->prepare(c, &b, &info, &op, 1, NULL, 0, &err)) {
        fprintf(stderr, "%s: %s\n", spec, err.msg);
        return 1;
    }
    for (uint32_t i = 0; i < ft_op_n_inputs(&op); i++) {
        ft_op_input(&op, i, &s, &t);
        in[i] = operand(e, c, &s, t);
    }
    for (uint32_t i = 0; i < ft_op_n_outputs(&op); i++) {
        ft_op_output(&op, i, &s, &t);
        out[i] = operand(e, c, &s, t);
    }
    workspace = e->alloc(c, info.workspace_bytes);
    printf("%10.1f us  %-28s %s\n",
           1e6 * median_time(e, c, b, (const void *const *)in, out, workspace),
           info.implementation, spec);
    for (uint32_t i = 0; i < FT_OP_MAX_OPERANDS; i++) {
        e->release(c, in[i]);
        e->release(c, out[i]);
    }
    e->release(c, workspace);
    e->free_block(b);
    return 0;
}

int main(int argc, char **argv)
{
    const ft_engine *e;
    ft_engine_context *c;
    ft_error err = {0};
    int bad = 0;

    if (argc < 4) {
        fprintf(stderr, "usage: bench_engine PLUGIN THREADS SPEC...\n");
        return 2;
    }
    if (ft_engine_load(&e, argv[1], &err) ||
        e->open(&c,
                &(ft_engine_config){.threads = (uint32_t)atoi(argv[2]), .options = ""},
                &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    for (int i = 3; i < argc; i++)
        bad |= measure(e, c, argv[i]);
    e->close(c);
    return bad;
}
