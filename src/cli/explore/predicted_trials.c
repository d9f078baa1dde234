/* What came of a sweep: its front, and which of its points are looked at closely. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explore/explore.h"

/* Why a point is looked at closely. */
enum { KEPT = 1, DRAWN = 2 };

/* ---- fronts ---- */

static const double *values_of(const ft__swept *s, uint32_t w, size_t i)
{
    return s->value + (w * s->n + i) * s->n_objectives;
}

static bool keeps_limits(const ft__swept *s, const ft_objective *o, uint32_t w,
                         size_t i)
{
    const double *v = values_of(s, w, i);

    for (size_t k = 0; k < s->n_objectives; k++)
        if (!isnan(o[k].limit) &&
            !(o[k].maximize ? v[k] >= o[k].limit : v[k] <= o[k].limit))
            return false;
    return s->fits[w * s->n + i] && !s->why[w * s->n + i];
}

static bool known_anywhere(const ft__swept *s, uint32_t w, size_t k)
{
    for (size_t i = 0; i < s->n; i++)
        if (!isnan(values_of(s, w, i)[k]))
            return true;
    return false;
}

/* Rows to be small in everything that is known of any; NaN: out of question. */
static double *rows_of(const ft__swept *s, uint32_t w, size_t *n_columns)
{
    double *y = malloc((s->n * s->n_objectives + 1) * sizeof(*y));
    size_t *column = calloc(s->n_objectives + 1, sizeof(*column));
    const ft_objective *o = ft_exploration_get(s->x)->objective;

    *n_columns = 0;
    for (size_t k = 0; k < s->n_objectives && column; k++)
        if (known_anywhere(s, w, k))
            column[(*n_columns)++] = k;
    for (size_t i = 0; i < s->n && y && column; i++) {
        const double *v = values_of(s, w, i);
        bool open = keeps_limits(s, o, w, i);

        for (size_t j = 0; j < *n_columns; j++)
            y[i * *n_columns + j] = !open                   ? (double)NAN
                                    : o[column[j]].maximize ? -v[column[j]]
                                                            : v[column[j]];
    }
    if (!column) {
        free(y);
        y = NULL;
    }
    free(column);
    return y;
}

static ft_status find_front(unsigned char *on, const ft__swept *s, uint32_t w,
                            ft_error *err)
{
    size_t n_columns;
    double *y = rows_of(s, w, &n_columns);
    ft_status st = FT_OK;

    if (!y)
        return ft_fail(err, FT_ENOMEM, 0, "%zu points", s->n);
    memset(on, 0, s->n);
    if (n_columns)
        st = ft_pareto(on, y, s->n, n_columns, err);
    free(y);
    return st;
}

/* ---- which are looked at ---- */

static void mark_extremes(unsigned char *in, const ft__swept *s, uint32_t w)
{
    for (size_t k = 0; k < s->n_objectives; k++) {
        size_t least = s->n, most = s->n;

        for (size_t i = 0; i < s->n; i++) {
            double v = values_of(s, w, i)[k];

            if (isnan(v))
                continue;
            least = least == s->n || v < values_of(s, w, least)[k] ? i : least;
            most = most == s->n || v > values_of(s, w, most)[k] ? i : most;
        }
        if (least < s->n)
            in[least] |= KEPT, in[most] |= KEPT;
    }
}

/* Sebastiano Vigna's splitmix64. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* `most` of all points, each with the same chance. */
static void mark_drawn(unsigned char *in, const ft__swept *s, size_t most,
                       uint64_t seed)
{
    size_t need = most < s->n ? most : s->n;

    for (size_t i = 0; i < s->n; i++)
        if ((double)(draw(&seed) >> 11) * 0x1p-53 * (double)(s->n - i) < (double)need) {
            in[i] |= DRAWN;
            need--;
        }
}

