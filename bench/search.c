/* How good searchers are after some evaluations, replayed from a table, and what a
 * proposal costs. Columns of the table: parameters, then time and energy; every
 * combination of values is there. Values count in order, those of NAME:category have
 * none.
 *
 *     bench_search TABLE.csv SEARCHER EVALUATIONS SEEDS [BATCH]
 *
 * BATCH points (1) are asked for before the first of them is told.
 * A line for each seed: table, searcher, seed, hypervolume as a share of that of the
 * whole table, microseconds a proposal. The reference is 1.1 times the worst of the
 * whole front. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "cpu_time.h"
#include "explore/search/search.h"
#include "foretell/names.h"

enum { MAX_COLUMNS = 16, MAX_VALUES = 256, MAX_ROWS = 1 << 20 };

struct table {
    size_t n, k;
    double *v;                  /* n x (k + 2) */
    double *value[MAX_COLUMNS]; /* of each parameter, ascending */
    uint32_t n_values[MAX_COLUMNS];
    bool category[MAX_COLUMNS];
    double reference[2], volume;
};

static void die(const char *what)
{
    fprintf(stderr, "bench_search: %s\n", what);
    exit(1);
}

static void note_categories(struct table *t, const char *names)
{
    static const char mark[] = ":category";

    for (size_t k = 0; k < t->k; k++) {
        const size_t len = strcspn(names, ",");

        t->category[k] =
            len >= sizeof(mark) - 1 &&
            strncmp(names + len - sizeof(mark) + 1, mark, sizeof(mark) - 1) == 0;
        names += len + 1;
    }
}

static void read_table(struct table *t, const char *path)
{
    FILE *f = fopen(path, "r");
    char line[1024];
    size_t columns = 1;

    if (!f || !fgets(line, sizeof(line), f))
        die("no such table");
    for (const char *c = line; *c; c++)
        columns += *c == ',';
    t->k = columns - 2;
    if (t->k > MAX_COLUMNS)
        die("too large a table");
    note_categories(t, line);
    t->v = malloc(MAX_ROWS * columns * sizeof(*t->v));
    if (!t->v)
        die("no memory");
    for (t->n = 0; t->n < MAX_ROWS && fgets(line, sizeof(line), f); t->n++) {
        char *at = line;

        for (size_t c = 0; c < columns; c++, at++)
            t->v[t->n * columns + c] = strtod(at, &at);
    }
    fclose(f);
}

static void find_values(struct table *t)
{
    for (size_t k = 0; k < t->k; k++) {
        double *v = malloc(t->n * sizeof(*v));

        if (!v)
            die("no memory");
        for (size_t i = 0; i < t->n; i++)
            v[i] = t->v[i * (t->k + 2) + k];
        ft__sort(v, t->n);
        for (size_t i = 0; i < t->n; i++)
            if (i == 0 || v[i] != v[i - 1])
                v[t->n_values[k]++] = v[i];
        t->value[k] = v;
    }
}

/* Rows in the order of their indices, so that a point is found by counting. */
static size_t row_of(const struct table *t, const double *point)
{
    size_t row = 0;

    for (size_t k = 0; k < t->k; k++)
        row = row * t->n_values[k] + (size_t)point[k];
    return row;
}

static void order_rows(struct table *t)
{
    const size_t wide = t->k + 2;
    double *v = malloc(t->n * wide * sizeof(*v));

    if (!v)
        die("no memory");
    for (size_t i = 0; i < t->n; i++) {
        double point[MAX_COLUMNS];

        for (size_t k = 0; k < t->k; k++)
            for (point[k] = 0; t->value[k][(size_t)point[k]] != t->v[i * wide + k];
                 point[k]++)
                ;
        memcpy(v + row_of(t, point) * wide, t->v + i * wide, wide * sizeof(*v));
    }
    free(t->v);
    t->v = v;
}

static double volume(const struct table *t, const double *y, size_t n)
{
    double v;

    if (ft_hypervolume(&v, y, n, 2, t->reference, NULL))
        die("no memory");
    return v;
}

