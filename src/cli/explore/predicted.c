/* Of a design that was predicted: fronts, points that are analysed, points that cannot
 * be compared; as CSV, or as what came of an exploration. */
#include "cli/explore/explore.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double *values_of(const ft__predicted_design *s, uint32_t w, size_t i)
{
    return s->value + (w * s->n + i) * s->n_objectives;
}

static bool keeps_limits(const ft__predicted_design *s, const ft_objective *o,
                         uint32_t w, size_t i)
{
    const double *v = values_of(s, w, i);

    for (size_t k = 0; k < s->n_objectives; k++)
        if (!isnan(o[k].limit) &&
            !(o[k].maximize ? v[k] >= o[k].limit : v[k] <= o[k].limit))
            return false;
    return s->fits[w * s->n + i] && !s->why[w * s->n + i];
}

static bool known_anywhere(const ft__predicted_design *s, uint32_t w, size_t k)
{
    for (size_t i = 0; i < s->n; i++)
        if (!isnan(values_of(s, w, i)[k]))
            return true;
    return false;
}

/* A row of objectives, to be minimised, for each point; NaN: the point is left out. */
static double *rows_of(const ft__predicted_design *s, uint32_t w, size_t *n_columns)
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

static ft_status find_front(unsigned char *on, const ft__predicted_design *s,
                            uint32_t w, ft_error *err)
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

/* Why a point is looked at closely; how many are drawn. */
enum { KEPT = 1, DRAWN = 2, LOOKED_AT = 2000 };

static void mark_extremes(unsigned char *in, const ft__predicted_design *s, uint32_t w)
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

