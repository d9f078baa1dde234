/* How fast launches are counted, in seconds of the processor, since others may use it,
 * too.
 *   bench_ptx_count LAUNCHES...    launch files: all launches, then all again
 *   bench_ptx_count -m FILE...      modules: read, and each kernel analysed and counted
 *                                   for 1000 blocks of unknown parameters */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cpu_time.h"
#include "foretell/ptx_launches.h"
#include "ptx/ptx_inside.h"

typedef struct sums {
    uint64_t launches, blocks, threads, exact;
    double worst_s;
    const char *worst;
} sums;

/* All launches of a list once; false: err says why. */
static int count_list(sums *t, ft_ptx_launches *l, ft_error *err)
{
    const ft_ptx_listed *at = ft_ptx_launches_get(l)->listed;
    const size_t n = ft_ptx_launches_get(l)->n;

    for (size_t i = 0; i < n; i++) {
        const double begin = cpu_s();
        ft_ptx_counts c;
        double took;

        if (!at[i].module || at[i].missing)
            continue;
        if (ft_ptx_launches_count(&c, l, i, err))
            return 0;
        took = cpu_s() - begin;
        if (took > t->worst_s) {
            t->worst_s = took;
            t->worst = at[i].kernel->name;
        }
        t->launches++;
        t->blocks += c.blocks;
        t->threads += c.threads;
        t->exact += (uint64_t)c.exact;
    }
    return 1;
}

static int network(const char *path)
{
    ft_ptx_launches *l;
    sums first = {0}, again = {0};
    ft_error err;
    double begin, once;

    if (ft_ptx_launches_open(&l, path, NULL, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    begin = cpu_s();
    if (!count_list(&first, l, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    once = cpu_s() - begin;
    begin = cpu_s();
    if (!count_list(&again, l, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    printf("%s: %" PRIu64 " launches, %" PRIu64 " blocks, %.3g threads in %.1f ms with "
           "their analysis, longest %s, %.1f ms; again in %.1f ms; %" PRIu64 " exact\n",
           path, first.launches, first.blocks, (double)first.threads, once * 1e3,
           first.worst ? first.worst : "none", first.worst_s * 1e3,
           (cpu_s() - begin) * 1e3, first.exact);
    ft_ptx_launches_free(l);
    return 0;
}

static int count_module(sums *t, const ft_ptx *m, ft_error *err)
{
    const ft_ptx_kernel *k = ft_ptx_get(m)->kernel;
    const size_t n = ft_ptx_get(m)->n_kernels;
    ft__ptx_counter *c;

    if (ft__ptx_counter_new(&c, m, err))
        return 0;
    for (size_t i = 0; i < n; i++) {
        ft_ptx_launch l = {
            .kernel = k[i].name, .grid = {1000, 1, 1}, .block = {128, 1, 1}};
        ft_ptx_counts counts;

        for (int x = 0; k[i].required[0] && x < 3; x++)
            l.block[x] = k[i].required[x] ? k[i].required[x] : 1;
        if (ft__ptx_count(&counts, NULL, c, &l, err)) {
            ft__ptx_counter_free(c);
            return 0;
        }
        t->launches++;
        t->exact += (uint64_t)counts.exact;
    }
    ft__ptx_counter_free(c);
    return 1;
}

static int modules(char **path, int n)
{
    double read_s = 0, count_s = 0;
    sums t = {0};

    for (int i = 0; i < n; i++) {
        ft_error err;
        ft_ptx *m;
        double begin = cpu_s();

        if (ft__ptx_open(&m, path[i], &err)) {
            fprintf(stderr, "%s\n", err.msg);
            return 1;
        }
        read_s += cpu_s() - begin;
        begin = cpu_s();
        if (!count_module(&t, m, &err))
            fprintf(stderr, "%s: %s\n", path[i], err.msg);
        count_s += cpu_s() - begin;
        ft__ptx_free(m);
    }
    printf("%d files, %" PRIu64
           " kernels: read in %.1f ms, analysed and counted in %.1f "
           "ms, %" PRIu64 " exact without parameters\n",
           n, t.launches, read_s * 1e3, count_s * 1e3, t.exact);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;

    if (argc > 2 && strcmp(argv[1], "-m") == 0)
        return modules(argv + 2, argc - 2);
    for (int i = 1; i < argc; i++)
        failed |= network(argv[i]);
    return failed;
}
