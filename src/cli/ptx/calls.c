/* Calls of libraries, whose kernels are not in PTX: named, and priced as operations the
 * way predict prices them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ptx/ptx.h"
#include "cli/use.h"
#include "foretell/op.h"
#include "report/units.h"

static bool is_call(const ft__ptx_calls *s, size_t i)
{
    return s->times[i] && !s->v[i].module;
}

/* What is said of a call's operation and cannot be read. */
static void warn(const ft__cli *c, const ft_ptx_listed *v)
{
    char text[1400];
    ft_error err = {0};
    ft_op op;

    if (!c->log.message || !v->operation ||
        !ft_op_parse(&op, v->operation, strlen(v->operation), &err))
        return;
    snprintf(text, sizeof(text), "%.200s: its operation is not one of foretell's: %s",
             v->library, err.msg);
    c->log.message(c->log.user, FT_LOG_WARN, text);
}

/* FLOPs of the operation; NaN: it is not known. */
static double operation_flops(const char *spec)
{
    ft_cost cost;
    ft_op op;

    if (!spec || ft_op_parse(&op, spec, strlen(spec), NULL))
        return NAN;
    ft_op_cost(&op, &cost);
    return cost.flops;
}

/* ---- what they take ---- */

/* Of all calls whose operation is known; FT_ENOTFOUND: there is none. */
static ft_status graph_of_all(ft_graph **out, const ft__ptx_calls *s, ft_error *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *fp = open_memstream(&text, &len);
    ft_status st = FT_ENOTFOUND;

    *out = NULL;
    if (!fp)
        return ft_fail(err, FT_ENOMEM, 0, "library calls");
    for (size_t i = 0; i < s->n; i++)
        if (is_call(s, i) && isfinite(operation_flops(s->v[i].operation)))
            fprintf(fp, "%s *%" PRIu64 "\n", s->v[i].operation, s->times[i]);
    if (fclose(fp))
        st = ft_fail(err, FT_ENOMEM, 0, "library calls");
    else if (len)
        st = ft_import_ops(out, text, len, "library calls", err);
    free(text);
    return st;
}

/* What the device is busy with it: launches follow each other without a gap. */
static ft_status price_one(ft_estimate *out, ft_data *data, const ft_query *family,
                           const char *spec, ft_error *err)
{
    ft_query q = *family;
    ft_answer *x;
    double share = 1;
    ft_status st;

    q.model = "library call";
    q.list = spec;
    q.list_len = strlen(spec);
    st = ft_query_ask(&x, data, &q, err);
    if (st)
        return st;
    if (isfinite(x->busy_s) && x->time.value > 0)
        share = fmin(1, x->busy_s / x->time.value);
    *out = x->time;
    out->value *= share;
    out->low *= share;
    out->high *= share;
    out->why = "";
    ft_answer_free(x);
    return FT_OK;
}

static ft_status price_all(ft__ptx_calls *s, ft_data *data, const ft_query *family,
                           ft_error *err)
{
    ft_status st = FT_OK;

    for (size_t i = 0; i < s->n && !st; i++) {
        if (!is_call(s, i) || !isfinite(operation_flops(s->v[i].operation)))
            continue;
        st = price_one(&s->time[i], data, family, s->v[i].operation, err);
        if (st || !isfinite(s->time[i].value))
            continue;
        s->priced += s->times[i];
        s->time_s += (double)s->times[i] * s->time[i].value;
    }
    return st;
}

/* By the family of devices that predict would take for all of them, otherwise by the
 * data sheet; energy at the power that the device draws over all of them. */
static ft_status price(ft__ptx_calls *s, ft_data *data, const ft_device *d,
                       const ft_graph *g, ft_error *err)
{
    ft_query q = FT_QUERY_INIT;
    ft_answer *all;
    ft_status st;

    q.device = ft_device_get(d)->name;
    q.graph = g;
    q.totals = 1;
    st = ft_query_ask(&all, data, &q, err);
    if (st)
        return st;
    q.graph = NULL;
    if (*all->predictor)
        q.predictor = all->predictor;
    else
        q.method = "physics";
    snprintf(s->by, sizeof(s->by), "%s", ft__ptx_base(all->predictor));
    st = price_all(s, data, &q, err);
    s->energy_j = all->power.value * s->time_s;
    ft_answer_free(all);
    return st;
}

ft_status ft__ptx_calls_make(ft__ptx_calls *out, ft__cli *c, ft_data *data,
                             const ft_ptx_listed *v, const uint64_t *times, size_t n,
                             const ft_device *d, ft_error *err)
{
    ft_graph *g = NULL;
    ft_status st;

    *out = (ft__ptx_calls){.v = v, .times = times, .n = n};
    out->time = calloc(n + 1, sizeof(*out->time));
    st = out->time ? FT_OK : ft_fail(err, FT_ENOMEM, 0, "%zu launches", n);
    for (size_t i = 0; i < n && !st; i++) {
        out->time[i] = (ft_estimate){NAN, NAN, NAN, FT_BASIS_UNAVAILABLE,
                                     v[i].operation ? "no operation of foretell's"
                                                    : "what it computes is not known"};
        if (is_call(out, i)) {
            out->calls += times[i];
            warn(c, &v[i]);
        }
    }
    if (!st && d)
        st = graph_of_all(&g, out, err);
    if (st == FT_ENOTFOUND) /* none has an operation */
        st = FT_OK;
    if (!st && g)
        st = price(out, data, d, g, err);
    ft_graph_free(g);
    return st;
}

void ft__ptx_calls_free(ft__ptx_calls *s)
{
    free(s->time);
    s->time = NULL;
}

/* ---- how they are shown ---- */

bool ft__ptx_calls_print(const ft__ptx_calls *s, bool timed)
{
    ft__table *t = ft__table_new("library call, not in PTX<|times>u|FLOP>FLOP|?time>s|"
                                 "as operation<",
                                 timed);

    for (size_t i = 0; i < s->n; i++)
        if (is_call(s, i))
            ft__table_row(t, s->v[i].library, s->times[i],
                          operation_flops(s->v[i].operation), s->time[i].value,
                          s->v[i].operation);
    if (s->calls)
        puts("");
    return ft__table_print_take(t, s->calls ? stdout : NULL);
}

json_t *ft__ptx_calls_json(const ft__ptx_calls *s, bool timed)
{
    json_t *all = json_array();

    for (size_t i = 0; i < s->n; i++) {
        json_t *one;

        if (!is_call(s, i))
            continue;
        one = ft__json("times:u flops:g time:o", s->times[i],
                       operation_flops(s->v[i].operation),
                       timed ? ft__json_estimate(&s->time[i], "s") : json_null());
        one = ft__json_join_take(ft__ptx_launch_json(&s->v[i]), one);
        ft__json_append_take(&all, one);
    }
    return all;
}
