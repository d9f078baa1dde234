/* The C side of bench/learn and bench/sponner: out-of-fold predictions of every method
 * (or of those named), one column each, for rows of "x,...,x,y,fold" behind a header
 * line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "foretell/names.h"
#include "learn/learn_inside.h"

enum { MAX_LINE = 1 << 16 };

struct table {
    ft__matrix x;
    float *values;
    double *y;
    uint32_t *fold;
    uint32_t n_folds;
};

static void stop(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(1);
}

/* An empty field is a missing value. */
static double field(char **at)
{
    char *end;
    const double v = strtod(*at, &end);
    const int empty = end == *at;

    *at = *end ? end + 1 : end;
    return empty ? (double)NAN : v;
}

static void read_row(struct table *t, char *line, size_t cap)
{
    const size_t i = t->x.n_rows++;

    if (i == cap)
        stop("too many rows");
    for (size_t j = 0; j < t->x.n_cols; j++)
        t->values[i * t->x.n_cols + j] = (float)field(&line);
    t->y[i] = field(&line);
    t->fold[i] = (uint32_t)field(&line);
    if (t->fold[i] >= t->n_folds)
        t->n_folds = t->fold[i] + 1;
}

static struct table read_table(const char *path, size_t cap)
{
    static char line[MAX_LINE];
    struct table t = {0};
    FILE *fp = fopen(path, "r");

    if (!fp || !fgets(line, sizeof(line), fp))
        stop("cannot read the table");
    for (const char *c = line; *c; c++)
        t.x.n_cols += *c == ',';
    t.x.n_cols--;
    t.values = calloc(cap * t.x.n_cols, sizeof(*t.values));
    t.y = calloc(cap, sizeof(*t.y));
    t.fold = calloc(cap, sizeof(*t.fold));
    if (!t.values || !t.y || !t.fold)
        stop("no memory");
    while (fgets(line, sizeof(line), fp))
        read_row(&t, line, cap);
    fclose(fp);
    t.x.x = t.values;
    return t;
}

static double *cross_validate(const struct table *t, ft_method method)
{
    const ft__learn_model_options opt = {.method = method, .seed = 1, .threads = 1};
    double *out = calloc(t->x.n_rows, sizeof(*out));
    const clock_t began = clock();
    ft_error err;

    if (!out)
        stop("no memory");
    if (ft__model_cross_validate(out, &t->x, t->y, NULL, t->fold, t->n_folds, &opt,
                                 &err))
        stop(err.msg);
    fprintf(stderr, "%s %.4f s\n", ft_name(FT_NAMES_METHOD, method),
            (double)(clock() - began) / CLOCKS_PER_SEC);
    return out;
}

/* "extra,knn" */
static void choose(int wanted[FT_METHOD_COUNT], const char *names)
{
    while (*names) {
        const size_t len = strcspn(names, ",");
        const int m = ft_from_name(FT_NAMES_METHOD, names, len);

        if (m < 0)
            stop("no such method");
        wanted[m] = 1;
        names += len + (names[len] == ',');
    }
}

int main(int argc, char **argv)
{
    double *said[FT_METHOD_COUNT] = {0};
    int wanted[FT_METHOD_COUNT] = {0};
    struct table t;
    const char *why;

    if (argc != 2 && argc != 3)
        stop("bench_learn TABLE.csv [METHOD,...]");
    if (argc == 3)
        choose(wanted, argv[2]);
    t = read_table(argv[1], 1 << 20);
    for (int m = 0; m < FT_METHOD_COUNT; m++) {
        if (!ft_method_available((ft_method)m, &why))
            fprintf(stderr, "%s\n", why);
        else if (argc == 2 || wanted[m])
            said[m] = cross_validate(&t, (ft_method)m);
        printf("%s%s", m ? "," : "", ft_name(FT_NAMES_METHOD, (ft_method)m));
    }
    for (size_t i = 0; i < t.x.n_rows; i++)
        for (int m = 0; m < FT_METHOD_COUNT; m++)
            printf("%s%.17g", m ? "," : "\n", said[m] ? said[m][i] : (double)NAN);
    printf("\n");
    for (int m = 0; m < FT_METHOD_COUNT; m++)
        free(said[m]);
    free(t.values);
    free(t.y);
    free(t.fold);
    return 0;
}
