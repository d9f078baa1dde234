/* Runs of an exploration. A run is a row; its numbers are rows of their own, since
 * which there are is the exploration's to say. */
#include "store/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static ft_status find(ft__trials *out, ft_store *s, const char *name, uint64_t print,
                      ft_error *err)
{
    ft__query *q = ft__query_new(
        s, "SELECT id, plan FROM exploration WHERE name = ?1 AND print = ?2", FT__ONCE);
    ft_status st;
    bool row;

    ft__bind_text(q, 1, name);
    ft__bind_i64(q, 2, (int64_t)print);
    st = ft__step(q, &row, err);
    if (row) {
        out->number = ft__i64(q, 0);
        out->plan = strdup(ft__text(q, 1));
        if (!out->plan)
            st = ft_fail(err, FT_ENOMEM, 0, "store %s", s->path);
    }
    return ft__finish(q, st, err);
}

static ft_status add_exploration(ft_store *s, const char *name, uint64_t print,
                                 ft_error *err)
{
    ft__query *q = ft__query_new(s,
                                 "INSERT INTO exploration(name, print, plan)"
                                 " VALUES(?1, ?2, '') ON CONFLICT DO NOTHING",
                                 FT__ONCE);

    ft__bind_text(q, 1, name);
    ft__bind_i64(q, 2, (int64_t)print);
    return ft__finish(q, ft__run(q, err), err);
}

static ft_status set_plan(ft_store *s, int64_t exploration, const char *plan,
                          ft_error *err)
{
    ft__query *q =
        ft__query_new(s, "UPDATE exploration SET plan = ?2 WHERE id = ?1", FT__ONCE);

    ft__bind_i64(q, 1, exploration);
    ft__bind_text(q, 2, plan);
    return ft__finish(q, ft__run(q, err), err);
}

ft_status ft__trials_of(ft__trials *out, ft_store *s, const char *name, uint64_t print,
                        const char *plan, ft_error *err)
{
    ft_status st;

    *out = (ft__trials){0};
    st = find(out, s, name, print, err);
    if (!st && !out->number && s->writable) {
        st = ft__store_begin(s, err);
        if (!st)
            st = ft__store_end(s, add_exploration(s, name, print, err), err);
        if (!st)
            st = find(out, s, name, print, err);
    }
    if (!st && plan) {
        st = ft__store_begin(s, err);
        if (!st)
            st = ft__store_end(s, set_plan(s, out->number, plan, err), err);
    }
    return st;
}

static ft_status add_run(ft_store *s, int64_t *number, int64_t exploration, int64_t run,
                         const ft__trial_run *t, ft_error *err)
{
    static const char sql[] =
        "INSERT INTO trial(exploration_id, run_id, workload, point, taken_at, failure,"
        " output, conditions) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id";
    ft__query *q = ft__query_new(s, sql, FT__ONCE);
    bool found;

    ft__bind_i64(q, 1, exploration);
    ft__bind_i64(q, 2, run);
    ft__bind_text(q, 3, t->workload);
    ft__bind_text(q, 4, t->point);
    ft__bind_i64(q, 5, t->taken_at);
    ft__bind_text(q, 6, t->failure);
    ft__bind_text(q, 7, t->output);
    ft__bind_text(q, 8, t->conditions);
    return ft__finish(q, ft__run_i64(q, number, &found, err), err);
}

static ft_status add_values(ft_store *s, int64_t trial, const ft__trial_run *t,
                            ft_error *err)
{
    ft__query *q = ft__query_new(
        s, "INSERT INTO trial_value(trial_id, name, value) VALUES(?1, ?2, ?3)",
        FT__ONCE);
    ft_status st = FT_OK;

    for (size_t i = 0; i < t->n_values && !st; i++) {
        if (isnan(t->value[i].value))
            continue;
        ft__bind_i64(q, 1, trial);
        ft__bind_text(q, 2, t->value[i].name);
        ft__bind_f64(q, 3, t->value[i].value);
        st = ft__run(q, err);
    }
    return ft__finish(q, st, err);
}

ft_status ft__trial_add(ft_store *s, int64_t exploration, int64_t run,
                        const ft__trial_run *t, ft_error *err)
{
    int64_t trial = 0;
    ft_status st = ft__store_begin(s, err);

    if (st)
        return st;
    st = add_run(s, &trial, exploration, run, t, err);
    if (!st)
        st = add_values(s, trial, t, err);
    return ft__store_end(s, st, err);
}

struct trial_values {
    ft__trial_value *v;
    size_t n, cap;
    ft__query *q;
};

