/* Statements of either database: what callers see of them. */
#include "store/database.h"

#include "store/store.h"

ft__query *ft__query_new(ft_store *s, const char *sql, ft__query_kind kind)
{
    return s->kind->query(s, sql, kind);
}

void ft__bind(ft__query *q, int at, const ft__value *v)
{
    if (q)
        q->s->kind->bind(q, at, v);
}

void ft__bind_text(ft__query *q, int at, const char *text)
{
    ft__bind(q, at, &(ft__value){.type = FT__TEXT, .null = !text, .bytes = text});
}

void ft__bind_i64(ft__query *q, int at, int64_t v)
{
    ft__bind(q, at, &(ft__value){.type = FT__INTEGER, .i64 = v});
}

void ft__bind_f64(ft__query *q, int at, double v)
{
    ft__bind(q, at, &(ft__value){.type = FT__REAL, .null = isnan(v), .f64 = v + 0.0});
}

void ft__bind_key(ft__query *q, const ft_key *k)
{
    const char *const part[] = {k->device,         k->setting, k->engine,
                                k->engine_version, k->spec,    k->phase,
                                k->dtype_policy,   k->metric};

    for (int i = 0; q && i < 8 && i < q->n_parameters; i++)
        ft__bind_text(q, i + 1, part[i]);
}

ft_status ft__step(ft__query *q, bool *row, ft_error *err)
{
    *row = false;
    return q ? q->s->kind->step(q, row, err)
             : ft_fail(err, FT_ENOMEM, 0, "a statement of the store");
}

ft_status ft__run_i64(ft__query *q, int64_t *out, bool *found, ft_error *err)
{
    ft_status st = ft__step(q, found, err);

    if (*found) {
        *out = ft__i64(q, 0);
        ft__reset(q);
    }
    return st;
}

ft_status ft__run(ft__query *q, ft_error *err)
{
    int64_t number;
    bool found;

    return ft__run_i64(q, &number, &found, err);
}

void ft__reset(ft__query *q)
{
    if (q)
        q->s->kind->reset(q);
}

ft_status ft__finish(ft__query *q, ft_status st, ft_error *err)
{
    ft_status last = q ? q->s->kind->finish(q, st ? NULL : err) : FT_OK;

    return st ? st : last;
}

int64_t ft__i64(ft__query *q, int column)
{
    ft__value v = q->s->kind->column(q, column);

    return v.type == FT__REAL ? (int64_t)v.f64 : v.i64;
}

double ft__f64(ft__query *q, int column)
{
    ft__value v = q->s->kind->column(q, column);

    return v.null ? NAN : v.type == FT__INTEGER ? (double)v.i64 : v.f64;
}

const char *ft__text(ft__query *q, int column)
{
    ft__value v = q->s->kind->column(q, column);

    return !v.null && v.type == FT__TEXT ? v.bytes : "";
}