/* Of workload * n + point: why it has no values; "": it has. */
static const char *why_not(const ft__swept *s, size_t row)
{
    return s->why[row]     ? s->reason[s->why[row] - 1]
           : !s->fits[row] ? "does not fit the device's memory"
                           : "";
}

static ft_status add_trial(ft_trials *t, size_t *cap, const ft__swept *s, uint32_t w,
                           size_t i, ft_error *err)
{
    const size_t row = w * s->n + i, p = s->n_params, m = s->n_objectives;
    ft_trial *v = t->v;
    double *point = malloc((p + 2 * m) * sizeof(*point));
    const char *why = why_not(s, row);
    char *failure = NULL;

    if (t->n == *cap) {
        v = realloc(v, (2 * *cap + 64) * sizeof(*v));
        t->v = v ? v : t->v;
        *cap = v ? 2 * *cap + 64 : *cap;
    }
    if (*why)
        failure = strdup(why);
    if (!v || !point || (*why && !failure)) {
        free(point);
        free(failure);
        return ft_fail(err, FT_ENOMEM, 0, "%zu points", t->n);
    }
    memcpy(point, s->point + i * p, p * sizeof(*point));
    memcpy(point + p, values_of(s, w, i), m * sizeof(*point));
    for (size_t k = 0; k < m; k++)
        point[p + m + k] = NAN;
    t->v[t->n++] = (ft_trial){.workload = w,
                              .point = point,
                              .value = point + p,
                              .error = point + p + m,
                              .failure = failure};
    return FT_OK;
}

static ft_status add_marked(ft_trials *out, size_t *cap, unsigned char **drawn,
                            const unsigned char *in, const ft__swept *s, uint32_t w,
                            ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < s->n && !st; i++) {
        size_t before = *cap;
        unsigned char *grown;

        if (!in[i])
            continue;
        st = add_trial(out, cap, s, w, i, err);
        grown = st || *cap == before ? *drawn : realloc(*drawn, *cap);
        if (!st && !grown)
            st = ft_fail(err, FT_ENOMEM, 0, "%zu points", s->n);
        *drawn = grown ? grown : *drawn;
        if (!st)
            grown[out->n - 1] = (in[i] & DRAWN) != 0;
    }
    return st;
}

ft_status ft__swept_trials(ft_trials *out, unsigned char **drawn, const ft__swept *s,
                           size_t most, uint64_t seed, ft_error *err)
{
    unsigned char *in = malloc(s->n + 1);
    size_t cap = 0;
    ft_status st = in ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu points", s->n);

    *drawn = NULL;

    *out = (ft_trials){.params = s->n_params,
                       .objectives = s->n_objectives,
                       .workloads = s->n_workloads};
    for (uint32_t w = 0; w < s->n_workloads && !st; w++) {
        st = find_front(in, s, w, err);
        if (st)
            break;
        mark_extremes(in, s, w);
        mark_drawn(in, s, most, seed);
        st = add_marked(out, &cap, drawn, in, s, w, err);
    }
    free(in);
    if (st) {
        ft_trials_free(out);
        free(*drawn);
        *drawn = NULL;
    }
    return st;
}

/* ---- for programs ---- */

void ft__swept_csv(const ft__swept *s)
{
    const ft_exploration_facts *f = ft_exploration_get(s->x);

    fputs("workload,", stdout);
    for (size_t k = 0; k < s->n_params; k++)
        printf("%s,", f->param[k].name);
    for (size_t k = 0; k < s->n_objectives; k++)
        printf("%s,", f->objective[k].name);
    puts("failure");
    for (uint32_t w = 0; w < s->n_workloads; w++)
        for (size_t i = 0; i < s->n; i++) {
            ft__csv_text(stdout, f->workload[w], ',');
            ft__point_csv(f, s->point + i * s->n_params);
            for (size_t k = 0; k < s->n_objectives; k++)
                ft__number_csv(values_of(s, w, i)[k], ',');
            ft__csv_text(stdout, why_not(s, w * s->n + i), '\n');
        }
}
