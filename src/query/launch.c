/* The host's time for a launch, from models that were timed on it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/number.h"
#include "query/data.h"
#include "store/csv.h"

/* Models of a table, and what a pass took; or operations, and what each took alone. */
struct timed {
    ft_graph *graph;
    double time_s;
};
struct timed_models {
    struct timed *at;
    size_t n;
    bool alone;
};

static const double least_s = 5e-7, most_s = 1e-3;
/* Of a model whose predicted time moves less between these, the host is no part. */
static const double moves = 1.05;

static void free_models(struct timed_models *m)
{
    for (size_t i = 0; i < m->n; i++)
        ft_graph_free(m->at[i].graph);
    free(m->at);
}

static ft_status add_model(struct timed_models *m, const ft_query *q, const char *path,
                           double time_s, ft_error *err)
{
    struct timed *grown = realloc(m->at, (m->n + 1) * sizeof(*grown));
    ft_query one = *q;
    ft_status st;

    if (!grown)
        return ft_fail(err, FT_ENOMEM, 0, "%s", path);
    m->at = grown;
    one.model = path;
    one.list = NULL;
    one.list_len = 0;
    one.graph = NULL;
    if (m->alone) {
        one.list = path;
        one.list_len = strlen(path);
        one.batch = 0;
        one.n_dims = one.n_inputs = 0;
        one.dtype = NULL;
    }
    st = ft_query_import(&grown[m->n].graph, &one, err);
    if (!st)
        grown[m->n++].time_s = time_s;
    return st;
}

/* Relative paths begin at the table's folder. */
static ft_status read_row(struct timed_models *m, ft__csv *r, const int column[2],
                          const ft_query *q, const char *file, ft_error *err)
{
    const char *slash = strrchr(file, '/'), *model = ft__csv_text(r, (size_t)column[0]);
    ft__buf path = {0};
    double time_s;
    ft_status st;

    if (!*model)
        return ft__csv_bad(r, (size_t)column[0], "a model or an operation is missing",
                           err);
    if (!ft__number_parse(ft__csv_text(r, (size_t)column[1]), &time_s) || !(time_s > 0))
        return ft__csv_bad(r, (size_t)column[1], "not a time in seconds above 0", err);
    if (*model != '/' && slash && !m->alone)
        ft__buf_add(&path, file, (size_t)(slash + 1 - file));
    ft__buf_str(&path, model);
    st = path.bad ? ft_fail(err, FT_ENOMEM, 0, "%s", file)
                  : add_model(m, q, path.s, time_s, err);
    ft__buf_free(&path);
    if (!st && m->alone && m->at[m->n - 1].graph->n_nodes != 1)
        return ft__csv_bad(r, (size_t)column[0], "one operation a row", err);
    return st;
}

static ft_status read_models(struct timed_models *m, const ft_query *q,
                             const char *file, ft_error *err)
{
    const char *names[2] = {"model", "time_s"};
    int column[2];
    char *bytes;
    size_t len;
    bool more = true;
    ft__csv *r = NULL;
    ft_status st = ft__file_read(&bytes, &len, file, FT__MAX_TABLE_FILE, err);

    if (st)
        return st;
    st = ft__csv_open(&r, NULL, bytes, len, file, err);
    m->alone = !st && ft__csv_find(r, "model") < 0 && ft__csv_find(r, "spec") >= 0;
    if (m->alone)
        names[0] = "spec";
    for (size_t i = 0; i < 2 && !st; i++) {
        column[i] = ft__csv_find(r, names[i]);
        if (column[i] < 0)
            st = ft_fail(err, FT_EFORMAT, 0, "%s: there is no column \"%s\"", file,
                         names[i]);
    }
    while (!st && more) {
        st = ft__csv_next(r, &more, err);
        if (!st && more)
            st = read_row(m, r, column, q, file, err);
    }
    ft__csv_close(r);
    free(bytes);
    return st;
}

static ft_status ask_with(double *time_s, const struct timed *m, bool alone,
                          double launch_s, ft_data *d, const ft_query *q, ft_error *err)
{
    ft_query one = *q;
    ft_answer *a;
    ft_status st;

    one.graph = m->graph;
    one.totals = !alone;
    one.max_batch = 0;
    one.launch_s = launch_s;
    st = ft_query_ask(&a, d, &one, err);
    if (st)
        return st;
    *time_s = alone ? a->op[0]->time.value : a->time.value;
    ft_answer_free(a);
    return FT_OK;
}

/* Those that hang on the host come first, the others are freed. */
static ft_status keep_launched(struct timed_models *m, ft_data *d, const ft_query *q,
                               ft_error *err)
{
    size_t kept = 0;
    ft_status st = FT_OK;

    for (size_t i = 0; i < m->n && !st; i++) {
        double fast, slow;

        st = ask_with(&fast, &m->at[i], m->alone, least_s, d, q, err);
        if (!st)
            st = ask_with(&slow, &m->at[i], m->alone, most_s, d, q, err);
        if (!st && slow > moves * fast) {
            struct timed one = m->at[kept];

            m->at[kept++] = m->at[i];
            m->at[i] = one;
        }
    }
    if (st)
        return st;
    while (m->n > kept)
        ft_graph_free(m->at[--m->n].graph);
    return FT_OK;
}

static ft_status sum_of_errors(double *sum, double launch_s,
                               const struct timed_models *m, ft_data *d,
                               const ft_query *q, ft_error *err)
{
    ft_status st = FT_OK;

    *sum = 0;
    for (size_t i = 0; i < m->n && !st; i++) {
        double t;

        st = ask_with(&t, &m->at[i], m->alone, launch_s, d, q, err);
        if (!st)
            *sum += fabs(log(t / m->at[i].time_s));
    }
    return st;
}

/* The least sum of steps from low to high, a factor apart each; then between the
 * neighbours of that one, until it is known to 1 %. */
static ft_status search(double *launch_s, const struct timed_models *m, ft_data *d,
                        const ft_query *q, ft_error *err)
{
    enum { STEPS = 16 };
    double low = log(least_s), high = log(most_s);

    while (high - low > 0.01) {
        const double step = (high - low) / STEPS;
        double best = INFINITY;

        for (int i = 0; i <= STEPS; i++) {
            const double at = exp(low + i * step);
            double sum;
            ft_status st = sum_of_errors(&sum, at, m, d, q, err);

            if (st)
                return st;
            if (sum < best) {
                best = sum;
                *launch_s = at;
            }
        }
        low = log(*launch_s) - step;
        high = log(*launch_s) + step;
    }
    return FT_OK;
}

ft_status ft_launch_time(double *launch_s, ft_data *d, const ft_query *q,
                         const char *file, ft_error *err)
{
    struct timed_models m = {0};
    ft_query read;
    ft_status st = ft__query_read(&read, q, err);

    *launch_s = NAN;
    if (!st)
        st = read_models(&m, &read, file, err);
    if (!st)
        st = keep_launched(&m, d, &read, err);
    if (!st && !m.n)
        st = ft_fail(err, FT_EINVAL, 0,
                     "%s: nothing in it hangs on the host; time shorter models or "
                     "operations, of a run mode in which the host launches",
                     file);
    if (!st)
        st = search(launch_s, &m, d, &read, err);
    free_models(&m);
    return st;
}
