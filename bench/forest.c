/* The C side of bench/trees: reads the matrices that script has written, times
 * the forest and prints one "name value" per line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stats.h"
#include "foretell/learn.h"

enum { REPEATS = 7, SMALL_ROWS = 300, BATCH = 25 };

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

static ft_forest *fit(const ft_matrix *x, const double *y, const ft_forest_options *opt,
                      const char *name)
{
    double took_s[REPEATS];
    ft_forest *f = NULL;
    ft_error err;

    for (int i = 0; i < REPEATS; i++) {
        const double began = ft__now_s();

        ft_forest_free(f);
        must(ft_forest_fit(&f, x, y, NULL, opt, &err), &err);
        took_s[i] = ft__now_s() - began;
    }
    if (name)
        printf("%s_fit_s %.9g\n", name, ft__median(took_s, REPEATS));
    return f;
}

/* Rows one at a time, each another one, so that the walk is not a memory. */
static void time_single(const ft_forest *f, const ft_matrix *q, const char *name)
{
    double took_s[REPEATS], sum = 0;

    for (int i = 0; i < REPEATS; i++) {
        const double began = ft__now_s();

        for (size_t r = 0; r < 10000 && r < q->n_rows; r++)
            sum += ft_forest_predict(f, q->x + r * q->n_cols);
        took_s[i] = (ft__now_s() - began) / 10000;
    }
    printf("%s_row_s %.9g\n", name, ft__median(took_s, REPEATS) + 0 * sum);
}

static void time_rows(const ft_forest *f, const ft_matrix *q, size_t batch,
                      const char *name)
{
    double took_s[REPEATS], *out = calloc(q->n_rows, sizeof(*out));

    if (!out)
        exit(1);
    for (int i = 0; i < REPEATS; i++) {
        const double began = ft__now_s();

        for (size_t r = 0; r + batch <= q->n_rows; r += batch)
            ft_forest_predict_rows(f, q->x + r * q->n_cols, batch, out + r);
        took_s[i] = ft__now_s() - began;
    }
    printf("%s_s %.9g\n", name, ft__median(took_s, REPEATS));
    free(out);
}

static void cross_validate(const ft_matrix *x, const double *y, const uint32_t *fold,
                           const ft_forest_options *opt, const char *name)
{
    double *out = calloc(x->n_rows, sizeof(*out));
    ft_errors e;
    ft_error err;

    if (!out)
        exit(1);
    must(ft_forest_cross_validate(out, x, y, NULL, fold, 5, opt, &err), &err);
    must(ft_errors_compute(&e, y, out, x->n_rows, x->n_cols, &err), &err);
    printf("%s_cv_mae %.9g\n%s_cv_r2 %.9g\n", name, e.mae, name, e.r2);
    free(out);
}

int main(int argc, char **argv)
{
    size_t x_len, y_len, q_len, fold_len, n_cols;
    float *xs, *qs;
    double *y;
    uint32_t *fold;

    if (argc != 3) {
        fprintf(stderr, "usage: %s FOLDER COLUMNS   (started by bench/trees)\n",
                argv[0]);
        return 2;
    }
    n_cols = strtoul(argv[2], NULL, 10);
    xs = slurp(argv[1], "x.f32", &x_len);
    y = slurp(argv[1], "y.f64", &y_len);
    qs = slurp(argv[1], "q.f32", &q_len);
    fold = slurp(argv[1], "fold.u32", &fold_len);
    for (int kind = FT_FOREST_RANDOM; kind <= FT_FOREST_EXTRA; kind++) {
        const ft_matrix x = {xs, y_len / sizeof(*y), n_cols};
        const ft_matrix small = {xs, SMALL_ROWS, n_cols};
        const ft_matrix q = {qs, q_len / sizeof(*qs) / n_cols, n_cols};
        const ft_forest_options opt = {.kind = (ft_forest_kind)kind, .seed = 1};
        const char *name = kind == FT_FOREST_EXTRA ? "extra" : "random";
        char label[64];
        ft_forest *f = fit(&x, y, &opt, name);

        time_single(f, &q, name);
        snprintf(label, sizeof(label), "%s_rows", name);
        time_rows(f, &q, q.n_rows, label);
        ft_forest_free(f);
        f = fit(&small, y, &opt, NULL);
        snprintf(label, sizeof(label), "%s_small", name);
        time_rows(f, &q, BATCH, label);
        ft_forest_free(f);
        cross_validate(&x, y, fold, &opt, name);
    }
    free(xs);
    free(y);
    free(qs);
    free(fold);
    return 0;
}
