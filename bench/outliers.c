/* The C side of bench/outliers: slow rows planted into a table of "x,...,x,y,group"
 * (y: logarithm of the time over an estimate), and found. Prints a line a factor:
 *   factor recall false-alarms recall-at-1% recall-of-isolation-at-1%
 * and, with --scores, the isolation score of every row instead. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "base/stats.h"
#include "decide/slow.h"
#include "foretell/learn.h"

enum { MAX_LINE = 1 << 16, MAX_ROWS = 1 << 17 };

static const double planted_share = 0.02;

struct table {
    ft_matrix x;
    ft_matrix seen; /* x and what is planted, for isolating */
    float *values, *wide;
    double *y, *log_time, *ordinary;
    uint64_t *group;
    int *planted;
    ft_outlier *found;
    double *score;
};

static void stop(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static void *room(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p)
        stop("no memory");
    return p;
}

static struct table read_table(const char *path)
{
    static char line[MAX_LINE];
    struct table t = {0};
    FILE *fp = fopen(path, "r");
    size_t cols = 0, n = 0;

    if (!fp || !fgets(line, sizeof(line), fp))
        stop("cannot read the table");
    for (const char *c = line; *c; c++)
        cols += *c == ',';
    cols--;
    t.values = room(MAX_ROWS * cols, sizeof(*t.values));
    t.wide = room(MAX_ROWS * (cols + 1), sizeof(*t.wide));
    t.y = room(MAX_ROWS, sizeof(*t.y));
    t.log_time = room(MAX_ROWS, sizeof(*t.log_time));
    t.ordinary = room(MAX_ROWS, sizeof(*t.ordinary));
    t.group = room(MAX_ROWS, sizeof(*t.group));
    t.planted = room(MAX_ROWS, sizeof(*t.planted));
    t.found = room(MAX_ROWS, sizeof(*t.found));
    t.score = room(MAX_ROWS, sizeof(*t.score));
    for (; n < MAX_ROWS && fgets(line, sizeof(line), fp); n++) {
        char *at = line;

        for (size_t j = 0; j < cols; j++, at++)
            t.values[n * cols + j] = (float)strtod(at, &at);
        t.y[n] = strtod(at, &at);
        t.group[n] = strtoull(at + 1, &at, 10);
    }
    fclose(fp);
    t.x = (ft_matrix){t.values, n, cols};
    t.seen = (ft_matrix){t.wide, n, cols + 1};
    return t;
}

static void plant(struct table *t, double factor, uint64_t seed)
{
    ft__prng rng = ft__prng_stream(seed, 1);

    for (size_t i = 0; i < t->x.n_rows; i++) {
        float *row = t->wide + i * t->seen.n_cols;

        t->planted[i] = ft__prng_unit(&rng) < planted_share;
        t->log_time[i] = t->y[i] + (t->planted[i] ? log(factor) : 0);
        memcpy(row, t->values + i * t->x.n_cols, t->x.n_cols * sizeof(*row));
        row[t->x.n_cols] = (float)t->log_time[i];
    }
}

/* Share of planted rows whose value is above what 1 % of the others exceed. */
static double recall_at_1_percent(struct table *t, const double *value)
{
    double above = 0, planted = 0, limit;
    size_t n = 0;

    for (size_t i = 0; i < t->x.n_rows; i++)
        if (!t->planted[i])
            t->ordinary[n++] = value[i];
    ft__sort(t->ordinary, n);
    limit = ft__quantile(t->ordinary, n, 0.99);
    for (size_t i = 0; i < t->x.n_rows; i++) {
        planted += t->planted[i];
        above += t->planted[i] && value[i] > limit;
    }
    return above / planted;
}

struct sums {
    double hit, planted, alarm, ordinary, residual, isolation;
};

static void one_seed(struct table *t, double factor, uint64_t seed, struct sums *s)
{
    const ft_outlier_options opt = {.seed = seed};
    const ft_isolation_options isolate = {.seed = seed};
    ft_error err;

    plant(t, factor, seed);
    if (ft__outliers_find(t->found, &t->x, t->log_time, t->group, &opt, &err) ||
        ft__isolation_scores(t->score, &t->seen, &isolate, &err))
        stop(err.msg);
    for (size_t i = 0; i < t->x.n_rows; i++) {
        s->planted += t->planted[i];
        s->ordinary += !t->planted[i];
        s->hit += t->planted[i] && t->found[i].slow;
        s->alarm += !t->planted[i] && t->found[i].slow;
    }
    s->isolation += recall_at_1_percent(t, t->score);
    for (size_t i = 0; i < t->x.n_rows; i++)
        t->score[i] = t->found[i].slower;
    s->residual += recall_at_1_percent(t, t->score);
}

int main(int argc, char **argv)
{
    static const double factors[] = {2, 5, 10};
    const ft_isolation_options isolate = {.seed = 1, .n_trees = 300};
    struct table t;
    ft_error err;
    int seeds;

    if (argc != 3)
        stop("bench_outliers TABLE.csv SEEDS|--scores");
    t = read_table(argv[1]);
    if (strcmp(argv[2], "--scores") == 0) {
        if (ft__isolation_scores(t.score, &t.x, &isolate, &err))
            stop(err.msg);
        for (size_t i = 0; i < t.x.n_rows; i++)
            printf("%.17g\n", t.score[i]);
        return 0;
    }
    seeds = atoi(argv[2]);
    for (size_t f = 0; f < sizeof(factors) / sizeof(*factors); f++) {
        struct sums s = {0};

        for (int seed = 1; seed <= seeds; seed++)
            one_seed(&t, factors[f], (uint64_t)seed, &s);
        printf("%g %.4f %.4f %.4f %.4f\n", factors[f], s.hit / s.planted,
               s.alarm / s.ordinary, s.residual / seeds, s.isolation / seeds);
    }
    return 0;
}