/* Where each workload is best: others are compared with it there. */
static void mark_best(unsigned char *in, const ft__predicted_design *s)
{
    const ft_objective *o = ft_exploration_get(s->x)->objective;

    for (uint32_t w = 0; w < s->n_workloads; w++)
        for (size_t k = 0; k < s->n_objectives; k++) {
            const double sign = o[k].maximize ? -1 : 1;
            double least = INFINITY;
            size_t best = s->n;

            for (size_t i = 0; i < s->n; i++) {
                const double v = sign * values_of(s, w, i)[k];

                if (v < least && keeps_limits(s, o, w, i)) {
                    least = v;
                    best = i;
                }
            }
            if (best < s->n)
                in[best] |= KEPT;
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
static void mark_drawn(unsigned char *in, const ft__predicted_design *s, size_t most,
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
static const char *why_not(const ft__predicted_design *s, size_t row)
{
    return s->why[row]     ? s->reason[s->why[row] - 1]
           : !s->fits[row] ? "does not fit the device's memory"
                           : "";
}

static ft_status add_trial(ft_trials *t, size_t *cap, const ft__predicted_design *s,
                           uint32_t w, size_t i, ft_error *err)
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
                            const unsigned char *in, const ft__predicted_design *s,
                            uint32_t w, ft_error *err)
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

/* Every point on the front of its workload, the best and the worst of every objective,
 * and `most` of each workload drawn at random, of which (*drawn)[i] says whether trial
 * i is one; the caller frees it. FT_ENOMEM. */
static ft_status design_trials(ft_trials *out, unsigned char **drawn,
                               const ft__predicted_design *s, size_t most,
                               uint64_t seed, ft_error *err)
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
        mark_best(in, s);
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

/* What answered; "" where nothing did. */
static const char *method_of(const ft__predicted_design *s, size_t row)
{
    return s->why[row] || !s->method[row] ? "" : s->reason[s->method[row] - 1];
}

/* Of workload w; index: their places in the design. */
static void list_rows(ft__rows *r, size_t *index, const ft__predicted_design *s,
                      uint32_t w)
{
    r->n = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (*why_not(s, w * s->n + i))
            continue;
        index[r->n] = i;
        r->point[r->n] = s->point + i * s->n_params;
        r->value[r->n++] = values_of(s, w, i);
    }
}

/* "learned (nvidia.ftp), learned (nvidia-fp32.ftp)", of the points that were learned,
 * or of the others. */
static void print_methods(FILE *fp, const ft__predicted_design *s, uint32_t w,
                          bool learned)
{
    enum { SHOWN = 8 };
    uint16_t shown[SHOWN] = {0};
    size_t n = 0, k;

    for (size_t i = 0; i < s->n && n < SHOWN; i++) {
        const size_t row = w * s->n + i;

        if (s->learned[row] != learned || !*method_of(s, row))
            continue;
        for (k = 0; k < n && shown[k] != s->method[row]; k++)
            ;
        if (k < n)
            continue;
        shown[n++] = s->method[row];
        fprintf(fp, "%s%s", k ? ", " : "", method_of(s, row));
    }
}

/* False: out of memory. */
static bool warn(ft__explored *e, const ft__predicted_design *s, uint32_t w,
                 const char *which, size_t n, size_t of)
{
    char *text = NULL;
    size_t size;
    FILE *fp = open_memstream(&text, &size);

    if (!fp)
        return false;
    fprintf(fp, "%s%s%zu of %zu points are answered from the data sheet alone (",
            e->workload[w], *e->workload[w] ? ": " : "", n, of);
    print_methods(fp, s, w, false);
    fprintf(fp, "): %s; the others are ", which);
    print_methods(fp, s, w, true);
    fputs(". Differences between the two are differences of method, too; --method "
          "physics in predict answers all alike",
          fp);
    if (fclose(fp)) {
        free(text);
        return false;
    }
    e->warning[e->n_warnings++] = text;
    return true;
}

/* Are some points learned and others not? Then which. */
static bool check_methods(ft__explored *e, const ft__predicted_design *s, uint32_t w,
                          const ft__rows *r, const size_t *index)
{
    unsigned char *in = malloc(r->n + 1);
    char *which = NULL;
    bool good = in != NULL;
    size_t n = 0;

    for (size_t i = 0; i < r->n && in; i++) {
        in[i] = !s->learned[w * s->n + index[i]];
        n += in[i];
    }
    if (in && n && n < r->n) {
        which = ft__points_describe(e->x, r, in);
        good = which && warn(e, s, w, which, n, r->n);
    }
    free(which);
    free(in);
    return good;
}

static bool find_incomparable(ft__explored *e, const ft__predicted_design *s)
{
    ft__rows r = {.point = malloc((s->n + 1) * sizeof(*r.point)),
                  .value = malloc((s->n + 1) * sizeof(*r.value))};
    size_t *index = malloc((s->n + 1) * sizeof(*index));
    bool good;

    e->warning = calloc(e->n_workloads + 1, sizeof(*e->warning));
    good = r.point && r.value && index && e->warning;
    for (uint32_t w = 0; w < e->n_workloads && good; w++) {
        list_rows(&r, index, s, w);
        good = ft__explored_find_unknown(e, w, &r) && check_methods(e, s, w, &r, index);
    }
    free(r.point);
    free(r.value);
    free(index);
    return good;
}

static void print_line(const ft__predicted_design *s, uint32_t w, size_t i)
{
    const ft_exploration_facts *f = ft_exploration_get(s->x);

    ft__record_csv_text(stdout, f->workload[w], ',');
    ft__point_csv(f, s->point + i * s->n_params);
    for (size_t k = 0; k < s->n_objectives; k++)
        ft__number_csv(values_of(s, w, i)[k], ',');
    ft__record_csv_text(stdout, method_of(s, w * s->n + i), ',');
    ft__record_csv_text(stdout, why_not(s, w * s->n + i), '\n');
}

void ft__predicted_header(FILE *fp, const ft_exploration *x)
{
    const ft_exploration_facts *f = ft_exploration_get(x);

    fputs("workload,", fp);
    for (size_t k = 0; k < f->n_params; k++)
        fprintf(fp, "%s,", f->param[k].name);
    for (size_t k = 0; k < f->n_objectives; k++)
        fprintf(fp, "%s,", f->objective[k].name);
    fputs("answered_by,failure\n", fp);
}

/* Those on the front of their workload, the point's number in the design before them.
 */
static ft_status print_front(const ft__predicted_design *s, ft_error *err)
{
    unsigned char *on = malloc(s->n + 1);
    ft_status st = on ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu points", s->n);

    fputs("point,", stdout);
    ft__predicted_header(stdout, s->x);
    for (uint32_t w = 0; w < s->n_workloads && !st; w++) {
        st = find_front(on, s, w, err);
        for (size_t i = 0; i < s->n && !st; i++)
            if (on[i]) {
                printf("%zu,", s->first + i + 1);
                print_line(s, w, i);
            }
    }
    free(on);
    return st;
}

int ft__predict_front(ft__cli *c, const ft_exploration *x,
                      const ft_design_options *design, const ft__shard *shard)
{
    ft__predicted_design s;
    ft_status st;
    int code = ft__design_predict(c, &s, x, design, shard);

    if (code)
        return code;
    st = print_front(&s, &c->err);
    ft__predicted_design_free(&s);
    return st ? ft__cli_check(c, st) : ft__cli_done(c, true);
}

int ft__predict_csv(ft__cli *c, const ft_exploration *x,
                    const ft_design_options *design)
{
    ft__predicted_design s;
    int code = ft__design_predict(c, &s, x, design, NULL);

    if (code)
        return code;
    ft__predicted_header(stdout, s.x);
    for (uint32_t w = 0; w < s.n_workloads; w++)
        for (size_t i = 0; i < s.n; i++)
            print_line(&s, w, i);
    ft__predicted_design_free(&s);
    return ft__cli_done(c, true);
}

int ft__explored_predict(ft__cli *c, ft__explored *e, const ft_exploration *x,
                         const ft_design_options *design)
{
    ft__predicted_design s;
    ft_trials t;
    unsigned char *drawn;
    ft_status st;
    int code = ft__design_predict(c, &s, x, design, NULL);

    if (code)
        return code;
    st = design_trials(&t, &drawn, &s, LOOKED_AT, design->seed, &c->err);
    code =
        st ? ft__cli_check(c, st) : ft__explored_take(c, e, x, &t, drawn, design->seed);
    if (!code) {
        e->predicted = s.n * s.n_workloads;
        e->seconds = s.seconds;
        if (!find_incomparable(e, &s)) {
            ft__explored_free(e);
            code = ft__cli_done(c, false);
        }
    }
    ft__predicted_design_free(&s);
    return code;
}