static void find_front(struct table *t)
{
    double *y = malloc(2 * t->n * sizeof(*y));
    unsigned char *on = malloc(t->n);

    for (size_t i = 0; y && i < t->n; i++)
        memcpy(y + 2 * i, t->v + i * (t->k + 2) + t->k, 2 * sizeof(*y));
    if (!y || !on || ft_pareto(on, y, t->n, 2, NULL))
        die("no memory");
    for (size_t i = 0; i < t->n; i++)
        for (int k = 0; k < 2 && on[i]; k++)
            t->reference[k] = fmax(t->reference[k], 1.1 * y[2 * i + (size_t)k]);
    t->volume = volume(t, y, t->n);
    free(y);
    free(on);
}

static ft_space *space_of(const struct table *t)
{
    static const char *const text[MAX_VALUES]; /* values are told apart by index */
    ft_parameter param[MAX_COLUMNS];
    ft_space *s;

    for (size_t k = 0; k < t->k; k++)
        param[k] = t->category[k] ? (ft_parameter){.name = "option",
                                                   .type = FT_PARAM_CATEGORICAL,
                                                   .value = text,
                                                   .n_values = t->n_values[k]}
                                  : (ft_parameter){.name = "clock",
                                                   .type = FT_PARAM_INTEGER,
                                                   .n_values = t->n_values[k],
                                                   .high = t->n_values[k] - 1};
    for (size_t k = 0; k < t->k; k++)
        if (t->category[k] && t->n_values[k] > MAX_VALUES)
            die("too many values of a category");
    if (ft_space_new(&s, param, t->k, NULL))
        die("no space");
    return s;
}

static void search(const struct table *t, const ft_space *s, ft__search_options opt,
                   size_t evaluations, size_t batch, const char *name)
{
    double *y = malloc(2 * evaluations * sizeof(*y)), gain;
    double *point = malloc(evaluations * t->k * sizeof(*point));
    double spent = -cpu_s();
    ft__search *search;
    size_t told = 0;

    if (!y || !point || ft__search_new(&search, s, &opt, NULL))
        die("no search");
    for (size_t i = 0; i < evaluations; i++) {
        double *its = point + i * t->k;

        if (ft__search_ask(search, its, &gain, NULL))
            die("no more points");
        memcpy(y + 2 * i, t->v + row_of(t, its) * (t->k + 2) + t->k, 2 * sizeof(*y));
        for (; (i + 1) % batch == 0 && told <= i; told++)
            if (ft__search_tell(search, point + told * t->k, y + 2 * told, NULL))
                die("no memory");
    }
    spent += cpu_s();
    printf("%s,%s,%llu,%.6f,%.1f\n", name, ft_name(FT_NAMES_SEARCHER, opt.searcher),
           (unsigned long long)opt.seed, volume(t, y, evaluations) / t->volume,
           1e6 * spent / (double)evaluations);
    ft__search_free(search);
    free(point);
    free(y);
}

int main(int argc, char **argv)
{
    struct table t = {0};
    ft__search_options opt = {.objectives = 2};
    const char *name;
    ft_space *s;

    if (argc < 5)
        die("give TABLE.csv SEARCHER EVALUATIONS SEEDS [BATCH]");
    while (opt.searcher < FT_SEARCH_COUNT &&
           strcmp(argv[2], ft_name(FT_NAMES_SEARCHER, opt.searcher)) != 0)
        opt.searcher++;
    read_table(&t, argv[1]);
    find_values(&t);
    order_rows(&t);
    find_front(&t);
    s = space_of(&t);
    name = strrchr(argv[1], '/') ? strrchr(argv[1], '/') + 1 : argv[1];
    for (opt.seed = 0; opt.seed < strtoull(argv[4], NULL, 10); opt.seed++)
        search(&t, s, opt, strtoull(argv[3], NULL, 10),
               argc > 5 ? strtoull(argv[5], NULL, 10) : 1, name);
    free(s);
    for (size_t k = 0; k < t.k; k++)
        free(t.value[k]);
    free(t.v);
    return 0;
}