static ft_status keep_value(ft_store *s, struct trial_values *all, ft_error *err)
{
    char *name = strdup(ft__text(all->q, 0));
    ft__trial_value *grown = ft__list_grow(all->v, all->n, &all->cap, sizeof(*all->v));

    if (grown)
        all->v = grown;
    if (!grown || !name) {
        free(name);
        return ft_fail(err, FT_ENOMEM, 0, "store %s", s->path);
    }
    all->v[all->n++] = (ft__trial_value){name, ft__f64(all->q, 1)};
    return FT_OK;
}

/* Names are copies, valid until the next call. */
static ft_status values_of(ft_store *s, struct trial_values *all, int64_t trial,
                           ft_error *err)
{
    bool more = true;
    ft_status st = FT_OK;

    for (size_t i = 0; i < all->n; i++)
        free((char *)(uintptr_t)all->v[i].name);
    all->n = 0;
    ft__bind_i64(all->q, 1, trial);
    while (!st && more) {
        st = ft__step(all->q, &more, err);
        if (!st && more)
            st = keep_value(s, all, err);
    }
    return st;
}

ft_status ft__trial_each(ft_store *s, int64_t exploration,
                         bool (*each)(void *user, const ft__trial_run *t), void *user,
                         ft_error *err)
{
    static const char sql[] = "SELECT id, workload, point, taken_at, failure, output,"
                              " conditions FROM trial WHERE exploration_id = ?1"
                              " ORDER BY taken_at, id";
    ft__query *q = ft__query_new(s, sql, FT__ROWS);
    struct trial_values values = {
        .q = ft__query_new(s, "SELECT name, value FROM trial_value WHERE trial_id = ?1",
                           FT__ONCE)};
    bool more = true;
    ft_status st = FT_OK;

    ft__bind_i64(q, 1, exploration);
    while (!st && more) {
        ft__trial_run t;

        st = ft__step(q, &more, err);
        if (st || !more)
            break;
        t = (ft__trial_run){.workload = ft__text(q, 1),
                            .point = ft__text(q, 2),
                            .taken_at = ft__i64(q, 3),
                            .failure = ft__text(q, 4),
                            .output = ft__text(q, 5),
                            .conditions = ft__text(q, 6)};
        st = values_of(s, &values, ft__i64(q, 0), err);
        t.value = values.v;
        t.n_values = values.n;
        more = !st && each(user, &t);
    }
    for (size_t i = 0; i < values.n; i++)
        free((char *)(uintptr_t)values.v[i].name);
    free(values.v);
    st = ft__finish(values.q, st, err);
    return ft__finish(q, st, err);
}

#define FROM_TRIALS                                                                    \
    " FROM temp.from_trial t JOIN temp.from_exploration f ON f.id = t.exploration_id"  \
    " JOIN exploration e ON e.name = f.name AND e.print = f.print"
#define THE_SAME                                                                       \
    " n.exploration_id = e.id AND n.workload = t.workload AND n.point = t.point"       \
    " AND n.taken_at = t.taken_at"

const char *const ft__trial_merge[] = {
    "INSERT INTO exploration(name, print, plan) SELECT name, print, plan"
    " FROM temp.from_exploration WHERE true ORDER BY id"
    " ON CONFLICT(name, print) DO UPDATE SET plan = excluded.plan"
    " WHERE exploration.plan = ''",
    "INSERT INTO run(command, environment, began_at)"
    " SELECT DISTINCT r.command, r.environment, r.began_at FROM temp.from_run r"
    " JOIN temp.from_trial t ON t.run_id = r.id WHERE NOT EXISTS(SELECT 1 FROM run q"
    " WHERE q.command = r.command AND q.environment = r.environment"
    " AND q.began_at = r.began_at)",
    "INSERT INTO trial(exploration_id, run_id, workload, point, taken_at, failure,"
    " output, conditions) SELECT e.id, (SELECT min(q.id) FROM run q"
    " JOIN temp.from_run r ON q.command = r.command AND q.environment = r.environment"
    " AND q.began_at = r.began_at WHERE r.id = t.run_id), t.workload, t.point,"
    " t.taken_at, t.failure, t.output, t.conditions" FROM_TRIALS
    " WHERE NOT EXISTS(SELECT 1 FROM trial n WHERE" THE_SAME ") ORDER BY t.id",
    "INSERT INTO trial_value(trial_id, name, value)"
    " SELECT n.id, v.name, v.value" FROM_TRIALS " JOIN trial n ON" THE_SAME
    " JOIN temp.from_trial_value v ON v.trial_id = t.id WHERE true"
    " ON CONFLICT DO NOTHING",
    NULL,
};
