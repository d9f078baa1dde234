/* The C side of bench/trees: reads the arrays that script has written, times a forest
 * and prints one "name value" per line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "cpu_time.h"
#include "learn/learn_inside.h"
#include "learn/tree/forest.h"

enum { REPEATS = 7, SINGLE = 3000, FOLDS = 5, SEEDS = 3 };

/* The whole file folder/name; its length in *len. */
static void *slurp(const char *folder, const char *name, size_t *len)
{
    char path[4096];
    FILE *fp;
    void *p;
    long size;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    fp = fopen(path, "rb");
    if (!fp || fseek(fp, 0, SEEK_END) || (size = ftell(fp)) < 0 ||
        fseek(fp, 0, SEEK_SET)) {
        perror(path);
        exit(1);
    }
    *len = (size_t)size;
    p = malloc(*len);
    if (!p || fread(p, 1, *len, fp) != *len) {
        perror(path);
        exit(1);
    }
    fclose(fp);
    return p;
}

static void must(ft_status st, const ft_error *err)
{
    if (st) {
        fprintf(stderr, "%s\n", err->msg);
        exit(1);
    }
}

struct lesson {
    ft__matrix m;
    double *y;
    uint32_t *fold;
    float *x;
};

static struct lesson read_lesson(const char *folder, size_t cols)
{
    size_t x_len, y_len, fold_len;
    struct lesson l = {.x = slurp(folder, "x.f32", &x_len),
                       .y = slurp(folder, "y.f64", &y_len),
                       .fold = slurp(folder, "fold.u32", &fold_len)};

    l.m = (ft__matrix){l.x, y_len / sizeof(*l.y), cols};
    return l;
}

static void free_lesson(struct lesson *l)
{
    free(l->x);
    free(l->y);
    free(l->fold);
}

static void fit(const struct lesson *l, const ft__forest_options *opt)
{
    double took_s[REPEATS];
    ft__forest *f = NULL;
    ft_error err;

    for (int i = 0; i < REPEATS; i++) {
        const double began = cpu_s();

        must(ft__forest_fit(&f, &l->m, l->y, NULL, opt, &err), &err);
        took_s[i] = cpu_s() - began;
        ft__forest_free(f);
    }
    printf("fit_s %.9g\n", ft__median(took_s, REPEATS));
}

static void cross_validate(const struct lesson *l, ft__forest_options opt)
{
    double *out = calloc(l->m.n_rows, sizeof(*out)), mae = 0;
    ft_errors e;
    ft_error err;

    if (!out)
        exit(1);
    for (opt.seed = 1; opt.seed <= SEEDS; opt.seed++) {
        const ft__learn_model_options how = {
            .method = opt.kind == FT_FOREST_EXTRA ? FT_METHOD_EXTRA : FT_METHOD_FOREST,
            .forest = opt,
            .seed = opt.seed,
            .threads = opt.threads};

        must(ft__model_cross_validate(out, &l->m, l->y, NULL, l->fold, FOLDS, &how,
                                      &err),
             &err);
        must(ft__errors_compute(&e, l->y, out, l->m.n_rows, l->m.n_cols, &err), &err);
        mae += e.mae / SEEDS;
    }
    printf("mae %.9g\n", mae);
    free(out);
}

/* The forest of folder/nodes, as many nodes a tree as folder/sizes.u32 says. */
static ft__forest *read_forest(const char *folder, size_t cols)
{
    size_t nodes_len, sizes_len;
    ft__node *node = slurp(folder, "nodes", &nodes_len), *at = node;
    uint32_t *size = slurp(folder, "sizes.u32", &sizes_len);
    const uint32_t n = (uint32_t)(sizes_len / sizeof(*size));
    ft__tree *tree = calloc(n, sizeof(*tree));
    ft__forest *f;
    ft_error err;

    if (!tree)
        exit(1);
    for (uint32_t t = 0; t < n; at += size[t++])
        tree[t] = (ft__tree){at, size[t]};
    must(ft__forest_join(&f, (uint32_t)cols, tree, n, 0, n, &err), &err);
    free(tree);
    free(size);
    free(node);
    return f;
}

/* Rows one at a time, each another one, so that the walk is not a memory. */
static void walk(const char *folder, size_t cols, size_t part)
{
    size_t q_len;
    float *q = slurp(folder, "q.f32", &q_len);
    const size_t n = q_len / sizeof(*q) / cols, first = part * SINGLE % n;
    double *out = calloc(n, sizeof(*out)), began, sum = 0;
    ft__forest *f = read_forest(folder, cols);
    char path[4096];
    FILE *fp;

    if (!out)
        exit(1);
    began = cpu_s();
    ft__forest_predict_rows(f, q, n, out);
    printf("rows_s %.9g\n", cpu_s() - began);
    began = cpu_s();
    for (size_t i = first; i < first + SINGLE && i < n; i++)
        sum += ft__forest_predict(f, q + i * cols);
    printf("row_s %.9g\n", (cpu_s() - began) / SINGLE + 0 * sum);
    snprintf(path, sizeof(path), "%s/out.f64", folder);
    fp = fopen(path, "wb");
    if (!fp || fwrite(out, sizeof(*out), n, fp) != n || fclose(fp)) {
        perror(path);
        exit(1);
    }
    ft__forest_free(f);
    free(out);
    free(q);
}

int main(int argc, char **argv)
{
    const size_t cols = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

    if (argc == 6) {
        const ft__forest_options opt = {
            .kind = strcmp(argv[4], "extra") ? FT_FOREST_RANDOM : FT_FOREST_EXTRA,
            .max_features = strtod(argv[5], NULL),
            .seed = 1};
        struct lesson l = read_lesson(argv[1], cols);

        if (strcmp(argv[3], "fit") == 0)
            fit(&l, &opt);
        else
            cross_validate(&l, opt);
        free_lesson(&l);
    } else if (argc == 5 && strcmp(argv[3], "walk") == 0) {
        walk(argv[1], cols, strtoul(argv[4], NULL, 10));
    } else {
        fprintf(stderr, "usage: %s FOLDER COLUMNS ...   (started by bench/trees)\n",
                argv[0]);
        return 2;
    }
    return 0;
}
