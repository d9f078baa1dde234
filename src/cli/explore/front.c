/* Fronts of the shards of a sweep, merged: the front of the whole sweep. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explore/explore.h"

/* A line of a file: a point that no other of its shard beats. */
struct row {
    char *line;
    size_t point;
    uint32_t workload;
    double *value; /* of each objective, to be small; NaN: not known */
};

struct rows {
    const ft_exploration *x;
    struct row *v;
    size_t n, cap;
};

static void rows_free(struct rows *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->v[i].line);
        free(r->v[i].value);
    }
    free(r->v);
}

/* The next field of a line of CSV, without quotes, in out; *at moves behind it. False:
 * there is none, or it has no end. */
static bool next_field(char *out, size_t size, const char **at)
{
    const char *p = *at;
    const bool quoted = p && *p == '"';
    size_t n = 0;

    if (!p)
        return false;
    for (p += quoted; *p && (quoted || *p != ','); p++) {
        if (quoted && *p == '"' && *++p != '"')
            break;
        if (n + 1 < size)
            out[n++] = *p;
    }
    out[n] = '\0';
    *at = *p == ',' ? p + 1 : NULL;
    return *p == ',' || *p == '\0';
}

static bool find_workload(uint32_t *out, const ft_exploration *x, const char *name)
{
    const ft_exploration_facts *f = ft_exploration_get(x);

    for (*out = 0; *out < f->n_workloads; ++*out)
        if (strcmp(f->workload[*out], name) == 0)
            return true;
    return false;
}

/* False: it is not such a line. */
static bool read_row(struct row *r, const ft_exploration *x)
{
    const ft_exploration_facts *f = ft_exploration_get(x);
    const char *at = r->line;
    char field[4096], *end;
    bool good = next_field(field, sizeof(field), &at) && *field >= '0' && *field <= '9';

    r->point = good ? strtoull(field, NULL, 10) : 0;
    good = good && next_field(field, sizeof(field), &at) &&
           find_workload(&r->workload, x, field);
    for (size_t k = 0; k < f->n_params && good; k++)
        good = next_field(field, sizeof(field), &at);
    for (size_t k = 0; k < f->n_objectives && good; k++) {
        good = next_field(field, sizeof(field), &at);
        r->value[k] = good && *field ? strtod(field, &end) : (double)NAN;
        good = good && (!*field || *end == '\0');
        if (f->objective[k].maximize)
            r->value[k] = -r->value[k];
    }
    return good;
}

/* 0: it was read; -1: memory is short; else the line that is wrong. */
static long read_file(struct rows *r, FILE *fp, const char *header)
{
    const size_t m = ft_exploration_get(r->x)->n_objectives;
    char *line = NULL;
    size_t size = 0;
    long number = 0, bad = 0;

    while (!bad && getline(&line, &size, fp) > 0) {
        struct row *grown = r->v;

        if (number++ == 0) {
            bad = strcmp(line, header) == 0 ? 0 : 1;
            continue;
        }
        if (r->n == r->cap) {
            r->cap = 2 * r->cap + 64;
            grown = realloc(r->v, r->cap * sizeof(*grown));
            r->v = grown ? grown : r->v;
        }
        if (!grown)
            bad = -1;
        else
            r->v[r->n++] = (struct row){.line = strdup(line),
                                        .value = calloc(m + 1, sizeof(double))};
        if (!bad && (!r->v[r->n - 1].line || !r->v[r->n - 1].value))
            bad = -1;
        if (!bad)
            r->v[r->n - 1].line[strcspn(line, "\n")] = '\0';
        if (!bad && !read_row(&r->v[r->n - 1], r->x))
            bad = number;
    }
    free(line);
    return number ? bad : 1;
}

static int read_all(ft__cli *c, struct rows *r, const char *const *file, size_t n,
                    const char *header)
{
    int code = FT__EXIT_GOOD;

    for (size_t i = 0; i < n && !code; i++) {
        FILE *fp = fopen(file[i], "r");
        long bad;

        if (!fp)
            return ft__cli_exit(c, FT__EXIT_INPUT, "%s: %s", file[i], strerror(errno));
        bad = read_file(r, fp, header);
        fclose(fp);
        if (bad < 0)
            code = ft__cli_done(c, false);
        else if (bad)
            code = ft__cli_exit(c, FT__EXIT_INPUT,
                                "%s:%ld: this is no front of %s as the space stands",
                                file[i], bad, ft_exploration_get(r->x)->name);
    }
    return code;
}

static int by_point(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->workload != y->workload)
        return x->workload < y->workload ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

/* Rows of a workload: objectives that are not known of any are left out, as in the
 * front of the whole. */
static ft_status print_workload(const struct row *v, size_t n, size_t m, ft_error *err)
{
    double *y = calloc(n * m + 1, sizeof(*y));
    unsigned char *on = calloc(n + 1, 1);
    bool *known = calloc(m + 1, sizeof(*known));
    size_t columns = 0, at = 0;
    ft_status st =
        y && on && known ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu points", n);

    for (size_t k = 0; k < m && !st; k++) {
        for (size_t i = 0; i < n && !known[k]; i++)
            known[k] = !isnan(v[i].value[k]);
        columns += known[k];
    }
    for (size_t i = 0; i < n && !st; i++)
        for (size_t k = 0; k < m; k++)
            if (known[k])
                y[at++] = v[i].value[k];
    if (!st && columns)
        st = ft_pareto(on, y, n, columns, err);
    for (size_t i = 0; i < n && !st; i++)
        if (on[i])
            puts(v[i].line);
    free(y);
    free(on);
    free(known);
    return st;
}

int ft__fronts_merge(ft__cli *c, const ft_exploration *x, const char *const *file,
                     size_t n)
{
    struct rows r = {.x = x};
    char *header = NULL;
    size_t size;
    FILE *fp = open_memstream(&header, &size);
    ft_status st = FT_OK;
    int code;

    if (!fp)
        return ft__cli_done(c, false);
    fputs("point,", fp);
    ft__predicted_header(fp, x);
    if (fclose(fp))
        return ft__cli_done(c, false);
    code = read_all(c, &r, file, n, header);
    if (!code && r.n)
        qsort(r.v, r.n, sizeof(*r.v), by_point);
    if (!code)
        fputs(header, stdout);
    for (size_t i = 0, end; i < r.n && !code && !st; i = end) {
        for (end = i; end < r.n && r.v[end].workload == r.v[i].workload;)
            end++;
        st = print_workload(r.v + i, end - i, ft_exploration_get(x)->n_objectives,
                            &c->err);
    }
    rows_free(&r);
    free(header);
    return code ? code : st ? ft__cli_check(c, st) : ft__cli_done(c, true);
}
